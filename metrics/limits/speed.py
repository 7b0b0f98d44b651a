"""How quick models answer, from the latest rows of the ledger: the middle and the 95th percentile,
never means. A call that ran into its time-out would have taken that long at least, so a percentile that falls
among such calls is "at least".
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any

from metrics.store.stamps import epoch, stamp

ROWS = 2000  # of the ledger that are looked at: reading them takes a few hundredths of a second
PIECES = 12  # of time, over which the course of one model is told
LEAST = 3  # calls in a piece before it says anything

Row = Mapping[str, Any]
Time = tuple[float, bool]  # seconds, and whether it was cut off there


def of(rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """By model_id: {"calls", "first": {"p50", "p95"}, "whole": {"p50", "p95", "p50_at_least",
    "p95_at_least"}}, in seconds; `first` is to the first token, its values null where no call has told."""
    models: dict[str, list[Row]] = {}
    for row in rows:
        if row.get("model_id") and _time(row) is not None:
            models.setdefault(row["model_id"], []).append(row)
    return {model_id: _told(mine) for model_id, mine in models.items()}


def course(rows: Sequence[Row]) -> dict[str, Any]:
    """{"at": [stamps], "step_s", "calls", "p50", "p95": [null where there were fewer than LEAST]} of one
    model's rows, in PIECES equal pieces from the first to the last."""
    timed = [(epoch(row["at"]), time) for row in rows if (time := _time(row)) is not None]
    if len(timed) < LEAST:
        return {"at": [], "step_s": 0, "calls": [], "p50": [], "p95": []}
    begin = min(at for at, _ in timed)
    step = max(1, ceil((max(at for at, _ in timed) - begin + 1) / PIECES))
    pieces: list[list[Time]] = [[] for _ in range(PIECES)]
    for at, time in timed:
        pieces[int((at - begin) // step)].append(time)
    return {
        "at": [stamp(begin + number * step) for number in range(PIECES)],
        "step_s": step,
        "calls": [len(piece) for piece in pieces],
        **{
            name: [
                round(_percentile(piece, share)[0], 3) if len(piece) >= LEAST else None for piece in pieces
            ]
            for name, share in (("p50", 0.5), ("p95", 0.95))
        },
    }


def _told(rows: Sequence[Row]) -> dict[str, Any]:
    whole = [time for row in rows if (time := _time(row)) is not None]
    first = [(float(row["first_token_s"]), False) for row in rows if row.get("first_token_s") is not None]
    middle, far = _percentile(whole, 0.5), _percentile(whole, 0.95)
    return {
        "calls": len(whole),
        "first": {
            "p50": round(_percentile(first, 0.5)[0], 3) if first else None,
            "p95": round(_percentile(first, 0.95)[0], 3) if first else None,
        },
        "whole": {
            "p50": round(middle[0], 4),
            "p95": round(far[0], 4),
            "p50_at_least": middle[1],
            "p95_at_least": far[1],
        },
    }


def _time(row: Row) -> Time | None:
    """How long a call took; None for one that failed in another way than by taking too long."""
    seconds = row.get("seconds")
    if not isinstance(seconds, int | float) or row.get("status") not in ("ok", "cut", "timeout"):
        return None
    return float(seconds), row["status"] == "timeout"


def _percentile(times: Sequence[Time], share: float) -> Time:
    """The smallest time that so many of them do not exceed (nearest rank)."""
    ordered = sorted(times)
    seconds, _ = ordered[max(0, ceil(share * len(ordered)) - 1)]
    cut = any(was_cut and at <= seconds for at, was_cut in ordered)
    return seconds, cut
