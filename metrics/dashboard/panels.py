"""/api/log, /api/panel/{id} and /api/verdict: what was asked and answered, and what it was worth."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from metrics.bench import collections, fields
from metrics.dashboard import frame
from metrics.evidence import claims, panels, routes, shadows, verdicts
from metrics.records import Problem
from metrics.store import bodies
from metrics.web import roles
from metrics.web.table import Call, Response

MOST_CLAIMS = 200  # in one request
# How far back one page looks while it searches for what fits its filters: at this many panels, of which one
# that must be read and looked up counts as many.
LOOK, READ = 8_000, 15
SITTING = 50  # panels that are judged in one sitting
TOGETHER = 100  # panels whose verdicts are looked up in one go


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
PAIR: dict[str, fields.Check] = {"pair": as_said, "choice": fields.maybe(fields.one_of(*verdicts.CHOICES))}
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
    limit, fits = frame.page(call), _filter(call)
    rows, cursor = (
        _sifted(limit, before, collection, fits, _words(call)) if fits else _listed(limit, before, collection)
    )
    if collection and not rows and not panels.known(collection):
        collections.get(collection)  # a removed one still has its log; of one that never was, say so
    beside: dict[str, Any] = {}
    if before is None and fits is None:
        latest, _ = shadows.recent(limit, None, collection)
        played, _ = routes.recent(limit, None, collection)
        beside = {
            "conversations": _told(played),
            "shadows": latest,
            "agreement": shadows.agreement(collection),
        }
    return frame.ok(panels=rows, next=cursor, **beside)


Row = dict[str, Any]


def _listed(limit: int, before: str | None, collection: str | None) -> tuple[list[Row], str | None]:
    rows, cursor = panels.recent(limit, before, collection)
    return [_short(row) for row in judged_all(rows)], cursor


def _sifted(
    limit: int,
    before: str | None,
    collection: str | None,
    fits: Callable[[Row], bool],
    words: Sequence[str] = (),
) -> tuple[list[Row], str | None]:
    """A page of what fits, and holds the words. It may be short, or empty, with a cursor from which to look
    further back: how far one request looks is bounded."""
    found: list[Row] = []
    cursor, cost = before, 0
    way = panels.back(before, collection, words)
    while chunk := list(islice(way, TOGETHER)):
        told = {row["panel"]: row for row in judged_all([row for _, row in chunk if row])}
        for place, row in chunk:
            if len(found) == limit:
                return [_short(row) for row in found], cursor
            if row and fits(told[row["panel"]]):
                found.append(told[row["panel"]])
            cursor = place
        cost += len(chunk) + READ * len(told)
        if cost >= LOOK:
            return [_short(row) for row in found], cursor
    return [_short(row) for row in found], None


def _words(call: Call) -> list[str]:
    """What the row of a panel must hold to fit the query."""
    model = call.param("model")
    return [*call.param("q").split(), *([model] if model else [])]


def _short(row: Row) -> Row:
    """A panel as lists tell it: how its explorers were chosen grows with the bench, and is told by itself."""
    return {name: value for name, value in row.items() if name != "decision"}


def owing(call: Call) -> Response:
    """How many answers of the latest panels wait for a verdict: of those that a sitting of verdicts takes."""
    rows, cursor = _sifted(SITTING, None, None, owed)
    return frame.ok(
        answers=sum(_owes(seat) for row in rows for seat in row["seats"]), more=cursor is not None
    )


def owed(row: Mapping[str, Any]) -> bool:
    """Whether an answer of this (judged) row waits for a verdict."""
    return any(_owes(seat) for seat in row["seats"])


def _owes(seat: Mapping[str, Any]) -> bool:
    said = seat["verdict"] or {}
    return (
        seat.get("seat") != "merger" and seat.get("status") in panels.ANSWERED and said.get("useful") is None
    )


def _failed(row: Mapping[str, Any]) -> bool:
    return any(seat.get("status") not in panels.ANSWERED for seat in row["seats"])


def _decided(row: Mapping[str, Any]) -> bool:
    return any((seat["verdict"] or {}).get("useful") is not None for seat in row["seats"]) and not owed(row)


STATES: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "owed": owed,
    "judged": _decided,
    "failed": _failed,
}


def _filter(call: Call) -> Callable[[Row], bool] | None:
    """What the query's `state`, `model` and `q` want of a panel; None when it wants nothing."""
    state, model, words = call.param("state"), call.param("model"), call.param("q").casefold().split()
    if state and state not in STATES:
        raise Problem(400, f'"state" must be one of {", ".join(STATES)}, not {state[:20]!r}', param="state")
    if not (state or model or words):
        return None

    def fits(row: Row) -> bool:
        text = f"{row.get('task') or ''} {row['panel']} {row.get('key') or ''}".casefold()
        return (
            all(word in text for word in words)
            and (
                not model or any(model in (seat.get("alias"), seat.get("model_id")) for seat in row["seats"])
            )
            and (not state or STATES[state](row))
        )

    return fits


def conversations(call: Call) -> Response:
    """The latest conversations of route mode by their latest turns, newest first."""
    before = panels.cursor(call.param("before") or None)
    rows, cursor = routes.recent(frame.page(call), before, call.param("collection") or None)
    return frame.ok(conversations=_told(rows), next=cursor)


