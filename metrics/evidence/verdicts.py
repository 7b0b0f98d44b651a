"""Verdicts: what an answer was worth to whoever asked, and the record of each model that they add up to.

A verdict's row is {id, call, useful: true | false | null, best?, all_bad?, note?, by, at, withdrawn?}. It
names the model, collection and shape of its call, which may be forgotten before it is, says whether that
call `answered`, and in `was` which verdict it takes the place of: so a row alone says how the record changes,
and no record is ever made by reading all rows. The latest row of an id counts.

Where claims are decided, a row {id, call, new, was_new, by, at} says how many of an explorer's real claims no
member of its panel made (evidence/novelty). Both kinds add up to evidence cells (evidence/cells).
"""

import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from metrics import bus
from metrics.bench import roster
from metrics.evidence import cells, claims, novelty, offloads, panels
from metrics.records import Problem
from metrics.store.log import JsonLog
from metrics.store.stamps import stamp

T = TypeVar("T")
Row = dict[str, Any]
Shapes = Mapping[str, Mapping[str, cells.Cell]]

CHOICES = ("left", "right", "tie", "both_bad")
MOST_CALLS = 1000  # that one question about pending ones may name
LONGEST_NOTE = 20_000
DAYS = 400  # of each model that are told apart

# What a caller may say of an answer, and what it may be; leaving it out keeps what was said before.
SAID: dict[str, tuple[type, str]] = {
    "useful": (bool, "true or false"),
    "best": (bool, "true or false"),
    "all_bad": (bool, "true or false"),
    "note": (str, "text"),
}

_one_at_a_time = threading.RLock()  # from reading a verdict to writing the one that replaces it


def give(
    call: object,
    useful: object = None,
    note: object = None,
    real: object = None,
    false: object = None,
    by: str = "local",
    best: object = None,
    all_bad: object = None,
    now: float | None = None,
) -> dict[str, Any]:
    """Judge the answer of a call. None leaves a thing as it was; `real` and `false` are lists of passages of
    the answer.

    {"recorded": bool, "verdict": row}: False when nothing is new. Problem 404 for an unknown call, 400 for
    anything that is not what it should be, 507 when the disk is full; nothing is recorded then.
    """
    said = _checked({"useful": useful, "best": best, "all_bad": all_bad, "note": note})
    quotes = {"real": claims.quotes(real, "real"), "false": claims.quotes(false, "false")}
    wanted = {decision: listed for decision, listed in quotes.items() if listed is not None}
    if both := set(wanted.get("real", ())) & set(wanted.get("false", ())):
        raise Problem(400, f"a passage is either real or false, not both: {min(both)[:80]!r}", param="real")
    offload = _offload(call)
    if not said and not wanted:
        raise Problem(400, 'say "useful": true or false', param="useful")
    at = time.time() if now is None else now
    with _one_at_a_time:
        before = of(offload["call"])
        marked = claims.changes(offload["call"], wanted, by, at)
        row = _row(offload, before, {**_told(before), **said}, by, at)
        if before is not None and _told(row) == _told(before) and not marked:
            return {"recorded": False, "verdict": before}
        claims.write(marked)
        LOG.append(row)
        if marked:
            settle(offload["call"], by, at)
        bus.publish("verdict", row)
        return {"recorded": True, "verdict": row}


def withdraw(call: object, by: str = "local", now: float | None = None) -> dict[str, Any]:
    """Take a verdict back, as if it had not been given; {"recorded": whether there was one}. Its claims
    stay."""
    offload = _offload(call)
    with _one_at_a_time:
        before = of(offload["call"])
        if before is None:
            return {"recorded": False}
        row = _row(offload, before, {}, by, time.time() if now is None else now) | {"withdrawn": True}
        LOG.append(row)
        bus.publish("verdict", row)
        return {"recorded": True}


def settle(call: str, by: str = "local", now: float | None = None) -> None:
    """Count anew what explorers found, after a claim of this call was decided or taken back."""
    with _one_at_a_time:
        for explorer in novelty.touched(call):
            before = LOG.find(f"n.{explorer}")
            was, new = before and before.get("new"), novelty.of(explorer)
            offload = offloads.find(explorer)
            if offload is not None and new != was:
                at = stamp(time.time() if now is None else now)
                found = {"new": new, "was_new": was, "by": by, "at": at}
                LOG.append({"id": f"n.{explorer}", "call": explorer, **_subject(offload), **found})


