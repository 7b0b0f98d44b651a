"""What a caller's API format is: one module with these names, and one line in FORMATS.

A format turns its own wire shapes into a Request, and events into its own reply or stream. It never hears of
seats, panels or verdicts: what the bench has to tell travels in `extra`, which is added to the last object as
it is.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from metrics.events import Closed, Event, Failed, Opened
from metrics.records import Problem, Reply, Request
from metrics.values import dataclass
from metrics.web.table import Call, Final, Response


@dataclass(frozen=True, slots=True)
class Stamp:
    """What makes one reply this one: 24 hex digits for its id, and when it was begun (epoch s). An id is a
    name, not a secret, so it is drawn without asking the system for entropy each time."""

    token: str
    at: float

    @classmethod
    def new(cls, now: float) -> "Stamp":
        return cls(f"{random.getrandbits(96):024x}", now)

    @property
    def created(self) -> int:
        return int(self.at)


Answering = Callable[[Call], Response]


class Format(Protocol):
    """A module of `formats/`. PATHS: (method, pattern, "ask" or the function that answers by itself)."""

    @property
    def NAME(self) -> str: ...

    @property
    def PATHS(self) -> Sequence[tuple[str, str, str | Answering]]: ...

    def parse(self, call: Call) -> Request:
        """The caller's request. Raises Problem 400 naming the field and what to do, 404 for an unknown
        collection."""

    def reply(self, request: Request, reply: Reply, stamp: Stamp) -> Any:
        """The whole reply as a JSON value."""

    def stream_headers(self, request: Request) -> tuple[tuple[str, str], ...]:
        """The headers of a streamed reply, its content type first."""

    def stream(self, request: Request, events: Iterator[Event], stamp: Stamp) -> Iterator[bytes]:
        """The reply as it is said: what one event comes to is one piece, since each wakes the caller. The
        last event's is Final. A Failed event becomes the error its SDK raises on."""

    def error(self, problem: Problem, call: Call | None) -> Response:
        """A refusal before the stream, in this format's shape and with the status its clients understand."""


def pieces(events: Iterable[Event], say: Callable[[Event], bytes], begun: bytes = b"") -> Iterator[bytes]:
    """A stream as its caller gets it: what `say` makes of an event is one piece, that of the last is Final.
    What it has `begun` with goes out with the first event that is more than a name."""
    for event in events:
        said = say(event)
        if begun and type(event) is not Opened:
            said, begun = begun + said, b""
        if type(event) is Closed or type(event) is Failed:
            yield Final(said)
        elif said:
            yield said


class Listing(Protocol):
    """A format that shows the collections as its kind of model list, on the paths that several share."""

    def models(self, call: Call) -> Response:
        """All collections, in all modes."""

    def model(self, call: Call) -> Response:
        """The one that `call.parts["id"]` names. Problem 404 for none."""

    def error(self, problem: Problem, call: Call | None) -> Response:
        """As in Format."""
