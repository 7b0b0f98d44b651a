"""Who answers a new conversation in route mode: the members that can, best first, and the record of why.

The facts are gathered here, once, and the choice is left to the pure functions in `route_policy.py`. The
record holds all that they were given, so any choice can be made again (`again`).
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from metrics.bench import settings
from metrics.evidence import standing, verdicts
from metrics.evidence.standing import Record, Standing
from metrics.play import candidates, route_policy
from metrics.play.candidates import Candidate
from metrics.records import Request, Skipped, Target
from metrics.store.files import once_a_moment
from metrics.values import dataclass


@dataclass(frozen=True, slots=True)
class Ranking:
    """`members` are those that can take the turn, in the order in which to ask them; `decision` is what the
    policy was given and what it made of it, in JSON. `shape` is the kind of task that evidence on this turn
    belongs to, `size` the request's in tokens, by estimate."""

    members: tuple[Target, ...]
    skipped: tuple[Skipped, ...]
    shape: str
    decision: dict[str, Any]
    size: int


def order(request: Request, now: float, seed: int) -> Ranking:
    """Rank the members for a new conversation. Problem 404 for an unknown collection, 413 when only the size
    stands in everybody's way, 400 when nobody can for other reasons."""
    field, size = candidates.field(request)
    if not field.fit:
        raise candidates.nobody(request, field.skipped)
    name, options, decide = _policy()
    ordinal, day = _day(int(now // DAY))
    stands = standing.of(request.collection, field.shape, ordinal, route_policy.OPTIONS["panel_in_route"])
    useful = _useful(request.collection, field.fit) if decide is route_policy.counts else None
    rows = [_written(candidates.today(one, now), stands, useful) for one in field.fit]
    choice = decide(stands.level, rows, seed)
    decision = {
        "policy": name,
        "opt": options,
        "seed": seed,
        "collection": request.collection,
        "shape": field.shape,
        "shape_by": field.shape_by,
        "day": day,
        "level": stands.level,
        "candidates": rows,
        "excluded": [{"alias": skip.alias, "reason": skip.why} for skip in field.skipped],
        "record_rev": stands.revision,
        "order": choice["order"],
        "ranked": choice["ranked"],
        "why": choice["why"],
    }
    members = tuple(map(field.targets.__getitem__, choice["order"]))
    return Ranking(members, field.skipped, field.shape, decision, size)


@once_a_moment
def _policy() -> tuple[str, Mapping[str, Any], route_policy.Policy]:
    return route_policy.POLICIES[settings.get("route_policy")]


DAY = 86_400  # seconds


@lru_cache(maxsize=2)
def _day(number: int) -> tuple[int, str]:
    """The day that many days after the first of 1970: its ordinal, and as a date."""
    day = date(1970, 1, 1) + timedelta(number)
    return day.toordinal(), day.isoformat()


def again(decision: Mapping[str, Any]) -> route_policy.Decision:
    """What the policy makes of a record, once more. KeyError for a policy that this version does not have."""
    return _NAMED[decision["policy"]](decision["level"], decision["candidates"], decision["seed"])


_NAMED = {name: decide for name, _, decide in route_policy.POLICIES.values()}
_UNKNOWN = Record()


def _written(candidate: Candidate, stands: Standing, useful: Mapping[str, int] | None) -> dict[str, Any]:
    """A candidate in the record: all that a policy may go by."""
    target = candidate.target
    known = stands.records.get(target.model_id, _UNKNOWN)
    return {
        "alias": target.alias,
        "model_id": target.model_id,
        "record": [known.own, known.own_n, known.all, known.all_n],
        **({} if useful is None else {"useful": useful.get(target.alias, 0)}),
        "last": candidate.last,
        "findings": candidate.findings,
        "paid": candidate.paid,
        "rests": {"until": candidate.until, "why": candidate.hindrance} if candidate.hindrance else None,
    }


def _useful(collection: str, fit: Sequence[Candidate]) -> dict[str, int]:
    """How many verdicts said useful, whenever and on whatever kind of task."""
    names = {candidate.model.model_id: candidate.alias for candidate in fit}
    return {alias: told["useful"] for alias, told in verdicts.record(collection, None, names).items()}
