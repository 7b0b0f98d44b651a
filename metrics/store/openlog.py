"""A log that is open in a data folder: its files, its queue, its counters, and the two locks that keep them
in step.

`io` is held while files change, `memory` for the microseconds in which the queue and the counters do; whoever
needs both takes `io` first. So whoever queues a row never waits for the disk, and a saved state always counts
exactly the rows on disk.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from metrics.records import Problem
from metrics.store import disk, home, lines, sifting, writer
from metrics.store.counters import Counters
from metrics.store.kind import Kind
from metrics.store.lines import Row
from metrics.store.segment import CATCH_UP, Maybe, Segment
from metrics.store.waiting import Entry, Waiting

T = TypeVar("T")

SAVE_AFTER = 5.0  # seconds, or
SAVE_BYTES = 4_000_000  # so many bytes of rows, after which the counters are saved: less than CATCH_UP
REST = 4.0  # background work rests this many times as long as it worked, so that requests hardly notice it
AGAIN = 5.0  # seconds after which background work that the disk refused is tried again
AT_ONCE = 16  # rows that are made ready before others go on for a moment

_FILE = attrgetter("file")


class OpenLog:
    """The log `kind`, open in the current data folder. Problem when the disk refuses or a file is a newer
    program's."""

    def __init__(self, kind: Kind) -> None:
        self.name = kind.name
        self.kind = kind
        self._place = home.path(kind.name)
        self.folder = self._place if kind.partition else self._place.parent
        self._mine = home.writable()
        if self._mine:
            disk.make_folder(self.folder)
        self.files = {path.name: self._opened(path) for path in sorted(self.folder.glob(kind.pattern))}
        self.io = threading.RLock()
        self.memory = threading.RLock()
        self.waiting = Waiting()
        self._awake = False
        self._latest: Segment | None = None
        self._thinning = threading.Lock()
        self._swaps = 0  # odd while a file takes the place of another
        self._written = 0
        self._saved = (time.monotonic(), 0)
        self._stop = threading.Event()
        self._mender: threading.Thread | None = None
        self._disagreed = 0
        self.counters = kind.counters(self._place, self.folder)
        self.counters.load()
        far = self.counters.tail(self._ends()) > CATCH_UP
        if not far and kind.fold:
            self.counters.count(self._ends())
        self.counters.places = self._ends()
        if (far and kind.fold) or self.indexing:
            self._mend()

    def _opened(self, path: Path) -> Segment:
        segment = self.kind.segment(path)
        try:
            segment.open(self._mine)
        except OSError as error:
            raise disk.refusal(error, self.kind.label(path.name)) from None
        return segment

    def _ends(self) -> dict[str, int]:
        return {name: segment.end for name, segment in self.files.items()}

    # --- writing

    def submit(self, row: Row) -> None:
        if not self._mine:
            raise self._not_mine()
        entry = self.kind.entry(row)
        with self.memory:
            if not self.waiting.add(entry):
                return
            if self.kind.fold:
                self.counters.add(row)
            asleep, self._awake = not self._awake, True
        if asleep:
            writer.wake(self)

    def append(self, rows: Sequence[Row]) -> None:
        if not self._mine:
            raise self._not_mine()
        entries = [self.kind.entry(row) for row in rows]
        with self.io:
            self.drain()
            for file, group in groupby(entries, key=_FILE):
                written = list(group)
                self._write(file, written, self.kind.durable)
                with self.memory:
                    for entry in written:
                        self.counters.add_stored(entry.line)
            self._save_when_due()

    def _not_mine(self) -> Problem:
        return Problem(
            503, f"{self.name} belongs to the server that is running; ask it instead", kind="in_use"
        )

    def drain(self) -> None:
        """Write all that is queued. What the disk refuses stays queued, and a Problem says so."""
        self._make_ready()
        with self.io:
            with self.memory:
                entries, self._awake = self.waiting.take(), False
            done = 0
            try:
                for file, group in groupby(entries, key=_FILE):
                    written = list(group)
                    self._write(file, written, durable=False)
                    done += len(written)
            finally:
                with self.memory:
                    self.waiting.done(entries[:done])
                    self.waiting.back(entries[done:])
            self._save_when_due()

    def _make_ready(self) -> None:
        """Make lines of what is queued, and count it in full, before any lock is taken for long and a few at
        a time: no request waits for all of them."""
        with self.memory:
            entries = self.waiting.entries[:]
        breathe = writer.breather()
        for start in range(0, len(entries), AT_ONCE):
            if start:
                breathe()
            for entry in entries[start : start + AT_ONCE]:
                _ = entry.line
            with self.memory:
                self.counters.catch_up(AT_ONCE)

    def _write(self, file: str, written: list[Entry], durable: bool) -> None:
        segment = self.files.get(file)
        if segment is None:
            segment = self.kind.segment(self.folder / file)
            self.files = dict(sorted([*self.files.items(), (file, segment)]))
        if self._latest is not segment and self._latest:
            self._latest.rest()  # one descriptor for a log, however many files it has
        self._latest = segment
        try:
            before = segment.append(written, durable)
        except OSError as error:
            problem = disk.refusal(error, self.kind.label(file))
            lost = (
                f" {self.waiting.lost} rows could not be held in memory and are lost."
                if self.waiting.lost
                else ""
            )
            raise Problem(problem.status, problem.message + lost, kind=problem.kind) from None
        agreed = before == self.counters.places.get(file, 0)
        self.counters.places[file] = segment.end
        self._written += segment.end - before
        if not agreed:  # somebody else changed the file
            self._disagreed += 1
            self._mend()

    def _save_when_due(self) -> None:
        at, written = self._saved
        if self._written > written and (
            time.monotonic() - at > SAVE_AFTER or self._written - written > SAVE_BYTES
        ):
            self.save()

    def save(self) -> None:
        """Save the counters, if all that they count is on disk: else a row would be in both the sums and the
        tail."""
        with self.io:
            with self.memory:
                whole = self.kind.fold and self._mine and self.ready and not self.waiting.entries
                taken = self.counters.taken() if whole else None
            self._saved = (time.monotonic(), self._written)
            if taken is not None:
                self.counters.save(taken)

    def cut(self) -> tuple[dict[Path, int], tuple[Path, bytes] | None]:
        """Where each file ends now that what was queued is written, and the counters' file with just those
        rows in it; None for it while the counters do not fit."""
        self._make_ready()  # of what comes after this there is little: all others wait for that
        with self.io, self.memory:
            with suppress(Problem):  # what the disk refuses stays queued, and out of the cut
                self.drain()
            ends = {segment.path: segment.end for segment in self.files.values()}
            fits = self.kind.fold and self.ready and not self.waiting.entries
            return ends, (self.counters.path, self.counters.content()) if fits else None

    def close(self) -> None:
        """Write out, save and close. What the disk refuses now is lost."""
        self._stop.set()
        if mender := self._mender:
            mender.join()
        with self.io:
            if self._mine:
                writer.attempt(self)
            self.save()
            writer.forget(self)
            for segment in self.files.values():
                segment.rest()

    def retain(self, oldest: str) -> int:
        """Remove the files from before `oldest`; how many there were."""
        with self.io:
            self.drain()
            gone = [segment for name, segment in self.files.items() if self.kind.partition and name < oldest]
            self._forget(gone)
            return len(gone)

    def thin(self, oldest: str, keep: Callable[[str], bool]) -> int:
        """Remove the rows whose key `keep` does not want from the files from before `oldest`, and the files
        of which nothing is left; how many keys went.

        The log is used meanwhile; only a file's exchange holds up the writing of others.
        """
        if not self._mine:
            raise self._not_mine()
        self.drain()
        with self._thinning:
            old = [segment for name, segment in self.files.items() if self.kind.partition and name < oldest]
            try:
                for draft in self.folder.glob(".*.jsonl.draft"):  # of a killed process
                    disk.remove(draft)
                return sum(self._thin(segment, keep) for segment in old)
            except OSError as error:
                raise disk.refusal(error, self.name) from None

    def _thin(self, segment: Segment, keep: Callable[[str], bool]) -> int:
        with self.io:
            if segment.moved():  # by somebody else
                segment.open(mend=True)
            field, end = self.kind.key or "", segment.end
        sifted = sifting.sift(segment.path, field, 0, end, keep, _restful(self._stop))
        with self.io:
            if sifted is None or self._stop.is_set() or segment.moved() or self.indexing:
                return 0  # until the next time
            later = sifting.sift(segment.path, field, end, segment.end)
            stay = sifted.stay + (later.stay if later else [])
            if sifted.gone or not stay:
                self._swaps += 1
                try:
                    self._exchange(segment, stay)
                finally:
                    self._swaps += 1
            return len(sifted.gone)

    def _exchange(self, segment: Segment, stay: list[sifting.Line]) -> None:
        self._disagreed += 1  # what is being made in the background is of the old file
        if stay:
            segment.keep_only(stay)
            self.counters.places[segment.name] = segment.end
        else:
            self._forget([segment])

    def _forget(self, gone: list[Segment]) -> None:
        with self.memory:
            self.files = {name: segment for name, segment in self.files.items() if segment not in gone}
        if self._latest in gone:
            self._latest = None
        for segment in gone:
            self.counters.places.pop(segment.name, None)
            segment.remove()

    # --- reading

    def steady(self, reader: Callable[[], T]) -> T:
        """What `reader` finds in the files, none of which took the place of another meanwhile."""
        before = self._swaps
        found = reader()
        if before % 2 == 0 and before == self._swaps:
            return found
        with self.io:
            return reader()

    def rows(self, key: str, since: str = "", until: str = "") -> Iterator[Row]:
        """The rows on disk with this key, latest first."""
        for segment in reversed(list(self.files.values())):
            if since and self.kind.partition and segment.name < since:
                return
            if not until or segment.name[: len(until)] <= until:
                yield from segment.rows(key)

    def latest(self, keys: Collection[str], since: str = "") -> dict[str, Row]:
        """The last row on disk of each of these keys that has one."""
        found: dict[str, Row] = {}
        for segment in reversed(list(self.files.values())):
            left = [key for key in keys if key not in found]
            if not left or (since and self.kind.partition and segment.name < since):
                break
            found |= segment.latest(left)
        return found

    def queued(self, key: str) -> list[Row]:
        """The rows not on disk yet with this key, latest first."""
        with self.memory:
            found = [entry.line for entry in reversed(self.waiting.entries) if entry.key == key]
        return [row for row in map(lines.decode, found) if row]

    def backwards(
        self, cursor: tuple[str, int] | None, maybe: Maybe | None = None
    ) -> Iterator[tuple[str, int, Row | None]]:
        """All rows before the cursor (file, offset), latest first, each with its own place; None for a line
        that `maybe` does not want."""
        last, end = cursor or ("~", 0)
        for segment in reversed(list(self.files.values())):
            if segment.name <= last:
                for offset, row in segment.backwards(end if segment.name == last else None, maybe):
                    yield segment.name, offset, row

    # --- in the background

    @property
    def ready(self) -> bool:
        """Whether counters and indexes fit the files."""
        return self._mender is None

    @property
    def indexing(self) -> bool:
        """Whether an index is being made again, so that what is not found may still be there."""
        return any(
            segment.index is not None and segment.index.behind for segment in list(self.files.values())
        )

    def _mend(self) -> None:
        """Make again, in the background, what does not fit the files."""
        if self._mender is None and not self._stop.is_set():
            self._mender = threading.Thread(target=self._mending, name=f"mend-{self.name}", daemon=True)
            self._mender.start()

    def _mending(self) -> None:
        while not self._stop.is_set():
            with suppress(OSError):
                if self._mended(_restful(self._stop)):
                    return
            self._stop.wait(AGAIN)

    def _mended(self, pause: Callable[[], bool]) -> bool:
        """Whether counters and indexes fit the files again; False: told to stop, or the files changed under
        our hands."""
        disagreed = self._disagreed
        counters = self.kind.counters(self._place, self.folder)
        counters.load()
        while self.kind.fold and counters.tail(self._ends()) > CATCH_UP // 16:
            if not counters.count(self._ends(), pause):
                return False
        drafts = []
        for segment in list(self.files.values()):
            if self._mine and segment.index and segment.index.behind:
                draft = segment.index.rebuild(segment.end, pause)
                if draft is None:
                    return False
                drafts.append((segment, segment.index, draft))
        with self.io:
            if disagreed != self._disagreed:
                return False
            for segment, index, draft in drafts:
                index.adopt(draft, segment.end)
            self._take_over(counters)
        return True

    def _take_over(self, counters: Counters) -> None:
        """Go on with `counters`, completed by what is on disk and what is queued. `io` is held."""
        if self.kind.fold:
            counters.count(self._ends())
        counters.places = self._ends()
        with self.memory:
            for entry in self.waiting.entries:
                counters.add_stored(entry.line)
            self.counters = counters
            self._mender = None
        self.save()


def _restful(stop: threading.Event, clock: Callable[[], float] = time.monotonic) -> Callable[[], bool]:
    """A pause between pieces of work: REST times as long as the piece took. It returns whether to stop."""
    since = clock()

    def pause() -> bool:
        nonlocal since
        stop.wait((clock() - since) * REST)
        since = clock()
        return stop.is_set()

    return pause
