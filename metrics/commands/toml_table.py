"""Setting one table in a TOML file of somebody else's: its own lines change, every other byte stays.

The text is not taken apart: the table's head is looked for as a line, and what came of the edit is read with
tomllib and compared. Whatever is written in another way (inline, dotted, an array) is refused, not guessed
at."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from metrics.commands.jsonc import Unreadable, same_but

_HEAD = re.compile(r"^[ \t]*\[")


def edited(text: str, path: tuple[str, ...], value: Mapping[str, Any]) -> str:
    """`text` with the table `path` holding `value` (texts, numbers, flags and lists of texts) and nothing
    else; the same text when it says so already. Unreadable where that cannot be done by whole lines."""
    before = _parsed(text)
    if _at(before, path) == value:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    head = f"[{'.'.join(map(_key, path))}]"
    lines = [head, *(f"{_key(name)} = {_value(one)}" for name, one in value.items())]
    found = _place(text, path)
    if found:
        start, end = found
        after = text[:start] + newline.join(lines) + newline + text[end:]
    else:
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        after = f"{text}{gap}{newline.join(lines)}{newline}"
    try:
        done = _parsed(after)
    except Unreadable:
        raise Unreadable(f"{'.'.join(path)} is written there in a way that is not edited here") from None
    if _at(done, path) != value or not same_but(before, done, path):
        raise Unreadable(f"{'.'.join(path)} is written there in a way that is not edited here")
    return after


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(str(error)) from None


def _at(document: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return document


def _place(text: str, path: tuple[str, ...]) -> tuple[int, int] | None:
    """Where the table stands: from its head to its last line that says something. Tables inside it, which
    have heads of their own, are not part of that: with them the edit is refused."""
    names = r"[ \t]*\.[ \t]*".join(rf'(?:{re.escape(name)}|"{re.escape(name)}")' for name in path)
    head = re.compile(rf"^[ \t]*\[[ \t]*{names}[ \t]*\][ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE)
    found = head.search(text)
    if not found:
        return None
    end = found.end()
    for line in re.finditer(r"[^\n]*\n?", text[min(len(text), found.end() + 1) :]):
        if not line[0] or _HEAD.match(line[0]):
            break
        if line[0].strip() and not line[0].lstrip().startswith("#"):
            end = found.end() + 1 + line.end()
    return found.start(), min(len(text), max(end, found.end() + 1))


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _value(value: Any) -> str:
    """JSON's texts, numbers, flags and lists of them are TOML's as well."""
    return json.dumps(value, ensure_ascii=False)
