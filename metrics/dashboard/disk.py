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
    frame.get(
        "/api/disk",
        show,
        roles.ADMIN,
        says="""`{home, bytes, free, kinds: [{kind, what, files, bytes, oldest, newest, bound,
            setting}], other}`: what the data folder holds; `free` bytes on its disk (null:
            unknown), `oldest` a day or month, `setting` the setting that bounds a kind, `other`
            names of files that are not this program's""",
    ),
    frame.post(
        "/api/prune",
        prune,
        says="""`{body_days?, log_months?, judged_too?, dry_run?}` → `{dry_run, bodies: {days, before,
            panels, owed, judged_kept, bytes}, months: {keep, before, files, judged, owed, bytes},
            leftovers: {files, bytes}, bytes}`: takes away what is past its time, as the settings
            say or as said here; 409 (`judged`) when months hold judged panels and `judged_too` is
            not said""",
    ),
)
