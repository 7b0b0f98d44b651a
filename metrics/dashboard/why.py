"""/api/panel/decide: who would explore if a panel were seated again; /api/conversation/end: a conversation of
route mode is given anew from its next turn on."""

from metrics.bench import fields
from metrics.dashboard import frame
from metrics.evidence import panels, routes
from metrics.play import again
from metrics.records import Problem
from metrics.web.table import Call, Response

END: dict[str, fields.Check] = {"conversation": fields.line(200)}


def decide(call: Call) -> Response:
    """`?panel=ID&without=ALIAS&today=1` -> what play/again.decide tells. Asks nobody and changes nothing.
    Problem 404 for an unknown panel, 409 for one in which nothing was decided."""
    row = panels.find(call.param("panel"))
    if row is None:
        raise Problem(
            404, f'there is no panel "{call.param("panel")}"; `bench log` lists the latest', param="panel"
        )
    if not row.get("decision"):
        raise Problem(409, "nothing was decided in this panel: nobody could explore", kind="conflict")
    without = {name for name in call.param("without").split(",") if name}
    known = {one["alias"] for one in row["decision"]["candidates"]}
    if unknown := without - known:
        raise Problem(
            400, f'"without" names {", ".join(sorted(unknown))}, who could not explore', param="without"
        )
    return frame.ok(**again.decide(row, without, call.param("today") in ("1", "true")))


def end(call: Call) -> Response:
    """{conversation} -> {ended}: who plays it is chosen anew with the next turn. `ended` is false where it
    was over already. Problem 404 for an unknown conversation."""
    form = fields.take(call.json(), END, required=("conversation",))
    name = form["conversation"]
    turns = routes.turns(name, panels.month(name) or "")
    if not turns:
        raise Problem(
            404, f'there is no conversation "{name}"; `bench log` lists the latest', param="conversation"
        )
    return frame.ok(ended=routes.end(turns[0]["sticky"], name))


HANDLERS = (
    frame.get(
        "/api/panel/decide",
        decide,
        says="""`?panel=ID&without=ALIAS&today=1` → `{policy, was, seed, k, before, after, candidates,
            gone}`: who would explore if it were seated again with the same seed, by the facts kept
            with the panel or `today`'s, without those named (commas between them). Asks nobody""",
    ),
    frame.post(
        "/api/conversation/end",
        end,
        says="""`{conversation}` → `{ended}`: with its next turn it is another conversation, given to
            whoever stands best then""",
    ),
)
