"""What a model wrote, in Markdown, as HTML that is harmless wherever it is opened.

Nothing of the text becomes markup of its own: it is escaped piece by piece, and the only elements are those
made here. A link leads to http and https alone and shows its address; a picture is named and never fetched;
characters that turn the direction of writing are shown by their number. The reading is a plain one: headings,
lists (nested by indentation), quotes, fences, tables, paragraphs, and within a line code, strong, emphasis,
struck words and links. What is none of these stays as it was typed.
"""

import html
import re
from collections.abc import Iterator

# What is passed over is not tried again in shorter pieces (*+): a line can be as long as an answer.
FENCE = re.compile(r" {0,3}(`{3,}+(?=[^`]*+\Z)|~{3,}+)[ \t]*+([\w+#.-]*+)")
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)\Z")
RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})\Z")
ITEM = re.compile(r"([ \t]*)(?:([-*+])|(\d{1,9})[.)])[ \t]+(.*)\Z")
QUOTE = re.compile(r" {0,3}> ?(.*)\Z")
CELLS = re.compile(r" {0,3}\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+\Z")
TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")

SPAN = re.compile(
    r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>[^\n]{1,4000}?)(?<!`)(?P=ticks)(?!`)"
    r"|(?P<image>!)?\[(?P<label>[^\[\]\n]{0,300})\]\((?P<href>[^()\s]{1,2000}(?:\([^()\s]*\)[^()\s]*)?)"
    r"(?:[ \t]+\"[^\"\n]*\")?\)"
    r"|(?P<strong>\*\*|__)(?=\S)(?P<bold>.{1,2000}?)(?<=\S)(?P=strong)"
    r"|(?<![\w*])\*(?=[^\s*])(?P<em>[^*\n]{1,2000}?)(?<=[^\s*])\*(?![\w*])"
    r"|~~(?=\S)(?P<struck>[^~\n]{1,2000}?)(?<=\S)~~"
)
DEEPEST = 6  # quotes in quotes and lists in lists; what stands deeper is read as text


def escaped(text: str) -> str:
    """`text` for a page: nothing in it is markup, and nothing turns the direction of what stands beside."""
    clean = CONTROL.sub("\ufffd", text.encode("utf-8", "replace").decode("utf-8"))
    return TURNING.sub(lambda found: f"[U+{ord(found[0]):04X}]", html.escape(clean, quote=True))


def rendered(text: str, depth: int = 0) -> str:
    """Markdown as HTML."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n")
    return "\n".join(_blocks(lines, depth))


def _blocks(lines: list[str], depth: int) -> Iterator[str]:
    at = 0
    while at < len(lines):
        for reader in READERS if depth < DEEPEST else (_paragraph,):
            found = reader(lines, at, depth)
            if found:
                block, at = found
                yield block
                break
        else:
            at += 1  # a blank line


Found = tuple[str, int] | None  # the block, and where the next one begins


def _fence(lines: list[str], at: int, depth: int) -> Found:
    opening = FENCE.match(lines[at])
    if not opening:
        return None
    mark, name = opening[1], opening[2]
    end = next((n for n in range(at + 1, len(lines)) if closes(lines[n], mark)), len(lines))
    label = f"<figcaption>{escaped(name)}</figcaption>" if name else ""
    code = escaped("\n".join(lines[at + 1 : end]))
    return f"<figure>{label}<pre><code>{code}</code></pre></figure>", end + 1


def closes(line: str, mark: str) -> bool:
    """Whether the line ends the fence that was opened with `mark` (CommonMark 0.31, section 4.5)."""
    run = line.lstrip(" ")
    return len(line) - len(run) < 4 and run.startswith(mark) and not run.strip(" \t").strip(mark[0])


def _heading(lines: list[str], at: int, depth: int) -> Found:
    found = HEADING.match(lines[at])
    return (f'<p class="h{len(found[1])}">{_inline(_unclosed(found[2]))}</p>', at + 1) if found else None


def _unclosed(words: str) -> str:
    """A heading's words without the #s that may close it; those of `C#` belong to a word."""
    words = words.strip()
    bare = words.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else words


def _rule(lines: list[str], at: int, depth: int) -> Found:
    return ("<hr>", at + 1) if RULE.match(lines[at]) else None


def _quote(lines: list[str], at: int, depth: int) -> Found:
    inner = []
    while at < len(lines) and (found := QUOTE.match(lines[at])):
        inner.append(found[1])
        at += 1
    return (f"<blockquote>{rendered(chr(10).join(inner), depth + 1)}</blockquote>", at) if inner else None


