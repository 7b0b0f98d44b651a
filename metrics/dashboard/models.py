"""/api/models: who is on the bench and how each has done; and the edits of one."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from metrics.bench import collections, fields, moves, roster
from metrics.bench.roster import Model
from metrics.dashboard import frame
from metrics.evidence import intervals, reliability, verdicts
from metrics.limits import ledger, speed
from metrics.records import Problem
from metrics.web.table import Call, Response

COUNTS = ("useful", "notUseful", "judged")
ALIAS = {"alias": fields.line(100)}


def show(call: Call) -> Response:
    active, retired = roster.all(), roster.retired()
    pool = {model.alias for model in roster.pool()}
    records = _records((*active.values(), *retired.values()))
    now = time.time()
    listed = [
        {
            **facts(model),
            "in_pool": model.alias in pool,
            **_state(model, now),
            "record": _counts(records, model),
        }
        for model in active.values()
    ]
    gone = [{**facts(model), "record": _counts(records, model)} for model in retired.values()]
    return frame.ok(models=listed, retired=gone, problems=list(roster.SHELF.bad().values()))


def quick(call: Call) -> Response:
    """How quick answers were, of the latest calls of the whole bench; with ?model= also its course."""
    alias = call.param("model")
    rows, _ = ledger.recent(speed.ROWS)
    told = speed.of(rows)
    known = {**roster.retired(), **roster.all()}
    named = {name: told[model.model_id] for name, model in known.items() if model.model_id in told}
    course = None
    if alias:
        model_id = roster.get(alias).model_id
        course = speed.course([row for row in rows if row.get("model_id") == model_id])
    since = rows[-1]["at"] if rows else None
    return frame.ok(models=named, course=course, looked_at=len(rows), since=since)


def facts(model: Model) -> dict[str, Any]:
    """A model as /api lists it."""
    priced = model.price and {"price": roster.shown_price(model.price), "price_source": model.price.source}
    return {**asdict(model), "model_id": model.model_id, "price_source": None, **(priced or {})}


def _state(model: Model, now: float) -> dict[str, Any]:
    """How it is today: resting after a failure, failing, last heard of."""
    return {
        "resting_until": frame.moment(reliability.cooling(model.model_id, now)),
        "resting_why": reliability.resting_why(model.model_id, now),
        "failing": reliability.failing(model.model_id),
        "last_answered_at": frame.moment(reliability.last_answered(model.model_id)),
    }


def add(call: Call) -> Response:
    given = {field: value for field, value in call.json().items() if value is not None}
    form = fields.take(
        given, {"alias": fields.alias, **roster.FORM}, required=("alias", "endpoint", "served")
    )
    before = roster.all().values()
    model = moves.add(Model(**form), frame.by(call))
    twins = [twin.alias for twin in before if twin.model_id == model.model_id]
    notes = [f"the same model is on the bench as {', '.join(twins)}; they share one record"] if twins else []
    known = roster.get(model.alias)
    told = [name for name in (*roster.FILLED, "price") if getattr(known, name) != getattr(model, name)]
    if told:
        notes.append(f"the catalog tells its {', '.join(told)}: bench catalog show {model.alias}")
    return frame.ok(model=facts(known), note="; ".join(notes))


def change(call: Call) -> Response:
    """Set facts of a model, rename it, or both."""
    form = dict(call.json())
    alias = _alias(form.pop("alias", None))
    new = form.pop("rename", None)
    if new is not None:
        fields.alias("rename", new)
    if not form and new is None:
        raise Problem(400, f"nothing to change: give rename or one of {', '.join(roster.FACTS)}")
    model = moves.change(alias, frame.by(call), **_facts(form)) if form else roster.get(alias)
    if new is not None:
        model = moves.rename(alias, new, frame.by(call))
    return frame.ok(model=facts(model))


def remove(call: Call) -> Response:
    form = fields.take(call.json(), {**ALIAS, "reason": fields.maybe(fields.text(300))}, required=("alias",))
    model = moves.retire(form["alias"], form.get("reason") or "", frame.by(call))
    return frame.ok(
        model=facts(model), left=[place["name"] for place in (model.retired or {})["collections"]]
    )


def restore(call: Call) -> Response:
    alias = fields.take(call.json(), ALIAS, required=("alias",))["alias"]
    model, back = moves.restore(alias, frame.by(call))
    return frame.ok(model=facts(model), collections=back)


def _counts(records: Mapping[str, Mapping[str, int]], model: Model) -> dict[str, Any]:
    """The sums of its verdicts, and in which range its share of useful ones lies; null without any."""
    counts = {word: records[model.model_id][word] for word in COUNTS}
    share = intervals.wilson(counts["useful"], counts["judged"]) if counts["judged"] else None
    return {**counts, "range": share and [round(end, 3) for end in share]}


def _alias(value: Any) -> str:
    alias: str = ALIAS["alias"]("alias", value)
    return alias


def _facts(form: Mapping[str, Any]) -> dict[str, Any]:
    """Refused here rather than as an argument that Python does not know."""
    fields.take(form, roster.FACTS)
    return dict(form)


def _records(models: Iterable[Model]) -> dict[str, Counter[str]]:
    """How the answers of each model (by id) were judged, over all collections."""
    names = {model.model_id: model.model_id for model in models}
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for name in collections.all():
        for model_id, counts in verdicts.record(name, names=names).items():
            sums[model_id].update({word: counts[word] for word in COUNTS})
    return sums


HANDLERS = (
    frame.get(
        "/api/models",
        show,
        says="""who is on the bench, what is known of them, whether they rest (`resting_until`,
            `resting_why`: such as `rate_limited`) or fail (`failing`: why), how they were judged:
            `record: {useful, notUseful, judged, range}`, where `range` holds the share of useful
            ones nineteen times in twenty; `price` in USD per million tokens, and `price_source`:
            whose word it is (`user`, `listing`, `models.dev`, `openrouter`)""",
    ),
    frame.get(
        "/api/models/speed",
        quick,
        says="""`?model=` → `{models: {alias: {calls, first: {p50, p95}, whole: {p50, p95, p50_at_least,
            p95_at_least}}}, course, looked_at, since}`: seconds to the first token and to the last,
            of the latest 2,000 calls of the whole bench; `…_at_least` where a time-out cut a call
            off before. `course` of the model that is named: `{at, step_s, calls, p50, p95}`, twelve
            pieces of time, null where fewer than three calls were""",
    ),
    frame.post(
        "/api/model/add",
        add,
        says="""`{alias, endpoint, served, role?, tools?, vision?, reasoning?, context?, max_output?,
            price?: {input, output, cache_read, cache_write, tiers?: [{above, …}], plan?:
            free|flat}, ad_hoc?}`""",
    ),
    frame.post(
        "/api/model",
        change,
        says="`{alias, rename?, …any of the facts above}`",
    ),
    frame.post(
        "/api/remove",
        remove,
        says="`{alias, reason}`: retires a model, keeping its evidence",
    ),
    frame.post(
        "/api/restore",
        restore,
        says="`{alias}`",
    ),
)