def compare(
    left: object, right: object, choice: object, by: str = "local", now: float | None = None
) -> dict[str, Any]:
    """Record which of two answers was better: left | right | tie | both_bad; None takes that back.
    {"recorded": bool} as `give`."""
    pair = [_offload(left)["call"], _offload(right)["call"]]
    if choice not in (*CHOICES, None) or pair[0] == pair[1]:
        raise Problem(400, f"name two calls, and as choice one of {', '.join(CHOICES)}", param="choice")
    row: Row = {"id": "~".join(pair), "pair": pair, "choice": choice, "by": by}
    if choice is None:
        row["withdrawn"] = True
    with _one_at_a_time:
        before = LOG.find(row["id"])
        if (before.get("choice") if before else None) == choice:
            return {"recorded": False}
        row["at"] = stamp(time.time() if now is None else now)
        LOG.append(row)
        bus.publish("verdict", row)
        return {"recorded": True}


def of(call: str) -> Row | None:
    """The verdict on a call that stands; None when it has none."""
    row = LOG.find(_id(call))
    return None if row is None or row.get("withdrawn") else row


def of_each(calls: Collection[str]) -> dict[str, Row]:
    """The verdicts that stand, by call, on those of these calls that have one."""
    ids = {_id(call): call for call in calls}
    rows = LOG.find_each(ids)
    return {ids[name]: row for name, row in rows.items() if not row.get("withdrawn")}


def judged(panel_id: str) -> bool:
    """Whether an answer of the panel has a verdict, so that its words must be kept."""
    panel = panels.find(panel_id)
    return panel is not None and any(of(seat["call"]) for seat in panel.get("seats", ()) if "call" in seat)


def pending(calls: object) -> list[str]:
    """Those of these calls that were answered and have no verdict yet, in their order. Unknown ones are left
    out."""
    if (
        not isinstance(calls, list)
        or len(calls) > MOST_CALLS
        or not all(isinstance(call, str) for call in calls)
    ):
        raise Problem(400, f'"calls" must be a list of up to {MOST_CALLS} call ids', param="calls")
    return [call for call in dict.fromkeys(calls) if _is_pending(call)]


def _is_pending(call: str) -> bool:
    offload = offloads.find(call)
    if offload is None or offload.get("status") not in panels.ANSWERED:
        return False
    verdict = of(call)
    return verdict is None or verdict.get("useful") is None


def record(
    collection: str, task: str | None = None, names: Mapping[str, str] | None = None
) -> dict[str, dict[str, Any]]:
    """How each model's answers were judged: {alias: {"useful", "notUseful", "judged", "lastAt"}}.

    `task` counts only that shape of task. `names` are the aliases of today by model_id (None: the roster's);
    a model that is not among them has the alias of its last verdict.
    """
    if names is None:
        names = {model.model_id: model.alias for model in roster.all().values()}
    sums = LOG.counted(lambda state: _sums(state["counts"].get(collection, {}), task))
    told: dict[str, dict[str, Any]] = {}
    for model_id, counts in sorted(sums.items(), key=lambda item: item[0] not in names):
        alias = names.get(model_id, counts["alias"])
        told[model_id if alias in told else alias] = {
            "useful": counts["useful"],
            "notUseful": counts["notUseful"],
            "judged": counts["useful"] + counts["notUseful"],
            "lastAt": counts["lastAt"],
        }
    return told


def days(since: str, until: str) -> dict[str, list[int]]:
    """How each model's answers of the days from `since` up to `until` (dates, UTC) were judged, over all
    collections: {model_id: [useful, not useful, looked at]}. The last counts those without a word on
    usefulness too: a claim of theirs was decided, or a note was left."""

    def read(state: dict[str, Any]) -> dict[str, list[int]]:
        return {
            model_id: [sum(column) for column in zip(*within, strict=True)]
            for model_id, kept in state["days"].items()
            if (within := [cell for day, cell in kept.items() if since <= day < until])
        }

    return LOG.counted(read)


def revision() -> int:
    """How many verdict rows the record is made of: it names a state of the record."""
    return int(LOG.state["rev"])


def evidence(collection: str, reader: Callable[[Shapes], T]) -> T:
    """What `reader` makes of a collection's evidence cells, {shape: {model_id: cell}}, while nobody changes
    them."""
    return LOG.counted(lambda state: reader(state["cells"].get(collection, {})))


