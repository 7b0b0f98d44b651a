"""The desk, where requests are worked out one at a time, while the others stand in line.

CPython computes in one thread at a time whatever we do, but the lock that sees to it is no queue. Of a
hundred callers' threads that want it, whichever wakes first gets it each time one of them touches a file or
a socket: caches grow cold with every hand-over, some callers are forgotten for seconds, and the streams under
way wait behind them all. So whoever begins to work out a request takes the desk, and leaves it before waiting
for anything: a connection, an answer, a limit, another thread. Pieces of a stream need no desk: they meet one
thread that computes, and not a hundred.

The desk guards nothing. Who has not got it after a while goes on without it.
"""

import threading
import time

PATIENCE = 0.5  # seconds in line


class _Here(threading.local):
    seated = False


class Desk:
    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._free = threading.Lock()
        self._here = _Here()

    def take(self) -> None:
        """Stand in line for it, at most for a while; who has it keeps it."""
        here = self._here
        here.seated = here.seated or self._free.acquire(timeout=self._patience)

    def leave(self) -> None:
        """Let the next one work, if this thread has it."""
        here = self._here
        if here.seated:
            here.seated = False
            self._free.release()

    def taken(self) -> bool:
        return self._free.locked()

    def sleep(self, seconds: float) -> None:
        """time.sleep for whoever may be at the desk."""
        self.leave()
        time.sleep(seconds)


_desk = Desk()
take, leave, taken, sleep = _desk.take, _desk.leave, _desk.taken, _desk.sleep
