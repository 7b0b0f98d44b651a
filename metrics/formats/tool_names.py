"""Tool names that every provider takes: callers name tools as they like, chat providers allow 1 to 64 of
A-Z a-z 0-9 _ - and refuse the whole request for one other; Gemini's begin with a letter or _.

The idea: a name that will not do gets a stand-in worked out from the name alone, so it is the same in every
turn of a conversation; what the model says is told under the caller's own names again.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from metrics.events import Chunk, Event, ToolStart
from metrics.formats.lines import as_line
from metrics.records import Request

LONGEST = 64
_RULE = re.compile(rf"[A-Za-z_][A-Za-z0-9_-]{{0,{LONGEST - 1}}}")
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_NAME = re.compile(rb'("name"\s*:\s*)"([A-Za-z0-9_-]*)"')
_DIGEST = 8  # hex digits that keep two names apart which look alike once shortened


def fitted(request: Request) -> tuple[Request, dict[str, str]]:
    """The request under names that providers take, in its tools, its calls and its choice; and the caller's
    name of each stand-in, {} when there are none."""
    stands = {name: stand_in(name) for name in _names(request) if not _RULE.fullmatch(name)}
    if not stands:
        return request, {}
    passed = dict(request.passed)
    if isinstance(passed.get("tool_choice"), dict):
        passed["tool_choice"] = _renamed(passed["tool_choice"], stands)
    fitting = replace(
        request,
        tools=[_renamed(tool, stands) for tool in request.tools],
        messages=[
            {**message, "tool_calls": [_renamed(call, stands) for call in message["tool_calls"]]}
            if message.get("tool_calls")
            else message
            for message in request.messages
        ],
        passed=passed,
    )
    return fitting, {stand: name for name, stand in stands.items()}


def stand_in(name: str) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    fit = _FOREIGN.sub("_", name)
    first = "" if fit[:1].isalpha() else "_"
    return f"{first}{fit}"[: LONGEST - _DIGEST - 1] + f"_{digest}"


def restored(events: Iterable[Event], names: Mapping[str, str]) -> Iterator[Event]:
    """`events` with the caller's own names, in the bytes of chunks too."""
    for event in events:
        if isinstance(event, ToolStart) and event.name in names:
            yield replace(event, name=names[event.name])
        elif isinstance(event, Chunk) and any(_foreign(inner, names) for inner in event.events):
            raw = event.raw if isinstance(event.raw, bytes) else as_line(event.raw)
            yield Chunk(_restored_in(raw, names), tuple(restored(event.events, names)))
        else:
            yield event


def _restored_in(chunk: bytes, names: Mapping[str, str]) -> bytes:
    """Inside of a text the quotes are escaped, so a bare one only stands around a name."""

    def mine(found: re.Match[bytes]) -> bytes:
        name = names.get(found[2].decode())
        return found[0] if name is None else found[1] + as_line(name)

    return _NAME.sub(mine, chunk)


def _foreign(event: Event, names: Mapping[str, str]) -> bool:
    return isinstance(event, ToolStart) and event.name in names


def _names(request: Request) -> set[str]:
    """Every name of a tool in `request`: in its tools, its calls and its choice."""
    holders = [*request.tools]
    for message in request.messages:
        if "tool_calls" in message:
            holders += message["tool_calls"] or ()
    if isinstance(choice := request.passed.get("tool_choice"), dict):
        holders.append(choice)
    found = set()
    for holder in holders:
        named = holder.get(_kind(holder))
        if isinstance(named, dict) and isinstance(named.get("name"), str):
            found.add(named["name"])
    return found


def _renamed(holder: Mapping[str, Any], stands: Mapping[str, str]) -> dict[str, Any]:
    kind = _kind(holder)
    named = holder.get(kind)
    if not isinstance(named, dict) or named.get("name") not in stands:
        return dict(holder)
    return {**holder, kind: {**named, "name": stands[named["name"]]}}


def _kind(holder: Mapping[str, Any]) -> str:
    return "custom" if "custom" in holder else "function"
