"""Who answers a new conversation in route mode: the members that can, best first, and the record of why."""

from dataclasses import dataclass
from typing import Any

from metrics.play import candidates
from metrics.records import Request, Skipped, Target


@dataclass(frozen=True, slots=True)
class Ranking:
    """`members` are those that can take the turn, in the order in which to ask them; `decision` is what the
    policy was given and what it made of it, enough to decide again. `shape` is the kind of task that evidence
    on this turn belongs to."""

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
    ready = sorted(fit, key=lambda candidate: candidate.hindrance is not None)
    decision = {"policy": "listed/0", "seed": seed, "shape": shape, "shape_by": shape_by}
    return Ranking(tuple(candidate.target for candidate in ready), skipped, shape, decision)
