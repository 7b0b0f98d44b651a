"""An answer as the JSON objects in it, whatever a server made of it: events of a stream, or one whole body
although a stream was asked for (and the other way round).

The idea: each provider's API says its answer in objects; how they are wrapped is told apart by the first byte
of the body, and what is wrong with the wrapping is a Problem here, so that a dialect's reader only ever sees
objects.
"""

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, takewhile
from typing import Any, NamedTuple, Protocol

from metrics import bounds
from metrics.client import errors, sse
from metrics.client.mould import Mould
from metrics.client.outgoing import to_json
from metrics.client.surrogates import Halves
from metrics.events import Burst
from metrics.records import Problem, Target

LONGEST_BODY = 32 << 20
SETTLE = 0.05  # seconds
DONE = b"[DONE]"
BLANK = b" \t\r\n"
_FIELDS = (b":", b"data", b"event", b"id", b"retry")


class Incoming(Protocol):
    """What is read here of a transport's Arrival."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...

    def pieces(self, tick: float | None = None) -> Iterator[bytes]: ...
    def read(self, limit: int = ...) -> bytes: ...


class Object(NamedTuple):
    """One object and the name of its event ("" where it has none). `whole` says that it is the whole answer,
    in one body."""

    event: str
    value: dict[str, Any]
    whole: bool = False


def read(
    arrival: Incoming,
    target: Target,
    *,
    tick: float | None = None,
    now: Callable[[], float] = time.time,
    mould: Mould | None = None,
) -> Iterator[Object | Burst | None]:
    """The objects of an answer in order; None is a sign of life. Ends where the stream does, torn or not:
    whether the answer was finished by then only the reader knows (see `cut`). With a `mould`, what fits it
    comes as a Burst.

    Raises Problem: the provider's refusal with its status, "garbage" for what is no JSON, "empty" for nothing
    at all, "too_large", and the transport's.
    """
    refuse(arrival, target, now)
    pieces = arrival.pieces(tick)
    start = b""
    for piece in pieces:
        start = (start + piece).lstrip(BLANK)  # DeepSeek holds a connection open with blank lines
        if start and not sse.BOM.startswith(start):
            break
        yield None
    start = start.removeprefix(sse.BOM).lstrip(BLANK)
    if start[:1] in (b"{", b"["):
        yield from _body(chain([start], pieces), target)
    elif start[:1] == b"<":
        raise garbage(target, start)
    else:
        yield from _events(chain([start], pieces) if start else iter(()), target, mould)
        settle(arrival)


def refuse(arrival: Incoming, target: Target, now: Callable[[], float]) -> None:
    """Problem when the answer's status is no success."""
    if 200 <= arrival.status < 300:
        return
    body = b""
    with contextlib.suppress(Problem):  # a refusal whose text breaks off is still that refusal
        body = arrival.read()
    raise errors.from_status(arrival.status, arrival.headers, body, target, now=now())


def settle(arrival: Incoming) -> None:
    """Reads past the last event to the end of the body, which follows at once from nearly all: only then is
    the connection used again, and another TLS handshake costs more than this waits."""
    with contextlib.suppress(Problem):
        for _ in zip(range(8), takewhile(bool, arrival.pieces(SETTLE)), strict=False):
            pass


def _events(pieces: Iterator[bytes], target: Target, mould: Mould | None) -> Iterator[Object | Burst | None]:
    opening = bytearray()
    words = b""
    taken = False
    halves = Halves()
    pieces = noting(pieces, opening)
    for event in mould.events(pieces) if mould else sse.read(pieces):
        if isinstance(event, Burst):
            yield event
            continue
        data = event.data.strip() if event else b""
        if not event or not data:
            yield None
        elif data.startswith(DONE):
            break
        elif data[:1] not in (b"{", b"["):
            words = words or data  # some servers say "ping"
        else:
            value = decoded(halves.joined(data), target, event.whole)
            if value is None:
                return
            taken = True
            yield Object(event.event, value)
    if not taken:
        raise unsaid(words, opening, target)


def noting(pieces: Iterator[bytes], opening: bytearray) -> Iterator[bytes]:
    """The same pieces; keeps how they began, to quote what turns out to be no event stream."""
    return chain(_noted(pieces, opening), pieces)


def _noted(pieces: Iterator[bytes], opening: bytearray) -> Iterator[bytes]:
    for piece in pieces:
        opening += piece
        yield piece
        if len(opening) >= 200:
            return


def _body(pieces: Iterator[bytes], target: Target) -> Iterator[Object | None]:
    body: list[bytes] = []
    size = 0
    for piece in pieces:
        if not piece:
            yield None
        body.append(piece)
        size += len(piece)
        if size > LONGEST_BODY:
            raise too_large(target)
    for value in _all(b"".join(body), target):
        yield Object("", value, whole=True)


def _all(data: bytes, target: Target) -> Iterator[dict[str, Any]]:
    """The object that a body is, or all in the list that it is: Gemini streams one where none asked for
    events."""
    value = decoded(data, target, whole=True)
    assert value is not None
    yield value
    if data[:1] == b"[":
        for item in _read(data)[1:]:
            value = decoded(to_json(item), target, whole=True)
            assert value is not None
            yield value


def decoded(data: bytes, target: Target, whole: bool) -> dict[str, Any] | None:
    """JSON as an object (of a list its first); None for the torn last event of a stream that broke off. What
    it holds can be written as JSON again."""
    try:
        value = _read(data)
    except (ValueError, RecursionError) as error:
        if not whole:
            return None
        raise garbage(target, data) from error
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict) or not _shallow(value, data):
        raise garbage(target, data)
    # A lone surrogate is legal in JSON and breaks whoever writes the text as UTF-8. (One byte is found in a
    # fraction of the time that two take.)
    if b"\\" in data and b"\\u" in data and b"\\ud" in data.lower():
        value = json.loads(to_json(value))
        assert isinstance(value, dict)
    return value


def _read(data: bytes) -> Any:
    text = data.decode("utf-8", "replace")
    value, end = _decoder.raw_decode(text)
    if end < len(text) and text[end:].strip(_BLANK):
        raise ValueError("more than one value")
    return value


# Servers in Python write NaN, which is no JSON, where a log probability has no number.
_decoder = json.JSONDecoder(parse_float=bounds.finite, parse_constant=lambda _: None)
_BLANK = BLANK.decode()


def _shallow(value: Any, data: bytes) -> bool:
    return data.count(b"[") + data.count(b"{") <= bounds.DEEPEST or bounds.shallow(value)


def problem(target: Target, what: str, kind: str) -> Problem:
    return Problem(502, f"{target.alias}: {what}", kind=kind)


def empty(target: Target) -> Problem:
    return problem(target, "answered 200 and said nothing", "empty")


def cut(target: Target) -> Problem:
    return problem(target, "the answer broke off part way", "cut")


def too_large(target: Target) -> Problem:
    return problem(target, f"sent an answer of more than {LONGEST_BODY >> 20} MB", "too_large")


def unsaid(words: bytes, opening: bytes | bytearray, target: Target) -> Problem:
    """What to say of a stream without objects, from its words and how it began."""
    events_began = any(opening[: len(name)] == name[: len(opening)] for name in _FIELDS)
    words = words or (b"" if events_began else bytes(opening))
    return garbage(target, words) if words else empty(target)


def garbage(target: Target, start: bytes) -> Problem:
    said = errors.redact(" ".join(errors.read(start[:2000]).message.split()), target.key)[:100]
    return problem(target, f"answered with neither an event stream nor JSON: {said!r}", "garbage")
