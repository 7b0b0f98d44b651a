"""Between a panel and its caller: the panel runs in a thread of its own, the caller reads what it says.

Four things are settled here, once: a panel outlives its caller; the first event decides the HTTP status; quiet seconds
become a mark that each format writes as its keep-alive; and what goes wrong in the panel's thread reaches the caller.
"""

import queue
import sys
import traceback
from collections.abc import Iterator
from typing import Generic, TypeVar

from metrics.play import crew
from metrics.records import Problem

T = TypeVar("T")

FIRST = 1.0  # seconds that the status of a stream may wait for its first event
QUIET = 10.0  # seconds of silence before a keep-alive


class Relay(Generic[T]):
    """Iterate to get what `source` yields; None after each `quiet` seconds of silence.

    `first()` may be called once before, to learn whether the source fails at the start. A source that raises a Problem raises
    it here, at the same place in the order. Leaving the iterator does not stop the source.
    """

    def __init__(self, source: Iterator[T], quiet: float = QUIET) -> None:
        self._source = source
        self._quiet = quiet
        self._said: queue.SimpleQueue[tuple[str, T | Problem | None]] = queue.SimpleQueue()
        self._gone = False
        self._held: list[tuple[str, T | Problem | None]] = []
        crew.go(self._pump)

    def _pump(self) -> None:
        try:
            for item in self._source:
                if not self._gone:
                    self._said.put(("said", item))
        except Problem as problem:
            self._said.put(("failed", problem))
        except Exception:
            traceback.print_exc(file=sys.stderr)
            self._said.put(("failed", Problem(500, "the panel failed inside the server; its log has the trace")))
        else:
            self._said.put(("end", None))

    def first(self, timeout: float = FIRST) -> None:
        """Wait for the first item. Raises its Problem if that is what comes first, so that a refusal keeps its status."""
        try:
            self._held.append(self._said.get(timeout=timeout))
        except queue.Empty:
            return
        if isinstance(self._held[0][1], Problem):
            raise self._held[0][1]

    def __iter__(self) -> Iterator[T | None]:
        try:
            while True:
                try:
                    kind, item = self._held.pop() if self._held else self._said.get(timeout=self._quiet)
                except queue.Empty:
                    yield None
                    continue
                if kind == "end":
                    return
                if isinstance(item, Problem):
                    raise item
                yield item
        finally:
            self._gone = True
