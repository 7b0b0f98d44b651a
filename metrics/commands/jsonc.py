"""Setting one value in a JSON file of somebody else's, comments and all: every other byte stays as it is.

JSON with comments (// and /* */) and trailing commas, as VS Code, Cursor and opencode read it. The text is
taken apart into members with their places; the new value goes in at one place, in the file's own indentation
and line ends.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = re.compile(r"[^\s,\]}/\"\[{]+")
_OTHER = {"}": "an object", "]": "a list"}


class Unreadable(ValueError):
    """The text is not what it should be; the message says where and why."""


@dataclass(slots=True)
class Node:
    """A value of the text, from `start` to `end`. `members` are an object's, by name; `comma` is the place
    behind a comma that follows the value, None where there is none."""

    start: int
    end: int = 0
    value: Any = None
    members: dict[str, "Node"] | None = None
    comma: int | None = None
    twice: list[str] = field(default_factory=list)


def read(text: str) -> Any:
    """What the text says. Unreadable when it is no JSON, comments and trailing commas apart."""
    return _tree(text).value


def edited(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` at `path`, objects on the way made where they are missing; the same text when it
    says so already. Unreadable where it is no object, or names the same thing twice."""
    if not _BLANK.sub("", text.removeprefix("\ufeff")):
        return text + _dumped(_nested(path, value), "", "\n") + "\n"
    node, left = _tree(text), list(path)
    while left:
        if node.members is None:
            where = ".".join(path[: len(path) - len(left)]) or "the file"
            raise Unreadable(f"{where} is no object")
        if left[0] in node.twice:
            raise Unreadable(f"it says {left[0]!r} twice")
        if left[0] not in node.members:
            return _inserted(text, node, left[0], _nested(left[1:], value))
        node = node.members[left.pop(0)]
    if node.value == value:
        return text
    return text[: node.start] + _dumped(value, _indent(text, node.start), _line_end(text)) + text[node.end :]


def _nested(path: Sequence[str], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


# --- putting in


def _inserted(text: str, node: Node, name: str, value: Any) -> str:
    """The text with one more member at the end of an object, in the style of those that are there."""
    assert node.members is not None
    newline, outer = _line_end(text), _indent(text, node.start)
    members = list(node.members.values())
    named = json.dumps(name, ensure_ascii=False)
    if members and "\n" not in text[node.start : node.end]:
        said = f"{named}: {json.dumps(value, ensure_ascii=False)}"
        return _behind_last(text, members[-1], members[-1].comma or members[-1].end, f" {said}")
    inner = _indent(text, members[0].start) if members else outer + "  "
    said = f"{newline}{inner}{named}: {_dumped(value, inner, newline)}"
    if members:
        return _behind_last(text, members[-1], _line_of(text, members[-1], node), said)
    # What stands inside, a comment perhaps, stays in front.
    kept = node.start + 1 + len(text[node.start + 1 : node.end - 1].rstrip())
    return f"{text[:kept]}{said}{newline}{outer}{text[node.end - 1 :]}"


def _behind_last(text: str, last: Node, place: int, said: str) -> str:
    """`said` at the place behind the last member, with the comma that parts them; a comma that stood behind
    the last one has another behind the new one."""
    if last.comma is None:
        return f"{text[: last.end]},{text[last.end : place]}{said}{text[place:]}"
    return f"{text[:place]}{said},{text[place:]}"


def _line_of(text: str, last: Node, node: Node) -> int:
    """The end of the last member's line, where nothing but a comment follows it; else its own end."""
    behind = last.comma or last.end
    end = text.find("\n", behind, node.end)
    rest = text[behind:end].rstrip("\r") if end >= 0 else ""
    return behind + len(rest) if end >= 0 and _BLANK.fullmatch(rest) else behind


def _dumped(value: Any, indent: str, newline: str) -> str:
    step = "\t" if indent.startswith("\t") else 2
    lines = json.dumps(value, ensure_ascii=False, indent=step).split("\n")
    return f"{newline}{indent}".join(lines)


def _indent(text: str, place: int) -> str:
    """The white space at the head of the line that holds the place."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


# --- taking apart


def _tree(text: str) -> Node:
    try:
        node = _value(text, _skip(text, len("\ufeff") if text.startswith("\ufeff") else 0))
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    if _skip(text, node.end) != len(text):
        raise _broken(text, _skip(text, node.end), "the end")
    return node


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int) -> Node:
    if text[at : at + 1] == "{":
        return _object(text, at)
    if text[at : at + 1] == "[":
        return _list(text, at)
    found = _STRING.match(text, at) or _PLAIN.match(text, at)
    if not found:
        raise _broken(text, at, "a value")
    try:
        return Node(at, found.end(), json.loads(found[0]))
    except ValueError:
        raise _broken(text, at, "a value") from None


def _object(text: str, start: int) -> Node:
    node = Node(start, value={}, members={})
    members: dict[str, Node] = {}
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        named = _STRING.match(text, at)
        if not named:
            raise _broken(text, at, "a name in quotes")
        name, colon = str(json.loads(named[0])), _skip(text, named.end())
        if text[colon : colon + 1] != ":":
            raise _broken(text, colon, '":"')
        member = _value(text, _skip(text, colon + 1))
        node.twice += [name] if name in members else []
        members[name], node.value[name] = member, member.value
        at = _behind(text, member, "}")
    node.end, node.members = at + 1, members
    return node


def _list(text: str, start: int) -> Node:
    node = Node(start, value=[])
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        item = _value(text, at)
        node.value.append(item.value)
        at = _behind(text, item, "]")
    node.end = at + 1
    return node


def _behind(text: str, node: Node, closing: str) -> int:
    """The place of what follows a value: the next one, or the end of what holds it."""
    at = _skip(text, node.end)
    if text[at : at + 1] == ",":
        node.comma = at + 1
        return _skip(text, at + 1)
    if text[at : at + 1] != closing:
        raise _broken(text, at, f'"," or the end of {_OTHER[closing]}')
    return at


def _broken(text: str, at: int, wanted: str) -> Unreadable:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return Unreadable(f"{wanted} is missing at line {line}, column {column}")


def same_but(before: Any, after: Any, path: Sequence[str]) -> bool:
    """Whether two documents differ at `path` alone."""
    if not path or not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return not path or (before in (None, {}) and isinstance(after, Mapping) and set(after) == {path[0]})
    others = {name: value for name, value in before.items() if name != path[0]}
    return others == {name: value for name, value in after.items() if name != path[0]} and same_but(
        before.get(path[0]), after.get(path[0]), path[1:]
    )
