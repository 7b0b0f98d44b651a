"""How the models of a collection stand: what their verdicts come to beside those of an average one.

Read from the evidence cells among the verdicts' counters; no log is read. What is worked out is kept until
the next verdict or day.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from metrics.evidence import cells, verdicts
from metrics.evidence.cells import PLACES, Cell
from metrics.values import dataclass

DIGITS = 6  # of the sums as they are handed out and recorded, so that a decision can be made again exactly

_ROUTED, _OF_ROUTED = PLACES["route_useful"], PLACES["n_route"]
_EXPLORED, _OF_EXPLORED = PLACES["useful"], PLACES["n_useful"]
_SEATED, _OF_SEATED = PLACES["seated_useful"], PLACES["n_seated"]


@dataclass(frozen=True, slots=True)
class Record:
    """A model's verdicts, faded: `own` on this kind of task, `all` on every kind. `own_n` and `all_n` are how
    many, `own` and `all` how many of them were useful, in units of what an average model has useful of one
    verdict; so `own / own_n` is 1 for an average model."""

    own: float = 0.0
    own_n: float = 0.0
    all: float = 0.0
    all_n: float = 0.0


@dataclass(frozen=True, slots=True)
class Standing:
    """`level` is the share of verdicts on this kind of task that say useful, each model counting at most
    once; 0.5 when there is none. `revision` is that of the record which it was made from."""

    level: float
    records: Mapping[str, Record]  # by model_id; who is missing has no verdicts
    revision: int = 0


def of(collection: str, shape: str, day: int, panel: float) -> Standing:
    """The standing of a collection's models on that kind of task. `day` is a date's ordinal; `panel` is what
    a verdict on an answer in a panel counts, one on a routed answer being 1."""
    global _seen
    asked, counters, revision = (collection, shape, day, panel), verdicts.LOG.state, verdicts.revision()
    then, kept = _seen
    if then[0] is not counters or then[1] != revision:
        kept = {}
    found = kept.get(asked)
    if found is None:
        made = verdicts.evidence(collection, lambda shapes: relative(shapes, shape, day, panel))
        found = replace(made, revision=revision)
        kept = {**kept, asked: found} if len(kept) < KEPT else {asked: found}
        _seen = ((counters, revision), kept)
    return found


KEPT = 64  # standings between two verdicts
# What the standings rest on, the counters and their revision; and the standings by what was asked.
_seen: tuple[tuple[Any, int], dict[tuple[str, str, int, float], Standing]] = ((None, 0), {})


def relative(shapes: Mapping[str, Mapping[str, Cell]], shape: str, day: int, panel: float) -> Standing:
    """The standing that cells {shape: {model_id: cell}} amount to (judgement.md, section 2)."""
    fade = cells.fade(day)
    sums: dict[str, list[float]] = {}
    level = 0.5
    for kind, models in shapes.items():
        told = {model: _routed(cell, panel, fade) for model, cell in models.items()}
        usual = _level(told.values())
        if kind == shape:
            level = usual
        for model, (useful, judged) in told.items():
            own = sums.setdefault(model, [0.0] * 4)
            own[2] += useful / usual
            own[3] += judged
            if kind == shape:
                own[0], own[1] = useful / usual, judged
    records = {
        model: Record(*(round(one, DIGITS) for one in own)) for model, own in sums.items() if own[3] > 0
    }
    return Standing(round(level, DIGITS), records)


def _routed(cell: Cell, panel: float, fade: float) -> tuple[float, float]:
    """(useful, judged): verdicts of a cell as evidence on who should take a turn."""
    useful = cell[_ROUTED] + panel * (cell[_EXPLORED] + cell[_SEATED])
    judged = cell[_OF_ROUTED] + panel * (cell[_OF_EXPLORED] + cell[_OF_SEATED])
    return useful * fade, judged * fade


def _level(told: Iterable[tuple[float, float]]) -> float:
    """The pooled rate of (useful, judged) pairs: a model counts more the more it was judged, at most 1."""
    rate, weight = 0.5, 1.0
    for useful, judged in told:
        if judged > 0:
            rate += useful / (judged + 2)
            weight += judged / (judged + 2)
    return rate / weight
