"""What the events of a Messages stream say, whoever sent it and however it is bent.

The idea: a whole message is a stream in one piece, so both are read here, block by block. Shapes: anthropic
2.14.0 (types/raw_message_stream_event.py). Servers that copy the API leave events out: a block may begin with
its first delta, a call's input may stand whole in its first event, usage may be spread over two.

A thinking block is told in pieces, the last of which carries its signature; what a model sealed in an answer
with a tool call is kept under that call's id (see seals), for callers that cannot hold it.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from metrics.client import errors, objects, seals, usage
from metrics.client.chunks import FINISHES
from metrics.client.mould import Piece
from metrics.client.outgoing import to_json
from metrics.events import Burst, Closed, Event, Opened, Reasoning, Text, ToolArguments, ToolStart
from metrics.records import Problem, Target, Usage

REFUSED = "refused by"  # and a served name: the shelf of what that model did not take back


class _Block:
    """The content block that is open. `call` is its call's number, `told` whether arguments were passed on,
    `thought` its words and `signature` its seal so far."""

    __slots__ = ("call", "given", "kind", "signature", "thought", "told")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.call = -1
        self.given: Mapping[str, Any] = {}  # the input that stood in the block's first event
        self.told = False
        self.thought: list[str] = []
        self.signature = ""


class Messages:
    """Reads the events of one answer, in order. `now` is for waits that errors name; `new_id` names nameless
    tool calls."""

    def __init__(self, target: Target, now: Callable[[], float], new_id: Callable[[], str]) -> None:
        self.taken = 0  # events that an API of this kind sends
        self.finished = False  # why it stopped has been said, or that it did
        self.over = False  # nothing follows
        self._target, self._now, self._new_id = target, now, new_id
        self._opened = False
        self._blocks: dict[int | None, _Block] = {}  # open ones by their place
        self._told: int | None = None  # the place that `only_piece` told of
        self._ids: list[str] = []  # of the calls so far
        self._sealed: list[dict[str, Any]] = []
        self._reason = ""
        self._sequence: str | None = None
        self._usage: dict[str, Any] = {}

    def take(self, value: Mapping[str, Any], event: str = "") -> Iterator[Event]:
        """The events of one object; a Problem when it is an error."""
        kind = value.get("type") if isinstance(value.get("type"), str) else event
        problem = errors.in_stream(value, self._target, now=self._now()) if _may_fail(kind, value) else None
        if problem:
            raise problem
        reader = _READERS.get(str(kind))
        if reader:
            self.taken += 1
            yield from reader(self, value)

    def only_piece(self, value: Mapping[str, Any], events: list[Event]) -> Piece | None:
        """The piece that is all that a delta just taken says, as `go_on` can take more of it; None for any
        other event."""
        piece = events[0] if len(events) == 1 and value.get("type") == "content_block_delta" else None
        if not isinstance(piece, Text | Reasoning | ToolArguments) or len(_member(value, "delta")) > 2:
            return None
        self._told = _place(value)
        return piece

    def go_on(self, burst: Burst) -> bool:
        """Take more of what `only_piece` told, if the block that it was of is still open."""
        opened, like = self._blocks.get(self._told), burst.like
        if opened is None or opened.kind != _OF_PIECE[type(like)]:
            return False
        if isinstance(like, ToolArguments) and opened.call != like.index:
            return False
        opened.told = True
        if isinstance(like, Reasoning):
            opened.thought += burst.texts
        self.taken += len(burst.texts)
        return True

    def close(self) -> Iterator[Event]:
        """What is left to say when the stream is over; ends with Closed."""
        for place in list(self._blocks):
            yield from self._end(place)
        if self._ids and self._sealed:
            seals.keep(self._target.model_id, self._ids[0], tuple(self._sealed))
        finish = FINISHES.get(self._reason) or "stop"
        if finish in ("stop", "tool_calls"):
            finish = "tool_calls" if self._ids else "stop"
        spent = usage.of_anthropic(self._usage) if self._usage else Usage()
        yield Closed(finish, spent, self._sequence if finish == "stop" else None)

    # --- the message

    def _start(self, value: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._open(_member(value, "message"))

    def _open(self, message: Mapping[str, Any]) -> Iterator[Event]:
        self._spend(message)
        if not self._opened:
            self._opened = True
            yield Opened(_text(message, "model") or None, id=_text(message, "id") or None)

    def _whole(self, message: Mapping[str, Any]) -> Iterator[Event]:
        """A message in one object."""
        yield from self._open(message)
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict):
                yield from self._begin({"index": index, "content_block": block})
                yield from self._end(index)
        self._note(message)
        self.finished = self.over = True

    def _delta(self, value: Mapping[str, Any]) -> Iterator[Event]:
        self._note(_member(value, "delta"))
        self._spend(value)
        return iter(())

    def _note(self, told: Mapping[str, Any]) -> None:
        reason = _text(told, "stop_reason")
        if reason:
            self._reason, self.finished = reason, True
            if reason == "stop_sequence":
                self._sequence = _text(told, "stop_sequence") or None

    def _stop(self, value: Mapping[str, Any]) -> Iterator[Event]:
        self.finished = self.over = True
        return iter(())

    def _spend(self, holder: Mapping[str, Any]) -> None:
        """The counts run up; copies of the API repeat with zeros what they counted before."""
        for name, count in _member(holder, "usage").items():
            if count or name not in self._usage:
                self._usage[name] = count

    # --- blocks

    def _begin(self, value: Mapping[str, Any]) -> Iterator[Event]:
        block = _member(value, "content_block")
        kind = _text(block, "type")
        place = _place(value)
        yield from self._end(place)
        opened = self._blocks[place] = _Block(kind)
        if kind == "tool_use":
            opened.given = _member(block, "input")
            yield from self._call(opened, block)
        elif kind == "redacted_thinking":
            whole = dict(block)
            self._sealed.append(whole)
            yield Reasoning("", sealed=whole)
        else:
            yield from self._say(opened, block)

    def _call(self, opened: _Block, block: Mapping[str, Any]) -> Iterator[Event]:
        call_id = _text(block, "id")
        if not call_id or call_id in self._ids:
            call_id = self._new_id()
        opened.call = len(self._ids)
        self._ids.append(call_id)
        yield ToolStart(opened.call, call_id, _text(block, "name"))

    def _piece(self, value: Mapping[str, Any]) -> Iterator[Event]:
        delta = _member(value, "delta")
        place = _place(value)
        opened = self._blocks.get(place)
        if opened is None:
            opened = self._blocks[place] = _Block(_OF_DELTA.get(_text(delta, "type"), ""))
        yield from self._say(opened, delta)

    def _say(self, opened: _Block, words: Mapping[str, Any]) -> Iterator[Event]:
        """What a block's first event or one of its deltas adds: only fields of its own kind count."""
        if opened.kind == "text" and (text := _text(words, "text")):
            yield Text(text)
        elif opened.kind == "thinking":
            opened.signature += _text(words, "signature")
            if thought := _text(words, "thinking"):
                opened.thought.append(thought)
                yield Reasoning(thought)
        elif opened.kind == "tool_use" and (arguments := _text(words, "partial_json")):
            opened.told = True
            yield ToolArguments(opened.call, arguments)

    def _finish(self, value: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._end(_place(value))

    def _end(self, place: int | None) -> Iterator[Event]:
        opened = self._blocks.pop(place, None)
        if opened is None:
            return
        # {} is said as nothing: an answer that broke off before a call's first argument looks the same.
        if opened.kind == "tool_use" and not opened.told and opened.given:
            yield ToolArguments(opened.call, to_json(opened.given).decode())
        if opened.kind == "thinking" and opened.signature:
            thought = "".join(opened.thought)
            self._sealed.append({"type": "thinking", "thinking": thought, "signature": opened.signature})
            seals.note(seals.OWNER, digest(opened.signature), self._target.served)
            yield Reasoning("", signature=opened.signature)


_READERS: Mapping[str, Callable[[Messages, Mapping[str, Any]], Iterator[Event]]] = {
    "message": Messages._whole,
    "message_start": Messages._start,
    "message_delta": Messages._delta,
    "message_stop": Messages._stop,
    "content_block_start": Messages._begin,
    "content_block_delta": Messages._piece,
    "content_block_stop": Messages._finish,
}
_OF_PIECE = {Text: "text", Reasoning: "thinking", ToolArguments: "tool_use"}
_OF_DELTA = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "thinking"}


