"""What a panel will probably take, before anyone is asked: how long, at what cost, and of which limits.

All of it is a guess from the latest answers of each model, and says what it does not know.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from metrics.limits import cost, ledger, tokens, told
from metrics.limits.speeds import Typical
from metrics.records import Panel, Seat, Target, Usage

SCARCE = 0.2  # a limit of which less than this share is left is worth a word


def seat(place: Seat, size: int, known: Iterable[told.Told]) -> dict[str, Any]:
    """{typical_s, typical_n, cost, limit} of one seat whose prompt has about `size` tokens. `cost` is {low,
    high} in USD, of what is usual; null where the price or the usual length is not known. `limit` is the one
    of which least is left, {connection, window, metric, remaining, limit, reset_at, after}: `after` is what
    is left once this call is over. Null where none is near."""
    target = place.target
    usual = ledger.typical(target.model_id)
    return {
        "typical_s": round(usual.seconds, 2) if usual else None,
        "typical_n": usual.n if usual else 0,
        "cost": _cost(target, size, usual),
        "limit": None if target.builtin else _scarcest(target, size, known),
    }


def whole(panel: Panel, seats: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """{tokens, cost: {low, high, unknown}, wait_s, wait_by} of the panel whose seats these are: `unknown` of
    them have no known cost and are not in the sum; the wait is that of the slowest whose time is known."""
    rows = list(seats)
    known = [row["cost"] for row in rows if row["cost"]]
    times = [(row["typical_s"], row["alias"]) for row in rows if row["typical_s"] is not None]
    wait, by = max(times, default=(None, None))
    return {
        "tokens": tokens.estimate(panel.request.messages),
        "cost": {
            "low": sum(each["low"] for each in known) if known else None,
            "high": sum(each["high"] for each in known) if known else None,
            "unknown": len(rows) - len(known),
        },
        "wait_s": wait,
        "wait_by": by,
    }


def _cost(target: Target, size: int, usual: Typical | None) -> dict[str, float] | None:
    if target.builtin:
        return {"low": 0.0, "high": 0.0}
    if target.price is None:
        return None
    bounds = usual.out if usual and usual.out else None
    prices = [cost.price(Usage(uncached_in=size, out=out), target.price)[0] for out in bounds or (0, 0)]
    low, high = (cost.usd(each) for each in prices)
    if low is None or high is None:
        return None
    # Without a usual length only a price of nothing is known: reading alone is not what it will cost.
    return {"low": low, "high": high} if bounds or _free(target) else None


def _free(target: Target) -> bool:
    units, _ = cost.price(Usage(uncached_in=1_000_000, out=1_000_000), target.price)
    return units == 0


# What one call takes of a limit, by its metric, given the size of its prompt.
TAKES: Mapping[str, Callable[[int], int]] = {
    "requests": lambda size: 1,
    "tokens": lambda size: size,
    "input_tokens": lambda size: size,
}


def _scarcest(target: Target, size: int, known: Iterable[told.Told]) -> dict[str, Any] | None:
    """The limit of the model or its connection of which the smallest share would be left."""
    found: list[tuple[float, dict[str, Any]]] = []
    for row in known:
        mine = row["connection"] == target.connection and row["model_id"] in (None, target.model_id)
        takes, left, most = TAKES.get(row["metric"]), row["remaining"], row["limit"]
        if not mine or takes is None or left is None:
            continue
        after = left - takes(size)
        if after <= 0 or (most and after < SCARCE * most):
            fields = ("connection", "metric", "window", "remaining", "limit", "reset_at")
            shown = {name: row[name] for name in fields}
            found.append((after / most if most else float("-inf"), {**shown, "after": after}))
    return min(found, key=lambda each: each[0])[1] if found else None
