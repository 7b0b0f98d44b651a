"""What a provider says of its limits in an answer's headers and in the body of a refusal.

The idea: names are read by grammar, whoever sends them (`x-ratelimit-remaining-tokens-minute` says it all);
what a name leaves open is the host's row (limit_rows.py). A header that is missing or empty says nothing,
which is never zero. Sources of the names: limit_rows.py, and for `RateLimit` and `RateLimit-Policy`
draft-ietf-httpapi-ratelimit-headers.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from metrics.client import limit_rows, midnights, retry
from metrics.client.limit_rows import Row
from metrics.records import Stated, Target

METRICS = {
    "": "",
    "requests": "requests",
    "request": "requests",
    "req": "requests",
    "calls": "requests",
    "call": "requests",
    "api calls": "requests",
    "api call": "requests",
    "tokens": "tokens",
    "token": "tokens",
    "input-tokens": "input_tokens",
    "tokens-prompt": "input_tokens",
    "prompt-tokens": "input_tokens",
    "output-tokens": "output_tokens",
    "tokens-generated": "output_tokens",
}
SHORT = {"min": "minute", "sec": "second", "minutes": "minute"}
# Cohere's own names (docs.cohere.com/docs/rate-limits).
OWN = {
    "x-trial-endpoint-call-limit": ("limit", "requests", "minute"),
    "x-trial-endpoint-call-remaining": ("remaining", "requests", "minute"),
    "x-endpoint-monthly-call-limit": ("limit", "requests", "month"),
}
_FIELDS = r"(?P<field>limit|remaining|reset)"
_WINDOW = r"(?:-(?P<window>second|minute|hour|day|month))?"
_NAMES = (
    re.compile(rf"(?:x-)?ratelimit-{_FIELDS}(?:-(?P<metric>[a-z]+(?:-[a-z]+)??))??{_WINDOW}"),
    re.compile(rf"anthropic-ratelimit-(?P<metric>[a-z-]+)-{_FIELDS}"),
    re.compile(rf"x-tokenlimit-{_FIELDS}(?P<tokens>)"),
    re.compile(rf"x-ratelimitbysize-{_FIELDS}{_WINDOW}(?P<tokens>)"),
)
LONGEST_NUMBER = 20  # characters
_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:[,;].*)?$")
_ITEM = re.compile(r'"?([^";,=\s]+)"?((?:\s*;\s*[a-z]+\s*=\s*"?[\w-]+"?)+)')
_PARAMETER = re.compile(r';\s*([a-z]+)\s*=\s*"?([\w-]+)"?')
_UNITS = {"requests": "requests", "concurrent-requests": "concurrency", "tokens": "tokens"}


class Name(NamedTuple):
    field: str
    metric: str
    window: str


def in_headers(headers: Mapping[str, str], target: Target, now: float) -> tuple[Stated, ...]:
    """The limits that an answer's headers (names in lower case) state; now is epoch seconds."""
    if "limit" not in "\n".join(headers):
        return ()
    return tuple(_in_headers(headers, limit_rows.of(target), now))


def _in_headers(headers: Mapping[str, str], row: Row, now: float) -> Iterator[Stated]:
    found: dict[tuple[str, str], dict[str, str]] = {}
    for header, value in headers.items():
        name = _name(header) if value.strip() and ("limit" in header or header in OWN) else None
        if name:
            found.setdefault((name.metric or row.bare, name.window), {})[name.field] = value
    for (metric, window), said in found.items():
        window = window or _renewal(headers, metric) or row.windows.get(metric, "unknown")
        limit, remaining = _number(said.get("limit")), _number(said.get("remaining"))
        wait = retry.seconds(said["reset"], now) if "reset" in said else None
        if limit is not None or remaining is not None:
            window = _paced(row, window, limit, remaining, wait)
            kind, reset = limit_rows.kind(row, window), None if wait is None else now + wait
            yield Stated(metric, window, limit, remaining, reset, kind, row.scope)
    if headers.get("anthropic-ratelimit-unified-status") == "rejected":
        wait = retry.seconds(headers.get("anthropic-ratelimit-unified-reset", ""), now)
        yield Stated("requests", "unknown", None, 0, None if wait is None else now + wait, "", "connection")
    yield from _structured(headers, row, now)


