"""How long a model's answers take and how long they are: of its latest ones, folded from the ledger's rows.

For estimates before anyone is asked, and only there: a median of a few says about how long one waits, not how
one model compares with another.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KEPT = 15  # answers of each model
ANSWERED = ("ok", "cut")
PLAYED = ("panel", "merger", "route")  # what a probe or a shadow takes says nothing of a panel

Speeds = dict[str, list[list[float | None]]]  # by model_id: [seconds, output tokens] of each


@dataclass(frozen=True, slots=True)
class Typical:
    """`seconds` is the median, `out` the tokens between which the middle half of the answers lies (None
    where no answer said how many it has), `n` of how many."""

    seconds: float
    out: tuple[int, int] | None
    n: int


def fold(speeds: Speeds, row: Mapping[str, Any]) -> None:
    """Take the answer of a ledger row; of a call that failed nothing is learned."""
    model_id, seconds = row.get("model_id"), row.get("seconds")
    if model_id and row.get("status") in ANSWERED and row.get("purpose") in PLAYED and seconds is not None:
        kept = speeds.setdefault(str(model_id), [])
        kept.append([round(seconds, 3), row.get("out")])
        if len(kept) > KEPT:
            del kept[0]


def typical(answers: Sequence[Sequence[float | None]]) -> Typical | None:
    """What these come to; None where there are none."""
    seconds = [took for took, _ in answers if took is not None]
    if not seconds:
        return None
    sizes = sorted(int(out) for _, out in answers if out is not None)
    middle = None
    if sizes:
        last = len(sizes) - 1
        middle = (sizes[last // 4], sizes[last - last // 4])
    return Typical(statistics.median(seconds), middle, len(seconds))
