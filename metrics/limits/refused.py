"""What providers refused for want of room, by the hour of a day back, and the latest refusal of each scope.

It is counted among what is known of a connection or model (limits/quota): a statement's row with `refused`
says the cause (records.Limited), `status` what HTTP status came, `stated` which limits were named and `until`
when it is worth asking again. The words of the refusal are not kept.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from metrics.records import Problem
from metrics.store.stamps import epoch, stamp

HOURS = 25  # that are told apart: a day back, and the one that has begun

Row = Mapping[str, Any]
Kept = dict[str, Any]  # {"hours": {"2026-11-29T14": count}, "last": {at, cause, status, until, stated}}


def row_of(problem: Problem) -> dict[str, Any]:
    """What to note of a refusal; nothing when it was not for want of room: one that has too much to do says
    nothing of limits."""
    limited = problem.limited
    if limited is None or limited.cause == "overload":
        return {}
    named = [[one.metric, one.window, one.limit] for one in limited.stated if one.limit or one.remaining == 0]
    said = {"refused": limited.cause, "status": problem.status, "stated": named[:4]}
    return said if limited.until is None else {**said, "again": round(limited.until, 3)}


def fold(kept: Kept, row: Row) -> None:
    """Count a row that `row_of` made."""
    hours = kept.setdefault("hours", {})
    hour = row["at"][:13]
    hours[hour] = hours.get(hour, 0) + 1
    while len(hours) > HOURS:
        del hours[min(hours)]
    kept["last"] = {
        "at": row["at"],
        "cause": row["refused"],
        "status": row.get("status"),
        "until": row.get("again"),
        "stated": row.get("stated") or [],
    }


def told(scopes: Iterable[tuple[str, Kept]], now: float) -> dict[str, Any]:
    """{"hours": [count of each hour, oldest first], "since": the first one's stamp, "last": {at, model_id,
    cause, status, until, limits: [{metric, window, limit}]} or null}, of a connection's scopes together."""
    begin = now - now % 3600 - (HOURS - 2) * 3600
    counts = [0] * (HOURS - 1)
    last: dict[str, Any] | None = None
    for model_id, kept in scopes:
        for hour, count in kept.get("hours", {}).items():
            place = int((epoch(f"{hour}:00:00Z") - begin) // 3600)
            if 0 <= place < len(counts):
                counts[place] += count
        latest = kept.get("last")
        if latest and (last is None or latest["at"] > last["at"]):
            last = {**latest, "model_id": model_id or None}
    return {"hours": counts, "since": stamp(begin), "last": _last(last)}


def _last(last: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if last is None:
        return None
    names = ("metric", "window", "limit")
    limits = [dict(zip(names, one, strict=True)) for one in last["stated"]]
    until = None if last["until"] is None else stamp(last["until"])
    told = {name: last[name] for name in ("at", "model_id", "cause", "status")}
    return {**told, "until": until, "limits": limits}
