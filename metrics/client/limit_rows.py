"""Where providers differ in what their limits mean: one row per host, each with its source.

Names of headers are read by pattern for everybody (limits_said.py); a row says only what a name leaves open:
which window it means, how that window moves, and whether a reset is a wait. What no row says is unknown, and
an unknown window is taken as rolling, which is never too early for any other kind.

The kinds of window: "rolling" (any stretch of that length), "fixed" (by the clock: minutes end at :00, days
at midnight UTC), "bucket" (refills evenly), "pacific" (a day that ends at midnight in California), "calendar"
(a month).
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

from metrics.client.quirks import host_of
from metrics.records import Target

SECONDS: Mapping[str, float] = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86_400.0}
WINDOWS = (*SECONDS, "month")


@dataclass(frozen=True, slots=True)
class Row:
    """`windows` is the window of a metric whose header names none, `bare` what a header without a metric
    counts. `kinds` says how a window moves. `refill`: a reset is when the bucket is full again, so one call
    fits much earlier. `scope` is whose calls a stated limit counts. `upfront`: max_tokens counts when a call
    comes in; `cached`: what is read from a cache counts too."""

    windows: Mapping[str, str] = field(default_factory=dict)
    bare: str = "requests"
    kinds: Mapping[str, str] = field(default_factory=dict)
    refill: bool = False
    scope: str = "model"
    upfront: bool = False
    cached: bool = True


# host suffix -> what its limits mean; spec/formats.md section 7 has where each was seen.
ROWS: Mapping[str, Row] = {
    # platform.openai.com/docs/guides/rate-limits: a reset is the time until the limit is at its initial state
    # again. Low tiers state a day's requests under the same names; the pace of the refill tells (_paced).
    "api.openai.com": Row(
        {"requests": "minute", "tokens": "minute"}, kinds={"minute": "bucket"}, refill=True
    ),
    # platform.claude.com/docs/en/api/rate-limits: token buckets; a reset is when one is full.
    "api.anthropic.com": Row(
        dict.fromkeys(("requests", "tokens", "input_tokens", "output_tokens"), "minute"),
        kinds={"minute": "bucket"},
        refill=True,
        cached=False,
    ),
    # console.groq.com/docs/rate-limits: requests are a day's, tokens a minute's; seen: 3m6s after 31.
    "api.groq.com": Row(
        {"requests": "day", "tokens": "minute"},
        kinds={"day": "bucket", "minute": "bucket"},
        refill=True,
        cached=False,
    ),
    # inference-docs.cerebras.ai/support/rate-limits: windows are in the names, quota refills continuously.
    "api.cerebras.ai": Row(kinds={"minute": "bucket", "hour": "bucket", "day": "bucket"}, upfront=True),
    # Measured: the window is the minute on the clock, a model's own; tokens-month is the workspace's.
    "api.mistral.ai": Row({"requests": "minute"}, kinds={"minute": "fixed"}),
    # ai.google.dev/gemini-api/docs/rate-limits: days end at midnight Pacific time.
    "generativelanguage.googleapis.com": Row(kinds={"day": "pacific"}),
    # openrouter.ai/docs/api-reference/limits: free models' limits are the account's, by UTC day.
    "openrouter.ai": Row(kinds={"day": "fixed"}, scope="connection"),
    # docs.github.com/en/github-models: the renewal period is stated in seconds.
    "models.github.ai": Row({"requests": "minute", "tokens": "minute"}),
    # docs.cohere.com/docs/rate-limits: trial keys have 20 calls a minute (rolling), 1,000 a month.
    "api.cohere.com": Row({"requests": "minute"}, kinds={"minute": "rolling"}, scope="connection"),
    "api.cohere.ai": Row({"requests": "minute"}, kinds={"minute": "rolling"}, scope="connection"),
    # docs.together.ai/docs/rate-limits: limits are a second's.
    "api.together.xyz": Row({"requests": "second", "tokens": "second"}),
    "api.together.ai": Row({"requests": "second", "tokens": "second"}),
    # docs.sambanova.ai: plain names are a minute's, "-day" is in the name of the others.
    "api.sambanova.ai": Row({"requests": "minute"}),
    # docs.x.ai: OpenAI's names, a reset in epoch seconds.
    "api.x.ai": Row({"requests": "minute", "tokens": "minute"}),
    # huggingface.co/docs/inference-providers/pricing: monthly credits of the account.
    "router.huggingface.co": Row(scope="connection"),
    # docs.fireworks.ai/guides/quotas_usage/rate-limits
    "api.fireworks.ai": Row({"requests": "minute", "tokens": "minute"}),
}
UNKNOWN = Row()


def of(target: Target) -> Row:
    """The row of the host that a target counts as."""
    return of_host(target.profile or host_of(target.base))


@functools.lru_cache(maxsize=512)
def of_host(host: str) -> Row:
    host = host.lower().rstrip(".")
    return next((row for name, row in ROWS.items() if host == name or host.endswith("." + name)), UNKNOWN)


def kind(row: Row, window: str) -> str:
    """How a window moves at that host; "" where nobody knows."""
    return row.kinds.get(window, "calendar" if window == "month" else "")


def length(window: str) -> float | None:
    """Seconds of a window ("300s" is one of five minutes); None for months, and for what is not known."""
    if window in SECONDS:
        return SECONDS[window]
    return float(window[:-1]) if window[-1:] == "s" and window[:-1].isdigit() else None


def named(seconds: float) -> str:
    """The name of a window of so many seconds."""
    return next((name for name, long in SECONDS.items() if long == seconds), f"{seconds:.0f}s")
