"""/api/log, /api/panel/{id} and /api/verdict: what was asked and answered, and what it was worth."""

from collections.abc import Mapping
from typing import Any

from metrics.bench import collections, fields
from metrics.dashboard import frame
from metrics.evidence import claims, panels, routes, shadows, verdicts
from metrics.records import Problem
from metrics.store import bodies
from metrics.web.table import Call, Response

MOST_CLAIMS = 200  # in one request


def as_said(field: str, value: Any) -> Any:
    """For what evidence/ checks itself."""
    return value


def quote(field: str, value: Any) -> str:
    return (claims.quotes([value], field) or [""])[0]


SAID = dict.fromkeys(("useful", "note", "real", "false", "best", "all_bad"), as_said)
FORM: dict[str, fields.Check] = {
    "call": fields.line(200),
    **SAID,
    "withdrawn": fields.maybe(fields.flag),
    "claims": as_said,
}
PASSAGE: dict[str, fields.Check] = {
    "quote": quote,
    "start": fields.maybe(fields.whole(0, 10**9)),
    "end": fields.maybe(fields.whole(0, 10**9)),
    "decision": fields.maybe(fields.one_of("real", "false")),
}


def log(call: Call) -> Response:
    """The latest panels, newest first, each seat with its verdict; `before` is the cursor of the page
    before. The first page also tells of the latest conversations of route mode, the latest shadow seats, and
    how often each pair of models agreed."""
    before, collection = call.param("before") or None, call.param("collection") or None
    rows, cursor = panels.recent(frame.page(call), before, collection)
    if collection and not rows and not panels.known(collection):
        collections.get(collection)  # a removed one still has its log; of one that never was, say so
    beside: dict[str, Any] = {}
    if before is None:
        latest, _ = shadows.recent(frame.page(call), None, collection)
        played, _ = routes.recent(frame.page(call), None, collection)
        beside = {
            "conversations": [_told(row) for row in played],
            "shadows": latest,
            "agreement": shadows.agreement(collection),
        }
    return frame.ok(panels=[judged(row) for row in rows], next=cursor, **beside)


def _told(row: Mapping[str, Any]) -> dict[str, Any]:
    """A conversation by its latest turn, and how what that turn's model did in it was judged."""
    told = {name: row.get(name) for name in CONVERSATION}
    return {**told, "alias": row.get("model"), "verdict": verdicts.of(row["call"])}


CONVERSATION = ("at", "conversation", "call", "collection", "turn", "status", "error", "seconds", "task")


def conversation(call: Call) -> Response:
    """All turns of one conversation, oldest first, each with its verdict."""
    rows = routes.turns(call.parts["id"], panels.month(call.parts["id"]) or "")
    if not rows:
        raise Problem(
            404, f'there is no conversation "{call.parts["id"]}"; `bench log` lists the latest', param="id"
        )
    return frame.ok(turns=[{**row, "verdict": verdicts.of(row["call"])} for row in reversed(rows)])


def panel(call: Call) -> Response:
    """One panel in full; its body is null once it has expired, or if none was kept."""
    row = panels.find(call.parts["id"])
    if row is None:
        raise Problem(
            404, f'there is no panel "{call.parts["id"]}"; `bench log` lists the latest', param="id"
        )
    calls = [seat["call"] for seat in row.get("seats", ())]
    return frame.ok(
        panel=judged(row),
        body=bodies.read(row["panel"]),
        verdicts={call_id: given for call_id in calls if (given := verdicts.of(call_id))},
        claims={call_id: marked for call_id in calls if (marked := claims.of(call_id))},
    )


def judged(row: Mapping[str, Any]) -> dict[str, Any]:
    """A panel's row with each seat's verdict, null where none was given."""
    return {**row, "seats": [{**seat, "verdict": verdicts.of(seat["call"])} for seat in row.get("seats", ())]}


def verdict(call: Call) -> Response:
    """What /bench/verdict takes, and `claims`: passages with their places, decided one by one."""
    form = fields.take(call.json(), FORM, required=("call",))
    judged_call, passages = form["call"], _passages(form.get("claims"))
    said = {field: form[field] for field in SAID if form.get(field) is not None}
    recorded = False
    if form.get("withdrawn"):
        recorded = bool(verdicts.withdraw(judged_call, frame.BY)["recorded"])
    elif said or not passages:
        recorded = bool(verdicts.give(judged_call, by=frame.BY, **said)["recorded"])
    for passage in passages:
        place = passage.get("start"), passage.get("end")
        claims.mark(judged_call, passage["quote"], *place, passage.get("decision"), frame.BY)
    if passages:
        verdicts.settle(judged_call, frame.BY)
    return frame.ok(
        recorded=recorded or bool(passages), verdict=verdicts.of(judged_call), claims=claims.of(judged_call)
    )


def _passages(given: Any) -> list[dict[str, Any]]:
    """Checked in full before the first is recorded."""
    if given is None:
        return []
    if not isinstance(given, list) or len(given) > MOST_CLAIMS:
        raise fields.wrong(
            "claims", f"a list of up to {MOST_CLAIMS} objects with {', '.join(PASSAGE)}", given
        )
    return [_passage(one) for one in given]


def _passage(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise fields.wrong("claims", f"a list of objects with {', '.join(PASSAGE)}", given)
    passage = fields.take(given, PASSAGE, required=("quote",))
    start, end = passage.get("start"), passage.get("end")
    if (start is None) != (end is None) or (start is not None and start >= end):
        raise Problem(
            400, '"start" and "end" must both be there, the one before the other, or neither', param="start"
        )
    return passage


HANDLERS = (
    frame.get("/api/log", log),
    frame.get("/api/panel/{id}", panel),
    frame.get("/api/conversation/{id}", conversation),
    frame.post("/api/verdict", verdict),
)
