"""Tool calls as providers stream them, made right: which call each piece belongs to, and what it adds.

The idea: a delta's index, id and name are each only a hint. Servers leave the index out, give every call
index 0, count it up with each piece of one call, repeat an empty id and name, or mint a new id per piece.
What decides together with them is whether the arguments so far are a complete JSON value: then a named piece
begins another call, else it goes on. A call is announced once its name is known, and one that ends without
arguments gets `{}`, unless it is where the answer was cut: nobody may run that one.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from metrics.client.called import told
from metrics.events import ToolArguments, ToolStart

Events = list[ToolStart | ToolArguments]

LONGEST_INDEX = 10  # digits; Python reads no number of thousands
_ARGUMENTS = {"function": "arguments", "custom": "input"}  # where a call of each kind has them


class _Call:
    """One call. `key` is the provider's index; `held` are arguments not passed on yet, since they may be no
    more than null or blanks, or the name has not come."""

    __slots__ = ("held", "id", "index", "key", "kind", "name", "opened", "said", "signature", "text")

    def __init__(self, index: int, key: int | None, call_id: str, kind: str) -> None:
        self.index, self.key, self.id, self.kind = index, key, call_id, kind
        self.name = ""
        self.signature: str | None = None
        self.held = ""
        self.text: list[str] = []
        self.opened = self.said = False  # announced; has passed arguments on

    def begun(self) -> bool:
        """Whether arguments came, and more must follow."""
        return any(self.text) and not self.complete()

    def complete(self) -> bool:
        if not self.text or not self.text[-1].rstrip().endswith("}"):
            return False
        try:
            json.loads("".join(self.text))
        except (ValueError, RecursionError):
            return False
        return True


class ToolCalls:
    """The calls of one choice. `new_id` makes an id for a call that came without one."""

    def __init__(self, choice: int, new_id: Callable[[], str]) -> None:
        self.choice = choice
        self._new_id = new_id
        self._calls: list[_Call] = []
        self._by_key: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}

    def __bool__(self) -> bool:
        return any(call.opened for call in self._calls)

    def take(self, item: Mapping[str, Any]) -> Events:
        """What one entry of a delta's `tool_calls` says."""
        body, kind = _body(item)
        name, arguments = _text(body.get("name")), _arguments(body, kind)
        call = self._owner(item, name, arguments, kind)
        if name and call.name and arguments and arguments == "".join(call.text) and call.complete():
            return []  # the whole call once more, as some servers send it at the end
        call.name = call.name or name
        call.signature = call.signature or _signature(item)
        if arguments:
            call.text.append(arguments)
            call.held += arguments
        events: Events = []
        if call.name and not call.opened:
            call.opened = True
            start = ToolStart(
                call.index, call.id, call.name, self.choice, call.kind, signature=call.signature
            )
            events.append(start)
        if call.said or call.kind == "custom" or not "null".startswith(call.held.strip()):
            events += self._pass_on(call)
        return events

    def go_on(self, index: int, arguments: Sequence[str]) -> bool:
        """Take more arguments of the call `index`, which its last piece went to without a name or an id. That
        they still go there is sure as long as no call has begun since; False, and nothing is taken, when it
        is not."""
        call = self._calls[-1] if self._calls else None
        if call is None or call.index != index or not call.said:
            return False
        call.text += arguments
        return True

    def unsay(self, index: int) -> None:
        """That the call `index` began was told to nobody."""
        self._calls[index].opened = False

    def finish(self, cut: bool = False) -> Events:
        """What is left to say when the choice ends; `cut`: before its time, by a limit or a filter."""
        events: Events = []
        for call in self._calls:
            if call.kind == "function" and not call.said and call.held.strip() in ("", "null"):
                call.held = "" if cut and call is self._calls[-1] else "{}"
            events += self._pass_on(call)
        return events

    def items(self, events: Events) -> list[dict[str, Any]]:
        """Entries of a delta's `tool_calls` that say the same, one for each call in a row."""
        items: list[dict[str, Any]] = []
        for event in events:
            kind = self._calls[event.index].kind
            if isinstance(event, ToolStart):
                body = {"name": event.name, _ARGUMENTS[kind]: ""}
                items.append({"index": event.index, "id": event.id, "type": kind, kind: body})
            elif items and items[-1]["index"] == event.index:
                items[-1][kind][_ARGUMENTS[kind]] += event.text
            else:
                items.append({"index": event.index, kind: {_ARGUMENTS[kind]: event.text}})
        return items

    def _pass_on(self, call: _Call) -> Events:
        if not (call.opened and call.held):
            return []
        held, call.held, call.said = call.held, "", True
        return [ToolArguments(call.index, held, self.choice)]

    def _owner(self, item: Mapping[str, Any], name: str, arguments: str, kind: str) -> _Call:
        key, call_id = _index(item.get("index")), _text(item.get("id"))
        last = self._calls[-1] if self._calls else None
        here = self._by_key.get(key) if key is not None else None
        known = self._by_id.get(call_id) if call_id else None
        if known:
            # One id for two calls: a server that uses the function's name as the id.
            twin = name and (key != known.key if key is not None else arguments and known.complete())
            return self._add(key, "", kind) if twin else known
        if key is None:
            mine = last and (
                not name or not last.name or (name == last.name and not call_id and last.begun())
            )
            return last if mine and last else self._add(key, call_id, kind)
        if here is None:
            stray = last and not name and not call_id
            return last if stray and last else self._add(key, call_id, kind)
        if call_id:
            again = not name or here.begun() or (name == here.name and not any(here.text) and arguments)
            return here if again or not here.name else self._add(key, call_id, kind)
        return self._add(key, "", kind) if name and arguments and here.complete() else here

    def _add(self, key: int | None, call_id: str, kind: str) -> _Call:
        call = _Call(len(self._calls), key, call_id or self._new_id(), kind)
        self._calls.append(call)
        self._by_id[call.id] = call
        if key is not None:
            self._by_key[key] = call
        return call


def _body(item: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    custom = item.get("custom")
    if isinstance(custom, dict):
        return custom, "custom"
    function = item.get("function")
    return (function if isinstance(function, dict) else {}), "function"


def _arguments(body: Mapping[str, Any], kind: str) -> str:
    return told(body.get(_ARGUMENTS[kind]))


def _signature(item: Mapping[str, Any]) -> str | None:
    """Gemini's thought signature, where its OpenAI-compatible endpoint puts it."""
    value: Any = item
    for name in ("extra_content", "google", "thought_signature"):
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


def _index(value: Any) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) < LONGEST_INDEX:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