def _list(lines: list[str], at: int, depth: int) -> Found:
    first = ITEM.match(lines[at])
    if not first:
        return None
    indent, ordered = len(first[1]), first[3] is not None
    items: list[list[str]] = []
    while at < len(lines):
        line, item = lines[at], ITEM.match(lines[at])
        if item and len(item[1]) <= indent + 1:
            if len(item[1]) < indent or (item[3] is not None) != ordered:
                break
            items.append([item[4]])
        elif not line.strip():
            following = lines[at + 1] if at + 1 < len(lines) else ""
            if not following.startswith(" " * (indent + 2)) and not ITEM.match(following):
                break
            items[-1].append("")
        elif line.startswith(" " * (indent + 2)) or not _starts(line):
            items[-1].append(_outdented(line, indent))
        else:
            break
        at += 1
    tag, start = ("ol", f' start="{int(first[3])}"' if first[3] != "1" else "") if ordered else ("ul", "")
    told = "".join(f"<li>{_item(item, depth)}</li>" for item in items)
    return f"<{tag}{start}>{told}</{tag}>", at


def _outdented(line: str, indent: int) -> str:
    """A line of an item without the indentation that makes it one."""
    taken = 0
    while taken < indent + 4 and line[taken : taken + 1] == " ":
        taken += 1
    # What is nested keeps its own indentation beyond the item's words.
    return line[min(taken, indent + 2) :]


def _item(lines: list[str], depth: int) -> str:
    """An item of one paragraph needs no paragraph of its own."""
    inner = rendered("\n".join(lines), depth + 1)
    alone = inner.removeprefix("<p>").removesuffix("</p>")
    return alone if inner.startswith("<p>") and "<p" not in alone and inner.endswith("</p>") else inner


def _table(lines: list[str], at: int, depth: int) -> Found:
    if "|" not in lines[at] or at + 1 >= len(lines) or not CELLS.match(lines[at + 1]):
        return None
    head = _cells(lines[at])
    if len(head) != len(_cells(lines[at + 1])):
        return None
    at += 2
    rows = []
    while at < len(lines) and "|" in lines[at]:
        rows.append((_cells(lines[at]) + [""] * len(head))[: len(head)])
        at += 1
    heads = "".join(f"<th>{_inline(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>", at


def _cells(line: str) -> list[str]:
    trimmed = line.strip().removeprefix("|")
    trimmed = trimmed[:-1] if trimmed.endswith("|") and not trimmed.endswith("\\|") else trimmed
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", trimmed)]


def _paragraph(lines: list[str], at: int, depth: int) -> Found:
    end = at
    while (
        end < len(lines) and lines[end].strip() and (end == at or depth >= DEEPEST or not _starts(lines[end]))
    ):
        end += 1
    return (
        (f"<p>{_inline(chr(10).join(line.strip() for line in lines[at:end]))}</p>", end) if end > at else None
    )


def _starts(line: str) -> bool:
    """Whether a line begins a block other than a paragraph."""
    return any(pattern.match(line) for pattern in (FENCE, HEADING, RULE, QUOTE, ITEM))


READERS = (_fence, _heading, _rule, _quote, _list, _table, _paragraph)


def _inline(text: str) -> str:
    told, at = [], 0
    for found in SPAN.finditer(text):
        told += [escaped(text[at : found.start()]), _span(found)]
        at = found.end()
    told.append(escaped(text[at:]))
    return "".join(told).replace("\n", "<br>\n")


def _span(found: re.Match[str]) -> str:
    if found["code"] is not None:
        return f"<code>{escaped(found['code'].strip())}</code>"
    if found["href"] is not None:
        return _link(found["label"], found["href"], found["image"] is not None)
    for name, tag in (("bold", "strong"), ("em", "em"), ("struck", "s")):
        if found[name] is not None:
            return f"<{tag}>{_inline(found[name])}</{tag}>"
    return escaped(found[0])


def _link(label: str, href: str, image: bool) -> str:
    words = ("image: " if image else "") + label
    if not re.match(r"https?://[\w.-]", href):
        return escaped(f"{words} ({href})")
    link = f'<a href="{escaped(href)}" rel="noopener noreferrer nofollow">{escaped(words or href)}</a>'
    return link if label == href else f"{link} <small>({escaped(href)})</small>"