def _told(rows: Sequence[Row]) -> list[Row]:
    """Conversations by their latest turns, and how what that turn's model did in each was judged."""
    given = verdicts.of_each([row["call"] for row in rows])
    return [
        {name: row.get(name) for name in CONVERSATION}
        | {"alias": row.get("model"), "verdict": given.get(row["call"])}
        for row in rows
    ]


CONVERSATION = (
    *("at", "conversation", "call", "collection", "turn", "status", "error", "seconds", "task"),
    *("model_id", "format", "key", "failed_over"),
)


def conversation(call: Call) -> Response:
    """All turns of one conversation, oldest first, each with its verdict."""
    rows = routes.turns(call.parts["id"], panels.month(call.parts["id"]) or "")
    if not rows:
        raise Problem(
            404, f'there is no conversation "{call.parts["id"]}"; `bench log` lists the latest', param="id"
        )
    given = verdicts.of_each([row["call"] for row in rows])
    return frame.ok(turns=[{**row, "verdict": given.get(row["call"])} for row in reversed(rows)])


def panel(call: Call) -> Response:
    """One panel in full; its body is null once it has expired, or if none was kept."""
    return frame.ok(**whole(call.parts["id"]))


def whole(panel_id: str) -> dict[str, Any]:
    """All that is kept of a panel: {panel, body, verdicts, claims}. Problem 404 when there is none."""
    row = panels.find(panel_id)
    if row is None:
        raise Problem(404, f'there is no panel "{panel_id}"; `bench log` lists the latest', param="id")
    calls = [seat["call"] for seat in row.get("seats", ())]
    return {
        "panel": judged(row),
        "body": bodies.read(row["panel"]),
        "verdicts": {call_id: given for call_id in calls if (given := verdicts.of(call_id))},
        "claims": {call_id: marked for call_id in calls if (marked := claims.of(call_id))},
    }


def judged(row: Row) -> Row:
    """A panel's row with each seat's verdict, null where none was given."""
    return judged_all([row])[0]


def judged_all(rows: Sequence[Row]) -> list[Row]:
    """The same of several, looked up together."""
    given = verdicts.of_each([seat["call"] for row in rows for seat in row.get("seats", ())])
    return [
        {**row, "seats": [{**seat, "verdict": given.get(seat["call"])} for seat in row.get("seats", ())]}
        for row in rows
    ]


def verdict(call: Call) -> Response:
    """What /bench/verdict takes, and `claims`: passages with their places, decided one by one. Or of two
    answers {pair: [call, call], choice}: which of them is kept; null takes that back."""
    if "pair" in call.json():
        return _compared(call)
    form = fields.take(call.json(), FORM, required=("call",))
    judged_call, passages = form["call"], _passages(form.get("claims"))
    said = {field: form[field] for field in SAID if form.get(field) is not None}
    recorded = False
    if form.get("withdrawn"):
        recorded = bool(verdicts.withdraw(judged_call, frame.by(call))["recorded"])
    elif said or not passages:
        recorded = bool(verdicts.give(judged_call, by=frame.by(call), **said)["recorded"])
    for passage in passages:
        place = passage.get("start"), passage.get("end")
        claims.mark(judged_call, passage["quote"], *place, passage.get("decision"), frame.by(call))
    if passages:
        verdicts.settle(judged_call, frame.by(call))
    return frame.ok(
        recorded=recorded or bool(passages), verdict=verdicts.of(judged_call), claims=claims.of(judged_call)
    )


def _compared(call: Call) -> Response:
    form = fields.take(call.json(), PAIR, required=("pair",))
    pair = form["pair"]
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(one, str) for one in pair):
        raise fields.wrong("pair", "a list of two call ids: the left and the right answer", pair)
    done = verdicts.compare(pair[0], pair[1], form.get("choice"), frame.by(call))
    return frame.ok(recorded=done["recorded"])


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
    frame.get(
        "/api/log",
        log,
        says="""`?limit=&before=&collection=` → `{panels, next}`, newest first, with each seat's
            verdict; `limit` is 1 to 100 (50), `before` the `next` of the page before; the first
            page also has `conversations` (the latest of route mode, by their latest turns),
            `shadows` (the latest shadow seats) and `agreement`.
            `&state=owed|judged|failed&model=&q=` filters; such a page may be short, and its `next`
            looks further back""",
    ),
    frame.get(
        "/api/owed",
        owing,
        says="""`{answers, more}`: how many answers of the latest fifty owed panels wait for a verdict,
            and whether older panels may owe any""",
    ),
    frame.get(
        "/api/panel/{id}",
        panel,
        says="one panel with its prompt and answers (where they were kept), verdicts and claims",
    ),
    frame.get(
        "/api/conversations",
        conversations,
        says="""`?limit=&before=&collection=` → `{conversations, next}`: those of route mode, by their
            latest turns, newest first""",
    ),
    frame.get(
        "/api/conversation/{id}",
        conversation,
        says="""`{turns}`, oldest first: who was asked and answered, who was passed over, how the choice
            was made""",
    ),
    frame.post(
        "/api/verdict",
        verdict,
        roles.JUDGE,
        says="""`/bench/verdict`'s body, and `{claims: [{quote, start, end, decision}], best, all_bad,
            withdrawn}`; or of two answers `{pair: [call, call], choice: left|right|tie|both_bad}`,
            where a `choice` of `null` takes it back""",
    ),
)
