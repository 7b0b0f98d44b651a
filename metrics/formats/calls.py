"""Tool calls of APIs that write arguments as an object and may leave ids out: Gemini and Ollama.

Coming in, `Turns` builds the conversation in chat shape: every call gets an id, and every result is put right
behind the call that it answers, because chat providers refuse it anywhere else. Going out, `Calls` gathers
what is said of each call until it is whole: such APIs have no form for half an object.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from metrics import compact
from metrics.bounds import DEEPEST, finite, shallow
from metrics.events import Chunk, Event, ToolArguments, ToolStart, singly
from metrics.records import Message, Problem
from metrics.values import dataclass


def plain(events: Iterable[Event]) -> Iterator[Event]:
    """The events of the one answer that these APIs write: chunks by their meaning, no second choice, one by
    one."""
    for event in singly(events):
        if isinstance(event, Chunk):
            yield from plain(event.events)
        elif getattr(event, "choice", 0) == 0:
            yield event


# --- coming in


@dataclass(frozen=True, slots=True)
class _Open:
    """A call that waits for its result: the id its caller gave it, if any, and the message it stands in."""

    given: str | None
    id: str
    name: str
    owner: Message


class Turns:
    """A conversation in chat shape, turn by turn.

    Ids that callers leave out are numbered in order, so the same history always gets the same ones (and a
    provider's prefix cache holds).
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._open: list[_Open] = []
        self._ids: set[str] = set()
        self._thoughts = ""

    def add(self, role: str, content: Any) -> None:
        self.messages.append({"role": role, "content": content})
        self._thoughts = ""

    def think(self, thoughts: str) -> None:
        """What the assistant thought before what follows. It stays with the calls that it led to, in the
        field that some chat providers want back beside them (DeepSeek); of plain answers nobody does."""
        self._thoughts += thoughts

    def assistant(self, text: str) -> Message:
        """The assistant's message at the end, with `text` added; turns of it in a row are one."""
        last = self.messages[-1] if self.messages else None
        if last is None or last["role"] != "assistant":
            last = {"role": "assistant", "content": ""}
            self.messages.append(last)
        last["content"] = (last["content"] or "") + text or None
        return last

    def call(self, given: str | None, name: str, arguments: str, signature: str | None = None) -> None:
        """One more call in the assistant's message at the end; `arguments` is JSON text."""
        owner, new_id = self.assistant(""), self._new_id(given)
        made: dict[str, Any] = {
            "id": new_id,
            "type": "function",
            "function": {"name": name, "arguments": arguments},
            **({"_signature": signature} if signature else {}),
        }
        owner.setdefault("tool_calls", []).append(made)
        if self._thoughts:
            owner["reasoning_content"] = owner.get("reasoning_content", "") + self._thoughts
            self._thoughts = ""
        self._open.append(_Open(given or None, new_id, name, owner))

    def result(self, given: str | None, name: str | None, content: str, where: str) -> None:
        """The result of an open call: that of the same id, else the oldest of that name, else, without a
        name, the oldest. Problem 400 naming `where` when it answers none."""
        call = self._answered(given or None, name or None)
        if call is None:
            asked = f' "{(name or given or "")[:80]}"' if name or given else ""
            raise Problem(400, f"{where} answers no open call{asked} of a turn before it", param=where)
        self._open.remove(call)
        # Found from the end, by identity: two messages can be equal.
        at = len(self.messages)
        while self.messages[at - 1] is not call.owner:
            at -= 1
        while at < len(self.messages) and self.messages[at]["role"] == "tool":
            at += 1
        self.messages.insert(at, {"role": "tool", "tool_call_id": call.id, "content": content})

    def _new_id(self, given: str | None) -> str:
        new, number = given, len(self._ids)
        while not new or new in self._ids:
            number += 1
            new = f"call_{number}"
        self._ids.add(new)
        return new

    def _answered(self, given: str | None, name: str | None) -> _Open | None:
        """The first of the open calls that fits best; of the ways to fit, see `result`."""
        if name is None and given is None:
            return self._open[0] if self._open else None
        best, fit = None, 0
        for call in self._open:
            exact = given is not None and call.given == given
            fits = 3 if exact else 0 if call.name != name else 1 if call.given else 2
            if fits > fit:
                best, fit = call, fits
        return best


_write = compact.writer()


def arguments_text(value: Any, where: str) -> str:
    """Arguments as chat writes them, JSON text; {} when absent. Problem 400 naming `where`."""
    made = _object(value or "{}") if isinstance(value, str) else {} if value is None else value
    if not isinstance(made, dict):
        raise Problem(400, f"{where} must be an object", param=where)
    return as_text(made, where)


def as_text(value: Any, where: str) -> str:
    """A JSON value as compact text. Problem 400 for one nested without end, or with a number past all
    counting."""
    if not shallow(value):
        raise Problem(400, f"{where} is nested more than {DEEPEST} levels deep", param=where)
    try:
        return _write(value)
    except ValueError:
        raise Problem(400, f"{where} holds a number that JSON cannot", param=where) from None


# --- going out


@dataclass(frozen=True, slots=True)
class Whole:
    """One call to write. `arguments` is None when the model's text for them is no JSON object."""

    id: str
    name: str
    arguments: dict[str, Any] | None
    signature: str | None = None


class Calls:
    """The calls of an answer that is being said."""

    def __init__(self) -> None:
        self._starts: dict[int, ToolStart] = {}
        self._texts: dict[int, list[str]] = {}

    def take(self, event: ToolStart | ToolArguments) -> None:
        if isinstance(event, ToolStart):
            self._starts.setdefault(event.index, event)
        else:
            self._texts.setdefault(event.index, []).append(event.text)

    def whole(self, finish: str) -> list[Whole]:
        starts = [self._starts[index] for index in sorted(self._starts)]
        said = [
            {
                "id": start.id,
                "name": start.name,
                "signature": start.signature,
                "arguments": "".join(self._texts.get(start.index, ())),
            }
            for start in starts
        ]
        return whole(said, finish)


def whole(said: Iterable[Mapping[str, Any]], finish: str) -> list[Whole]:
    """Calls as in `Reply.tool_calls`, those left out that the limit cut: nobody may run half a call.

    Only the last can have been cut before its first argument; the others without any have none.
    """
    calls = list(said)
    made = []
    for at, call in enumerate(calls):
        text = call.get("arguments") or ""
        empty_is_cut = finish == "length" and at == len(calls) - 1
        arguments = _object(text) if text.strip() or empty_is_cut else {}
        if arguments is not None or finish != "length":
            made.append(Whole(call["id"], call["name"], arguments, call.get("signature")))
    return made


def _object(text: str) -> dict[str, Any] | None:
    """The object that `text` is, or, as some models write it, the object in the string that it is."""
    for _ in range(2):
        try:
            value = json.loads(text, parse_constant=_refused, parse_float=finite)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, str):
            return value if isinstance(value, dict) and shallow(value) else None
        text = value
    return None


def _refused(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
