"""What each key, each collection and the whole bench has spent, folded from the ledger's rows: today, this
month and in all, in exact integers of 1e-12 USD.

Kept for the current periods only, so it takes the same few bytes however long the history is.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from metrics.limits import cost

Row = Mapping[str, Any]
Sums = dict[str, Any]  # {"day": which, "in_day", "month": which, "in_month", "total", "unknown", "at"}
Spend = dict[str, Sums]  # by subject: BENCH, "key:NAME", "collection:NAME"
Within = Mapping[str, int]  # units by period: day, month, total

BENCH = "bench"


def fold(spend: Spend, row: Row) -> None:
    """Count a ledger row for its key, its collection and the bench. One that comes late, of a day or month
    that is over, counts in the total alone."""
    get, at = row.get, row["at"]
    dark, day = get("cost_status") == "unknown", at[:10]
    # What stayed unknown is taken to have cost what was set aside for it.
    unknown = dark and get("cost_usd") is None
    units = cost.units(get("held_usd")) or 0 if unknown else cost.of_row(row)
    for subject in (BENCH, f"key:{get('key')}", f"collection:{get('collection')}"):
        sums = spend.get(subject)
        if sums is None:
            sums = spend[subject] = dict(_FIRST)
        if day != sums["day"]:
            _other_day(sums, day, units)
        elif units:
            sums["in_day"] += units
            sums["in_month"] += units
        if units:
            sums["total"] += units
        if dark:
            sums["unknown"] += 1
        if at > sums["at"]:
            sums["at"] = at


def _other_day(sums: Sums, day: str, units: int) -> None:
    """Count in a day that is not the one that was counted in last."""
    month = day[:7]
    if day > sums["day"]:
        sums["day"], sums["in_day"] = day, units
        if month > sums["month"]:
            sums["month"], sums["in_month"] = month, 0
    if month == sums["month"]:
        sums["in_month"] += units


_FIRST = {"day": "", "in_day": 0, "month": "", "in_month": 0, "total": 0, "unknown": 0, "at": ""}


def told(spend: Spend, subject: str, now: str) -> dict[str, Any]:
    """{"day", "month", "total", "unknown", "at"}: units in the periods that the stamp `now` is in, how many
    calls were of unknown cost in all, and when the last one ended."""
    sums = spend.get(subject)
    if sums is None:
        return dict(_NOTHING)
    return {**within(spend, (subject,), now[:10])[0], "unknown": sums["unknown"], "at": sums["at"]}


def within(spend: Spend, subjects: Sequence[str], day: str) -> list[Within]:
    """The units of each in that day ("2026-11-29"), in its month and in all."""
    found: list[Within] = []
    for subject in subjects:
        sums = spend.get(subject, _FIRST)
        today = sums["day"] == day  # then its month is this one
        found.append(
            {
                "day": sums["in_day"] if today else 0,
                "month": sums["in_month"] if today or sums["month"] == day[:7] else 0,
                "total": sums["total"],
            }
        )
    return found


_NOTHING = {"day": 0, "month": 0, "total": 0, "unknown": 0, "at": None}
