"""Where the windows that follow a calendar end: UTC days and months, and Pacific days, by rule.

Gemini's daily quotas begin anew at midnight in California (ai.google.dev/gemini-api/docs/rate-limits). The
hour of that in UTC follows from the law of 2005: summer time from 2:00 on the second Sunday of March to 2:00
on the first Sunday of November. No zone files are read: not every computer has them.
"""

from datetime import UTC, datetime, timedelta

DAY = 86_400.0
_STANDARD, _SUMMER = 8, 7  # hours behind UTC


def utc_month(now: float) -> tuple[float, float]:
    """Beginning and end of the UTC month that holds `now`, epoch seconds."""
    begin = datetime.fromtimestamp(now, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return begin.timestamp(), (begin + timedelta(days=32)).replace(day=1).timestamp()


def pacific_day(now: float) -> tuple[float, float]:
    """Beginning and end of the Pacific day that holds `now`; 23 or 25 hours apart when the clocks change."""
    local = datetime.fromtimestamp(now - 3600 * _behind(now), UTC)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return _moment(midnight), _moment(midnight + timedelta(days=1))


def _moment(local: datetime) -> float:
    """The epoch seconds of a Pacific midnight; clocks change at two, so its day's first hour decides."""
    standard = local.timestamp() + 3600 * _STANDARD
    return standard if _behind(standard) == _STANDARD else local.timestamp() + 3600 * _SUMMER


def _behind(now: float) -> int:
    """How many hours Pacific time is behind UTC at `now`."""
    year = datetime.fromtimestamp(now, UTC).year
    begins = _sunday(year, 3, 2).timestamp() + 3600 * (2 + _STANDARD)
    ends = _sunday(year, 11, 1).timestamp() + 3600 * (2 + _SUMMER)
    return _SUMMER if begins <= now < ends else _STANDARD


def _sunday(year: int, month: int, number: int) -> datetime:
    first = datetime(year, month, 1, tzinfo=UTC)
    return first + timedelta(days=(6 - first.weekday()) % 7 + 7 * (number - 1))
