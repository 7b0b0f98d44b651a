"""An answer as it arrives: its status, its headers, and its body out of whatever framing and coding it came
in.

Takes a `Line` that is already open. Every failure is a `Problem` whose `kind` says which: unreachable (the
other side gave nothing of an answer), timeout, cut (it broke off part way), garbage (it is not HTTP),
too_large, hangup (our side ended it).
"""

import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Protocol

from metrics import http1
from metrics.coding import Inflate
from metrics.line import Line
from metrics.records import Problem
from metrics.values import dataclass


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. `first_byte` runs from the request's last byte to the end of the answer's head, `idle`
    between pieces of its body (and of ours, while it is sent); `total` counts from `open` to the last
    byte."""

    connect: float = 10.0
    first_byte: float = 120.0
    idle: float = 120.0
    total: float | None = None


class Clock:
    """How long the next wait of one call may be."""

    __slots__ = ("_quiet", "_until", "timeouts")

    def __init__(self, timeouts: Timeouts) -> None:
        self.timeouts = timeouts
        self._quiet = 0.0  # seconds since something came
        self._until = None if timeouts.total is None else time.monotonic() + timeouts.total

    def at_most(self, seconds: float) -> float:
        """`seconds`, or what is left of the whole call. Problem 504 when that is nothing."""
        if self._until is None:
            return seconds
        left = self._until - time.monotonic()
        if left <= 0:
            raise Problem(504, f"no whole answer within {told(self.timeouts.total or 0.0)}", kind="timeout")
        return seconds if seconds < left else left

    def receive(self, line: Line, most: float, tick: float | None) -> bytes | None:
        """What comes on `line`, b"" at its end, None after `tick` quiet seconds. TimeoutError after `most`
        of them."""
        quiet, self._quiet = self._quiet, 0.0
        wait = most - quiet
        if tick is not None and tick < wait:
            wait = tick
        wait = self.at_most(wait)
        line.wait_at_most(wait)
        try:
            return line.receive()
        except TimeoutError:
            self.at_most(wait)
            self._quiet = quiet + wait
            if tick is None or self._quiet >= most:
                raise
            return None


def told(seconds: float) -> str:
    """Seconds as somebody asked for them: a limit is often what is left of one, a few microseconds less."""
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


class Hangup:
    """Ends a call from another thread, whatever it is waiting for. One call at a time; once used, it stays
    used. `why` is a Problem's kind and sentence where somebody wanted it to end."""

    def __init__(self) -> None:
        self.done = False
        self.why: tuple[str, str] | None = None
        self._lock = threading.Lock()
        self._cut: Callable[[], None] | None = None

    def now(self, why: tuple[str, str] | None = None) -> None:
        with self._lock:
            self.why = self.why or why
            self.done = True
            if self._cut is not None:
                self._cut()

    def attach(self, cut: Callable[[], None]) -> None:
        """From here on `now` calls `cut`. Problem if it was called before."""
        with self._lock:
            if self.done:
                raise hung_up()
            self._cut = cut

    def detach(self) -> None:
        """The connection is no longer this call's, so `now` must not touch it."""
        with self._lock:
            self._cut = None


def hung_up() -> Problem:
    return Problem(499, "the call was ended from this side", kind="hangup", retryable=False)


class Asked(Protocol):
    """The call that an arrival answers: its time, its end from outside, and where its connection goes
    afterwards."""

    clock: Clock
    hangup: Hangup | None

    def keep(self, line: Line) -> None: ...


