"""Who takes a new conversation: pure functions of what is known of those that can take it and a seed. No
clock, no files, no global randomness.

    order(level, candidates, seed) -> {"order": [alias], "ranked": [alias], "prob": {alias: p}, "why": {}}

`level` is the usual share of useful verdicts on this kind of task. `candidates` are rows of a turn's record,
as the collection lists them:

    {"alias", "record": [own, own_n, all, all_n], as evidence/standing.Record names them,
     "useful": how many verdicts say useful, "findings": verified suite findings,
     "paid": whether asking it costs nothing more, "last": epoch s of its last answer, or None,
     "rests": None, or {"until": epoch s until which it is not to be first, or None: not known}}

`order` is whom to ask, the first one drawn; `ranked` is the same had nobody had a turn; `prob` is each one's
probability of being the first; `why` tells more of each. What is missing in a row is unknown: no verdicts, no
findings, never answered, not resting. What is handed out is shared: do not change it.

`record/1` gives the lead to the member that seems best with the benefit of the doubt: its share of useful
verdicts, drawn towards the usual one while there are few, plus one standard deviation (judgement.md, section
2). One conversation in twenty is a turn, and whose it is the likelier the longer ago it answered. `counts/1`
is the plain rule: most useful verdicts, and one conversation in four to whoever answered longest ago. In
both, who rests or keeps failing stands last, and ties go to verified findings, then to connections that are
paid for, then to the collection's own order.

So the chances are the same for one conversation after the other, until somebody is judged, rests, or answers
after others that it answered before. They are worked out once, and a seed draws from them.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from metrics.values import dataclass

Decision = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]
Policy = Callable[[float, Rows, int | str], Decision]

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

KEPT = 256  # chances that are remembered

_NONE = (0.0, 0.0, 0.0, 0.0)
_NEVER = float("-inf")
_UNKNOWN = float("inf")


def order(level: float, candidates: Rows, seed: int | str) -> Decision:
    """The order by the record."""
    return _drawn(_by_record(level, _known(candidates)), seed)


def counts(level: float, candidates: Rows, seed: int | str) -> Decision:
    """The order by the plain rule of most useful verdicts."""
    return _drawn(_by_counts(_known(candidates)), seed)


# The setting `route_policy` -> (the name in the record, its options, the function).
POLICIES: Mapping[str, tuple[str, Mapping[str, Any], Policy]] = {
    "record": ("record/1", OPTIONS, order),
    "counts": ("counts/1", COUNTS_OPTIONS, counts),
}


def merit(level: float, record: Sequence[float]) -> dict[str, float]:
    """What is expected of a member: {"value", "rate", "doubt", "n"}; `n` is of how many verdicts, faded."""
    own, own_n, everywhere, everywhere_n = record
    other, n0 = OPTIONS["other"], OPTIONS["n0"]
    believed = n0 + own_n + other * (everywhere_n - own_n)
    quality = (n0 + own + other * (everywhere - own)) / believed
    rate = min(OPTIONS["most"], quality * level)
    doubt = math.sqrt(rate * (1 - rate) / (believed + 1))
    told = {"value": rate + OPTIONS["z"] * doubt, "rate": rate, "doubt": doubt, "n": believed - n0}
    return {name: round(figure, DIGITS) for name, figure in told.items()}


# --- what is known


class _Known(NamedTuple):
    """What is known of a candidate. `back` is when it may be first again: at once, at a time, or nobody
    knows; `waited` how many of the others answered since it did, among those that may be first."""

    alias: str
    record: tuple[float, ...]
    useful: int
    findings: int
    paid: bool
    back: float
    waited: int


def _known(candidates: Rows) -> tuple[tuple[Any, ...], ...]:
    """Of each candidate what a _Known has, in that order: making those can wait until something is new."""
    known, lasts = [], []
    for one in candidates:
        last = one.get("last")
        lasts.append(_NEVER if last is None or one.get("rests") else last)
    latest = sorted(lasts, reverse=True)  # those that rest stand behind all others, who do not count them
    for one, last in zip(candidates, lasts, strict=True):
        rests = one.get("rests")
        known.append(
            (
                one["alias"],
                tuple(one.get("record", _NONE)),
                one.get("useful", 0),
                one.get("findings", 0),
                one.get("paid", False),
                _back(rests["until"]) if rests else _NEVER,
                latest.index(last),
            )
        )
    return tuple(known)


def _back(until: float | None) -> float:
    return _UNKNOWN if until is None else until


# --- what follows from it


@dataclass(frozen=True, slots=True)
class _Chances:
    """`turns` shares out the turns among those that are ready, and a conversation is one with `chance`;
    `prob` is each one's of being the first; `told` is what else to say of each, and `decisions` are those
    that were asked for, by who is first."""

    ranks: list[str]
    rests: frozenset[str]
    turns: Mapping[str, float]
    chance: float
    prob: Mapping[str, float]
    told: Mapping[str, Mapping[str, float]]
    decisions: dict[str, Decision]


@lru_cache(maxsize=KEPT)
def _by_record(level: float, rows: tuple[tuple[Any, ...], ...]) -> _Chances:
    known = list(map(_Known._make, rows))
    merits = {one.alias: merit(level, one.record) for one in known}
    values = {alias: found["value"] for alias, found in merits.items()}
    weights = {one.alias: (1.0 + one.waited) ** OPTIONS["turn_pow"] for one in known if one.back == _NEVER}
    total = sum(weights.values())
    turns = {alias: weight / total for alias, weight in weights.items()}
    return _chances(known, values, turns, OPTIONS["turn"], merits)


@lru_cache(maxsize=KEPT)
def _by_counts(rows: tuple[tuple[Any, ...], ...]) -> _Chances:
    known = list(map(_Known._make, rows))
    values = {one.alias: float(one.useful) for one in known}
    ready = [one for one in known if one.back == _NEVER]
    turns = {max(ready, key=lambda one: one.waited).alias: 1.0} if ready else {}
    told = {alias: {"useful": useful} for alias, useful in values.items()}
    return _chances(known, values, turns, COUNTS_OPTIONS["turn"], told)


def _chances(
    known: Sequence[_Known],
    values: Mapping[str, float],
    turns: Mapping[str, float],
    chance: float,
    told: Mapping[str, Mapping[str, float]],
) -> _Chances:
    """Those that rest stand last, the one that is soonest back before the others. Nobody ready: no turn."""
    best = sorted(known, key=lambda one: (one.back, -values[one.alias], -one.findings, not one.paid))
    ranks, chance = [one.alias for one in best], chance if turns else 0.0
    rests = frozenset(one.alias for one in known if one.back != _NEVER)
    prob = {alias: chance * turns.get(alias, 0.0) + (1 - chance) * (alias == ranks[0]) for alias in ranks}
    return _Chances(ranks, rests, turns, chance, prob, told, {})


def _drawn(chances: _Chances, seed: int | str) -> Decision:
    """Draw who is first."""
    if not chances.ranks:
        return {"order": [], "ranked": [], "prob": {}, "why": {}}
    first, turns = chances.ranks[0], chances.turns
    if len(turns) > 1 or first not in turns:  # else whatever is drawn is the same, and drawing takes long
        draw = random.Random(seed)
        if draw.random() < chances.chance:
            first = draw.choices(list(turns), list(turns.values()))[0]
    found = chances.decisions.get(first)
    if found is None:
        found = chances.decisions[first] = _decision(chances, first)
    return found


def _decision(chances: _Chances, first: str) -> Decision:
    ranks, prob = chances.ranks, chances.prob
    said = {alias: "rests" if alias in chances.rests else "next" for alias in ranks}
    said[first] = "turn" if first != ranks[0] else "leader" if said[first] == "next" else "rests"
    asked = [first, *(alias for alias in ranks if alias != first)]
    why = {
        alias: {"how": said[alias], "p": round(prob[alias], DIGITS), **chances.told[alias]} for alias in asked
    }
    return {"order": asked, "ranked": ranks, "prob": prob, "why": why}
