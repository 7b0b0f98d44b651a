"""Rows that are on their way to the disk: in the order they came, and found by key meanwhile.

Bounded: while the disk refuses them, as many bytes are held as HELD says, and what comes then is counted as
lost.
"""

from typing import NamedTuple

HELD = 64_000_000


class Entry(NamedTuple):
    """A row as it will stand in its file."""

    file: str
    line: bytes
    key: str | None


class Waiting:
    """The queue. Its owner sees to it that one thread at a time is in here."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.lost = 0
        self._bytes = 0
        self._fresh: dict[str, bytes] = {}

    def add(self, entry: Entry) -> bool:
        """Queue a row; whether there was room."""
        if self._bytes + len(entry.line) > HELD:
            self.lost += 1
            return False
        self.entries.append(entry)
        self._bytes += len(entry.line)
        if entry.key is not None:
            self._fresh[entry.key] = entry.line
        return True

    def take(self) -> list[Entry]:
        """Everything queued, to be written. `done` or `back` follows."""
        entries, self.entries, self._bytes = self.entries, [], 0
        return entries

    def done(self, entries: list[Entry]) -> None:
        """These are on disk."""
        for entry in entries:
            if entry.key is not None and self._fresh.get(entry.key) is entry.line:
                del self._fresh[entry.key]

    def back(self, entries: list[Entry]) -> None:
        """These are not: they go before what came since."""
        self.entries[:0] = entries
        self._bytes += sum(len(entry.line) for entry in entries)

    def newest(self, key: str) -> bytes | None:
        """The latest line with this key that is not on disk yet."""
        return self._fresh.get(key)
