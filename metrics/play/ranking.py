"""Who answers a new conversation in route mode: the members that can, best first, and the record of why.

The facts are gathered here, once, and the choice is left to the pure functions in `route_policy.py`. The
record holds all that they were given, so any choice can be made again (`again`).
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from metrics.bench import settings
from metrics.evidence import standing, verdicts
from metrics.evidence.standing import Record
from metrics.play import candidates, route_policy
from metrics.play.candidates import Candidate
from metrics.records import Request, Skipped, Target
from metrics.values import dataclass


@dataclass(frozen=True, slots=True)
class Ranking:
    """`members` are those that can take the turn, in the order in which to ask them; `decision` is what the
    policy was given and what it made of it, in JSON. `shape` is the kind of task that evidence on this turn
    belongs to."""

    members: tuple[Target, ...]
    skipped: tuple[Skipped, ...]
    shape: str
    decision: dict[str, Any]


def order(request: Request, now: float, seed: int) -> Ranking:
    """Rank the members for a new conversation. Problem 404 for an unknown collection, 413 when only the size
    stands in everybody's way, 400 when nobody can for other reasons."""
    fit, skipped = candidates.candidates(request, now)
    if not fit:
        raise candidates.nobody(request, skipped)
    shape, shape_by = candidates.kind(request)
    name = settings.get("route_policy")
    policy, options, _ = route_policy.POLICIES[name]
    day = datetime.fromtimestamp(now, UTC).date()
    stands = standing.of(request.collection, shape, day.toordinal(), route_policy.OPTIONS["panel_in_route"])
    useful = _useful(request.collection, fit) if name == "counts" else None
    given = {
        "policy": policy,
        "opt": dict(options),
        "seed": seed,
        "collection": request.collection,
        "shape": shape,
        "shape_by": shape_by,
        "day": day.isoformat(),
        "level": stands.level,
        "candidates": [_written(one, stands.records.get(one.model.model_id), useful) for one in fit],
        "excluded": [{"alias": skip.alias, "reason": skip.why} for skip in skipped],
        "record_rev": verdicts.revision(),
    }
    choice = again(given)
    by_alias = {candidate.alias: candidate.target for candidate in fit}
    decision = {**given, "order": choice["order"], "ranked": choice["ranked"], "why": choice["why"]}
    return Ranking(tuple(by_alias[alias] for alias in choice["order"]), skipped, shape, decision)


def again(decision: Mapping[str, Any]) -> route_policy.Decision:
    """What the policy makes of a record, once more. KeyError for a policy that this version does not have."""
    policy = {name: function for name, _, function in route_policy.POLICIES.values()}[decision["policy"]]
    listed: Sequence[Mapping[str, Any]] = decision["candidates"]
    state = {
        "level": decision["level"],
        "record": {one["alias"]: one["record"] for one in listed},
        "facts": {one["alias"]: {"findings": one["findings"], "paid": one["paid"]} for one in listed},
        "last": {one["alias"]: one["last"] for one in listed},
        "counts": {one["alias"]: one.get("useful", 0) for one in listed},
        "rests": {one["alias"]: one["rests"]["until"] for one in listed if one["rests"]},
    }
    return policy(state, {"candidates": [one["alias"] for one in listed]}, decision["seed"])


def _written(candidate: Candidate, record: Record | None, useful: Mapping[str, int] | None) -> dict[str, Any]:
    """A candidate in the record: all that a policy may go by."""
    known = record or Record()
    return {
        "alias": candidate.alias,
        "model_id": candidate.model.model_id,
        "record": [known.own, known.own_n, known.all, known.all_n],
        **({} if useful is None else {"useful": useful.get(candidate.alias, 0)}),
        "last": candidate.last,
        "findings": candidate.findings,
        "paid": candidate.paid,
        "rests": {"until": candidate.until, "why": candidate.hindrance} if candidate.hindrance else None,
    }


def _useful(collection: str, fit: Sequence[Candidate]) -> dict[str, int]:
    """How many verdicts said useful, whenever and on whatever kind of task."""
    names = {candidate.model.model_id: candidate.alias for candidate in fit}
    return {alias: told["useful"] for alias, told in verdicts.record(collection, None, names).items()}
