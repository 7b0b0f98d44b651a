"""/api/usage: what the calls came to, by whom or what, since when."""

import time

from metrics.bench import roster
from metrics.dashboard import frame
from metrics.limits import ledger, usage
from metrics.records import Problem
from metrics.web.table import Call, Response


def show(call: Call) -> Response:
    by = call.param("by") or "model"
    if by not in usage.BY:
        raise Problem(400, f'"by" must be one of {", ".join(usage.BY)}, not {by[:40]!r}', param="by")
    since = usage.moment(call.param("since"), time.time())
    named = roster.current if by == "model" else str
    return frame.ok(complete=ledger.LOG.ready, **ledger.used(by, since, named))


HANDLERS = (frame.get("/api/usage", show),)
