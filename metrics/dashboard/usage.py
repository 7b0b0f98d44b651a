"""/api/usage: what the calls came to, by whom or what, since when."""

import re
import time

from metrics.bench import roster
from metrics.dashboard import frame
from metrics.limits import ledger, usage
from metrics.records import Problem
from metrics.store import stamps
from metrics.web.table import Call, Response

SPANS = {"h": 3600, "d": 86_400, "w": 7 * 86_400}
_SPAN = re.compile(r"(\d{1,5})([hdw])")


def show(call: Call) -> Response:
    by = call.param("by") or "model"
    if by not in usage.BY:
        raise Problem(400, f'"by" must be one of {", ".join(usage.BY)}, not {by[:40]!r}', param="by")
    since = moment(call.param("since"), time.time())
    named = roster.current if by == "model" else str
    return frame.ok(complete=ledger.LOG.ready, **ledger.used(by, since, named))


def moment(since: str, now: float) -> float | None:
    """Epoch seconds of `7d`, `12h`, `2w` ago, or of a date or a moment; None for an empty text: all that is
    kept."""
    if not since:
        return None
    if found := _SPAN.fullmatch(since):
        return max(0.0, now - int(found[1]) * SPANS[found[2]])
    try:
        at = stamps.epoch(since)
    except (ValueError, OverflowError):
        at = -1.0
    if not 0 <= at < 1e11:
        raise Problem(
            400,
            f'"since" must be a span such as 12h, 7d or 4w, or a date such as 2026-11-01, not {since[:40]!r}',
            param="since",
        )
    return at


HANDLERS = (frame.get("/api/usage", show),)
