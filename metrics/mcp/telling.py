"""The tools that only tell: the collections, why a seat sat and what became of it, the record, and what it
all came to."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from metrics.bench import fields, keys, listing, names, roster
from metrics.evidence import inscope, intervals, offloads, panels, routes, verdicts
from metrics.limits import ledger, usage
from metrics.play import asked
from metrics.records import Problem
from metrics.web.table import Call

Arguments = Mapping[str, Any]
Row = dict[str, Any]

# What is told by where nobody has a key. Names of keys and endpoints are the dashboard's to tell.
BY = ("model", "collection", "purpose", "day")


def list_collections(arguments: Arguments, call: Call) -> Row:
    """{"collections": [...]}: those that are for whoever asks, each with the modes that `ask` has for it."""
    fields.take(arguments, {})
    found: dict[str, Row] = {}
    for entry in listing.entries():
        told = found.setdefault(entry["collection"], _collection(entry))
        if entry["mode"] in ("all", "merged") and entry["mode"] not in told["modes"]:
            told["modes"].append(entry["mode"])
    return {"collections": list(found.values())}


def _collection(entry: Mapping[str, Any]) -> Row:
    told = {"name": entry["collection"], "description": entry["description"], "tags": entry["tags"]}
    told |= {name: entry[name] for name in ("members", "explorers", "shape", "reply")}
    together = entry["together"]
    able = {"context_window": together["context_window"], "capabilities": together["capabilities"]}
    return {**told, **able, "modes": []}


CALL = {"call": fields.line(200)}


def why(arguments: Arguments, call: Call) -> Row:
    """Of one call: who it was, how it was chosen and with what chance, what became of it and what was said of
    it. Problem 404 for one that is unknown, or somebody else's."""
    its = fields.take(arguments, CALL, required=("call",))["call"]
    inscope.check([its])
    offload = offloads.find(its)
    if offload is None or offload.get("key", "local") != asked.caller(call):
        raise Problem(404, f'you asked no call "{its}": take one from the result of ask', param="call")
    told = {"call": its, "alias": offload["model"], "model_id": offload["model_id"]}
    told |= {name: offload.get(name) for name in ("collection", "shape", "seat", "how", "p", "status")}
    told |= _of_panel(its, offload) if offload.get("panel") else _of_route(its)
    told |= {"verdict": _verdict(its), "why": ""}
    return {**told, "why": " ".join(_sentences(told))}


OUTCOME = ("seconds", "error", "message", "finish", "tokens", "cost", "served_by")


def _of_panel(call: str, offload: Mapping[str, Any]) -> Row:
    row = panels.find(str(offload["panel"]))
    if row is None:  # its panel is written down when its reply is whole
        return {"seconds": offload.get("seconds"), "error": offload.get("error"), "skipped": []}
    seat: Row = next((seat for seat in row["seats"] if seat["call"] == call), {})
    decision = row.get("decision") or {}
    chosen: Row = next(
        (one for one in decision.get("seats", ()) if one.get("model_id") == offload["model_id"]), {}
    )
    return {
        **{name: seat.get(name) for name in OUTCOME},
        "skipped": row.get("skipped", []),
        "policy": decision.get("policy"),
        "candidates": [one["alias"] for one in decision.get("candidates", ())],
        "decided": {name: value for name, value in chosen.items() if value is not None},
    }


def _of_route(call: str) -> Row:
    conversation = call.rpartition(".")[0]
    row = next(
        (row for row in routes.turns(conversation, panels.month(conversation) or "") if row["call"] == call),
        None,
    )
    if row is None:
        return {"skipped": []}
    decision = row.get("decision") or {}
    return {
        **{name: row.get(name) for name in ("seconds", "error", "turn", "how", "failed_over")},
        "skipped": row.get("skipped") or [],
        "policy": decision.get("policy"),
        "candidates": [one["alias"] for one in decision.get("candidates", ())],
        "decided": (decision.get("why") or {}).get(row.get("model")) or {},
    }


def _verdict(call: str) -> Row | None:
    given = verdicts.of(call)
    return None if given is None else {name: given.get(name) for name in ("useful", "note", "by", "at")}


HOW = {
    "member": "It is a member of the collection, and members always sit.",
    "asked": "The caller invited it.",
    "rotation": "It answered longest ago of all who could explore.",
    "merger": "It merges the others' answers.",
}


def _sentences(told: Mapping[str, Any]) -> Iterator[str]:
    how, seat = str(told.get("how") or told.get("seat")), told.get("seat")
    yield HOW.get("merger" if seat == "merger" else how, f"It was chosen by {how}.")
    if isinstance(told.get("p"), float) and told["p"] < 1:
        yield f"Its chance was {told['p']:.0%}."
    if told.get("candidates"):
        yield f"Who could have been chosen: {', '.join(told['candidates'])}."
    yield f"It ended {told.get('status')}" + (f": {told['message']}." if told.get("message") else ".")


RECORD = {"collection": fields.line(200), "task": fields.maybe(fields.line(40))}


def record(arguments: Arguments, call: Call) -> Row:
    """How each model's answers in a collection were judged: counts, and the share of useful ones with the
    range that it lies in, nineteen times in twenty."""
    form = fields.take(arguments, RECORD, required=("collection",))
    return record_of(form["collection"], form.get("task"))


def record_of(wanted: str, task: str | None = None) -> Row:
    collection, _ = names.resolve(wanted, to_ask=False)
    told = [_judged(alias, counts) for alias, counts in inscope.record(collection, task).items()]
    return {"collection": collection, "task": task, "models": told}


def _judged(alias: str, counts: Mapping[str, Any]) -> Row:
    useful, judged = counts["useful"], counts["judged"]
    low, high = intervals.wilson(useful, judged)
    return {
        "alias": alias,
        "useful": useful,
        "not_useful": counts["notUseful"],
        "judged": judged,
        "rate": round(useful / judged, 4) if judged else None,
        "interval": [round(low, 4), round(high, 4)],
        "last_at": counts["lastAt"] or None,
    }


USAGE = {"by": fields.maybe(fields.one_of(*BY)), "since": fields.maybe(fields.line(40))}


def used(arguments: Arguments, call: Call) -> Row:
    """What the calls came to. Where there are keys, everybody is told of their own alone, in one sum; else by
    model, collection, purpose or day."""
    form = fields.take(arguments, USAGE)
    since = usage.moment(form.get("since") or "", time.time())
    if call.key is None and not keys.all():
        by = form.get("by") or "model"
        return ledger.used(by, since, roster.current if by == "model" else str)
    if form.get("by"):
        raise Problem(400, "you see what you used yourself, in one sum: leave out by", param="by")
    told = ledger.used("key", since)
    own = [row for row in told["rows"] if row["name"] == asked.caller(call)]
    nothing = {name: _nothing(value) for name, value in told["total"].items()}
    total = {name: value for name, value in own[0].items() if name != "name"} if own else nothing
    return {"by": "key", "since": told["since"], "total": total, "rows": own}


def _nothing(value: Any) -> Any:
    return dict.fromkeys(value, 0) if isinstance(value, dict) else 0