def _checked(given: Mapping[str, object]) -> Row:
    """What was said, without what was left out. Problem 400 for a wrong kind."""
    said = {field: value for field, value in given.items() if value is not None}
    for field, value in said.items():
        kind, words = SAID[field]
        if not isinstance(value, kind):
            raise Problem(400, f'"{field}" must be {words}', param=field)
    if len(str(said.get("note", ""))) > LONGEST_NOTE:
        raise Problem(400, f'"note" may have {LONGEST_NOTE:,} characters', param="note")
    return said


def _offload(call: object) -> Row:
    if not isinstance(call, str) or not call:
        raise Problem(400, 'name a "call", as the reply of a panel lists them', param="call")
    offload = offloads.find(call)
    if offload is None:
        raise Problem(404, f"there is no call {call!r}; replies and `bench log` list call ids", param="call")
    return offload


def _told(row: Row | None) -> Row:
    """What a row says of the answer; an empty note says nothing."""
    return {field: row[field] for field in SAID if row and row.get(field) not in (None, "")}


def _row(offload: Row, before: Row | None, told: Row, by: str, at: float) -> Row:
    answered = offload.get("status") in panels.ANSWERED if before is None else before.get("answered", True)
    return {
        "id": _id(offload["call"]),
        "call": offload["call"],
        **_subject(offload),
        "answered": answered,
        "useful": None,
        **{field: value for field, value in told.items() if value != ""},
        "was": before.get("useful") if before else None,
        "first": before is None,
        "by": by,
        "at": stamp(at),
    }


def _subject(offload: Row) -> Row:
    """What a judgement of the call is about."""
    return {field: offload.get(field) for field in ("collection", "shape", "model", "model_id", "seat")}


def _id(call: str) -> str:
    """A call has one verdict, whoever gives it."""
    return f"v.{call}"


def _sums(shapes: Mapping[str, Mapping[str, Row]], task: str | None) -> dict[str, Row]:
    """The counts by model_id over all shapes, or that of `task`; models without a verdict left out."""
    sums: dict[str, Row] = {}
    for shape, models in shapes.items():
        for model_id, counts in models.items() if task in (None, shape) else ():
            if counts["useful"] + counts["notUseful"]:
                earlier = sums.get(model_id, {"useful": 0, "notUseful": 0, "lastAt": "", "alias": ""})
                last = max(earlier, counts, key=lambda each: str(each["lastAt"]))
                sums[model_id] = {
                    "useful": earlier["useful"] + counts["useful"],
                    "notUseful": earlier["notUseful"] + counts["notUseful"],
                    "lastAt": last["lastAt"],
                    "alias": last["alias"],
                }
    return sums


def _empty() -> dict[str, Any]:
    return {"rev": 0, "counts": {}, "cells": {}, "days": {}}


def _fold(state: dict[str, Any], row: Mapping[str, Any]) -> None:
    """Take one verdict into the record: out goes the one it replaces."""
    state["rev"] += 1
    if "pair" not in row:
        if "new" not in row and row.get("answered", True):  # that a seat failed is no matter of usefulness
            _count(state, row)
            _count_day(state["days"], row)
        cells.fold(state["cells"], row)


def _count(state: dict[str, Any], row: Mapping[str, Any]) -> None:
    shapes = state["counts"].setdefault(str(row["collection"]), {})
    models = shapes.setdefault(str(row["shape"]), {})
    counts = models.setdefault(str(row["model_id"]), {"useful": 0, "notUseful": 0})
    counts.update(alias=row["model"], lastAt=row["at"][:19] + "Z")
    for verdict, one in ((row.get("was"), -1), (None if row.get("withdrawn") else row.get("useful"), 1)):
        if verdict is not None:
            field = "useful" if verdict else "notUseful"
            counts[field] = max(0, counts[field] + one)


def _count_day(models: dict[str, dict[str, list[int]]], row: Mapping[str, Any]) -> None:
    """Count a verdict in the day of its panel: what it says comes in, what it replaces goes out."""
    day, gone = cells.date_of(row["call"]), bool(row.get("withdrawn"))
    kept = models.setdefault(str(row["model_id"]), {})
    cell = kept.setdefault(day, [0, 0, 0])
    for verdict, one in ((row.get("was"), -1), (None if gone else row.get("useful"), 1)):
        if verdict is not None:
            cell[0 if verdict else 1] += one
    cell[2] = max(cell[0] + cell[1], cell[2] + bool(row.get("first")) - gone)
    while len(kept) > DAYS:
        del kept[min(kept)]


LOG = JsonLog("verdicts.jsonl", key="id", durable=True, fold=_fold, empty=_empty, meaning=4)