class Arrival:
    """One answer. Read it with `pieces` or `read`, and `close` it (or use `with`): a connection whose
    answer was read whole is used again, any other is closed. `headers` has lower-case names, and no
    content-encoding: the body comes decoded."""

    def __init__(self, line: Line, head: http1.AnswerHead, rest: bytes, call: Asked, bodiless: bool) -> None:
        self.status = head.status
        self.reason = head.reason
        self.headers = head.headers
        self._line: Line | None = line
        self._call = call
        self._reusable = head.keep
        self._rest = rest
        self._left = head.length
        self._chunks = http1.Chunks() if head.chunked else None
        self._framed = bodiless or head.length == 0  # whether the framing has reached its end
        coded = "content-encoding" in head.headers and not bodiless
        self._inflate = _inflater(head.headers) if coded else None
        self._inflating: Iterator[bytes] | None = None

    def __enter__(self) -> "Arrival":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def pieces(self, tick: float | None = None) -> Iterator[bytes]:
        """The body as it arrives. After each `tick` quiet seconds an empty piece. Problem when it stalls or
        is cut."""
        while (piece := self._piece(tick)) is not None:
            yield piece

    def read(self, limit: int = 32 << 20) -> bytes:
        """The whole body, and the connection given back. Problem 502 (too_large) beyond `limit` bytes."""
        pieces, total = [], 0
        while (piece := self._piece(None)) is not None:
            total += len(piece)
            if total > limit:
                self._discard()
                raise Problem(502, f"the answer is larger than {limit:,} bytes", kind="too_large")
            pieces.append(piece)
        self.close()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def close(self) -> None:
        """Give the connection back if the answer was read to its end, else close it. May be called twice."""
        line, self._line = self._line, None
        if line is None:
            return
        hangup = self._call.hangup
        if self._reusable and not self._framed:
            self._settle(line)
        reusable = self._reusable and not self._rest and self._framed
        if hangup is not None:
            hangup.detach()
            reusable = reusable and not hangup.done
        if reusable:
            self._call.keep(line)
        else:
            line.close()

    # --- the body

    def _piece(self, tick: float | None) -> bytes | None:
        """The next decoded piece, b"" after a quiet tick, None at the end."""
        try:
            piece = self._raw(tick) if self._inflate is None else self._inflated(self._inflate, tick)
            if piece is None:
                self._end()
            return piece
        except Problem as problem:
            self._discard()
            raise as_garbage(problem) from None
        except TimeoutError:
            self._discard()
            idle = told(self._call.clock.timeouts.idle)
            raise Problem(504, f"the answer stood still for {idle}", kind="timeout") from None
        except OSError as error:
            self._discard()
            raise self._cut(f": {error.strerror}" if error.strerror else "") from error

    def _inflated(self, inflate: Inflate, tick: float | None) -> bytes | None:
        while True:
            if self._inflating is not None:
                for piece in self._inflating:
                    return piece
                self._inflating = None
            raw = self._raw(tick)
            if not raw:
                return raw
            self._inflating = inflate.feed(raw)

    def _raw(self, tick: float | None) -> bytes | None:
        """The next piece out of its framing, b"" after a quiet tick, None at the end."""
        data, self._rest = self._rest, b""
        while not self._framed:
            if not data:
                if self._line is None:
                    raise self._cut()
                clock = self._call.clock
                received = clock.receive(self._line, clock.timeouts.idle, tick)
                if received is None:
                    return b""
                if not received and (self._chunks is not None or self._left is not None):
                    raise self._cut()
                data = received
            payload = self._unframed(data)
            if payload:
                return payload
            data = b""
        # Bytes beyond the end: whatever they are, this connection is no longer in step.
        self._rest = self._rest or data
        return None

    def _unframed(self, data: bytes) -> bytes:
        chunks = self._chunks
        if chunks is not None:
            payload = chunks.feed(data)
            self._rest, self._framed = chunks.rest, chunks.done
            return payload
        if self._left is None:
            # Only the connection's end says where this body ends.
            self._reusable, self._framed = False, not data
            return data
        if len(data) <= self._left:
            self._left -= len(data)
            self._framed = not self._left
            return data
        payload, self._rest = data[: self._left], data[self._left :]
        self._left, self._framed = 0, True
        return payload

    def _end(self) -> None:
        if self._inflate is not None and self._inflate.begun and not self._inflate.done:
            raise self._cut(" (its compressed body has no end)")
        self.close()

    def _settle(self, line: Line) -> None:
        """The end of a stream often arrives with its last event, which is as far as its reader goes: take
        it, if it is here."""
        try:
            data = self._rest
            self._rest = b""
            if not data and line.readable():
                data = line.receive()
            if data and self._unframed(data):
                self._reusable = False
        except (Problem, OSError):
            self._reusable = False

    def _cut(self, why: str = "") -> Problem:
        if self._call.hangup is not None and self._call.hangup.done:
            return hung_up()
        return Problem(502, f"the answer broke off part way{why}", kind="cut")

    def _discard(self) -> None:
        self._reusable = False
        self.close()


def as_garbage(problem: Problem) -> Problem:
    """What http1 and coding say of a message that a server should refuse, said of an answer that we cannot
    read."""
    if problem.status in (400, 413, 415, 431, 501):
        return Problem(502, f"the answer cannot be read: {problem.message}", kind="garbage")
    return problem


def _inflater(headers: dict[str, str]) -> Inflate | None:
    coding = headers["content-encoding"]
    if coding.lower() in ("identity", ""):
        return None
    inflate = Inflate(coding)
    del headers["content-encoding"]
    headers.pop("content-length", None)
    return inflate
