"""/api/disk and /api/prune: what the data folder weighs, and taking away what is past its time."""

from metrics.bench import fields, settings
from metrics.care import pruning
from metrics.dashboard import frame
from metrics.web import roles
from metrics.web.table import Call, Response

FORM: dict[str, fields.Check] = {
    "body_days": fields.maybe(settings.CHECKS["body_days"]),
    "log_months": fields.maybe(settings.CHECKS["log_months"]),
    "judged_too": fields.flag,
    "dry_run": fields.flag,
}


def show(call: Call) -> Response:
    return frame.ok(**pruning.weighed())


def prune(call: Call) -> Response:
    """{"body_days"?, "log_months"?, "judged_too"?, "dry_run"?}; null is what the settings say."""
    return frame.ok(**pruning.prune(pruning.Wish(**fields.take(call.json(), FORM)), by=frame.by(call)))


HANDLERS = (
    frame.get("/api/disk", show, roles.ADMIN),
    frame.post("/api/prune", prune),
)
