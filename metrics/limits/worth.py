"""What a useful answer costs, and what a real finding does: for each model, and over all that were judged.

What was spent is known exactly; how much of it was useful is known of the answers that somebody judged, and
taken to hold for the others. So the cost of a useful answer is what a call cost, failed ones and all, over
the share that was judged useful, and its range is the range of that share. A finding likewise, by how many
were found in each answer that was looked at. Whoever was never judged is unknown, and so is what has no
price.
"""

from collections.abc import Iterable, Mapping
from math import exp, sqrt
from typing import Any

from metrics.evidence import intervals
from metrics.evidence.intervals import Z95
from metrics.records import Price

Told = dict[str, Any]
NOTHING = (0, 0, 0)


def of_model(used: Mapping[str, Any], judged: Iterable[int], found: Iterable[int]) -> Told:
    """{"useful", "judged", "range", "looked_at", "real", "false", "answers", "each_useful", "each_real"}.

    `used` is a row of usage.told, `judged` and `found` are what verdicts.days and claims.days say of the
    model. `each_…` is {"usd", "low", "high"}, a value null where it cannot be told, or all of it null."""
    useful, not_useful, looked_at = judged
    real, false = found
    answers = max(0, used["calls"] - used["errors"] - used["interrupted"])
    number = useful + not_useful
    looked_at = max(looked_at, number)
    spent = _each_answer(used, answers)
    share = intervals.wilson(useful, number) if number else None
    rate = [end / looked_at for end in intervals.poisson(real)] if looked_at else None
    return {
        "useful": useful,
        "judged": number,
        "range": share and [round(end, 3) for end in share],
        "looked_at": looked_at,
        "real": real,
        "false": false,
        "answers": answers,
        "each_useful": _over(spent, useful / number, share) if number and share else None,
        "each_real": _over(spent, real / looked_at, rate) if looked_at and rate else None,
    }


def _each_answer(used: Mapping[str, Any], answers: int) -> float | None:
    """What an answer cost, failed calls included; None where nobody knows. Answers of unknown price are left
    out of both sides."""
    priced = answers - used["unknown_calls"]
    return used["known_usd"] / priced if used["known_usd"] is not None and priced > 0 else None


def _over(spent: float | None, rate: float, ends: Iterable[float]) -> Told | None:
    if spent is None:
        return None
    low, high = ends
    return {
        "usd": spent / rate if rate else (0.0 if not spent else None),
        "low": spent / high if high else None,
        "high": spent / low if low else (0.0 if not spent else None),
    }


def over_all(models: Iterable[tuple[Mapping[str, Any], Told]]) -> Told:
    """The same over all models that were judged and have a price: {"each_useful", "each_real", "models",
    "judged", "useful", "real", "looked_at"}. Each model's share is taken for its own answers only."""
    known = [(used, told) for used, told in models if told["looked_at"]]
    priced = [(_spent(used), told) for used, told in known if _each_answer(used, told["answers"]) is not None]
    useful = [(told["answers"], told["useful"], told["judged"]) for _, told in priced if told["judged"]]
    spent_useful = sum(spent for spent, told in priced if told["judged"])
    real = [(told["answers"], told["real"], told["looked_at"]) for _, told in priced]
    return {
        "models": len(known),
        "each_useful": _pooled(spent_useful, useful, bounded=True),
        "each_real": _pooled(sum(spent for spent, _ in priced), real, bounded=False),
        **{name: sum(told[name] for _, told in known) for name in ("useful", "judged", "real", "looked_at")},
    }


def _spent(used: Mapping[str, Any]) -> float:
    return float(used["known_usd"] or 0.0)


def _pooled(spent: float, parts: list[tuple[int, int, int]], bounded: bool) -> Told | None:
    """Spent over the sum of (answers × hits / tries), with a range from the spread of each of these shares:
    of a share of at most 1 (`bounded`), or of a count."""
    hits = sum(each[1] for each in parts)
    if not parts or (not hits and spent):
        return None
    if not spent:
        return {"usd": 0.0, "low": 0.0, "high": 0.0}
    total = sum(answers * found / tries for answers, found, tries in parts)
    spread = sum(answers**2 * _variance(found, tries, bounded) for answers, found, tries in parts)
    factor = exp(Z95 * sqrt(spread) / total)
    each = spent / total
    return {"usd": each, "low": each / factor, "high": each * factor}


def _variance(found: int, tries: int, bounded: bool) -> float:
    """Of an estimated share, or of a mean count; a little is added to each side so that none is certain."""
    rate = (found + 0.5) / (tries + 1)
    return rate * (1 - rate) / tries if bounded else rate / tries


def saved(rows: Iterable[tuple[Mapping[str, Any], Price | None]]) -> float | None:
    """USD that reading from caches saved at today's prices, of the models whose prices tell; None where none
    does. A guess: prices had tiers and may have changed."""
    found = [
        row["tokens"]["cache_read"] * (price.input - price.cache_read) / 1e6
        for row, price in rows
        if price is not None and price.input is not None and price.cache_read is not None
    ]
    return sum(found) if found else None


def cached(tokens: Mapping[str, int]) -> float | None:
    """The share of all input that came from a cache; None where there was no input."""
    whole = tokens["uncached_in"] + tokens["cache_read"] + tokens["cache_write"]
    return tokens["cache_read"] / whole if whole else None
