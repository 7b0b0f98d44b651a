"""How long a provider asks us to wait, in whatever clock it says it.

The idea: sources are asked in order of trust and the first that speaks wins: the retry headers, the error
body, its prose, and last the reset of a bucket that is used up. A reset says when its own bucket is full
again, so it counts only when that bucket's remaining is 0 (Groq's requests reset is minutes away after any
call, and no wait at all). A value's shape tells its clock: `6m0s`, `12.5`, an RFC 3339 instant, an HTTP date,
epoch seconds or milliseconds.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
LONGEST = 31 * 86400.0  # beyond this the value is not what we took it for

_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|milliseconds?|[smhd])", re.IGNORECASE)
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?\s*(?:ns|us|µs|ms|[smhd]))+", re.IGNORECASE)
_PROSE = re.compile(
    r"(?:try again|retry|wait|resets?|available)\b[^\d\n]{0,40}?"
    r"((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])[\s,]*)+)",
    re.IGNORECASE,
)
_STRUCTURED = re.compile(r"\br=0\b.*?\bt=(\d+)")  # the IETF draft's RateLimit: "default";r=0;t=30


def wait(headers: Mapping[str, str], error: Any, message: str, now: float) -> float | None:
    """Seconds until it is worth asking again, or None when nothing says so.

    `headers` have lower-case names; `error` is the parsed body (or its error object), `message` its prose;
    `now` is epoch seconds.
    """
    nested = {name.lower(): str(value) for name, value in nested_headers(error).items()}
    for hint in _hints(headers, nested, error, message, now):
        if hint is not None and hint <= LONGEST:
            return hint
    return None


def nested_headers(error: Any) -> Mapping[str, Any]:
    """The headers of another's answer that a body passes on (OpenRouter's `error.metadata.headers`)."""
    return _find_mapping(error, "headers")


def find_lists(value: Any, name: str, depth: int = 6) -> Iterator[Any]:
    """The items of every list called `name` anywhere in a body."""
    if depth and isinstance(value, dict):
        inner = value.get(name)
        if isinstance(inner, list):
            yield from inner
        value = list(value.values())
    if depth and isinstance(value, list):
        for item in value:
            yield from find_lists(item, name, depth - 1)


def seconds(value: str, now: float) -> float | None:
    """Seconds from `now` until what `value` says; None when it says nothing or an instant that has passed."""
    value = value.strip().strip('"')
    number = _number(value)
    if number is not None:
        if number > 1e9:
            return _ahead(number / 1000 if number > 1e12 else number, now)
        return number if number >= 0 else None
    if _DURATION.fullmatch(value):
        return _total(value)
    at = _instant(value)
    return None if at is None else _ahead(at, now)


def _hints(
    headers: Mapping[str, str], nested: Mapping[str, str], error: Any, message: str, now: float
) -> Iterator[float | None]:
    for said in (headers, nested):
        millis = _number(said.get("retry-after-ms", ""))
        yield None if millis is None or millis < 0 else millis / 1000
        yield seconds(said.get("retry-after", ""), now)
    for name in ("retryDelay", "retry_after", "retry-after", "retryAfter"):
        yield seconds(str(_find(error, name) or ""), now)
    prose = _PROSE.search(message)
    yield _total(prose[1]) if prose else None
    yield _spent(headers, now)
    yield _spent(nested, now)
    yield seconds(headers.get("x-ratelimit-timeremaining", ""), now)  # GitHub Models


def _spent(headers: Mapping[str, str], now: float) -> float | None:
    """The latest reset among the buckets that are used up."""
    resets = [
        seconds(headers.get(name.replace("remaining", "reset"), ""), now)
        for name, value in headers.items()
        if "limit" in name and "remaining" in name and _number(value) is not None and float(value) <= 0
    ]
    if headers.get("anthropic-ratelimit-unified-status") == "rejected":
        resets.append(seconds(headers.get("anthropic-ratelimit-unified-reset", ""), now))
    structured = _STRUCTURED.search(headers.get("ratelimit", ""))
    if structured:
        resets.append(float(structured[1]))
    return max((reset for reset in resets if reset is not None), default=None)


def _total(duration: str) -> float:
    return sum(
        float(number) * (1e-3 if unit.lower().startswith("milli") else UNITS[unit.lower()])
        for number, unit in _PART.findall(duration)
    )


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if abs(number) < 1e18 else None  # also refuses nan and inf


def _instant(value: str) -> float | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            at = read(value)
        except (ValueError, TypeError, IndexError):
            continue
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    return None


def _ahead(at: float, now: float) -> float | None:
    return at - now if at > now else None


def _find(value: Any, name: str, depth: int = 5) -> Any:
    """The first scalar called `name` anywhere in a body."""
    if depth and isinstance(value, dict):
        if isinstance(value.get(name), str | int | float):
            return value[name]
        value = list(value.values())
    if depth and isinstance(value, list):
        for item in value:
            found = _find(item, name, depth - 1)
            if found is not None:
                return found
    return None


def _find_mapping(value: Any, name: str, depth: int = 4) -> Mapping[str, Any]:
    if depth and isinstance(value, dict):
        inner = value.get(name)
        if isinstance(inner, dict):
            return inner
        for item in value.values():
            found = _find_mapping(item, name, depth - 1)
            if found:
                return found
    return {}
