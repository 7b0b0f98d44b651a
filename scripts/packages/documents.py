"""Documents as they are shipped: no link leads out of the package.

A link to what a package does not hold (pictures, the map for developers, hosting templates) becomes its bare
words, and such a picture goes; code is left as it stands. Links to the web stay."""

import re
from collections.abc import Container, Iterable, Iterator
from pathlib import PurePosixPath

LINK = re.compile(r"(!?)\[([^\]\n]*)\]\(([^)\s]+)\)")
TAG = re.compile(r"""<(?:img|source)\b[^>]*?\b(?:src|srcset)=["']([^"']+)["'][^>]*>""")
CODE_SPAN = re.compile(r"`[^`\n]*`")
FENCES = ("```", "~~~")


def shipped(text: str, path: str, held: Iterable[str], below: str = "") -> str:
    """The document `text`, which lies at `path`, in a package that holds the files `held`. `below`: those
    have been put into this folder ("benchwarmers/"), but the document has not."""
    known = set(held)
    known |= {str(parent) for name in known for parent in PurePosixPath(name).parents}
    return "".join(
        line if code else _line(line, path, known, below)
        for line, code in _lines(text.splitlines(keepends=True))
    )


def astray(text: str, path: str, held: Container[str]) -> list[str]:
    """The targets of links in the document at `path` that lead to nothing among `held`."""
    found = []
    for line, code in _lines(text.splitlines(keepends=True)):
        targets = [] if code else [match[3] for match in LINK.finditer(_masked(line))]
        targets += [] if code else [match[1] for match in TAG.finditer(_masked(line))]
        found += [target for target in targets if not _leads(target, path, held)]
    return found


def _lines(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is code."""
    fenced = False
    for line in lines:
        fence = line.strip().startswith(FENCES)
        fenced ^= fence
        yield line, fence or fenced or line.startswith(("    ", "\t"))


def _line(line: str, path: str, known: Container[str], below: str) -> str:
    masked = _masked(line)
    edits: list[tuple[int, int, str]] = []
    for match in LINK.finditer(masked):
        label = line[match.start(2) : match.end(2)]
        if not _leads(match[3], path, known):
            edits.append((*match.span(), "" if match[1] else label))
        elif below and not _outside(match[3]):
            edits.append((*match.span(3), below + match[3]))
    edits += [(*tag.span(), "") for tag in TAG.finditer(masked) if not _leads(tag[1], path, known)]
    for start, end, words in sorted(edits, reverse=True):
        line = line[:start] + words + line[end:]
    return line


def _masked(line: str) -> str:
    """The line with its code spans blotted out, each place where it was; a label may hold one."""
    return CODE_SPAN.sub(lambda span: "`" * len(span[0]), line)


def _outside(target: str) -> bool:
    """Whether a link leads to the web, or to a heading of its own document."""
    return bool(re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|#|//", target))


def _leads(target: str, path: str, known: Container[str]) -> bool:
    return _outside(target) or joined(path, target.partition("#")[0].partition(" ")[0]) in known


def joined(path: str, link: str) -> str:
    """Where a relative link in the document at `path` leads: "docs/CLI.md" and "../README.md"."""
    parts = [] if link.startswith("/") else list(PurePosixPath(path).parent.parts)
    for part in link.strip("/").split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)
