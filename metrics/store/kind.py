"""What a log is, as its owner declares it, and what follows from that: its files, its lines, its counters."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from metrics.store import lines, stamps
from metrics.store.counters import Counters, Fold, State
from metrics.store.lines import Row
from metrics.store.segment import Segment
from metrics.store.waiting import Entry

_MONTH = "[0-9][0-9][0-9][0-9]-[0-9][0-9]"
PATTERNS = {"month": f"{_MONTH}.jsonl", "day": f"{_MONTH}-[0-9][0-9].jsonl"}  # by the partition


@dataclass(frozen=True, slots=True)
class Kind:
    """What a log is (see log.JsonLog)."""

    name: str
    key: str | None
    partition: str | None
    durable: bool
    fold: Fold | None
    empty: Callable[[], State]
    version: int
    meaning: int
    large: bool = False
    replaced: bool = False
    later: tuple[Fold, ...] = ()

    def label(self, file: str) -> str:
        return f"{self.name}/{file}" if self.partition else self.name

    @property
    def pattern(self) -> str:
        """What its files are called."""
        return PATTERNS[self.partition] if self.partition else Path(self.name).name

    def entry(self, row: Row) -> Entry:
        by = self.partition
        file = stamps.part(row["at"], by) + ".jsonl" if by else Path(self.name).name
        key = row.get(self.key) if self.key else None
        said = lines.encode_large(row) if self.large else row
        return Entry(file, said, key if isinstance(key, str) else None)

    def segment(self, path: Path) -> Segment:
        return Segment(path, self.key, self.version)

    def counters(self, place: Path, folder: Path) -> Counters:
        path = place / "counters" if self.partition else place.with_suffix(".counters")
        fold = self.fold or _count_nothing
        return Counters(path, folder, fold, self.empty, self.meaning, self.replaced, self.later)


def _count_nothing(state: State, row: Row) -> None:
    """The fold of a log without counters."""
