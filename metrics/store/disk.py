"""Bytes on disk: the only place that writes, replaces and syncs files, and what the disk may answer.

The one idea: a whole file is written as a draft beside its target and takes the target's place in one step,
so nobody sees half of it. `write` and `read` are the seams through which every byte goes; tests put their own
there.
"""

import errno
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from metrics.records import Problem

T = TypeVar("T")

FULL = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})
_BINARY: int = getattr(os, "O_BINARY", 0)
# Windows refuses to open or replace a file while a virus scanner or another reader holds it, for some
# milliseconds.
SHARING_PAUSES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4) if os.name == "nt" else ()


def refusal(error: OSError, name: str) -> Problem:
    """What a caller is told when the disk refuses to write `name`."""
    if error.errno in FULL:
        return Problem(507, f"the disk is full: {name} could not be written. Free some space and try again.")
    reason = error.strerror or str(error)
    return Problem(
        500, f"{name} could not be written: {reason}. Check the data folder and its permissions.", kind="disk"
    )


def write(fd: int, piece: bytes | memoryview) -> int:
    """Write some of `piece`, and say how many bytes that was."""
    return os.write(fd, piece)


def write_all(fd: int, content: bytes) -> None:
    """Write all of `content`. OSError when the disk refuses; some of it may then be written."""
    rest = memoryview(content)
    while rest:
        rest = rest[write(fd, rest) :]


def read(fd: int, size: int, offset: int) -> bytes:
    """Up to `size` bytes from `offset`."""
    if sys.platform != "win32":
        return os.pread(fd, size, offset)
    os.lseek(fd, offset, os.SEEK_SET)  # every reader has its own descriptor, so its position is nobody else's
    return os.read(fd, size)


def read_all(fd: int) -> bytes:
    pieces = []
    offset = 0
    while piece := read(fd, 1 << 20, offset):
        pieces.append(piece)
        offset += len(piece)
    return b"".join(pieces)


@contextmanager
def reading(path: Path) -> Iterator[int]:
    """A descriptor to read `path`. OSError when it cannot be opened."""
    fd = patiently(lambda: os.open(path, os.O_RDONLY | _BINARY))
    try:
        yield fd
    finally:
        os.close(fd)


def open_for_append(path: Path) -> int:
    """A descriptor whose every write goes to the end of `path`, which is made (0600) when missing."""
    return patiently(lambda: os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _BINARY, 0o600))


def make_folder(path: Path) -> None:
    """Make `path` and the folders it needs, readable by their owner only. Problem when the disk refuses."""
    try:
        for folder in reversed([path, *path.parents]):
            if not folder.is_dir():
                folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise refusal(error, str(path)) from None


def draft_of(path: Path) -> Path:
    """The name under which `path` is written before it takes its place."""
    return path.with_name(f".{path.name}.draft")


def put(path: Path, content: bytes | Iterable[bytes], *, durable: bool) -> None:
    """Make `content`, or the pieces of it, the whole of `path`, mode 0600; `durable`: it survives a power cut
    once this returns.

    Callers see to it that one writer at a time works on `path`. Problem when the disk refuses: `path` is then
    as it was.
    """
    draft = draft_of(path)
    try:
        with suppress(FileNotFoundError):
            draft.unlink()  # a killed writer's
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        try:
            for piece in (content,) if isinstance(content, bytes) else content:
                write_all(fd, piece)
            if durable:
                os.fsync(fd)
        finally:
            os.close(fd)
        patiently(lambda: os.replace(draft, path))
        if durable:
            sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise refusal(error, path.name) from None
    except BaseException:  # whoever makes the pieces gave up
        with suppress(OSError):
            draft.unlink()
        raise


def remove(path: Path) -> None:
    """Delete `path`, if it is there. OSError when the disk refuses."""
    with suppress(FileNotFoundError):
        patiently(lambda: os.unlink(path))


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` survive a power cut. (Windows has no such call and needs none.)"""
    if os.name == "nt":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def patiently(
    action: Callable[[], T],
    pauses: tuple[float, ...] = SHARING_PAUSES,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """What `action` returns, tried again after each of `pauses` when somebody else has the file open just
    now."""
    for pause in pauses:
        try:
            return action()
        except PermissionError:
            sleep(pause)
    return action()
