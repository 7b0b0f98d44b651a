"""Lines of a log file: JSON objects, read forwards, backwards or at an offset, torn ones passed over.

A file is read in pieces from where it is wanted; nothing here reads a whole file because it is there.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from metrics import compact, longjson
from metrics.store import disk, migrate

Row = dict[str, Any]

PIECE = 64 * 1024

DEEP = 200  # levels of a row; what lies deeper may be too much for a reader

_write = compact.writer(ascii_only=True)


def encode(row: Row) -> bytes:
    """One line, whatever the row holds. ASCII only, so that no reader sees a line end in a text and any half
    of a surrogate pair can be kept."""
    try:
        return _ascii(row) + b"\n"
    except (ValueError, TypeError, RecursionError):
        return _ascii(_plain(row)) + b"\n"


def encode_large(row: Row) -> bytes:
    """`encode`, for a row that may hold very long texts: they are written without copies."""
    try:
        return longjson.write(row, _ascii, b"\n", ascii_only=True)
    except (ValueError, TypeError, RecursionError):
        return longjson.write(_plain(row), _ascii, b"\n", ascii_only=True)


def _ascii(value: Any) -> bytes:
    return _write(value).encode("ascii")


def _plain(value: Any, depth: int = 0) -> Any:
    """`value` with null where it has what JSON cannot say (a provider's NaN), or what is nested too
    deeply."""
    match value:
        case dict() | list() | tuple() if depth == DEEP:
            return None
        case dict():
            return {str(key): _plain(part, depth + 1) for key, part in value.items()}
        case list() | tuple():
            return [_plain(part, depth + 1) for part in value]
        case float() if value != value or value in (float("inf"), float("-inf")):
            return None
        case str() | int() | float():
            return value
        case _:
            return None


def with_text(text: str) -> Callable[[bytes], bool]:
    """Whether a line holds this text as a string of its own: a row whose field it is does."""
    held = _ascii(text)
    return lambda line: held in line


def header(version: int) -> bytes:
    """The first line of a log file."""
    return encode({migrate.VERSION: version})


def decode(line: bytes) -> Row | None:
    """The row of a line; None for a torn one, and for the header."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and migrate.VERSION not in row else None


def version_of(fd: int) -> int:
    """The version a log file says it has; 1 when it says none."""
    with suppress(ValueError):
        first = json.loads(disk.read(fd, 4096, 0).partition(b"\n")[0])
        if isinstance(first, dict) and type(first.get(migrate.VERSION)) is int:
            return int(first[migrate.VERSION])
    return 1


def forwards(path: Path, start: int, end: int) -> Iterator[list[tuple[int, bytes]]]:
    """The whole lines from offset `start` to `end`, as lists of (offset, line with its end), a piece of the
    file each."""
    if start >= end:
        return
    with disk.reading(path) as fd:
        rest, at = b"", start
        while at + len(rest) < end:
            piece = disk.read(fd, min(PIECE, end - at - len(rest)), at + len(rest))
            if not piece:
                return
            *whole, rest = (rest + piece).split(b"\n")
            found = []
            for line in whole:
                found.append((at, line + b"\n"))
                at += len(line) + 1
            yield found


def backwards(path: Path, end: int) -> Iterator[tuple[int, bytes]]:
    """The lines before offset `end`, last first, as (offset, line without its end)."""
    with disk.reading(path) as fd:
        rest, at, size = b"", end, PIECE // 8
        while at > 0:
            size = min(size * 2, 16 * PIECE, at)
            at -= size
            rest, *whole = (disk.read(fd, size, at) + rest).split(b"\n")
            offset = at + len(rest) + 1 + sum(len(line) + 1 for line in whole)
            for line in reversed(whole):
                offset -= len(line) + 1
                if line:
                    yield offset, line
        if rest:
            yield 0, rest


def at(path: Path, offset: int) -> bytes:
    """The line that begins at `offset`, without its end. OSError when there is no such file."""
    size = 8 * 1024
    with disk.reading(path) as fd:
        while True:
            piece = disk.read(fd, size, offset)
            line, ended, _ = piece.partition(b"\n")
            if ended or len(piece) < size:
                return line
            size *= 8


def size_of(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
