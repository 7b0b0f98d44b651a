"""Rows that are on their way to the disk: in the order they came, and found by key meanwhile.

Bounded: while the disk refuses them, as many bytes are held as HELD says, and what comes then is counted as
lost.
"""

from metrics.store import lines
from metrics.store.lines import Row

HELD = 64_000_000
USUAL = 2_000  # bytes that a row counts for until it has been made a line, which has half as many


class Entry:
    """A row as it will stand in its file. The line is made when it is first asked for, which nobody does who
    waits for a request; the row does not change until then."""

    __slots__ = ("_row", "file", "key", "size")

    def __init__(self, file: str, row: Row | bytes, key: str | None) -> None:
        self.file = file
        self.key = key
        self.size = len(row) if isinstance(row, bytes) else USUAL
        self._row = row

    @property
    def line(self) -> bytes:
        row = self._row  # one look and one change: two threads may be in here
        if isinstance(row, bytes):
            return row
        line = self._row = lines.encode(row)
        self.size = len(line)
        return line


class Waiting:
    """The queue. Its owner sees to it that one thread at a time is in here."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.lost = 0
        self._bytes = 0
        self._fresh: dict[str, Entry] = {}

    def add(self, entry: Entry) -> bool:
        """Queue a row; whether there was room."""
        size = self._bytes + entry.size
        if size > HELD:
            self.lost += 1
            return False
        self.entries.append(entry)
        self._bytes = size
        if entry.key is not None:
            self._fresh[entry.key] = entry
        return True

    def take(self) -> list[Entry]:
        """Everything queued, to be written. `done` or `back` follows."""
        entries, self.entries, self._bytes = self.entries, [], 0
        return entries

    def done(self, entries: list[Entry]) -> None:
        """These are on disk."""
        for entry in entries:
            if entry.key is not None and self._fresh.get(entry.key) is entry:
                del self._fresh[entry.key]

    def back(self, entries: list[Entry]) -> None:
        """These are not: they go before what came since."""
        self.entries[:0] = entries
        self._bytes += sum(entry.size for entry in entries)

    def newest(self, key: str) -> bytes | None:
        """The latest line with this key that is not on disk yet."""
        entry = self._fresh.get(key)
        return entry.line if entry else None
