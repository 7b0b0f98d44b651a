"""JsonLog: rows that are only ever added, one JSON object a line, in one file, or in one a month or a day.

No reader goes through the log: a row is found by its key through an index, totals are counters that every row
is folded into as it comes, and the latest rows are read from the end. Index and counters lie beside the log
and are made again in the background when they do not fit it; `ready` is False meanwhile.

Rows arrive in two ways. `append` writes before it returns. `submit` counts the row at once and leaves the
writing to the writer thread, so that a request never waits for the disk. A log takes one of the two, or the
order of its counts is not that of its lines.
"""

import threading
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from metrics.records import Problem
from metrics.store import home, lines, migrate
from metrics.store.counters import Fold, State
from metrics.store.kind import Kind
from metrics.store.lines import Row
from metrics.store.openlog import OpenLog
from metrics.store.segment import Maybe
from metrics.store.writer import trouble

__all__ = ["JsonLog", "close_all", "in_use", "trouble"]

T = TypeVar("T")

_all: "weakref.WeakSet[JsonLog]" = weakref.WeakSet()

LOOK = 12_000  # rows that one page of `recent` looks at while it searches for what the caller wants


def close_all() -> None:
    """Write out what is queued, save all counters and close all logs."""
    home.close()


def in_use() -> "list[JsonLog]":
    """The logs that are open in the current data folder."""
    return [log for log in list(_all) if log.is_open]


