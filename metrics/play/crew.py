"""Threads that wait for work: a seat, a relay or a straggler borrows one and gives it back.

Starting a thread costs about as much as a whole small call, so idle ones are kept (the last to finish is the
first to work again, its stack still warm). They are daemons: a hung provider never keeps the process from
ending.
"""

import queue
import threading
from collections.abc import Callable

IDLE = 64

_idle: list["_Hand"] = []
_lock = threading.Lock()


class _Hand:
    def __init__(self) -> None:
        self.work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        threading.Thread(target=self._live, name="crew", daemon=True).start()

    def _live(self) -> None:
        while True:
            self.work.get()()
            with _lock:
                if len(_idle) >= IDLE:
                    return
                _idle.append(self)


def go(work: Callable[[], None]) -> None:
    """Run `work` on a thread of its own, at once. `work` must not raise: what it has to say goes where it was
    told."""
    with _lock:
        hand = _idle.pop() if _idle else None
    (hand or _Hand()).work.put(work)
