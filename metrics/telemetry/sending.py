"""One OTLP body to a collector, and what its answer means: taken, try again, or lost.

Source: opentelemetry-proto, docs/specification.md ("OTLP/HTTP Response"): 200 is success, even in part; 429,
502, 503 and 504 are tried again, after Retry-After if there is one; anything else is not.
"""

import gzip
import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from metrics.client import transport
from metrics.records import Problem
from metrics.web.table import json_bytes

AGAIN = (429, 502, 503, 504)
LONGEST = 1 << 20  # bytes of an answer
LONGEST_WAIT = 300.0  # seconds that a collector may ask for
REJECTED = {"traces": "rejectedSpans", "metrics": "rejectedDataPoints"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """`why` is "" where all was taken; `rejected` counts what of it was not. `again`: it may be sent once
    more, after `wait` seconds where the collector says so."""

    why: str = ""
    rejected: int = 0
    again: bool = False
    wait: float | None = None


def post(
    signal: str,
    url: str,
    document: Mapping[str, Any],
    headers: tuple[tuple[str, str], ...],
    packed: bool,
    timeout: float,
) -> Outcome:
    """Send `document` there. Raises nothing of the collector's."""
    body, sent = json_bytes(document), [("Content-Type", "application/json"), *headers]
    if packed:
        body, sent = gzip.compress(body, 1), [*sent, ("Content-Encoding", "gzip")]
    limits = transport.Timeouts(connect=min(5.0, timeout), first_byte=timeout, idle=timeout, total=timeout)
    try:
        with closing(transport.shared().open("POST", url, sent, (body,), timeouts=limits)) as arrival:
            answer = arrival.read(LONGEST)
    except Problem as problem:
        return Outcome(problem.message, again=True)
    if arrival.status >= 300:
        wait = arrival.headers.get("retry-after", "")
        seconds = min(float(wait), LONGEST_WAIT) if wait.isascii() and wait.isdigit() else None
        return Outcome(f"it answered {arrival.status}", again=arrival.status in AGAIN, wait=seconds)
    return _taken(signal, answer)


def _taken(signal: str, answer: bytes) -> Outcome:
    """What a collector took, perhaps not all. A body that is no JSON is a proxy's: it said 200."""
    try:
        said = json.loads(answer or b"{}")["partialSuccess"]
        rejected = int(said.get(REJECTED[signal]) or 0)
        return Outcome(str(said.get("errorMessage") or "rejected") if rejected else "", rejected)
    except (ValueError, TypeError, KeyError, AttributeError):
        return Outcome()
