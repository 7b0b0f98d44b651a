"""A request on its way to a provider, until the head of its answer is here.

A kept connection may have been closed by the other side just as we wrote to it: if it then gives nothing of
an answer, the request goes out once more on a new one. Nothing else is ever repeated here.
"""

from collections.abc import Sequence
from typing import Protocol

from metrics import desk, http1
from metrics.client.arrival import Arrival, Clock, Hangup, as_garbage, hung_up, told
from metrics.client.pool import Origin
from metrics.line import Buffer, Line
from metrics.records import Problem

_INTERIM_MOST = 20


class Lines(Protocol):
    """Where connections come from and go back to: the transport."""

    def connect(self, origin: Origin, clock: Clock, hangup: Hangup | None) -> Line: ...
    def keep(self, origin: Origin, line: Line) -> None: ...


class Opening:
    """One request, sent on `kept` or without one on a new connection. Problem when it cannot be sent."""

    __slots__ = (
        "_came",
        "_interim",
        "_kept",
        "_line",
        "_lines",
        "_message",
        "_method",
        "_origin",
        "_searched",
        "_sent",
        "clock",
        "hangup",
    )

    def __init__(
        self,
        lines: Lines,
        origin: Origin,
        kept: Line | None,
        method: str,
        message: Sequence[Buffer],
        clock: Clock,
        hangup: Hangup | None = None,
    ) -> None:
        self._lines = lines
        self._origin = origin
        self._kept = kept is not None
        self._method = method
        self._message = message
        self.clock = clock
        self.hangup = hangup
        self._came = b""
        self._searched = 0
        self._interim = 0
        self._send(lines.connect(origin, clock, hangup) if kept is None else kept)

    def _send(self, line: Line) -> None:
        desk.leave()  # the next request can be worked out while the system takes this one
        self._line = line
        try:
            if self.hangup is not None:
                self.hangup.attach(line.abort)
            line.stand_at_most(self.clock.at_most(self.clock.timeouts.idle))
            line.send(self._message)
            self._sent = True
        except ConnectionError:
            # Not all was taken. Its answer may say why: some refuse before they have read it.
            self._sent = False
        except (Problem, OSError) as error:
            raise self._failed(error) from error

    def answer(self, tick: float | None = None) -> Arrival | None:
        """The answer, once its head is here; None after `tick` quiet seconds: ask again, or `close`."""
        while True:
            try:
                return self._headed(tick)
            except EOFError:
                self._line.close()
            except (Problem, OSError) as error:
                raise self._failed(error) from error
            if self.hangup is not None and self.hangup.done:
                raise hung_up()
            if not self._kept:
                said = f"{self._origin.authority} ended the connection without an answer"
                raise Problem(502, said, kind="unreachable")
            self._kept = False
            self._send(self._lines.connect(self._origin, self.clock, self.hangup))

    def close(self) -> None:
        """End the call, of whose answer nobody wants to know any more."""
        self._line.close()

    def keep(self, line: Line) -> None:
        """The answer was read to its end, so its connection can be used again."""
        self._lines.keep(self._origin, line)

    def _headed(self, tick: float | None) -> Arrival | None:
        """The answer behind the head of the final one; interim (1xx) answers are skipped. EOFError when
        the connection ended before it gave anything."""
        while True:
            end = http1.end_of_head(self._came, self._searched) if self._came else -1
            if end >= 0:
                head, rest = http1.answer_head(self._came[:end]), self._came[end + 4 :]
                if head.status >= 200:
                    head.keep = head.keep and self._sent
                    bodiless = self._method == "HEAD" or head.status in (204, 304)
                    return Arrival(self._line, head, rest, self, bodiless)
                self._skip(head.status, rest)
                continue
            self._searched = len(self._came)
            try:
                piece = self.clock.receive(self._line, self.clock.timeouts.first_byte, tick)
            except ConnectionError:
                piece = b""
            if piece is None:
                return None
            if not piece:
                if self._came or self._interim:
                    raise Problem(502, "the connection ended within the answer's head", kind="cut")
                raise EOFError
            self._came += piece

    def _skip(self, status: int, rest: bytes) -> None:
        self._interim += 1
        if status == 101 or self._interim == _INTERIM_MOST:
            raise Problem(400, "the answer switches protocols or never gets past its interim answers")
        self._came, self._searched = rest, 0

    def _failed(self, error: Problem | OSError) -> Problem:
        """What ended the call; its connection is closed."""
        self._line.close()
        if self.hangup is not None and self.hangup.done:
            return hung_up()
        if isinstance(error, Problem):
            return as_garbage(error)
        if isinstance(error, TimeoutError):
            try:
                self.clock.at_most(1.0)
            except Problem as late:
                return late
            seconds = self.clock.timeouts.first_byte
            return Problem(504, f"no answer within {told(seconds)}", kind="timeout")
        return Problem(502, f"the connection failed before the answer: {error}", kind="unreachable")
