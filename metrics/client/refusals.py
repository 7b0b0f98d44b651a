"""Why a provider has no room for a call, told before anyone waits: each cause wants another reaction.

concurrency: too many at once; about a second, and fewer at once from then on. window: used up; wait for its
reset. exhausted: an allowance or credit is gone; nothing to wait for in this call. overload: it has too much
to do; another member now. too_large: this one call is above what a window holds; it will never fit.

CAUSES is read from the top, the first row that fits wins; what none fits is a window, or concurrency when the
provider wants no more than a second (spec/formats.md section 7.1).
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from metrics.client import limit_rows, limits_said, midnights, retry
from metrics.records import Limited, Stated, Target

SOON = 1.0  # seconds: who asks for no more than that has too many calls at once, not too many in a minute


class Row(NamedTuple):
    """`kinds` are those of errors.py; `words` match code, type and status alone, whole; `prose` is searched
    for in the message, "" fits any. `over`: also where a window is named as used up."""

    cause: str
    kinds: frozenset[str]
    words: str
    prose: str
    over: bool = True


_LIMITED = frozenset({"rate_limited", "overloaded"})
CAUSES = (
    Row(
        "concurrency",
        _LIMITED,
        # Cerebras, OpenRouter, Z.ai (1302), Azure and Cohere gateways
        r"queue_exceeded|in_flight_budget_exhausted|1302|concurrency_limit_exceeded|concurrent_limit_exceeded"
        r"|userconcurrentrequests",
        r"concurren|simultaneous|parallel requests|in flight|requests in progress",
    ),
    Row("exhausted", frozenset({"payment"}), "", ""),
    Row("too_large", frozenset({"too_large"}), "", r"per (?:min|day|hour)|\bTP[MD]\b|rate limit"),
    Row(
        "overload",
        _LIMITED,
        r"overloaded(?:_error)?|engine_overloaded(?:_error)?|capacity_exceeded|server_busy|unavailable"
        r"|service_unavailable",
        r"\bbusy\b|overload|at capacity|over capacity|no capacity|high demand|loading",
        over=False,
    ),
)
_ROWS = [(row, re.compile(row.words), re.compile(row.prose, re.IGNORECASE)) for row in CAUSES]


class Told(NamedTuple):
    """A refusal as errors.py took it apart."""

    kind: str
    status: int
    words: tuple[str, ...]
    message: str
    body: Any


def limited(
    told: Told, headers: Mapping[str, str], target: Target, now: float, wait: float | None
) -> Limited | None:
    """Why there was no room, and until when; None for a refusal that is about something else. `wait` is what
    the provider asks for, in seconds; `now` is epoch seconds."""
    if told.kind not in _LIMITED and told.kind not in ("payment", "too_large"):
        return None
    stated = limits_said.merged(
        limits_said.in_headers(headers, target, now),
        limits_said.in_body(told.body, told.message, target, now),
    )
    spent = [one for one in stated if one.remaining == 0 or one.limit == 0]
    cause = _cause(told, headers, spent, wait)
    if cause is None:
        return None
    return Limited(
        cause, _until(cause, told, spent, now, wait), _scope(cause, headers, spent, target), stated
    )


def _cause(told: Told, headers: Mapping[str, str], spent: list[Stated], wait: float | None) -> str | None:
    words = (*told.words, headers.get("x-ratelimit-type", "").lower())
    for row, pattern, prose in _ROWS:
        if told.kind not in row.kinds or (spent and not row.over):
            continue
        if any(pattern.fullmatch(word) for word in words if word) or prose.search(told.message):
            return row.cause
    if told.kind == "too_large":
        return None
    if spent or told.kind == "rate_limited":
        return "concurrency" if not spent and wait is not None and wait <= SOON else "window"
    return "overload"


def _until(cause: str, told: Told, spent: list[Stated], now: float, wait: float | None) -> float | None:
    if cause == "concurrency":
        return now + (SOON if wait is None else wait)
    if cause == "exhausted" and "monthly" in told.message:
        return midnights.utc_month(now)[1]
    day = [one.reset for one in spent if one.kind == "pacific" and one.reset is not None]
    if day:  # Gemini's retryDelay is a minute's, whatever is used up
        return max(day)
    if wait is not None:
        return now + wait
    ends = [end for one in spent if (end := ends_at(one, now)) is not None]
    return max(ends) if ends and cause == "window" else None


def ends_at(one: Stated, now: float) -> float | None:
    """When a window that is used up has room again, at the latest; None when nothing tells."""
    if one.reset is not None and one.reset - now <= retry.LONGEST:  # what is further off says nothing
        return one.reset
    if one.window == "month":
        return midnights.utc_month(now)[1]
    seconds = limit_rows.length(one.window)
    if seconds is None:
        return None
    return now // seconds * seconds + seconds if one.kind == "fixed" else now + seconds


def _scope(cause: str, headers: Mapping[str, str], spent: list[Stated], target: Target) -> str:
    """Whose calls it concerns. Of credit that is gone only this model's: its connection's free ones go on
    (OpenRouter)."""
    if cause in ("exhausted", "overload", "too_large"):
        return "model"
    said = headers.get("x-ratelimit-type", "")
    if said:
        return "model" if "Model" in said else "connection"
    return spent[0].scope if spent else limit_rows.of(target).scope
