"""Where a key's rows are in a log file: records of 16 bytes beside it, a digest of the key and the offset of
the line.

The file grows as the log does and is searched from its end, so what is asked for soon after it was written is
found at once, and nothing is read at start or kept in memory. A wrong record does no harm: whoever follows
one compares the key. The index can always be made again from its log.
"""

import hashlib
import os
import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from metrics.store import disk, lines

RECORD = struct.Struct("<8sQ")
SIZE = RECORD.size
MOST = 1 << 18  # bytes read at once while searching

Entry = tuple[bytes, int]


def digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()


class Index:
    """The index at `path` of the field `key` in the log file `log`.

    `covered` is the offset in the log up to which it is complete. While it is `behind`, new entries wait in
    memory, because records must lie in the order of their lines.
    """

    def __init__(self, path: Path, log: Path, key: str) -> None:
        self.path = path
        self._log = log
        self._key = key
        self.covered = 0
        self.behind = False
        self._waiting: list[Entry] = []

    def settle(self, mend: bool) -> None:
        """Find out how far the index goes: to its last record's line, or nowhere if that does not fit.
        `mend`: cut off the rest."""
        whole = lines.size_of(self.path) // SIZE * SIZE
        self.covered = self._after_last(whole) if whole else 0
        self._waiting = []
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
        """Take the entries of lines just written, the last of which ends at `covered`. OSError when the disk
        refuses."""
        if self.behind:
            self._waiting += entries
            return
        _append(self.path, entries)
        self.covered = covered

    def fill(self, end: int) -> None:
        """Add what the log has from `covered` to `end`."""
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
        if lines.size_of(draft.path):
            disk.patiently(lambda: os.replace(draft.path, self.path))
        self.covered, self.behind, self._waiting = draft.covered, False, []

    def offsets(self, key: str) -> Iterator[int]:
        """Where lines with this key may begin, last first."""
        mark = digest(key)
        yield from (offset for held, offset in reversed(self._waiting) if held == mark)
        end = lines.size_of(self.path) // SIZE * SIZE
        if not end:
            return
        size = 4096
        with disk.reading(self.path) as fd:
            while end > 0:
                start = max(0, end - size)
                yield from _matches(disk.read(fd, end - start, start), mark)
                end, size = start, min(size * 4, MOST)


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
