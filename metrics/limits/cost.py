"""What an answer costs: exact integers of 1e-12 USD, so that millions of them add up without an error.

The user's own price comes first, then the provider's own figure for the answer, then a price from the
catalog. Every kind of token that was used needs a price; what has none makes the whole cost unknown, which is
never free and never a part.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache
from typing import Any

from metrics.records import Price, Usage

UNITS = 10**12  # of 1e-12 USD in one USD
PER_TOKEN = 10**6  # a price is USD per million tokens, so one token costs this many units for each USD of it

Rates = dict[str, float]  # USD per million tokens of input, output, cache_read, cache_write

Part = tuple[int | None, float | None]  # tokens, and their rate
Cost = tuple[int | None, str]
_UNKNOWN: Cost = (None, "unknown")


def price(usage: Usage, price: Price | None) -> Cost:
    """The cost of `usage` in 1e-12 USD and how it is known: computed | free | flat | provider, or (None,
    "unknown")."""
    figured = _figured(usage, price) if price else _UNKNOWN
    users = price is not None and price.source == "user" and figured[0] is not None
    if usage.cost is not None and not users:
        return _whole(Decimal(str(usage.cost)) * UNITS), "provider"
    return figured


def expected(price: Price | None, into: int, out: int) -> int | None:
    """What a call of so many input and output tokens may cost; None: not known."""
    if price is None:
        return None
    if price.plan:
        return 0
    each = _each(price, into)
    total = _total(((into, each[0]), (out, each[1])))
    return None if total is None else _whole(total)


def rates(price: Price, prompt: int) -> Rates:
    """What applies to a request with `prompt` input tokens, as far as it is known: the highest tier that it
    is above, for all of it; what the tier leaves out is as without it."""
    return {name: rate for name, rate in zip(RATED, _each(price, prompt), strict=True) if rate is not None}


RATED = ("input", "output", "cache_read", "cache_write")


def _each(price: Price, prompt: int) -> Sequence[float | None]:
    """The rates in the order of RATED."""
    each = price.input, price.output, price.cache_read, price.cache_write
    above = [tier for tier in price.tiers if prompt > tier.above] if price.tiers else ()
    if not above:
        return each
    tier = max(above, key=lambda tier: tier.above)
    tiered = tier.input, tier.output, tier.cache_read, tier.cache_write
    return [plain if rate is None else rate for rate, plain in zip(tiered, each, strict=True)]


def basis(usage: Usage, price: Price | None, status: str, version: str | None) -> dict[str, Any]:
    """What a ledger row says a cost was made from: {"price_version", "price_source", "price"}: the rates
    that applied to this call, USD per million tokens, or the plan. All null where none was used."""
    if price is None or status in ("provider", "none"):
        source = "provider" if status == "provider" else None
        return {"price_version": None, "price_source": source, "price": None}
    said = {"plan": price.plan} if price.plan else rates(price, usage.prompt or 0)
    return {"price_version": version, "price_source": price.source, "price": said}


def _figured(usage: Usage, price: Price) -> Cost:
    """What the price makes of the tokens."""
    if price.plan:
        return 0, price.plan
    if usage.uncached_in is None or usage.out is None:
        return _UNKNOWN
    into, out, read, written = _each(price, usage.prompt or 0 if price.tiers else 0)
    parts: list[Part] = [(usage.uncached_in, into), (usage.out, out)]
    if usage.cache_read or usage.cache_write:
        parts += [(usage.cache_read, read), (usage.cache_write, written)]
    total = _total(parts)
    if total is None:
        return _UNKNOWN
    return _whole(total), "computed" if total or not _free(price) else "free"


def _total(parts: Iterable[Part]) -> int | Decimal | None:
    """The units that these come to; None where one that was used has no rate."""
    total: int | Decimal = 0
    for tokens, rate in parts:
        if tokens:
            if rate is None:
                return None
            total += tokens * _units(rate)
    return total


@lru_cache(maxsize=1024)
def _units(rate: float) -> int | Decimal:
    """The units that a token costs: nearly always a whole number, which adds up faster."""
    exact = Decimal(str(rate)) * PER_TOKEN
    return int(exact) if exact == int(exact) else exact


def _free(price: Price) -> bool:
    """Whether the price says in so many words that the model costs nothing."""
    return price.input == 0 and price.output == 0


def usd(cost: int | None) -> float | None:
    """A cost in USD, for people and JSON; None when it is unknown."""
    return None if cost is None else cost / UNITS


def units(usd: float | None) -> int | None:
    """The exact cost that `usd` was made from."""
    return None if usd is None else _exact(usd)


def of_row(row: Mapping[str, Any]) -> int:
    """The exact cost that a ledger row tells; 0 where it tells none. ValueError when that is no number."""
    usd = row.get("cost_usd")
    return _exact(float(usd)) if usd else 0


def _exact(usd: float) -> int:
    # Below 2**51 units, 2,251 USD, a float is off by less than half a unit, and so is this product.
    return round(usd * UNITS) if usd < 2000.0 else _whole(Decimal(str(usd)) * UNITS)


def _whole(amount: int | Decimal) -> int:
    return amount if isinstance(amount, int) else int(amount.to_integral_value(ROUND_HALF_EVEN))
