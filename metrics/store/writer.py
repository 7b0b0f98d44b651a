"""The one thread that writes what was queued, so that no request waits for the disk.

A sink (a log, the body store) wakes it when something is queued; it waits a moment for more, then has each
sink write all it holds. What the disk refuses, or there is no memory or thread for, stays with its sink and
is tried again; `trouble` says so meanwhile.
"""

import queue
import threading
import time
from collections.abc import Callable
from typing import Protocol

from metrics.records import Problem

GATHER = 0.03  # seconds: what is queued together is written together, for waking up costs more than writing
AGAIN = 1.0  # seconds between attempts while the disk refuses
BREATH = 0.0002  # seconds in which requests go on while much is made ready to be written,
PATIENCE = 0.004  # for so many seconds: to get on again may take long, and rows are to reach the disk


class Sink(Protocol):
    name: str

    def drain(self) -> None:
        """Write all that is queued; Problem when the disk refuses, and it is then still queued."""


_due: "queue.SimpleQueue[Sink]" = queue.SimpleQueue()
_refused: dict[str, tuple[Sink, str]] = {}
_starting = threading.Lock()
_thread: threading.Thread | None = None


def wake(sink: Sink) -> None:
    """Have `sink` drained soon."""
    _due.put(sink)
    if _thread is None or not _thread.is_alive():
        _start()


def attempt(sink: Sink) -> bool:
    """Drain `sink` now, on this thread; whether the disk took everything."""
    try:
        sink.drain()
    except Problem as problem:
        _refused[sink.name] = (sink, problem.message)
        return False
    except (MemoryError, RuntimeError) as error:  # want of threads is one; others' rows wait here, too
        _refused[sink.name] = (sink, f"{sink.name} could not be written: {error!r}.")
        return False
    _refused.pop(sink.name, None)
    return True


def trouble() -> str | None:
    """Why records are not reaching the disk, in a sentence; None while they are."""
    messages = dict.fromkeys(message for _, message in list(_refused.values()))
    return " ".join(messages) + " Records wait in memory meanwhile." if messages else None


def breather() -> Callable[[], None]:
    """What lets others go on for a moment, to be called between pieces of one work."""
    until = time.monotonic() + PATIENCE

    def breathe() -> None:
        if time.monotonic() < until:
            time.sleep(BREATH)

    return breathe


def forget(sink: Sink) -> None:
    """`sink` is closed: do not try it again."""
    _refused.pop(sink.name, None)


def _start() -> None:
    global _thread
    with _starting:
        if _thread is None or not _thread.is_alive():
            _thread = threading.Thread(target=_run, name="store-writer", daemon=True)
            _thread.start()


def _run() -> None:
    while True:
        due: list[Sink] = []
        try:
            due.append(_due.get(timeout=AGAIN if _refused else None))
            time.sleep(GATHER)
            while True:
                due.append(_due.get_nowait())
        except queue.Empty:
            due += [sink for sink, _ in list(_refused.values())]
        for sink in dict.fromkeys(due):
            attempt(sink)