def digest(signature: str) -> str:
    """A signature as `seals` keeps it: they are long, and many."""
    return hashlib.sha256(signature.encode("utf-8", "surrogatepass")).hexdigest()


def finish(messages: Messages, target: Target, whole: bool) -> Iterator[Event]:
    """The end of an answer, or the Problem that it is: nothing said, broken off, or of another API."""
    if not messages.taken:
        if whole:
            what = "answered with JSON that is no message; does its endpoint speak another API?"
            raise objects.problem(target, what, "garbage")
        raise objects.empty(target)
    if not messages.finished:
        raise objects.cut(target)
    yield from messages.close()


def broke(problem: Problem, messages: Messages) -> None:
    """Raise `problem`, unless why the answer stopped was said before: past that it is complete."""
    if not messages.finished:
        raise problem


def _may_fail(kind: Any, value: Mapping[str, Any]) -> bool:
    """An event of a kind that is not known yet is no error, whatever is in it."""
    return kind == "error" or not kind or bool(value.get("error"))


def _member(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def _place(value: Mapping[str, Any]) -> int | None:
    """Which block an event is about; None where that is not said, as of the only one."""
    index = value.get("index")
    return index if isinstance(index, int) else None


def _text(holder: Mapping[str, Any], name: str) -> str:
    value = holder.get(name)
    return value if isinstance(value, str) else ""
