"""The ledger: a row for every call to a provider, in a file a month, and what the rows of a day come to.

Rows are queued, so a call never waits for the disk; they reach it within 100 ms. Totals, and what
`evidence/reliability` knows of each model, are folded from the rows as they come and kept beside them.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from metrics import bus
from metrics.evidence import reliability
from metrics.limits import cost, launches, recently, speeds, spend, usage
from metrics.store import stamps
from metrics.store.log import JsonLog
from metrics.store.stamps import stamp

__all__ = [
    "FIELDS",
    "add",
    "counted_by",
    "launched",
    "recent",
    "recently_sent",
    "retain",
    "spent",
    "spent_within",
    "stamp",
    "totals",
    "typical",
    "used",
]

T = TypeVar("T")

# The fields of a row, in their order (decisions 6), then what reliability needs of a failure, and launches of
# a conversation.
FIELDS = [
    "at",
    "purpose",
    "model",
    "model_id",
    "endpoint",
    "connection",
    "served",
    "status",
    "attempts",
    "seconds",
    "first_token_s",
    "uncached_in",
    "cache_read",
    "cache_write",
    "out",
    "reasoning",
    "estimated",
    "usage_raw",
    "cost_usd",
    "cost_status",
    "price_version",
    "provider",
    "fingerprint",
    "call",
    "panel",
    "conversation",
    "collection",
    "key",
    "launch",
    "finish",
    "error",
    "retry_after",
    "turn",
    "held_usd",
    "price_source",
    "price",
    "request_id",
]

_NOTHING = dict.fromkeys(FIELDS)

DAYS = 62  # whose totals are kept


def add(row: Mapping[str, Any]) -> None:
    """Record one call. `at` is when it ended; fields that are missing are null."""
    whole = {**_NOTHING, **row}
    LOG.submit(whole)
    bus.publish("call", whole)


def totals(now: float | None = None) -> dict[str, Any]:
    """What the calls of the day of `now` (UTC; None: today) come to.

    {"day", "calls", "known_usd", "unknown_calls"}: `unknown_calls` are those whose cost is not known and so
    not in the sum.
    """
    day = stamp(time.time() if now is None else now)[:10]
    counted = LOG.counted(lambda state: dict(state["days"].get(day, _NO_CALLS)))
    return {
        "day": day,
        "calls": counted["calls"],
        "known_usd": cost.usd(counted["units"]),
        "unknown_calls": counted["unknown"],
    }


def launched(token: str, key: str | None = None) -> dict[str, Any]:
    """What the `bench launch` with this token used so far (launches.told); nothing, if it never called, or
    with another key than `key` (None: whoever asks may see all)."""
    tally = LOG.counted(lambda state: launches.copy(state["launches"].get(token)))
    return launches.told(token, tally if tally and key in (None, tally.get("key")) else None)


def spent(subjects: Sequence[str], now: float) -> list[dict[str, Any]]:
    """What each of "key:NAME", "collection:NAME" and spend.BENCH has spent (spend.told)."""
    at = stamp(now)
    return LOG.counted(lambda state: [spend.told(state["spend"], each, at) for each in subjects], _pay)


def spent_within(subjects: Sequence[str], now: float) -> list[spend.Within]:
    """The same as far as budgets go: calls ask for it."""
    day = stamps.day(now)
    return LOG.counted(lambda state: spend.within(state["spend"], subjects, day), _pay)


def recently_sent(connection: str) -> dict[str, Any]:
    """What a connection ("") and each model on it was sent lately (limits/recently.py)."""
    return LOG.counted(lambda state: recently.copy(state["recent"], connection))


def typical(model_id: str) -> speeds.Typical | None:
    """How long the latest answers of a model took and were; None when there are none."""
    return LOG.counted(lambda state: speeds.typical(state["speeds"].get(model_id, ())))


def used(by: str, since: float | None = None, named: Callable[[str], str] = str) -> dict[str, Any]:
    """What the calls since then came to by model, collection, key, purpose, endpoint or day (usage.told)."""
    return usage.told(counted_by(by), by, since, named)


def counted_by(by: str) -> usage.State:
    """The roll-ups by one of usage.BY, to be read while more is counted (limits/periods)."""
    return LOG.counted(lambda state: usage.copy(state["usage"], by))


def recent(limit: int, before: str | None = None) -> tuple[list[dict[str, Any]], str | None]:
    """The latest rows, newest first, and the cursor of the next page."""
    return LOG.recent(limit, before)


def retain(oldest: str) -> int:
    """Remove the files of months before `oldest` ("2026-05"); how many there were."""
    return LOG.retain(oldest)


_NO_CALLS = {"calls": 0, "units": 0, "unknown": 0}


def _empty() -> dict[str, Any]:
    return {
        "days": {},
        "models": {},
        "launches": {},
        "spend": {},
        "recent": {},
        "usage": usage.empty(),
        "speeds": {},
    }


def _fold(state: dict[str, Any], row: Mapping[str, Any]) -> None:
    """Add a row to what is known of its model: every request asks for that."""
    reliability.fold(state["models"], row)


def _sum_up(state: dict[str, Any], row: Mapping[str, Any]) -> None:
    """Add a row to its day's totals, to its launch, to what was used and sent."""
    stamps.epoch(row["at"])  # what is no moment counts nowhere: it would stand above all days to come
    days, date = state["days"], row["at"][:10]
    day = days.get(date)
    if day is None:
        day = days[date] = dict(_NO_CALLS)
    day["calls"] += 1
    day["unknown"] += row.get("cost_status") == "unknown"
    day["units"] += cost.of_row(row)
    if len(days) > DAYS:
        del days[min(days)]
    launches.fold(state["launches"], row)
    usage.fold(state["usage"], row)
    recently.fold(state["recent"], row)
    speeds.fold(state["speeds"], row)


def _pay(state: dict[str, Any], row: Mapping[str, Any]) -> None:
    """Add a row to what was spent: budgets ask for that alone, and before every call."""
    kept: spend.Spend = state["spend"]
    latest = kept.get(spend.BENCH)
    if latest is None or row["at"][:10] != latest["day"]:  # the day that is counted in is one
        stamps.epoch(row["at"])
    spend.fold(kept, row)


LOG = JsonLog("ledger", partition="month", fold=_fold, later=(_pay, _sum_up), empty=_empty, meaning=8)


def _within(reader: Callable[[reliability.Facts], T]) -> T:
    return LOG.counted(lambda state: reader(state["models"]))


# Reliability's room is above this one, so it cannot reach for the ledger; what it knows is kept in the
# ledger's counters.
reliability.kept_by(_within, lambda: LOG.state["models"])
