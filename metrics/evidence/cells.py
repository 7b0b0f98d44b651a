"""Evidence cells: what the verdicts on one model come to, on one kind of task in one collection.

A cell is a few sums, in the order of SUMS. A verdict adds to them with the weight of the day of its panel,
2^((day - DAY0) / HALF_LIFE), so that old verdicts fade beside new ones and nothing is ever rewritten; a
change of mind takes out what it replaces with that same weight. The sums are whole numbers, of 1/ONE each:
they come to the same in whatever order verdicts arrive, and what is taken back leaves nothing behind.

Cells are kept as {collection: {shape: {model_id: [sum, ...]}}} among the counters of the verdicts' log.
"""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import lru_cache
from typing import Any

Cell = list[int]
Cells = dict[str, dict[str, dict[str, Cell]]]

# What a verdict of each seat adds to: how many were useful, of how many. A member was picked under other
# conditions than an explorer, so it has a pair of its own; a merger wrote what others found.
PAIRS = {
    "explorer": ("useful", "n_useful"),
    "member": ("seated_useful", "n_seated"),
    "route": ("route_useful", "n_route"),
}
SUMS = ("new", "n_claims", *(name for pair in PAIRS.values() for name in pair))
PLACES = {name: place for place, name in enumerate(SUMS)}

HALF_LIFE = 60  # days in which a verdict comes to weigh half as much
DAY0 = date(2026, 1, 1).toordinal()
ONE = 1 << 20  # the weight of a verdict of DAY0
FARTHEST = 36_500  # days from DAY0, beyond which a date is a mistake
GENERAL = "general"  # the shape of a task that nobody named

_DAY = re.compile(r"[pr](\d{4})(\d\d)(\d\d)-")


def fold(cells: Cells, row: Mapping[str, Any]) -> None:
    """Take a row of the verdicts' log into its cell. ValueError or KeyError when it names no call."""
    changes = list(_found(row) if "new" in row else _judged(row))
    if changes:
        shapes = cells.setdefault(str(row["collection"]), {})
        models = shapes.setdefault(str(row.get("shape") or GENERAL), {})
        cell = models.setdefault(str(row["model_id"]), [0] * len(SUMS))
        one = weight(day_of(row["call"]))
        for name, amount in changes:
            cell[PLACES[name]] += amount * one


def weight(day: int) -> int:
    """What a verdict on a panel of that day counts. A day is a date's ordinal."""
    return _weight(max(-FARTHEST, min(day - DAY0, FARTHEST)))


@lru_cache(maxsize=1024)
def _weight(days: int) -> int:
    return max(1, round(math.exp2(days / HALF_LIFE) * ONE))


def fade(day: int) -> float:
    """By what a sum is to be multiplied to tell what it is worth on `day`, in verdicts of that day."""
    return 1 / weight(day)


def day_of(call: str) -> int:
    """The day of the panel or conversation that a call id names. ValueError when it names none."""
    return date.fromisoformat(date_of(call)).toordinal()


def date_of(call: str) -> str:
    """The same as a date, "2026-11-29"; whether there is such a day is not looked at."""
    match = _DAY.match(call)
    if match is None:
        raise ValueError(f"{call!r} is no call id")
    return "-".join(match.groups())


def seat_of(row: Mapping[str, Any]) -> str:
    """member | explorer | merger | route: where the answer of a row was given."""
    if str(row["call"]).startswith("r"):
        return "route"
    return str(row.get("seat") or "").rstrip("0123456789")


def _judged(row: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """A verdict: in it comes, and out goes the one it replaces. Of a failed answer it says nothing here."""
    pair = PAIRS.get(seat_of(row)) if row.get("answered", True) else None
    if pair is None:
        return
    useful, judged = pair
    for verdict, sign in ((row.get("was"), -1), (None if row.get("withdrawn") else row.get("useful"), 1)):
        if verdict is not None:
            yield useful, sign * bool(verdict)
            yield judged, sign


def _found(row: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """How many real claims of an explorer no member made, as it stands now and as it stood before."""
    if seat_of(row) == "explorer":
        for found, sign in ((row.get("was_new"), -1), (row.get("new"), 1)):
            if found is not None:
                yield "new", sign * int(found)
                yield "n_claims", sign
