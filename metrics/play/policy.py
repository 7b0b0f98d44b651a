"""Who explores: a pure function of what is known, what is asked and a seed. No clock, no files, no global
randomness.

    seat(state, ctx, seed) -> {"seats": [alias], "prob": {alias: p}, "why": {alias: {...}}}

`state`: {"last": {alias: epoch s of its last answer, or None}, "waits": {alias: panels it waited}}
`ctx`:   {"candidates": [alias], "k": chairs}

This slice's policy is plain rotation: whoever answered longest ago sits, to the microsecond; ties are drawn
with the seed. The evidence-driven policy of the same signature replaces it here, and the log keeps which one
decided.
"""

import random
from collections.abc import Mapping
from typing import Any

NAME = "rotation/1"
OPTIONS: dict[str, Any] = {}

_NEVER = float("-inf")


def seat(state: Mapping[str, Any], ctx: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Choose explorers. `prob` is each chosen one's probability given the seats already filled."""
    draw = random.Random(seed)
    standing = sorted(ctx["candidates"])
    seats: list[str] = []
    prob: dict[str, float] = {}
    why: dict[str, dict[str, Any]] = {}
    for _ in range(min(ctx["k"], len(standing))):
        stalest = min(_last(state, alias) for alias in standing)
        tied = [alias for alias in standing if _last(state, alias) == stalest]
        chosen = draw.choice(tied)
        seats.append(chosen)
        prob[chosen] = 1 / len(tied)
        why[chosen] = {
            "how": "rotation",
            "p": 1 / len(tied),
            "expected_new": None,
            "waited": state["waits"].get(chosen, 0),
            "leader": None,
            "leader_expected": None,
        }
        standing.remove(chosen)
    return {"seats": seats, "prob": prob, "why": why}


def _last(state: Mapping[str, Any], alias: str) -> float:
    last = state["last"].get(alias)
    return _NEVER if last is None else float(last)