@functools.lru_cache(maxsize=1024)
def _name(header: str) -> Name | None:
    """What a header's name says; None when it is about no limit that we know how to count."""
    if header in OWN:
        return Name(*OWN[header])
    for pattern in _NAMES:
        match = pattern.fullmatch(header)
        if match:
            parts = match.groupdict()
            metric = "tokens" if "tokens" in parts else METRICS.get(parts.get("metric") or "")
            return None if metric is None else Name(parts["field"], metric, parts.get("window") or "")
    return None


def _renewal(headers: Mapping[str, str], metric: str) -> str:
    """GitHub Models says a window's length in seconds."""
    seconds = _number(headers.get(f"x-ratelimit-renewalperiod-{metric}"))
    return limit_rows.named(seconds) if seconds else ""


def _paced(row: Row, window: str, limit: float | None, remaining: float | None, wait: float | None) -> str:
    """The window that a refill's pace gives away: 8.64 s for one of 10,000 requests is a day's."""
    if row.refill and limit and remaining is not None and wait and remaining < limit:
        whole = wait * limit / (limit - remaining)
        for name, seconds in limit_rows.SECONDS.items():
            if 0.8 < whole / seconds < 1.25:
                return name
    return window


def _structured(headers: Mapping[str, str], row: Row, now: float) -> Iterator[Stated]:
    """The IETF draft's two fields, and the form of its first versions."""
    states = _items(headers.get("ratelimit", ""))
    policies = _items(headers.get("ratelimit-policy", ""))
    for name, state in states.items():
        policy = policies.get(name, {})
        if "r" not in state:
            continue
        window = limit_rows.named(policy["w"]) if policy.get("w") else "unknown"
        reset = now + state["t"] if "t" in state else None
        metric = _UNITS.get(_unit(headers.get("ratelimit-policy", "")), row.bare)
        yield Stated(metric, window, policy.get("q"), state["r"], reset, "", row.scope)
    old = dict(re.findall(r"(limit|remaining|reset)\s*=\s*(\d+)", headers.get("ratelimit", "")))
    if "remaining" in old:
        limit, reset = _number(old.get("limit")), _number(old.get("reset"))
        left, until = _number(old["remaining"]), None if reset is None else now + reset
        yield Stated(row.bare, "unknown", limit, left, until, "", row.scope)


def _items(text: str) -> dict[str, dict[str, float]]:
    return {
        name: {key: said for key, value in _PARAMETER.findall(rest) if (said := _number(value)) is not None}
        for name, rest in _ITEM.findall(text)
    }


def _unit(policy: str) -> str:
    unit = re.search(r'qu\s*=\s*"([\w-]+)"', policy)
    return unit[1] if unit else "requests"


def _number(value: str | None) -> float | None:
    """None for what is no number, and for one that no limit has."""
    match = _NUMBER.match(value or "")
    return float(match[1]) if match and len(match[1]) <= LONGEST_NUMBER else None


# --- bodies

_HOW_MANY = r"(?P<limit>\d[\d,]*)"
_WHAT = r"(?P<metric>requests?|(?:api )?calls?|(?:input |output |prompt )?tokens?)"
_EACH = r"(?P<window>seconds?|sec|minutes?|min|hours?|days?|months?)"
# Sentences that name the limit which is used up, as they are seen in refusals (spec/formats.md section 7).
PROSE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # xAI: "Requests per Minute (actual/limit): 481/480"
        rf"{_WHAT} per {_EACH} \(actual/limit\): (?P<actual>[\d,]+)/{_HOW_MANY}",
        # OpenAI, Groq: "on tokens per min (TPM): Limit 6000, Used 5900, Requested 300"
        rf"{_WHAT} per {_EACH}(?: \([a-z]+\))?[:,]? limit:? {_HOW_MANY}",
        # Cohere: "limited to 20 API calls / minute"; Anthropic: "rate limit of 40,000 tokens per minute"
        rf"(?:limit(?:ed to| of|:)?|exceeds?|allows?) {_HOW_MANY} {_WHAT} ?(?:per|/|a|each|every) ?{_EACH}",
        # GitHub Models: "Rate limit of 8 per 86400s exceeded for UserByModelByDay"
        rf"rate limit of {_HOW_MANY} per (?P<seconds>\d+)s exceeded",
        # OpenRouter: "Rate limit exceeded: free-models-per-day"
        rf"free-models-per-{_EACH}",
        # Cerebras: "Tokens per minute limit exceeded"; Mistral: "Requests per month …"
        rf"{_WHAT} per {_EACH}\b",
    )
)
_AT_ONCE = re.compile(
    r"(?:limit(?:ed to| of|:)?|maximum of|only) (\d+) (?:concurrent|simultaneous|parallel)"
    r"|(?:concurrent requests?|concurrency)(?: limit)?(?: of|:| is) (\d+)",
    re.IGNORECASE,
)


