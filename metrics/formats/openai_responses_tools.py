"""Tools of a Responses request as a chat member can have them, and a member's calls as the caller declared
them.

A member knows functions with JSON arguments and one flat list of names. So a custom tool becomes a function
with one string, and a function in a namespace gets a name that holds both. What they were travels on the tool
itself (`_custom`, `_namespace`), so a reply needs nothing but `request.tools` to find the way back.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metrics.formats import content
from metrics.formats.hosted import Hosted

LONGEST_NAME = 64  # characters, as providers allow them for a function
INPUT = "input"  # the one argument that a custom tool's text travels in

CHOICES = ("none", "auto", "required")
CODEX_SEARCH = ' (in Codex: web_search = "disabled" in config.toml)'

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True)
class Declared:
    """A tool as its caller knows it."""

    name: str
    namespace: str | None = None
    custom: bool = False


class Toolbox:
    """What a caller declared: `tools` in chat's shape, and the members' names of them. Problem 400 for what
    cannot be given to a member; what runs at OpenAI is `hosted`."""

    def __init__(self, declared: Any, collection: str = "") -> None:
        self.hosted = Hosted("OpenAI", collection)
        self.tools: list[dict[str, Any]] = []
        self._names: dict[tuple[str | None, str], str] = {}
        listed = _listed(declared, "tools")
        # Plain names are the caller's own and stay; those made from a namespace give way to them.
        self._taken = {tool["name"] for tool in listed if isinstance(tool.get("name"), str)}
        for at, tool in enumerate(listed):
            self._add(tool, f"tools[{at}]")

    def name(self, name: str, namespace: str | None) -> str:
        """The member's name of a tool, also of one that is no longer declared."""
        known = self._names.get((namespace, name))
        return known or (name if namespace is None else _joined(namespace, name))

    def choice(self, value: Any) -> Any:
        """`tool_choice` in chat's shape. With allowed_tools, the others are put away: chat members elsewhere
        than at OpenAI know no such choice."""
        if value is None or (isinstance(value, str) and value in CHOICES):
            return value
        if not isinstance(value, dict):
            raise content.refuse(
                f'"tool_choice" must be an object or one of {", ".join(CHOICES)}', "tool_choice"
            )
        kind = value.get("type")
        if kind in ("function", "custom"):
            return {"type": "function", "function": {"name": self._chosen(value, "tool_choice")}}
        if kind == "allowed_tools":
            return self._allow(value)
        self.hosted.tool(kind, "tool_choice", hint=_hint(kind))
        return "auto"

    def _allow(self, value: Mapping[str, Any]) -> str:
        mode = value.get("mode", "auto")
        if mode not in ("auto", "required"):
            raise content.refuse('"tool_choice.mode" must be auto or required', "tool_choice.mode")
        allowed = set()
        for at, tool in enumerate(_listed(value.get("tools"), "tool_choice.tools")):
            where, kind = f"tool_choice.tools[{at}]", tool.get("type", "function")
            if kind in ("function", "custom"):
                allowed.add(self._chosen(tool, where))
            else:
                self.hosted.tool(kind, where, hint=_hint(kind))
        self.tools = [tool for tool in self.tools if tool["function"]["name"] in allowed]
        return str(mode)

    def _chosen(self, value: Mapping[str, Any], where: str) -> str:
        name, namespace = _named(value, where), value.get("namespace")
        if namespace is not None and not isinstance(namespace, str):
            raise content.refuse(f"{where}.namespace must be a string", f"{where}.namespace")
        if (namespace, name) not in self._names:
            raise content.refuse(
                f'{where} names {content.shown(name)}, which "tools" does not declare', where
            )
        return self._names[namespace, name]

    def _add(self, tool: Mapping[str, Any], where: str, namespace: str | None = None) -> None:
        match tool.get("type"):
            case "function" | None:
                self._keep(_function(tool, where), _named(tool, where), namespace)
            case "custom":
                self._keep(_custom(tool, where), _named(tool, where), namespace)
            case "namespace" if namespace is None:
                name = _named(tool, where)
                for at, inner in enumerate(_listed(tool.get("tools"), f"{where}.tools")):
                    self._add(inner, f"{where}.tools[{at}]", name)
            case kind:
                self.hosted.tool(kind, where, hint=_hint(kind))

    def _keep(self, tool: dict[str, Any], name: str, namespace: str | None) -> None:
        flat = name
        if namespace is not None:
            flat = _unlike(_joined(namespace, name), self._taken)
            self._taken.add(flat)
            tool["_namespace"] = {"namespace": namespace, "name": name}
        tool["function"]["name"] = flat
        self._names[namespace, name] = flat
        self.tools.append(tool)


def declared(tools: Sequence[Mapping[str, Any]]) -> dict[str, Declared]:
    """A member's names of its tools, and what each is to the caller; those not here are called as they
    are."""
    known = {}
    for tool in tools:
        space, custom = tool.get("_namespace"), "_custom" in tool
        if space or custom:
            flat = tool["function"]["name"]
            known[flat] = (
                Declared(space["name"], space["namespace"], custom) if space else Declared(flat, None, custom)
            )
    return known


def _listed(value: Any, where: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(tool, dict) for tool in value):
        raise content.refuse(f'"{where}" must be a list of tools', where)
    return value


def _named(tool: Mapping[str, Any], where: str) -> str:
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        raise content.refuse(f"{where}.name must be the tool's name", f"{where}.name")
    return name


def _hint(kind: Any) -> str:
    return CODEX_SEARCH if str(kind).startswith("web_search") else ""


