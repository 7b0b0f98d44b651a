"""Who takes a new conversation: pure functions of what is known, who can take it and a seed. No clock, no
files, no global randomness.

    order(state, ctx, seed) -> {"order": [alias], "ranked": [alias], "prob": {alias: p}, "why": {alias: {}}}

`state`: {"level": the usual share of useful verdicts on this kind of task,
          "record": {alias: [own, own_n, all, all_n]}, as evidence/standing.Record names them,
          "facts": {alias: {"findings": verified suite findings, "paid": asking it costs nothing more}},
          "last": {alias: epoch s of its last answer, or None}, "counts": {alias: verdicts that say useful},
          "rests": {alias: epoch s until which it is not to be first, or None: not known}}
`ctx`:   {"candidates": [alias] as the collection lists them}

`order` is whom to ask, the first one drawn; `ranked` is the same had nobody had a turn; `prob` is each one's
probability of being the first. What is missing in a mapping of `state` is unknown: no verdicts, no facts,
never answered, not resting.

`record/1` gives the lead to the member that seems best with the benefit of the doubt: its share of useful
verdicts, drawn towards the usual one while there are few, plus one standard deviation (judgement.md, section
2). One conversation in twenty is a turn, and whose it is the likelier the longer ago it answered. `counts/1`
is the plain rule: most useful verdicts, and one conversation in four to whoever answered longest ago. In
both, who rests or keeps failing stands last, and ties go to verified findings, then to connections that are
paid for, then to the collection's own order.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

Decision = dict[str, Any]
Policy = Callable[[Mapping[str, Any], Mapping[str, Any], int | str], Decision]

OPTIONS: dict[str, Any] = {
    "n0": 4.0,  # average verdicts that every member is credited with
    "other": 0.6,  # what a verdict on another kind of task counts
    "z": 1.0,  # standard deviations of benefit of the doubt
    "turn": 0.05,  # chance that a conversation is a turn
    "turn_pow": 3,  # how much likelier the turn of one who has waited longer
    "most": 0.98,  # the highest rate that is believed
    "panel_in_route": 0.3,  # what a verdict on an answer in a panel counts here
}
COUNTS_OPTIONS: dict[str, Any] = {"turn": 0.25}

DIGITS = 6  # of the figures that are told

_NONE = (0.0, 0.0, 0.0, 0.0)
_NEVER = float("-inf")
_UNKNOWN = float("inf")


def order(state: Mapping[str, Any], ctx: Mapping[str, Any], seed: int | str) -> Decision:
    """The order by the record."""
    listed, known = list(ctx["candidates"]), state.get("record", {})
    merits = {alias: merit(state["level"], known.get(alias, _NONE)) for alias in listed}
    ranks = _ranks(state, listed, {alias: found["value"] for alias, found in merits.items()})
    turns = _shares(_waited(state, _ready(state, listed)))
    decision = _decide(state, ranks, turns, OPTIONS["turn"], seed)
    for alias, why in decision["why"].items():
        why |= merits[alias]
    return decision


def counts(state: Mapping[str, Any], ctx: Mapping[str, Any], seed: int | str) -> Decision:
    """The order by the plain rule of most useful verdicts."""
    listed = list(ctx["candidates"])
    useful = {alias: float(state.get("counts", {}).get(alias, 0)) for alias in listed}
    ranks = _ranks(state, listed, useful)
    ready = _ready(state, listed)
    stalest = min(ready, key=lambda alias: _last(state, alias)) if ready else None
    turns = {stalest: 1.0} if stalest is not None else {}
    decision = _decide(state, ranks, turns, COUNTS_OPTIONS["turn"], seed)
    for alias, why in decision["why"].items():
        why["useful"] = useful[alias]
    return decision


# The setting `route_policy` -> (the name in the record, its options, the function).
POLICIES: Mapping[str, tuple[str, Mapping[str, Any], Policy]] = {
    "record": ("record/1", OPTIONS, order),
    "counts": ("counts/1", COUNTS_OPTIONS, counts),
}


def merit(level: float, record: Sequence[float]) -> Mapping[str, float]:
    """What is expected of a member: {"value", "rate", "doubt", "n"}; `n` is of how many verdicts, faded."""
    return _merit(level, *record)


@lru_cache(maxsize=1024)
def _merit(
    level: float, own: float, own_n: float, everywhere: float, everywhere_n: float
) -> Mapping[str, float]:
    other, n0 = OPTIONS["other"], OPTIONS["n0"]
    believed = n0 + own_n + other * (everywhere_n - own_n)
    quality = (n0 + own + other * (everywhere - own)) / believed
    rate = min(OPTIONS["most"], quality * level)
    doubt = math.sqrt(rate * (1 - rate) / (believed + 1))
    told = {"value": rate + OPTIONS["z"] * doubt, "rate": rate, "doubt": doubt, "n": believed - n0}
    return {name: round(figure, DIGITS) for name, figure in told.items()}


def _decide(
    state: Mapping[str, Any], ranks: list[str], turns: Mapping[str, float], chance: float, seed: int | str
) -> Decision:
    """Draw who is first. `turns` shares out the turns among those that are ready; nobody ready: no turn."""
    if not ranks:
        return {"order": [], "ranked": [], "prob": {}, "why": {}}
    leader, chance = ranks[0], chance if turns else 0.0
    prob = {alias: chance * turns.get(alias, 0.0) + (1 - chance) * (alias == leader) for alias in ranks}
    first = leader
    if turns.keys() - {leader}:  # else there is nothing to draw, and a generator takes long to make
        draw = random.Random(seed)
        if draw.random() < chance:
            first = draw.choices(list(turns), list(turns.values()))[0]
    rests = state.get("rests", {})
    said = {alias: "rests" if alias in rests else "next" for alias in ranks}
    said[first] = "turn" if first != leader else "leader" if said[first] == "next" else "rests"
    asked = [first, *(alias for alias in ranks if alias != first)]
    why = {alias: {"how": said[alias], "p": round(prob[alias], DIGITS)} for alias in asked}
    return {"order": asked, "ranked": ranks, "prob": prob, "why": why}


def _ranks(state: Mapping[str, Any], listed: Sequence[str], values: Mapping[str, float]) -> list[str]:
    """The candidates, best first: those that rest last, the one that is soonest back before the others."""
    facts, rests = state.get("facts", {}), state.get("rests", {})
    places = []
    for number, alias in enumerate(listed):
        known = facts.get(alias, {})
        ease = (-known.get("findings", 0), not known.get("paid", False))
        places.append((_back(rests, alias), -values[alias], *ease, number, alias))
    return [place[-1] for place in sorted(places)]


def _ready(state: Mapping[str, Any], listed: Sequence[str]) -> list[str]:
    rests = state.get("rests", {})
    return [alias for alias in listed if alias not in rests]


def _waited(state: Mapping[str, Any], ready: Sequence[str]) -> dict[str, int]:
    """How many of the others answered since each did."""
    lasts = {alias: _last(state, alias) for alias in ready}
    ordered = sorted(lasts.values(), reverse=True)
    return {alias: ordered.index(last) for alias, last in lasts.items()}


def _shares(waited: Mapping[str, int]) -> dict[str, float]:
    weights = {alias: (1.0 + wait) ** OPTIONS["turn_pow"] for alias, wait in waited.items()}
    total = sum(weights.values())
    return {alias: weight / total for alias, weight in weights.items()}


def _back(rests: Mapping[str, float | None], alias: str) -> float:
    """When it may be first again: at once, at a time, or nobody knows."""
    if alias not in rests:
        return _NEVER
    until = rests[alias]
    return _UNKNOWN if until is None else float(until)


def _last(state: Mapping[str, Any], alias: str) -> float:
    last = state.get("last", {}).get(alias)
    return _NEVER if last is None else float(last)
