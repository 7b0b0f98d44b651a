"""`--price in=3,out=15,in>200k=6`: a price as a person writes it, and as the API takes it."""

import argparse
import math
from typing import Any

from metrics.commands.command import count, did_you_mean

# name in --price -> name in the API; all in USD per million tokens
RATES = {"in": "input", "out": "output", "cache_read": "cache_read", "cache_write": "cache_write"}
PLANS = ("free", "flat")


def prices(text: str) -> dict[str, Any]:
    """An argparse type: `in=3,out=15,cache_read=0.3` in USD per million tokens, `in>200k=6` for requests with
    more than so many input tokens, or `plan=flat` for calls that a subscription covers. An error names the
    part that is wrong.
    """
    price: dict[str, Any] = {}
    tiers: dict[int, dict[str, float]] = {}
    for part in text.split(","):
        name, equals, said = (piece.strip() for piece in part.partition("="))
        if name == "plan":
            price["plan"] = plan(said)
            continue
        kind, above, size = name.partition(">")
        if kind not in RATES:
            hint = did_you_mean(kind, (*RATES, "plan")).strip()
            raise argparse.ArgumentTypeError(
                f"{name!r} is no price; there are {', '.join(RATES)}, plan. {hint}".strip()
            )
        rates = tiers.setdefault(count(size), {}) if above else price
        if RATES[kind] in rates:
            raise argparse.ArgumentTypeError(f"{name} is given twice")
        rates[RATES[kind]] = dollars(name, said if equals else "")
    if tiers:
        price["tiers"] = [{"above": size, **rates} for size, rates in sorted(tiers.items())]
    return price


def plan(text: str) -> str:
    if text not in PLANS:
        raise argparse.ArgumentTypeError(f"plan={text} is none; there are {' and '.join(PLANS)}")
    return text


def dollars(name: str, text: str) -> float:
    try:
        usd = float(text)
    except ValueError:
        usd = math.nan
    if not 0 <= usd < math.inf:
        raise argparse.ArgumentTypeError(
            f"{name}={text} is not an amount of USD per million tokens, such as {name}=0.25"
        )
    return usd
