"""A lock between processes: a file of its own that the operating system locks, so a killed holder frees it.

The lock is on the open file (flock, or a far byte on Windows), so it also holds between two threads that
opened it apart. The file stays when the lock is released: removing it would let two holders lock two
different files of one name.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    # Beyond any content, because Windows lets nobody read a byte that is locked.
    _FAR = 1 << 30

    def _try_lock(fd: int) -> bool:
        os.lseek(fd, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(fd: int) -> None:
        os.lseek(fd, _FAR, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)


class FileLock:
    """The lock at `path`, held by this object from `take` to `release`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fd: int | None = None

    def take(
        self,
        wait: float = 0.0,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> bool:
        """Whether the lock was had within `wait` seconds. OSError when its file cannot be made."""
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        until = clock() + wait
        pause = 0.0005
        try:
            while not _try_lock(fd):
                if clock() >= until:
                    return False
                sleep(pause)
                pause = min(pause * 1.5, 0.01)
            self.fd, fd = fd, -1
            return True
        finally:
            if fd >= 0:
                os.close(fd)

    def release(self) -> None:
        if self.fd is not None:
            fd, self.fd = self.fd, None
            _unlock(fd)
            os.close(fd)


def lock_beside(path: Path) -> FileLock:
    """The lock that guards the file `path`."""
    return FileLock(path.with_name(path.name + ".lock"))
