"""/api/panel/stop: a panel that is being answered is ended, or one of its seats."""

from metrics.bench import fields
from metrics.dashboard import frame
from metrics.play import panel
from metrics.records import Problem
from metrics.web.table import Call, Response

FORM: dict[str, fields.Check] = {"panel": fields.line(200), "call": fields.maybe(fields.line(200))}


def stop(call: Call) -> Response:
    """{panel, call?} -> {stopped: the calls that were ended}. Problem 404 where no such panel is being
    answered."""
    form = fields.take(call.json(), FORM, required=("panel",))
    stopped = panel.stop(form["panel"], form.get("call"))
    if stopped is None:
        raise Problem(404, f'no panel "{form["panel"]}" is being answered now', param="panel")
    return frame.ok(stopped=stopped)


HANDLERS = (
    frame.post(
        "/api/panel/stop",
        stop,
        says="""`{panel, call?}` → `{stopped: [calls]}`: ends the seats of a panel that are still at
            work, or that one's; what they have said is kept""",
    ),
)
