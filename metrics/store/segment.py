"""One file of a log: appended to, healed, and searched through the index beside it.

`end` is where the next line goes. It is compared with the file before every write, so a file that somebody
else changed, replaced or removed is noticed, and a write that the disk broke off is taken back.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from metrics.records import Problem
from metrics.store import disk, lines, migrate, sifting
from metrics.store.index import Index, digest
from metrics.store.lines import Row
from metrics.store.waiting import Entry

Maybe = Callable[[bytes], bool]  # whether a line, as it stands in the file, may be a row that is looked for

CATCH_UP = 8_000_000  # bytes that are read at once, while somebody waits; more is done in the background


class Segment:
    """The log file at `path`, whose rows are found by their field `key`; `version` is the newest it may
    have. It holds a descriptor from its first row to `rest`."""

    def __init__(self, path: Path, key: str | None, version: int) -> None:
        self.path = path
        self.name = path.name
        self.end = lines.size_of(path)
        self.index = Index(path.with_suffix(".index"), path, key) if key else None
        self._key = key
        self._version = version
        self._fd: int | None = None
        self._inode = 0

    def open(self, mend: bool) -> None:
        """Get ready: refuse a newer version, heal a torn end and bring the index up to the end, if that is
        not far.

        With `mend` False nothing is written. OSError when the disk refuses, Problem when the file is a newer
        program's.
        """
        self.close()
        if mend and self.path.exists():
            self._open_to_write()
            self.close()
        elif self.path.exists():
            with disk.reading(self.path) as fd:
                self._check_version(fd)
        self.end = lines.size_of(self.path)
        if self.index:
            self.index.settle(mend)
            far = self.end - self.index.covered > CATCH_UP
            self.index.behind = mend and far
            if not far:
                with suppress(OSError):
                    self.index.fill(self.end)

    def append(self, entries: Sequence[Entry], durable: bool) -> int:
        """Write these at the end, all or none. Returns the offset before them (0 in a new file).

        OSError when the disk refuses; nothing is then left of them.
        """
        if self.moved():
            self.open(mend=True)
        self._open_to_write()
        fd = self._descriptor()
        before = self.end
        start = before or len(lines.header(self._version))
        content = b"".join(entry.line for entry in entries)
        try:
            disk.write_all(fd, content if before else lines.header(self._version) + content)
            if durable:
                os.fsync(fd)
                if not before:
                    disk.sync_folder(self.path.parent)
        except OSError:
            with suppress(OSError):
                os.ftruncate(fd, before)
            raise
        self.end = start + len(content)
        if self.index:
            if self.index.behind or self.index.covered == before:
                self.index.add(
                    list(_placed(start, [(entry.key, len(entry.line)) for entry in entries])), self.end
                )
            else:
                with suppress(OSError):  # the next write makes up for it
                    self.index.fill(self.end)
        return before

    def _descriptor(self) -> int:
        if self._fd is None:
            raise RuntimeError(f"{self.name} is not open for writing")
        return self._fd

    def moved(self) -> bool:
        """Whether the file is not what it was when we last had it open."""
        try:
            stat = os.stat(self.path)
        except FileNotFoundError:
            return True
        return (stat.st_ino, stat.st_size) != (self._inode, self.end)

    def _open_to_write(self) -> None:
        """Open the file, made when missing, and add the line end that a killed writer owes it."""
        if self._fd is not None:
            return
        fd = disk.open_for_append(self.path)
        try:
            self._check_version(fd)
            stat = os.fstat(fd)
            if os.name != "nt" and stat.st_mode & 0o077:
                os.fchmod(fd, 0o600)  # rows tell what was asked
            if stat.st_size and disk.read(fd, 1, stat.st_size - 1) != b"\n":
                disk.write_all(fd, b"\n")
        except (OSError, Problem):
            os.close(fd)
            raise
        self._fd, self._inode, self.end = fd, stat.st_ino, os.fstat(fd).st_size

    def _check_version(self, fd: int) -> None:
        version = lines.version_of(fd)
        if version > self._version:
            why = migrate.too_new(version, self._version)
            raise Problem(503, f"{self.name} cannot be used: {why}", kind="config", retryable=False)

    def keep_only(self, stay: Sequence[sifting.Line]) -> None:
        """Write the file anew with these of its lines. Problem when the disk refuses: it is then as it was.

        A kill leaves the file as it was, or as it is to be.
        """
        try:
            if self.index:
                self.index.save()
            self.close()
            disk.put(self.path, sifting.pieces(self.path, stay), durable=True)
            self.end = lines.size_of(self.path)
            self._inode = os.stat(self.path).st_ino
            if self.index:
                start = self.end - sum(line.size for line in stay)
                self.index.replace(list(_placed(start, [(line.key, line.size) for line in stay])), self.end)
        except OSError as error:
            raise disk.refusal(error, self.name) from None

    def rows(self, key: str) -> Iterator[Row]:
        """The rows whose key is `key`, last first."""
        if not self.index:
            return
        seen: set[int] = set()
        with suppress(FileNotFoundError):  # removed just now, for its age
            for offset in self.index.offsets(key):
                if offset not in seen and offset < self.end:
                    seen.add(offset)
                    row = lines.decode(lines.at(self.path, offset))
                    if row and row.get(self._key or "") == key:
                        yield row

    def latest(self, keys: Collection[str]) -> dict[str, Row]:
        """The last row of each of these keys that has one."""
        if not self.index:
            return {}
        found: dict[str, Row] = {}
        with suppress(FileNotFoundError):  # removed just now, for its age
            for key, offset in self.index.latest(keys).items():
                row = lines.decode(lines.at(self.path, offset)) if offset < self.end else None
                if row is None or row.get(self._key or "") != key:  # another key of the same digest, or torn
                    row = next(self.rows(key), None)
                if row is not None:
                    found[key] = row
        return found

    def superseded(self, row: Row, offset: int) -> bool:
        """Whether a later row has the same key."""
        key = row.get(self._key or "")
        if not self.index or not isinstance(key, str):
            return False
        return next(self.index.offsets(key), offset) > offset

    def backwards(self, end: int | None, maybe: Maybe | None = None) -> Iterator[tuple[int, Row | None]]:
        """The rows before offset `end` (None: all) as (offset, row), last first, those superseded by a later
        one left out. A line that `maybe` does not want is not read as a row: it is (offset, None)."""
        try:
            for offset, line in lines.backwards(self.path, self.end if end is None else min(end, self.end)):
                if maybe and not maybe(line):
                    yield offset, None
                    continue
                row = lines.decode(line)
                if row and not self.superseded(row, offset):
                    yield offset, row
        except FileNotFoundError:
            return

    def rest(self) -> None:
        """Nothing more is written for now: bring the index's file up to date and close."""
        if self.index:
            with suppress(OSError):
                self.index.save()
        self.close()

    def close(self) -> None:
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)

    def remove(self) -> None:
        """Delete the file and its index. OSError when the disk refuses."""
        self.close()
        disk.remove(self.path.with_suffix(".index"))
        disk.remove(self.path)


def _placed(start: int, found: Iterable[tuple[str | None, int]]) -> Iterator[tuple[bytes, int]]:
    """The index's entries for lines that lie one after the other from `start`, given their keys and sizes."""
    for key, size in found:
        if key is not None:
            yield digest(key), start
        start += size
