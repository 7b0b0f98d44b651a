"""Answers without a network, for tests of what reads them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from metrics.client import chat
from metrics.events import Chunk, Event, Tick, singly
from metrics.records import Problem, Target
from tests.effort import effort

TARGET = Target(
    alias="a", model_id="e:m", endpoint="e", connection="e", served="m", base="http://127.0.0.1:1/v1"
)


class Arrived:
    """An answer whose pieces are given; `broken` is raised after the last one, as a transport would."""

    def __init__(
        self,
        pieces: Iterable[bytes],
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        broken: Problem | None = None,
    ) -> None:
        self.status = status
        self.headers = dict(headers or {})
        self._pieces = iter(pieces)
        self._broken = broken

    def pieces(self, tick: float | None = None) -> Iterator[bytes]:
        yield from self._pieces
        if self._broken:
            raise self._broken

    def read(self, limit: int = 1 << 20) -> bytes:
        return b"".join(self.pieces())

    def close(self) -> None:
        pass


def splits(stream: bytes) -> Iterator[list[bytes]]:
    """Whole, byte by byte, and cut in two at every position (at every fifth when little is tried) with a
    quiet tick between."""
    yield [stream]
    yield [stream[i : i + 1] for i in range(len(stream))]
    yield from ([stream[:i], b"", stream[i:]] for i in range(1, len(stream), effort(5, 1)))


DONE = b"data: [DONE]\n\n"


def frame(value: Any, end: str = "\n") -> bytes:
    return f"data: {json.dumps(value, separators=(',', ':'), ensure_ascii=False)}{end}{end}".encode()


def chunk(delta: dict[str, Any] | None, finish: str | None = None, index: int = 0, **more: Any) -> bytes:
    return frame({"choices": [{"index": index, "delta": delta, "finish_reason": finish}], **more})


def call(*items: dict[str, Any], finish: str | None = None) -> bytes:
    return chunk({"tool_calls": list(items)}, finish)


def part(
    index: int | None, arguments: Any, call_id: str | None = None, name: str | None = None
) -> dict[str, Any]:
    item: dict[str, Any] = {} if index is None else {"index": index}
    if call_id is not None:
        item["id"] = call_id
    function = {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}
    return {**item, "type": "function", "function": function}


def ids() -> Any:
    numbers = iter(range(1, 100))
    return lambda: f"id{next(numbers)}"


def said(arrived: Arrived, **more: Any) -> tuple[list[Event], Problem | None]:
    """The events of an answer one by one, without ticks, and the Problem that ended it."""
    events: list[Event] = []
    try:
        for event in singly(chat.read(arrived, TARGET, now=lambda: 0.0, new_id=ids(), **more)):
            if not isinstance(event, Tick):
                events.append(event)
    except Problem as problem:
        return events, problem
    return events, None


def relayed(stream: bytes) -> tuple[list[Any], list[Event]]:
    """The chunks of a relay as objects, and what they mean."""
    events, problem = said(Arrived([stream]), relay=True)
    assert problem is None, problem
    chunks = [event for event in events if isinstance(event, Chunk)]
    meaning = [inner for event in events for inner in (event.events if isinstance(event, Chunk) else [event])]
    assert not any(b"\n" in one.raw for one in chunks if isinstance(one.raw, bytes))
    return [json.loads(one.raw) if isinstance(one.raw, bytes) else one.raw for one in chunks], meaning
