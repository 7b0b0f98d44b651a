"""Figures of the calls: what the ledger adds up to, and how long calls took since this process began.

A family is a figure with a row for each model, collection or key. Both exporters write the same families, so
they say the same.
"""

import bisect
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# Bounds of gen_ai.client.operation.duration and gen_ai.client.token.usage, from OpenTelemetry's semantic
# conventions for generative AI (docs/gen-ai/gen-ai-metrics.md).
SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = tuple(4.0**power for power in range(14))

SERIES = 2000  # of one histogram; calls of further models count together
OTHERS = "(others)"

Labels = tuple[tuple[str, str], ...]
Used = Callable[[str], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Family:
    """`name` in words with dots, as OpenTelemetry has them; `unit` in UCUM; `rows` are (labels, value)."""

    name: str
    unit: str
    about: str
    rows: tuple[tuple[Labels, int | float], ...]
    monotonic: bool = True


@dataclass(slots=True)
class Histogram:
    bounds: tuple[float, ...]
    counts: list[int] = field(default_factory=list)
    sum: float = 0.0

    def add(self, value: float) -> None:
        self.counts = self.counts or [0] * (len(self.bounds) + 1)
        self.counts[bisect.bisect_left(self.bounds, value)] += 1  # a bound belongs to the bucket below it
        self.sum += value

    @property
    def count(self) -> int:
        return sum(self.counts)

    def copy(self) -> "Histogram":
        return Histogram(self.bounds, list(self.counts), self.sum)


class Meter:
    """How long calls took and how many tokens they had, by model and outcome, since `began` (epoch
    seconds)."""

    def __init__(self, began: float) -> None:
        self.began = began
        self._lock = threading.Lock()
        self._durations: dict[Labels, Histogram] = {}
        self._tokens: dict[Labels, Histogram] = {}

    def hear(self, row: Mapping[str, Any]) -> None:
        """Count a ledger row."""
        asked = (
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.provider.name", str(row.get("endpoint") or "unknown")),
            ("gen_ai.request.model", str(row.get("served") or "unknown")),
        )
        failed = row.get("status") not in ("ok", "empty")
        ended = (("error.type", str(row.get("error") or row.get("status"))),) if failed else ()
        parts = [row.get(name) or 0 for name in ("uncached_in", "cache_read", "cache_write")]
        with self._lock:
            if row.get("seconds") is not None:
                _series(self._durations, asked + ended, SECONDS).add(float(row["seconds"]))
            for kind, count in (("input", sum(parts)), ("output", row.get("out") or 0)):
                if count:
                    labels = (*asked, ("gen_ai.token.type", kind))
                    _series(self._tokens, labels, TOKENS).add(float(count))

    def durations(self) -> list[tuple[Labels, Histogram]]:
        with self._lock:
            return [(labels, each.copy()) for labels, each in self._durations.items()]

    def tokens(self) -> list[tuple[Labels, Histogram]]:
        with self._lock:
            return [(labels, each.copy()) for labels, each in self._tokens.items()]


def _series(series: dict[Labels, Histogram], labels: Labels, bounds: tuple[float, ...]) -> Histogram:
    if labels not in series and len(series) >= SERIES:
        labels = tuple((name, OTHERS if name == "gen_ai.request.model" else value) for name, value in labels)
    return series.setdefault(labels, Histogram(bounds))


# (suffix of the name, unit, about, what a row of `bench usage` says of it)
FIGURES: tuple[tuple[str, str, str, Callable[[Mapping[str, Any]], int | float | None]], ...] = (
    ("calls", "{call}", "Calls to providers.", lambda row: row["calls"]),
    ("errors", "{call}", "Calls that failed.", lambda row: row["errors"]),
    (
        "interrupted",
        "{call}",
        "Calls under way when a server was killed.",
        lambda row: row["interrupted"],
    ),
    (
        "unknown_cost",
        "{call}",
        "Calls whose cost is not known, and so in no sum of cost.",
        lambda row: row["unknown_calls"],
    ),
    (
        "cost",
        "{USD}",
        "What the calls of known cost came to. Absent where none is known.",
        lambda row: row["known_usd"],
    ),
)


def families(used: Used) -> Iterator[Family]:
    """What the ledger adds up to, since it began, over all restarts. `used` is limits/ledger.used."""
    for by in ("model", "collection", "key"):
        rows = used(by)["rows"]
        lead = "bench" if by == "model" else f"bench.{by}"
        for name, unit, about, value in FIGURES:
            found = [(((by, row["name"] or ""),), value(row)) for row in rows]
            known = tuple((labels, number) for labels, number in found if number is not None)
            yield Family(f"{lead}.{name}", unit, f"{about} By {by}.", known)
        tokens = tuple(
            (((by, row["name"] or ""), ("kind", kind)), count)
            for row in rows
            for kind, count in row["tokens"].items()
        )
        yield Family(
            f"{lead}.tokens", "{token}", f"Tokens by kind; reasoning is a part of out. By {by}.", tokens
        )
