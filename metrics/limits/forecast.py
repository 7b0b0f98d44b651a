"""When a limit will be used up at today's pace, for windows that begin and end on the clock.

Only said where it says something: enough of the window must have passed, and enough must have been used, for
a pace to be one. A rolling window or a bucket gives back what it took: a pace through it foretells nothing.
"""

from typing import Any

from metrics.client import midnights
from metrics.store.stamps import stamp

LEAST_PART = 0.1  # of the window must have passed, and at least LEAST_SECONDS of it
LEAST_SECONDS = 1800.0
LEAST_USED = 5  # calls; of money or tokens LEAST_SHARE of the limit
LEAST_SHARE = 0.02

ON_THE_CLOCK = ("fixed", "pacific", "calendar")


def begun(kind: str, window: str, seconds: float, now: float) -> float | None:
    """When the window that holds `now` began; None for one that is not on the clock, and for minutes."""
    if kind == "calendar" or window == "month":
        return midnights.utc_month(now)[0]
    if kind == "pacific":
        return midnights.pacific_day(now)[0]
    return now - now % seconds if kind == "fixed" and seconds >= 3600 else None


def ahead(
    metric: str, limit: float, used: float, begin: float | None, end: float | None, now: float
) -> dict[str, Any] | None:
    """{"by_reset": what will be used when the window ends, "empty_at": a stamp when the limit is reached
    before, else null}; None where no pace can be told. All in the limit's units, moments in epoch seconds."""
    if begin is None or end is None or end <= now or limit <= 0 or used >= limit:
        return None
    elapsed = now - begin
    if elapsed < max(LEAST_SECONDS, LEAST_PART * (end - begin)):
        return None
    if used < (LEAST_USED if metric == "requests" else LEAST_SHARE * limit):
        return None
    pace = used / elapsed
    by_reset = used + pace * (end - now)
    empty = now + (limit - used) / pace
    return {"by_reset": round(by_reset, 4), "empty_at": stamp(empty) if empty < end else None}
