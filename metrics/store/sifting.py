"""Rows that go from the midst of a log file: which lines stay, and the file that they make.

The log is otherwise only added to, so this is the one time that lines change their places. Who searches by
the places must then look again.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from metrics.store import disk, lines

MOST = 1 << 20  # bytes copied at once


class Line(NamedTuple):
    """A line in a log file, and the key of the row in it."""

    offset: int
    size: int
    key: str


class Sifted(NamedTuple):
    stay: list[Line]
    gone: set[str]  # keys


def never() -> bool:
    return False


def everything(key: str) -> bool:
    return True


def sift(
    path: Path,
    field: str,
    start: int,
    end: int,
    keep: Callable[[str], bool] = everything,
    pause: Callable[[], bool] = never,
) -> Sifted | None:
    """Which rows from `start` to `end` stay: those whose key, the text in `field`, `keep` wants. It is asked
    once for each key.

    What is no row, or has no key, does not stay. `pause` is called between pieces; None when it says to stop.
    """
    stay: list[Line] = []
    wanted: dict[str, bool] = {}
    for found in lines.forwards(path, start, end):
        for offset, line in found:
            key = (lines.decode(line) or {}).get(field)
            if not isinstance(key, str):
                continue
            if key not in wanted:
                wanted[key] = keep(key)
            if wanted[key]:
                stay.append(Line(offset, len(line), key))
        if pause():
            return None
    return Sifted(stay, {key for key, kept in wanted.items() if not kept})


def pieces(path: Path, stay: Sequence[Line]) -> Iterator[bytes]:
    """A file of these lines of `path`: its version, then they."""
    with disk.reading(path) as fd:
        yield lines.header(lines.version_of(fd))
        for line in stay:
            at, end = line.offset, line.offset + line.size
            while at < end and (piece := disk.read(fd, min(MOST, end - at), at)):
                yield piece
                at += len(piece)
