"""Markdown's fenced blocks, and the names people give them.

A name comes from the fence (`python title=a.py`), the line above it ("File: a.py", "### a.py") or a first
comment (`# a.py`).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

OPENS = re.compile(r"(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")
PATH = re.compile(r"[\w.+-]*(?:[/\\][\w.+-]+)*\.[A-Za-z]\w{0,7}")
HEADING = re.compile(r"\W*(?:file ?name|file|path|datei)\s*[:=]\s*(?P<name>.+?)\s*:?\s*$", re.IGNORECASE)
IN_INFO = re.compile(r"(?:title|file|filename|name|path)\s*=\s*[\"']?(?P<name>[^\"'\s}]+)")
PROMPT = re.compile(r"(?:>>>|\.\.\.)(?: |$)")
DECORATION = "#*_`-:> \t"


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its language in lower case, a name if it was given one, and its text."""

    language: str
    name: str
    text: str


def blocks(text: str, parses: Callable[[str], bool]) -> Iterator[Block]:
    """The fenced blocks of a text, in order; one that is never closed runs to the end.

    A Python file may hold fences of its own in a docstring; so a Python block that does not parse is
    tried with later ends.
    """
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        opened = OPENS.match(lines[at])
        if not opened:
            at += 1
            continue
        language, name = _info(opened["info"])
        name = name or _above(lines, at)
        ends = _closers(lines, at + 1, opened["mark"])
        end = ends[0]
        if language.startswith("py") or (not language and name.endswith(".py")):
            end = next(
                (later for later in ends if parses(_body(lines[at + 1 : later], opened["indent"]))), end
            )
        body = _body(lines[at + 1 : end], opened["indent"])
        yield Block(language, name or _first_comment(body), body)
        at = end + 1


def _closers(lines: list[str], start: int, mark: str) -> list[int]:
    """Where the block may end: lines that are only a fence at least as long; the first eight, or the end
    of the text."""
    found: list[int] = []
    for at in range(start, len(lines)):
        line = lines[at].strip()
        if line.startswith(mark) and not line.strip(mark[0]):
            found.append(at)
            if len(found) == 8:
                break
    return found or [len(lines)]


def _body(lines: list[str], indent: str) -> str:
    """A block in a list item is indented as a whole; its lines lose what the fence had."""
    return "\n".join(line.removeprefix(indent) for line in lines) + "\n"


def _info(info: str) -> tuple[str, str]:
    """Language and name of an info string: "python", "py title=a.py", "python:a.py", "a.py"."""
    info = info.strip()
    word = re.split(r"[\s:{,=]", info.lstrip("{."), maxsplit=1)[0].lower()
    named = IN_INFO.search(info) or PATH.search(info)
    name = "" if not named else named["name"] if named.re is IN_INFO else named[0]
    return ("" if word == name.lower() else word), name


def name_in(line: str) -> str:
    """The file a line names, if naming a file is all it does; else ""."""
    line = line[:300]
    said = HEADING.match(line)
    if said:
        return said["name"].strip(DECORATION)[:200]
    bare = line.strip(DECORATION)
    return bare if PATH.fullmatch(bare) else ""


def _above(lines: list[str], at: int) -> str:
    above = [line for line in lines[max(0, at - 2) : at] if line.strip()]
    return name_in(above[-1]) if above else ""


def _first_comment(body: str) -> str:
    first = body.split("\n", 1)[0]
    return name_in(first) if first.startswith("#") and not first.startswith("#!") else ""


def unprompted(text: str) -> str:
    """An interactive session as the program it ran: prompts removed, output blanked, line numbers kept."""
    if not text.lstrip().startswith(">>> "):
        return text
    return "\n".join(line[4:] if PROMPT.match(line) else "" for line in text.split("\n"))
