"""Where a key's rows are in a log file: records of 16 bytes beside it, a digest of the key and the offset of
the line.

The file grows behind the log, some records at a time: the newest are in memory, and a kill loses nothing,
because what the file lacks is read from the log at the next start. It is searched from its end, so what is
asked for soon after it was written is found at once. A wrong record does no harm: whoever follows one
compares the key. The index can always be made again from its log.
"""

import hashlib
import os
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from metrics.store import disk, lines

RECORD = struct.Struct("<8sQ")
SIZE = RECORD.size
MOST = 1 << 18  # bytes read at once while searching
BATCH = 128  # records, or
BATCH_BYTES = 500_000  # bytes of the log, that may be in memory alone

Entry = tuple[bytes, int]


def digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()


class Index:
    """The index at `path` of the field `key` in the log file `log`.

    `covered` is the offset in the log up to which it is complete, file and memory together. While it is
    `behind`, new entries stay in memory, because records must lie in the order of their lines.
    """

    def __init__(self, path: Path, log: Path, key: str) -> None:
        self.path = path
        self._log = log
        self._key = key
        self.covered = 0
        self.behind = False
        self._mine = True
        self._fresh: list[Entry] = []  # not in the file yet
        self._saved = 0  # what the file alone covers

    def settle(self, mend: bool) -> None:
        """Find out how far the index goes: to its last record's line, or nowhere if that does not fit.
        `mend`: cut off the rest; without, nothing is written from now on."""
        whole = lines.size_of(self.path) // SIZE * SIZE
        self.covered = self._saved = self._after_last(whole) if whole else 0
        self._fresh, self._mine = [], mend
        if mend:
            self._cut(whole if self.covered else 0)

    def _after_last(self, whole: int) -> int:
        """The end of the line that the last record means; 0 when there is none such."""
        with disk.reading(self.path) as fd:
            mark, offset = RECORD.unpack(disk.read(fd, SIZE, whole - SIZE))
        if offset >= lines.size_of(self._log):
            return 0
        line = lines.at(self._log, offset)
        return offset + len(line) + 1 if self.entries([(offset, line)]) == [(mark, offset)] else 0

    def _cut(self, size: int) -> None:
        if lines.size_of(self.path) > size:
            os.truncate(self.path, size)

    def entries(self, found: Iterable[tuple[int, bytes]]) -> list[Entry]:
        """The entries for these (offset, line)s: one for each row that has the key."""
        rows = ((offset, lines.decode(line)) for offset, line in found)
        return [
            (digest(row[self._key]), offset)
            for offset, row in rows
            if row and isinstance(row.get(self._key), str)
        ]

    def add(self, entries: list[Entry], covered: int) -> None:
        """Take the entries of lines just written, the last of which ends at `covered`."""
        self._fresh += entries
        if self.behind:
            return
        self.covered = covered
        if len(self._fresh) >= BATCH or covered - self._saved >= BATCH_BYTES:
            with suppress(OSError):  # they stay in memory until the disk takes them
                self.save()

    def save(self) -> None:
        """Write what is in memory alone. OSError when the disk refuses."""
        if self._fresh and self._mine and not self.behind:
            _append(self.path, self._fresh)
            self._fresh = []  # after the file has them, so that a reader meanwhile finds them here or there
            self._saved = self.covered

    def replace(self, entries: list[Entry], covered: int) -> None:
        """Have these entries alone: the log, which `save` was called for, has just been written anew.

        A kill before this leaves an index whose last record is not that of its log (see `settle`).
        """
        self._cut(0)
        self._fresh, self._saved, self.covered = entries, 0, covered
        with suppress(OSError):
            self.save()

    def fill(self, end: int) -> None:
        """Add what the log has from `covered` to `end`. OSError when it cannot be read."""
        for found in lines.forwards(self._log, self.covered, end):
            if found:
                offset, line = found[-1]
                self.add(self.entries(found), offset + len(line))

    def rebuild(self, end: int, pause: Callable[[], bool]) -> "Index | None":
        """A new index up to `end`, as a draft beside this one, made while this one is in use; `adopt` puts it
        in place.

        `pause` is called between pieces; None when it says to stop.
        """
        draft = Index(disk.draft_of(self.path), self._log, self._key)
        draft._cut(0)
        for found in lines.forwards(self._log, 0, end):
            if found:
                offset, line = found[-1]
                draft.add(self.entries(found), offset + len(line))
            if pause():
                return None
        return draft

    def adopt(self, draft: "Index", end: int) -> None:
        """Take the place of this index with `draft`, completed up to `end`. Nothing may be added
        meanwhile."""
        draft.fill(end)
        draft.save()
        if lines.size_of(draft.path):
            disk.patiently(lambda: os.replace(draft.path, self.path))
        self.covered, self._saved = draft.covered, draft._saved
        self.behind, self._fresh = False, []

    def offsets(self, key: str) -> Iterator[int]:
        """Where lines with this key may begin, last first."""
        mark = digest(key)
        yield from (offset for held, offset in reversed(self._fresh) if held == mark)
        end = lines.size_of(self.path) // SIZE * SIZE
        if not end:
            return
        size = 4096
        with disk.reading(self.path) as fd:
            while end > 0:
                start = max(0, end - size)
                yield from _matches(disk.read(fd, end - start, start), mark)
                end, size = start, min(size * 4, MOST)

    def latest(self, keys: Iterable[str]) -> dict[str, int]:
        """Where the last line with each of these keys may begin, of those that have one. One look at the
        index, from its end, however many keys there are and however many of them have none."""
        wanted = {digest(key): key for key in keys}
        found: dict[str, int] = {}
        for mark, offset in reversed(self._fresh):
            if mark in wanted:
                found[wanted.pop(mark)] = offset
        marks = {int.from_bytes(mark, sys.byteorder): key for mark, key in wanted.items()}
        end = lines.size_of(self.path) // SIZE * SIZE
        size = 4096
        if not end:
            return found
        with disk.reading(self.path) as fd:
            while end > 0 and marks:
                start = max(0, end - size)
                records = disk.read(fd, end - start, start)
                for at in _any_of(records, marks):
                    found[marks.pop(int.from_bytes(records[at : at + 8], sys.byteorder))] = (
                        RECORD.unpack_from(records, at)[1]
                    )
                end, size = start, min(size * 4, MOST)
        return found


def _any_of(records: bytes, marks: Iterable[int]) -> list[int]:
    """Where in `records` the last one of each of these marks that is there begins."""
    whole = len(records) // SIZE * SIZE
    column = memoryview(records)[:whole].cast("Q").tolist()[::2]
    there = set(marks).intersection(column)
    if not there:
        return []
    last = {mark: number for number, mark in enumerate(column) if mark in there}
    return [number * SIZE for number in last.values()]


def _matches(records: bytes, mark: bytes) -> Iterator[int]:
    end = len(records)
    while (at := records.rfind(mark, 0, end)) >= 0:
        if at % SIZE == 0:
            yield RECORD.unpack_from(records, at)[1]
            end = at
        else:
            end = at + len(mark) - 1  # the bytes of an offset, or of two records, that look like it


def _append(path: Path, entries: list[Entry]) -> None:
    if not entries:
        return
    fd = disk.open_for_append(path)
    try:
        before = os.fstat(fd).st_size
        try:
            disk.write_all(fd, b"".join(RECORD.pack(*entry) for entry in entries))
        except OSError:
            os.ftruncate(fd, before)
            raise
    finally:
        os.close(fd)