def in_body(body: Any, message: str, target: Target, now: float) -> tuple[Stated, ...]:
    """The limits that a refusal names as used up: Gemini's violations, headers inside the body (OpenRouter),
    and sentences."""
    row = limit_rows.of(target)
    nested = {name.lower(): str(value) for name, value in retry.nested_headers(body).items()}
    return tuple(_violations(body, now)) or merged(_in_headers(nested, row, now), _prose(message, row))


def merged(said: Iterable[Stated], named: Iterable[Stated]) -> tuple[Stated, ...]:
    """What headers say, and what a body names beyond it; a window that a sentence names belongs to the only
    limit whose header left its window open."""
    headers, bodies = list(said), list(named)
    for one in bodies:
        open_ones = [at for at, other in enumerate(headers) if other.window == "unknown"]
        if len(open_ones) == 1 and one.window != "unknown" and one.limit is None:
            other = headers[open_ones[0]]
            headers[open_ones[0]] = replace(other, window=one.window, kind=one.kind)
        elif not any((other.metric, other.window) == (one.metric, one.window) for other in headers):
            headers.append(one)
    return tuple(headers)


def _violations(body: Any, now: float) -> Iterator[Stated]:
    """google.rpc.QuotaFailure: ids such as GenerateRequestsPerDayPerProjectPerModel-FreeTier
    (ai.google.dev/gemini-api/docs/rate-limits)."""
    for violation in retry.find_lists(body, "violations"):
        if not isinstance(violation, dict):
            continue
        quota = str(violation.get("quotaId") or violation.get("quotaMetric") or "")
        window = next((name for name in limit_rows.WINDOWS if f"per{name}" in quota.lower()), "unknown")
        metric = _gemini_metric(f"{quota} {violation.get('quotaMetric', '')}".lower())
        kind, reset = "", None
        if window == "day":
            kind, reset = "pacific", midnights.pacific_day(now)[1]
        limit = _number(str(violation.get("quotaValue", "")))
        yield Stated(
            metric, window, limit, 0, reset, kind, "model" if "model" in quota.lower() else "connection"
        )


def _gemini_metric(words: str) -> str:
    if "token" not in words:
        return "requests"
    return "input_tokens" if "input" in words else "tokens"


def _prose(message: str, row: Row) -> Iterator[Stated]:
    at_once = _AT_ONCE.search(message)
    if at_once:
        yield Stated("concurrency", "", _number(at_once[1] or at_once[2]), 0, None, "", row.scope)
    for pattern in PROSE:
        found = [_told(match, row) for match in pattern.finditer(message)]
        if found:
            yield from (one for one in found if one is not None)
            return


def _told(match: re.Match[str], row: Row) -> Stated | None:
    parts = match.groupdict()
    limit = _whole(parts.get("limit"))
    if limit is not None and (_whole(parts.get("actual")) or limit) < limit:
        return None  # named, but with room left
    metric = METRICS.get((parts.get("metric") or "requests").lower().replace(" tok", "-tok"), "tokens")
    if parts.get("seconds") == "0":  # GitHub Models: per 0s is what may run at once
        return Stated("concurrency", "", limit, 0, None, "", row.scope)
    if parts.get("seconds"):
        window = limit_rows.named(_number(parts["seconds"]) or 0)
    else:
        word = parts["window"].lower()
        window = SHORT.get(word, word.removesuffix("s"))
    return Stated(metric, window, limit, 0, None, limit_rows.kind(row, window), row.scope)


def _whole(digits: str | None) -> float | None:
    return _number(digits.replace(",", "")) if digits else None
