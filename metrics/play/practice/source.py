"""Finding Python in a conversation: fenced files, unified diffs, and code pasted as it is.

The newest user message that holds code is what is asked about; older ones were asked about before. Line
numbers are those of the file or block, never of the message.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from metrics.play.practice import diffs, fences
from metrics.play.practice.ask import Message, words
from metrics.play.practice.parsing import LIMIT, Source, looks_like_code, plain_name, tree_of

MOST = 50  # files in one message
PYTHON = {"python", "py", "python3", "py3", "pyi", "pyw", "pycon"}
DIFF = {"diff", "patch"}
# Lines that prose does not produce; two of them make a text that does not parse a program with a
# mistake in it.
STRONG = re.compile(
    r"\s*(?:(?:async )?def \w+\(|class \w+\s*[(:]|import [\w.]+(?: as \w+)?\s*$|from [\w.]+ import"
    r" |@\w[\w.]*(?:\(|\s*$)"
    r"|(?:if|elif|for|while|with|except)\b.*:\s*(?:#.*)?$|(?:try|else|finally):\s*$)"
)
CODE = re.compile(STRONG.pattern + r"|\s*(?:return\b|print\(|[\w.\[\]]+ (?:[-+*/]?=) )")
INLINE = re.compile(r"(?<!`)`([^`\n]{3,500})`(?!`)")


@dataclass(frozen=True, slots=True)
class Found:
    """The code in a conversation: Python to read, names of what is not Python, and the newest words when
    there is no code."""

    sources: tuple[Source, ...] = ()
    left_out: tuple[str, ...] = ()
    text: str = ""
    other: tuple[Source, ...] = field(default=(), repr=False)


def find(messages: Sequence[Message]) -> Found:
    """The Python of the newest user message that has any; else what other blocks and words the newest one
    holds."""
    newest: Found | None = None
    for message in reversed(messages):
        if message.get("role") != "user":
            continue
        found = in_text(words(message).replace("\r\n", "\n"))
        if found.sources:
            return found
        newest = newest or found
    return newest or Found()


def in_text(text: str) -> Found:
    """The code in one text."""
    blocks = (
        list(itertools.islice(fences.blocks(text, _parses), 4 * MOST))
        if "```" in text or "~~~" in text
        else []
    )
    if blocks:
        return _sort(text, blocks)
    if diffs.is_diff(text):
        sources, others = diffs.sources(text)
        return Found(tuple(sources[:MOST]), tuple(others), text)
    source = _pasted(text) or _inline(text)
    return Found((source,) if source else (), (), text)


def _sort(text: str, blocks: list[fences.Block]) -> Found:
    sources: list[Source] = []
    others: list[Source] = []
    left_out: list[str] = []
    unnamed = sum(1 for block in blocks if not block.name)
    nameless = 0
    for block in blocks:
        nameless += not block.name
        label = block.name or ("snippet" if unnamed == 1 else f"snippet{nameless}")
        if block.language in DIFF or (not block.language and diffs.is_diff(block.text)):
            changed, names = diffs.sources(block.text)
            sources += changed
            left_out += names
        elif _is_python(block):
            body = fences.unprompted(block.text)
            sources.append(Source(label, body, named=bool(block.name)))
        else:
            left_out.append(block.name or f"a block of {block.language or 'text'}")
            others.append(Source(label, block.text, named=bool(block.name)))
    left_out += [source.name for source in sources[MOST:]]
    return Found(tuple(sources[:MOST]), tuple(left_out), text, tuple(others[:MOST]))


def _is_python(block: fences.Block) -> bool:
    if block.name.lower().endswith((".py", ".pyw", ".pyi")):
        return True
    if block.language:
        return block.language in PYTHON
    return not re.search(r"\.\w{1,8}$", block.name) and (_parses(block.text) or _strong(block.text) >= 2)


def _parses(text: str) -> bool:
    """Whether a text is Python and says more than a word or a number."""
    tree = tree_of(text) if len(text) <= LIMIT else None
    return tree is not None and looks_like_code(tree)


def _strong(text: str) -> int:
    return sum(1 for line in text.split("\n") if STRONG.match(line[:500]))


def _pasted(text: str) -> Source | None:
    """Code that came without a fence: the whole text, or the part of it that begins with a line of code."""
    if len(text) > LIMIT:
        return Source("snippet", text) if _strong(text) >= 2 else None
    if _parses(text):
        return Source("snippet", text)
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if CODE.match(line[:500])), None)
    if start is None:
        return None
    for end in _ends(lines, start):
        body = "\n".join(lines[start:end])
        if _parses(body):
            return Source(_named_above(lines, start), body)
    return Source(_named_above(lines, start), "\n".join(lines[start:])) if _strong(text) >= 2 else None


def _named_above(lines: list[str], start: int) -> str:
    above = next((line for line in reversed(lines[:start]) if line.strip()), "")
    return fences.name_in(above) or "snippet"


def _ends(lines: list[str], start: int) -> Iterator[int]:
    """Where code may end: at the last line, else before one of the last paragraphs, which may be words
    again."""
    yield len(lines)
    blank = [at for at in range(len(lines) - 1, start, -1) if not lines[at].strip()]
    yield from blank[:10]


def _inline(text: str) -> Source | None:
    """A line of code between single backquotes, as in: is `def f(a=[]): ...` a mistake?"""
    for match in INLINE.finditer(text[:LIMIT]):
        if _parses(match[1]) and not plain_name(match[1]):
            return Source("snippet", match[1])
    return None
