"""What the catalogs tell of a model, in one vocabulary, and their figures as numbers that can be trusted.

FACTS says what each fact is. What a source does not say is left out: it is unknown, and never "no" or free.
"""

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from metrics.records import Price, Tier

Facts = dict[str, Any]

FACTS = {
    "name": "what people call it",
    "context": "tokens it can read and write",
    "max_output": "tokens it can write",
    "tools": "whether it calls tools",
    "vision": "whether it reads images",
    "reasoning": "whether it thinks before it answers",
    "structured_output": "whether it keeps to a JSON schema",
    "input": "what it reads: text, image, audio, video, pdf",
    "output": "what it gives: text, image, audio, video",
    "knowledge": "until when it knows the world: 2026-01, or a day",
    "released": "since when it is offered",
    "open_weights": "whether its weights can be had",
    "family": "the line of models it belongs to",
    "status": "alpha, beta or deprecated",
    "price": "USD per million tokens: input, output, cache_read, cache_write, tiers [{above, …}]",
}
# What is so wherever a model is served; the other facts are of one provider's offer.
OF_THE_MODEL = ("vision", "reasoning", "input", "output", "knowledge", "released", "open_weights", "family")
PRICES = ("input", "output", "cache_read", "cache_write")

_DATE = re.compile(r"\d{4}(-\d\d){0,2}")


def said(**facts: Any) -> Facts:
    """The facts that are something."""
    return {name: value for name, value in facts.items() if value is not None}


def whole(value: Any) -> int | None:
    """A count of tokens; feeds write 0 for one they do not know."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value < 1e12
    return int(value) if good else None


def truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def text(value: Any) -> str | None:
    return value[:200] if isinstance(value, str) and value else None


def date(value: Any) -> str | None:
    return value if isinstance(value, str) and _DATE.fullmatch(value) else None


def words(value: Any) -> list[str] | None:
    good = isinstance(value, list) and value and all(isinstance(word, str) for word in value)
    return [word[:40] for word in value[:20]] if good else None


def usd(value: Any, scale: int = 1) -> float | None:
    """A price times `scale`. Below zero is a router's word for "depends on the model it picks": unknown."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        price = Decimal(str(value)) * scale
    except InvalidOperation:
        return None
    return float(price) if price.is_finite() and 0 <= price < 10**6 else None


def price(value: Any, source: str) -> Price | None:
    """A kept price as the noun; None when there is none that says anything."""
    if not isinstance(value, Mapping) or not value:
        return None
    tiers = tuple(
        Tier(int(tier["above"]), **{name: usd(tier.get(name)) for name in PRICES})
        for tier in value.get("tiers") or ()
    )
    rates = [usd(value.get(name)) for name in PRICES]
    if all(rate is None for rate in rates):
        return None
    return Price(rates[0], rates[1], rates[2], rates[3], tiers=tiers, source=source)