def _function(tool: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Responses declares functions flat, chat within `function`."""
    parameters, strict = tool.get("parameters"), tool.get("strict")
    if parameters is not None and not isinstance(parameters, dict):
        raise content.refuse(f"{where}.parameters must be a JSON schema", f"{where}.parameters")
    if strict is not None and not isinstance(strict, bool):
        raise content.refuse(f"{where}.strict must be true or false", f"{where}.strict")
    fields = {"description": _description(tool, where), "parameters": parameters, "strict": strict}
    return {"type": "function", "function": {"name": "", **_set(fields)}}


def _custom(tool: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A function with one string. A grammar, which no chat member can be held to, is told in words."""
    form = tool.get("format")
    if form is not None and not isinstance(form, dict):
        raise content.refuse(f"{where}.format must be an object", f"{where}.format")
    rules = "The tool's whole input, as plain text."
    if form and isinstance(form.get("definition"), str):
        syntax = form.get("syntax") if form.get("syntax") in ("lark", "regex") else "its"
        rules += f" It must follow this {syntax} grammar:\n{form['definition']}"
    schema = {
        "type": "object",
        "properties": {INPUT: {"type": "string", "description": rules}},
        "required": [INPUT],
        "additionalProperties": False,
    }
    fields = {"description": _description(tool, where), "parameters": schema}
    return {
        "type": "function",
        "function": {"name": "", **_set(fields)},
        "_custom": form or {"type": "text"},
    }


def _description(tool: Mapping[str, Any], where: str) -> str | None:
    value = tool.get("description")
    if value is not None and not isinstance(value, str):
        raise content.refuse(f"{where}.description must be a string", f"{where}.description")
    return value


def _set(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _joined(namespace: str, name: str) -> str:
    return _short(_UNFIT.sub("_", f"{namespace}__{name}"))


def _short(name: str, tail: str = "") -> str:
    """`name` with `tail` in the length that providers allow; what is cut off is told apart by a digest."""
    if len(name) + len(tail) <= LONGEST_NAME:
        return name + tail
    digest = "_" + hashlib.sha256(name.encode()).hexdigest()[:8]
    return name[: LONGEST_NAME - len(digest) - len(tail)] + digest + tail


def _unlike(name: str, taken: set[str]) -> str:
    made, number = name, 2
    while made in taken:
        made, number = _short(name, f"_{number}"), number + 1
    return made


# --- a custom tool's text inside of its JSON

_OPENING = re.compile(r'\s*\{\s*"' + INPUT + r'"\s*:\s*"')
_LONGEST_OPENING = 200  # characters; what has not begun by then is written in another way
# As much of a JSON string as can be read now. An escape that has not all come waits, and so does the first
# half of a surrogate pair; one that JSON does not have is read as it stands. The group is not possessive:
# before 3.11.5 such a one keeps what its last, failed round has eaten. It is bounded, as it remembers them.
_HEX = "[0-9a-fA-F]"
_READABLE = re.compile(
    rf"""(?: [^"\\]++
          | \\[^u]
          | \\u(?={_HEX}{{0,3}}(?!{_HEX})[\s\S])
          | \\u(?![dD][89abAB]){_HEX}{{4}}
          | \\u{_HEX}{{4}} (?: \\u[dD][c-fC-F]{_HEX}{{2}}
                          | (?= [^\\] | \\[^u]
                              | \\u(?![dD][c-fC-F]){_HEX}{{4}} | \\u{_HEX}{{0,3}}(?!{_HEX})[\s\S] ))
        ){{1,1000}}""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r'(\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))|\\')
_ENDING = re.compile(r'"\s*\}?\s*$')


class CustomInput:
    """The text of a custom call, while a member writes it as `{"input": "..."}`: `take` gives what each piece
    adds, `rest` what is left at the end, when also unusual ways of writing it can be read."""

    def __init__(self) -> None:
        self._raw: list[str] = []
        self._waiting = ""
        self._inside: bool | None = None  # of the string; None: not yet, False: past its end or never
        self._usual = False  # the opening is the usual one

    def take(self, piece: str) -> str:
        self._raw.append(piece)
        if self._inside is False:
            return ""
        self._waiting += piece
        if self._inside is None:
            opening = _OPENING.match(self._waiting)
            if not opening:
                self._inside = None if len(self._waiting) < _LONGEST_OPENING else False
                return ""
            self._usual, self._inside, self._waiting = True, True, self._waiting[opening.end() :]
        run, self._waiting = _readable(self._waiting)
        self._inside = not self._waiting.startswith('"')
        return _unescaped(run)

    def rest(self) -> str:
        if not self._usual:
            return _input_of("".join(self._raw))
        left, self._waiting = self._waiting, ""
        return _ENDING.sub("", left) if self._inside else ""


def _readable(text: str) -> tuple[str, str]:
    """What of a JSON string can be read now, and what waits for more."""
    end = 0
    while readable := _READABLE.match(text, end):
        end = readable.end()
    return text[:end], text[end:]


def _unescaped(run: str) -> str:
    """A JSON string's meaning; a backslash that escapes nothing JSON knows is meant as one."""
    try:
        return str(json.loads(f'"{run}"', strict=False))
    except ValueError:
        right = _ESCAPE.sub(lambda found: found[1] or r"\\", run)
        return str(json.loads(f'"{right}"', strict=False))


def _input_of(arguments: str) -> str:
    """The text when the opening is not the usual one: other arguments first, or no JSON at all."""
    try:
        value = json.loads(arguments, strict=False)
    except (ValueError, RecursionError):
        return arguments
    if isinstance(value, dict):
        texts = [text for text in value.values() if isinstance(text, str)]
        named = value.get(INPUT)
        if isinstance(named, str) or len(texts) == 1:
            return named if isinstance(named, str) else texts[0]
        return arguments if value else ""
    return value if isinstance(value, str) else arguments
