"""Streams whose every chunk carries the time it was sent at: whoever reads one on this machine can tell how
long it was under way.

A model's name says how it answers: `mock-d50` waits for 50 ms, `mock-c100` says a hundred chunks as fast as
it can, `mock-g20-c50` fifty, one each 20 ms. The clock is the machine's own, the same for all its processes
(perf_counter)."""

import json
import re
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

WORDS = (b"The quick", b"brown fox jumps", b"over the lazy dog.")
STAMP = re.compile(rb"#(\d+)#")
NAME = re.compile(rb'"model": ?"mock(?:-d(\d+))?(?:-g(\d+))?(?:-c(\d+))?"')
STREAM = re.compile(rb'"stream": ?true')
MESSAGES = b"/v1/messages"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"
MARK = b"%MARK%"  # where a chunk's words go


class Manner(NamedTuple):
    """Seconds before an answer begins and between its chunks, and how many of those; 0: an answer that is
    made beforehand."""

    delay: float = 0.0
    gap: float = 0.0
    count: int = 0


class Shape(NamedTuple):
    """What a stream consists of: its beginning, a chunk with MARK in it, its end."""

    begin: tuple[bytes, ...]
    chunk: bytes
    end: tuple[bytes, ...]


def manner(body: bytes) -> Manner:
    """How the request `body` is to be answered."""
    found = NAME.search(body)
    if not found:
        return Manner()
    delay, gap, count = (int(number or 0) for number in found.groups())
    return Manner(delay / 1e3, gap / 1e3, count if streamed(body) else 0)


def streamed(body: bytes) -> bool:
    return STREAM.search(body) is not None


def framed(text: bytes) -> bytes:
    """A chunk of the transfer coding."""
    return b"%x\r\n%b\r\n" % (len(text), text)


def _json(fields: object) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode()


def _chat() -> Shape:
    head = {"id": "chatcmpl-mock", "object": "chat.completion.chunk", "created": 1_700_000_000}

    def event(delta: object, finish: object = None, **more: object) -> bytes:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}] if delta is not None else []
        return b"data: %b\n\n" % _json(head | {"model": "mock", "choices": choices} | more)

    usage = {"prompt_tokens": 12, "completion_tokens": 100, "total_tokens": 112}
    end = (event({}, "stop"), event(None, usage=usage), b"data: [DONE]\n\n")
    return Shape((event({"role": "assistant", "content": ""}),), event({"content": MARK.decode()}), end)


def _messages() -> Shape:
    def event(kind: str, **fields: object) -> bytes:
        return b"event: %b\ndata: %b\n\n" % (kind.encode(), _json({"type": kind} | fields))

    message = {"id": "msg_mock", "type": "message", "role": "assistant", "model": "mock", "content": []}
    nothing = {"stop_reason": None, "stop_sequence": None}
    usage = {"input_tokens": 12, "output_tokens": 1}
    begin = (
        event("message_start", message=message | nothing | {"usage": usage}),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    )
    chunk = event("content_block_delta", index=0, delta={"type": "text_delta", "text": MARK.decode()})
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    end = (
        event("content_block_stop", index=0),
        event("message_delta", delta=stop, usage={"output_tokens": 100}),
        event("message_stop"),
    )
    return Shape(begin, chunk, end)


SHAPES = {False: _chat(), True: _messages()}  # by whether the path is that of Messages


def stream(
    send: Callable[[bytes], object],
    how: Manner,
    messages: bool,
    clock: Callable[[], int] = time.perf_counter_ns,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Send a stream, a call of `send` for each chunk. Its times count from its beginning: a late chunk makes
    no other one late. `clock` tells nanoseconds."""
    shape = SHAPES[messages]
    before, after = shape.chunk.split(MARK)
    send(HEAD + b"".join(map(framed, shape.begin)))
    begun = clock()
    for number in range(how.count):
        if how.gap:
            sleep(max(0.0, number * how.gap - (clock() - begun) / 1e9))
        words = WORDS[number % len(WORDS)] if number < how.count - 1 else WORDS[-1]
        send(framed(b"%b%b #%d# %b" % (before, words, clock(), after)))
    send(b"".join(map(framed, shape.end)) + LAST)


def delays(got: bytes, start: int, now: int) -> tuple[Iterable[float], int]:
    """(seconds that each chunk in `got` after `start` was under way, where to look for the next one), when
    it is `now` (nanoseconds)."""
    under_way = []
    for found in STAMP.finditer(got, start):
        under_way.append((now - int(found[1])) / 1e9)
        start = found.end()
    return under_way, start
