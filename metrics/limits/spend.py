"""What each key, each collection and the whole bench has spent, folded from the ledger's rows: today, this
month and in all, in exact integers of 1e-12 USD.

Kept for the current periods only, so it takes the same few bytes however long the history is.
"""

from collections.abc import Mapping
from typing import Any

from metrics.limits import cost
from metrics.store.stamps import stamp

Row = Mapping[str, Any]
Sums = dict[str, Any]  # {"day": which, "in_day", "month": which, "in_month", "total", "unknown", "at"}
Spend = dict[str, Sums]  # by subject: BENCH, "key:NAME", "collection:NAME"

BENCH = "bench"


def fold(spend: Spend, row: Row) -> None:
    """Count a ledger row for its key, its collection and the bench. One that comes late, of a day or month
    that is over, counts in the total alone."""
    units, at = charged(row), str(row["at"])
    for subject in (BENCH, f"key:{row.get('key')}", f"collection:{row.get('collection')}"):
        sums = spend.get(subject)
        if sums is None:
            sums = spend[subject] = {"day": "", "month": "", "total": 0, "unknown": 0, "at": ""}
        for period, which in (("day", at[:10]), ("month", at[:7])):
            if which > sums[period]:
                sums[period], sums[f"in_{period}"] = which, 0
            if which == sums[period]:
                sums[f"in_{period}"] += units
        sums["total"] += units
        sums["unknown"] += row.get("cost_status") == "unknown"
        sums["at"] = max(sums["at"], at)


def charged(row: Row) -> int:
    """What a row takes from its budgets: its cost, or where that stayed unknown what was set aside for it."""
    if row.get("cost_usd") is not None:
        return cost.units(row["cost_usd"]) or 0
    return (cost.units(row.get("held_usd")) or 0) if row.get("cost_status") == "unknown" else 0


def told(spend: Spend, subject: str, now: float) -> dict[str, Any]:
    """{"day", "month", "total", "unknown", "at"}: units in the periods that `now` is in, how many calls were
    of unknown cost in all, and when the last one ended."""
    sums: Mapping[str, Any] = spend.get(subject) or {}
    at = stamp(now)
    periods = {
        period: sums[f"in_{period}"] if sums.get(period) == which else 0
        for period, which in (("day", at[:10]), ("month", at[:7]))
    }
    return {
        **periods,
        "total": sums.get("total", 0),
        "unknown": sums.get("unknown", 0),
        "at": sums.get("at") or None,
    }
