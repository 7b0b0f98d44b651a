"""Counters kept beside a log: what its rows add up to, saved with the place in each file up to which they are
counted.

So a start reads the rows after that place, not the log. A mark of the bytes before the place tells when a
file is not the one that was counted; then everything is counted again.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from metrics.records import Problem
from metrics.store import disk, lines, migrate, writer
from metrics.store.lines import Row

State = dict[str, Any]
Fold = Callable[[State, Row], None]

VERSION = 1
MARKED = 64  # bytes before a place that its mark is made of
# What comes of a row that cannot be counted.
BENT = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
AT_ONCE = 64  # values that are written out before others go on for a moment


class Counters:
    """A `state` and the `places` in the log's files up to which it counts them, kept in the file `path`.

    `fold` adds a row to a state, and so does each of `later` where there is time to: `behind` are the rows
    that one of those has not seen yet, until `catch_up`. `empty` makes a state; `meaning` says which way of
    counting a saved one is the work of. With `replaced`, its values are replaced and never changed.
    """

    def __init__(
        self,
        path: Path,
        folder: Path,
        fold: Fold,
        empty: Callable[[], State],
        meaning: int,
        replaced: bool = False,
        later: tuple[Fold, ...] = (),
    ) -> None:
        self.path = path
        self._folder = folder
        self._fold = fold
        self._empty = empty
        self._meaning = meaning
        self._replaced = replaced
        self._written: dict[str, tuple[Any, str]] = {}  # what was saved last: by key the value, and its text
        self.state: State = empty()
        self.behind: tuple[tuple[Fold, list[Row]], ...] = tuple([(each, []) for each in later])
        self.places: dict[str, int] = {}

    def load(self) -> None:
        """Take what was saved, if it fits the files; start from nothing if not."""
        self.state, self.places = self._empty(), {}
        try:
            with disk.reading(self.path) as fd:
                saved = json.loads(disk.read_all(fd))
            marks = {str(name): (int(place), str(mark)) for name, (place, mark) in saved["files"].items()}
            fits = (saved[migrate.VERSION], saved["meaning"]) == (VERSION, self._meaning)
            state = saved["state"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return
        if (
            fits
            and isinstance(state, dict)
            and all(self._agrees(name, *marked) for name, marked in marks.items())
        ):
            self.state, self.places = state, {name: place for name, (place, _) in marks.items()}

    def _agrees(self, name: str, place: int, mark: str) -> bool:
        """Whether the file is the one that was counted, or gone, as old months go."""
        path = self._folder / name
        return not path.exists() or (lines.size_of(path) >= place and _mark(path, place) == mark)

    def tail(self, ends: Mapping[str, int]) -> int:
        """Bytes that are not counted yet, in files that end there."""
        return sum(end - self.places.get(name, 0) for name, end in ends.items())

    def count(self, ends: Mapping[str, int], pause: Callable[[], bool] = lambda: False) -> bool:
        """Count the rows up to these ends. `pause` is called between pieces; False when it said to stop."""
        for name, end in ends.items():
            try:
                for found in lines.forwards(self._folder / name, self.places.get(name, 0), end):
                    for offset, line in found:
                        self.add_stored(line)
                        self.places[name] = offset + len(line)
                    if pause():
                        return False
            except FileNotFoundError:  # an old month that was removed meanwhile
                self.places.pop(name, None)
        return True

    def add(self, row: Row) -> None:
        """Add a row. One that is bent, by hand or by a provider's strange figures, counts as far as it
        can."""
        for _, rows in self.behind:
            rows.append(row)
        try:
            self._fold(self.state, row)
        except BENT:
            return

    def catch_up(self, most: int | None = None, by: Fold | None = None) -> None:
        """Count what is behind, or the first `most` of it; in one of the ways of `later`, or in all."""
        for later, waiting in self.behind:
            if waiting and (by is None or by is later):
                rows = waiting[:most]
                del waiting[:most]
                for row in rows:
                    try:
                        later(self.state, row)
                    except BENT:
                        continue

    def add_stored(self, line: bytes) -> None:
        """Add a row as it was written."""
        if row := lines.decode(line):
            self.add(row)
            self.catch_up()

    def taken(self) -> State | str:
        """The state as it is now, for `save`: its text, or where its values are replaced just them, so that
        nobody waits while a long one is written out."""
        self.catch_up()
        return dict(self.state) if self._replaced else json.dumps(self.state)

    def save(self, taken: State | str) -> None:
        """Save what was `taken`. If the disk refuses, the next start counts a longer tail."""
        try:
            disk.put(self.path, self._text(taken), durable=False)
        except Problem:
            return

    def content(self) -> bytes:
        """What the file would hold if it were saved now."""
        return self._text(self.taken())

    def _text(self, taken: State | str) -> bytes:
        state = taken if isinstance(taken, str) else self._put_together(taken)
        files = {name: [place, _mark(self._folder / name, place)] for name, place in self.places.items()}
        head = json.dumps({migrate.VERSION: VERSION, "meaning": self._meaning, "files": files})
        return f'{head[:-1]}, "state": {state}}}\n'.encode()

    def _put_together(self, state: State) -> str:
        """What json.dumps would make of it, from the texts of the last time where they still hold: of a long
        state hardly anything is new."""
        before, written, made, breathe = self._written, {}, 0, writer.breather()
        for key, value in state.items():
            known = before.get(key)
            if known is None or known[0] is not value:
                known = value, f"{json.dumps(key)}: {json.dumps(value)}"
                made += 1
                if made % AT_ONCE == 0:
                    breathe()
            written[key] = known
        self._written = written
        return "{" + ", ".join([text for _, text in written.values()]) + "}"


def _mark(path: Path, place: int) -> str:
    """A mark of the bytes before `place`."""
    start = max(0, place - MARKED)
    try:
        with disk.reading(path) as fd:
            return hashlib.blake2b(disk.read(fd, place - start, start), digest_size=6).hexdigest()
    except OSError:
        return ""
