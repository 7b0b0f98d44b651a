"""A panel's explorers, decided again: with the facts that were kept, with today's, or without somebody.

The policy is a pure function of facts, candidates and a seed, and all three stand in the panel's record: what
would have come of others can be said without asking anybody.
"""

from collections.abc import Collection, Mapping
from typing import Any

from metrics.bench import roster
from metrics.evidence import reliability, waits
from metrics.play import policy

Row = Mapping[str, Any]


def decide(row: Row, without: Collection[str] = (), today: bool = False) -> dict[str, Any]:
    """{policy, was, seed, k, before, after, candidates, gone} for a panel's row that has a decision. `before`
    and `after` are the explorers drawn then and now, each {alias, model_id, how, p, waited}; `candidates`
    those it was drawn from, each {alias, model_id, wait, last}; `gone` those of then that left the bench.
    `was` is the policy that decided then: where it is another, only today's can be asked."""
    decision = row["decision"]
    known = [one for one in decision["candidates"] if one["alias"] not in without]
    gone: list[str] = []
    if today:
        here = {model.model_id for model in roster.pool()}
        gone = [one["alias"] for one in known if one["model_id"] not in here]
        known = [one | _now(row, one["model_id"]) for one in known if one["alias"] not in gone]
    state = {
        "last": {one["alias"]: one["last"] for one in known},
        "waits": {one["alias"]: one["wait"] for one in known},
    }
    ctx = {"candidates": [one["alias"] for one in known], "k": decision["k"]}
    choice = policy.seat(state, ctx, decision["seed"])
    ids = {one["alias"]: one["model_id"] for one in known}
    return {
        "policy": policy.NAME,
        "was": decision["policy"],
        "seed": decision["seed"],
        "k": decision["k"],
        "before": [_told(seat) for seat in decision["seats"] if seat.get("how") != "asked"],
        "after": [
            _told({"alias": alias, "model_id": ids[alias], **choice["why"][alias]})
            for alias in choice["seats"]
        ],
        "candidates": [
            {name: one.get(name) for name in ("alias", "model_id", "wait", "last")} for one in known
        ],
        "gone": gone,
    }


def _now(row: Row, model_id: str) -> dict[str, Any]:
    """What is known of a candidate today, in the fields of the record."""
    waited = waits.of(str(row["collection"])).get(model_id, 0)
    return {"last": reliability.last_answered(model_id), "wait": waited}


def _told(seat: Row) -> dict[str, Any]:
    return {name: seat.get(name) for name in ("alias", "model_id", "how", "p", "waited")}
