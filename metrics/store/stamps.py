"""Moments as records write them: UTC with milliseconds, "2026-11-29T14:22:20.123Z".

Text of this form sorts in the order of time, and its beginning names the month or the day whose file a row
belongs to.
"""

import re
from datetime import UTC, datetime
from functools import lru_cache
from math import floor

_PARTS = {
    "month": re.compile(r"\d{4}-(?:0[1-9]|1[0-2])(?!\d)"),
    "day": re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)"),
}
LONGEST_PART = 11  # characters of a stamp that _PARTS look at


def stamp(epoch: float) -> str:
    """The moment `epoch` (seconds since 1970, UTC) as records write it."""
    second = floor(epoch)
    millisecond = round((epoch - second) * 1e6) // 1000  # as datetime has it: to the next microsecond first
    if millisecond == 1000:
        second, millisecond = second + 1, 0
    return f"{_second(second)}.{millisecond:03d}Z"


@lru_cache(maxsize=16)
def _second(second: int) -> str:
    """The beginning of a stamp: what is recorded at about the same time shares it."""
    return datetime.fromtimestamp(second, UTC).isoformat()[:19]


def day(epoch: float) -> str:
    """The day that the moment `epoch` is in, as stamps begin."""
    return _second(floor(epoch))[:10]


@lru_cache(maxsize=1024)  # several counts are made of one row
def epoch(text: str) -> float:
    """Seconds since 1970 of a stamp, or of a date alone. ValueError when `text` is neither."""
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def lasting(seconds: float) -> str:
    """How long a wait is, in words as exact as whoever waits wants them: 40 s, 59 min, 3 h 20 min, 2 days."""
    whole = max(1, round(seconds))
    if whole < 120:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours, left = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {left} min" if left else f"{hours} h"
    return f"{round(hours / 24)} days"


def part(text: str, by: str) -> str:
    """The "month" or "day" that a stamp lies in: "2026-11", "2026-11-29". ValueError when it has none."""
    found = _part(text[:LONGEST_PART], by) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f'a record needs "at" with a moment such as 2026-11-29T14:22:20.123Z, not {text!r}')
    return found


@lru_cache(maxsize=64)
def _part(beginning: str, by: str) -> str | None:
    match = _PARTS[by].match(beginning)
    return match[0] if match else None


def months_before(now: float, months: int) -> str:
    """The month `months` before the one of `now`: what is older may go when so many full months are kept."""
    today = datetime.fromtimestamp(now, UTC)
    count = today.year * 12 + today.month - 1 - months
    return f"{count // 12:04d}-{count % 12 + 1:02d}"
