"""Ledgers of several machines as one: each call once, in files a month, in the order of time.

A call is known by its id and its model. Two machines have the same one when a copy of one's data folder went
on as the other; then a row that says how the call ended wins over one that says it was interrupted, for the
copy was made while it was under way. Rows go on byte by byte as they were written. What is held in memory is
an entry of about 200 bytes for each call, not the rows.
"""

import hashlib
import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metrics.limits.ledger import LOG
from metrics.limits.usage import INTERRUPTED
from metrics.records import Problem
from metrics.store import disk, lines, migrate, stamps

Row = dict[str, Any]


@dataclass(slots=True)
class Merged:
    """How it went: rows by month, rows left out for being of calls that are there already, and lines that are
    no rows."""

    months: dict[str, int] = field(default_factory=dict)
    duplicates: int = 0
    unreadable: int = 0


def merge(sources: Sequence[Path], out: Path) -> Merged:
    """Write the calls in the files `sources` to `out`/YYYY-MM.jsonl, whole files in the place of those that
    are there. Problem when a source cannot be read or is a newer program's, or the disk refuses."""
    merged = Merged()
    found, months = _calls(sources, merged)
    disk.make_folder(out)
    for month in sorted({month for each in months for month in each}):
        of_month = [number for number, each in enumerate(months) if month in each]
        winners = [_winners(sources[number], number, month, found) for number in of_month]
        counted = _Counted(line for _, line in heapq.merge(*winners, key=lambda at_line: at_line[0]))
        disk.put(out / f"{month}.jsonl", _pieces(counted), durable=True)
        merged.months[month] = counted.number
    return merged


def _calls(sources: Sequence[Path], merged: Merged) -> tuple[dict[bytes, int], list[set[str]]]:
    """Where the row of each call is: its source and offset in one number; and the months of each source."""
    found: dict[bytes, int] = {}
    interrupted: set[bytes] = set()
    months: list[set[str]] = []
    for number, path in enumerate(sources):
        months.append(set())
        for offset, row, line in _rows(path, merged):
            months[-1].add(row["at"][:7])
            call, cut = _identity(row, line), row.get("error") == INTERRUPTED
            if call in found:
                merged.duplicates += 1
                if cut or call not in interrupted:
                    continue
            found[call] = _place(number, offset)
            (interrupted.add if cut else interrupted.discard)(call)
    return found, months


def _winners(path: Path, number: int, month: str, found: dict[bytes, int]) -> Iterator[tuple[str, bytes]]:
    """(at, line) of the rows of this source and month that are their call's."""
    for offset, row, line in _rows(path, Merged()):
        if row["at"][:7] == month and found[_identity(row, line)] == _place(number, offset):
            yield row["at"], line


def _rows(path: Path, merged: Merged) -> Iterator[tuple[int, Row, bytes]]:
    """Every row with its offset and its line; lines that are none are counted."""
    try:
        with disk.reading(path) as fd:
            version = lines.version_of(fd)
        if version > migrate.newest(LOG.name):
            why = migrate.too_new(version, migrate.newest(LOG.name))
            raise Problem(400, f"{path} cannot be used: {why}", kind="config", retryable=False)
        for piece in lines.forwards(path, 0, lines.size_of(path)):
            for offset, line in piece:
                row = lines.decode(line)
                if row is not None and _dated(row):
                    yield offset, row, line
                elif migrate.VERSION.encode() not in line:
                    merged.unreadable += 1
    except OSError as error:
        raise Problem(400, f"{path} cannot be read: {error.strerror or error}", kind="usage") from None


def _dated(row: Row) -> bool:
    try:
        return bool(stamps.part(row["at"], "month"))
    except (KeyError, ValueError):
        return False


def _identity(row: Row, line: bytes) -> bytes:
    call = row.get("call")
    known = f"{call} {row.get('model_id')}".encode("utf-8", "replace") if isinstance(call, str) else line
    return hashlib.blake2b(known, digest_size=16).digest()


def _place(number: int, offset: int) -> int:
    return number << 48 | offset


@dataclass(slots=True)
class _Counted:
    """Lines that are counted as they pass."""

    of: Iterable[bytes]
    number: int = 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self.of:
            self.number += 1
            yield line


def _pieces(rows: Iterable[bytes]) -> Iterator[bytes]:
    """The content of a file of these rows, some thousand at a time."""
    held, size = [lines.header(migrate.newest(LOG.name))], 0
    for line in rows:
        held.append(line)
        size += len(line)
        if size > 1 << 20:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)
