"""Between a panel and its callers: the panel runs in a thread of its own, callers read what it says.

Four things are settled here, once: a panel outlives its caller; the first event decides the HTTP status;
quiet seconds become a mark that each format writes as its keep-alive; and what goes wrong in the panel's
thread reaches the caller. What was said is kept until the end, so that a caller whose connection broke can
join the same panel from its beginning instead of asking again.
"""

import sys
import threading
import traceback
from collections.abc import Hashable, Iterator
from typing import Any, Generic, TypeVar

from metrics.play import crew
from metrics.records import Problem

T = TypeVar("T")

FIRST = 1.0  # seconds that the status of a stream may wait for its first event
QUIET = 10.0  # seconds of silence before a keep-alive

_live: dict[Hashable, "Relay[Any]"] = {}
_lock = threading.Lock()


class Relay(Generic[T]):
    """Iterate to get all that `source` yields, from its beginning; None after each `quiet` seconds of
    silence.

    `name` is what others may join it by (see `joined`), `about` whatever they need to know of it. A source
    that raises a Problem raises it here, at the same place in the order. Leaving the iterator does
    not stop the source.
    """

    def __init__(
        self, source: Iterator[T], quiet: float = QUIET, name: Hashable = None, about: Any = None
    ) -> None:
        self.about = about
        self._source = source
        self._quiet = quiet
        self._name = name
        self._said: list[T] = []
        self._ended = False
        self._problem: Problem | None = None
        self._news = threading.Condition()
        if name is not None:
            with _lock:
                _live[name] = self
        crew.go(self._pump)

    def _pump(self) -> None:
        problem: Problem | None = None
        try:
            for item in self._source:
                with self._news:
                    self._said.append(item)
                    self._news.notify_all()
        except Problem as raised:
            problem = raised
        except Exception:
            traceback.print_exc(file=sys.stderr)
            problem = Problem(500, "the panel failed inside the server; its log has the trace")
        with _lock:
            if _live.get(self._name) is self:
                del _live[self._name]
        with self._news:
            self._problem, self._ended = problem, True
            self._news.notify_all()

    def first(self, timeout: float = FIRST) -> bool:
        """Wait for the first item; whether there is any yet. Raises its Problem if that is what comes first,
        so that a refusal keeps its status."""
        with self._news:
            come = self._news.wait_for(lambda: bool(self._said) or self._ended, timeout)
            if self._problem and not self._said:
                raise self._problem
        return come

    def __iter__(self) -> Iterator[T | None]:
        read = 0
        while True:
            fresh, ended = self._since(read)
            if not fresh and ended:
                break
            yield from fresh or (None,)
            read += len(fresh)
        if self._problem:
            raise self._problem

    def _since(self, read: int) -> tuple[list[T], bool]:
        """What was said after the first `read` items, and whether that was all; nothing after a quiet
        time."""
        with self._news:
            self._news.wait_for(lambda: len(self._said) > read or self._ended, self._quiet)
            return self._said[read:], self._ended


def joined(name: Hashable) -> "Relay[Any] | None":
    """The relay of that name whose source still speaks."""
    with _lock:
        return _live.get(name)