class JsonLog:
    """The log in `name`: a file such as "verdicts.jsonl", or with a `partition` a folder of files, one for
    each "month" or "day" of the rows' `at`.

    `key` names the field by which rows are found; `durable` appends survive a power cut. `fold` adds a row to
    the counters, a JSON mapping that `empty` makes; raise `meaning` when it counts differently than before.
    Each of `later` adds what is seldom asked for: once somebody does, else while the row is written.
    With `replaced` the values in that mapping are never changed but replaced: a long one is saved in passing.
    `version` is that of the rows. `large` rows may hold very long texts: each is made a line when it comes.

    The first use opens it in the current data folder, reading little however long it is. Problem 500 or 507
    when the disk refuses, 503 when a file was written by a newer program.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str | None = None,
        partition: str | None = None,
        durable: bool = False,
        fold: Fold | None = None,
        empty: Callable[[], State] = dict,
        version: int = 1,
        meaning: int = 1,
        large: bool = False,
        replaced: bool = False,
        later: tuple[Fold, ...] = (),
    ) -> None:
        self.name = name
        self._kind = Kind(
            name, key, partition, durable, fold, empty, version, meaning, large, replaced, later
        )
        self._opening = threading.RLock()
        self._log: OpenLog | None = None
        migrate.known(name, version)
        _all.add(self)

    @property
    def is_open(self) -> bool:
        return self._log is not None

    def open(self) -> OpenLog:
        """Open the log now."""
        with self._opening:
            if self._log is None:
                self._log = OpenLog(self._kind)
                home.on_close(self.close)
            return self._log

    def close(self) -> None:
        """Write out what is queued, save the counters and close the files. What the disk refuses now is
        lost."""
        with self._opening:
            log, self._log = self._log, None
            if log:
                log.close()

    # --- writing

    def append(self, row: Row) -> None:
        """Write `row` before returning. Problem when the disk refuses; it is then neither written nor
        counted."""
        (self._log or self.open()).append([row])

    def append_all(self, rows: Sequence[Row]) -> None:
        """Write these rows in one go before returning, as `append` does."""
        (self._log or self.open()).append(rows)

    def submit(self, row: Row) -> None:
        """Count `row` now and have it written within 100 ms. Nobody changes it from now on."""
        (self._log or self.open()).submit(row)

    def flush(self) -> None:
        """Write all that is queued. Problem when the disk refuses; it stays queued."""
        if self._log:
            self._log.drain()

    def cut(self) -> tuple[dict[Path, int], tuple[Path, bytes] | None]:
        """One moment of the log: where each of its files ends, all that was queued written before; and the
        counters' file as of just then, None while they are made again."""
        return (self._log or self.open()).cut()

    # --- reading

    def find(self, key: str, since: str = "", until: str = "") -> Row | None:
        """The latest row with this key, in the files from `since` to `until` ("2026-11") if these are given.

        Problem 503 when it is not found while the index is being made again.
        """
        log = self._log or self.open()
        line = log.waiting.newest(key)
        if line is not None:
            return lines.decode(line)
        row = log.steady(lambda: next(log.rows(key, since, until), None))
        if row is None and log.indexing:
            raise _indexing(self.name)
        return row

    def find_each(self, keys: Collection[str], since: str = "") -> dict[str, Row]:
        """The latest row of each of these keys that has one: what `find` says of each, in one look.

        Problem 503 when one is not found while the index is being made again.
        """
        log = self._log or self.open()
        queued = {key: line for key in keys if (line := log.waiting.newest(key)) is not None}
        found = {key: row for key, line in queued.items() if (row := lines.decode(line))}
        left = [key for key in keys if key not in found]
        found |= log.steady(lambda: log.latest(left, since))
        if len(found) < len(set(keys)) and log.indexing:
            raise _indexing(self.name)
        return found

    def find_all(self, key: str, since: str = "") -> list[Row]:
        """All rows with this key, latest first. Problem 503 while the index is being made again."""
        log = self._log or self.open()
        with suppress(Problem):
            log.drain()
        if log.indexing:
            raise _indexing(self.name)
        return [*log.queued(key), *log.steady(lambda: list(log.rows(key, since)))]

    def recent(
        self,
        limit: int,
        before: str | None = None,
        where: Callable[[Row], bool] | None = None,
        maybe: Maybe | None = None,
    ) -> tuple[list[Row], str | None]:
        """The latest `limit` rows that fit `where`, newest first, and the cursor of the next page (None: that
        was all). `maybe` as for `backwards`.

        `before` is the cursor of the page before. A page may be short when few rows fit; its cursor says
        whether to go on.
        """
        rows: list[Row] = []
        cursor = before
        for looked, (place, row) in enumerate(self.backwards(before, maybe)):
            if len(rows) == limit or looked == LOOK:
                return rows, cursor
            if row is not None and (where is None or where(row)):
                rows.append(row)
            cursor = place
        return rows, None

    def backwards(
        self, before: str | None = None, maybe: Maybe | None = None
    ) -> Iterator[tuple[str, Row | None]]:
        """(cursor, row) of every row before the cursor `before`, newest first, as far as the caller goes.

        `maybe` says of a line as it is stored whether it is worth being read; one that is not is (cursor,
        None), and costs next to nothing. Names and ASCII words stand in a line as they are; other characters
        are escaped.
        """
        log = self._log or self.open()
        with suppress(Problem):
            log.drain()
        for file, offset, row in log.backwards(_place(before), maybe):
            yield f"{file}:{offset}", row

    @property
    def state(self) -> State:
        """The counters now, as far as `fold` makes them. They change under the reader: look one thing up, or
        use `counted`."""
        return (self._log or self.open()).counters.state

    def counted(self, reader: Callable[[State], T], by: Fold | None = None) -> T:
        """What `reader` makes of the counters, of all rows, while nobody else changes them. `by` is the one
        of `later` whose counts it reads, where it is no more than that."""
        log = self._log or self.open()
        with log.memory:
            counters = log.counters
            if counters.behind:
                counters.catch_up(by=by)
            return reader(counters.state)

    @property
    def ready(self) -> bool:
        """Whether counters and index are complete; False while they are made again in the background."""
        return (self._log or self.open()).ready

    # --- keeping

    def retain(self, oldest: str) -> int:
        """Delete the files from before `oldest` ("2026-05"); counters keep what they counted. Returns
        how many went."""
        return (self._log or self.open()).retain(oldest)

    def thin(self, oldest: str, keep: Callable[[str], bool]) -> int:
        """Delete the rows in files from before `oldest`, but those whose key `keep` wants. Returns how many
        keys went. For a log that has a key and no counters.

        `keep` is asked about each key while the log is in use. Problem when the disk refuses; what is not
        gone then goes the next time, as does what was being indexed.
        """
        return (self._log or self.open()).thin(oldest, keep)


def _indexing(name: str) -> Problem:
    return Problem(
        503, f"{name} is being indexed again; try again in a few seconds", kind="indexing", retry_after=5.0
    )


def _place(cursor: str | None) -> tuple[str, int] | None:
    """The file and offset of a cursor. Problem when it is none of ours."""
    if cursor is None:
        return None
    file, _, offset = cursor.rpartition(":")
    if not file or not offset.isascii() or not offset.isdigit():
        raise Problem(
            400,
            f'"before" is not a cursor: {cursor!r}. Take it from "next" of the page before.',
            param="before",
        )
    return file, int(offset)
