"""What an answer costs: exact integers of 1e-12 USD, so that millions of them add up without an error.

A provider's own figure wins. Else every kind of token that was used needs a price; what has none is unknown,
which is never free.
"""

from decimal import ROUND_HALF_EVEN, Decimal

from metrics.records import Price, Usage

UNITS = 10**12  # of 1e-12 USD in one USD
PER_TOKEN = 10**6  # a price is USD per million tokens, so one token costs this many units for each USD of it


def price(usage: Usage, price: Price | None) -> tuple[int | None, str]:
    """The cost of `usage` in 1e-12 USD and where it is from: computed | free | provider, or (None,
    "unknown")."""
    if usage.cost is not None:
        return _whole(Decimal(str(usage.cost)) * UNITS), "provider"
    if price is None or usage.uncached_in is None or usage.out is None:
        return None, "unknown"
    total = Decimal(0)
    for tokens, rate in (
        (usage.uncached_in, price.input),
        (usage.cache_read, price.cache_read),
        (usage.cache_write, price.cache_write),
        (usage.out, price.output),
    ):
        if tokens:
            if rate is None:
                return None, "unknown"
            total += tokens * Decimal(str(rate)) * PER_TOKEN
    return _whole(total), "computed" if total or not _free(price) else "free"


def _free(price: Price) -> bool:
    """Whether the price says in so many words that the model costs nothing."""
    return price.input == 0 and price.output == 0


def usd(cost: int | None) -> float | None:
    """A cost in USD, for people and JSON; None when it is unknown."""
    return None if cost is None else cost / UNITS


def units(usd: float | None) -> int | None:
    """The exact cost that `usd` was made from."""
    return None if usd is None else _whole(Decimal(str(usd)) * UNITS)


def _whole(amount: Decimal) -> int:
    return int(amount.to_integral_value(ROUND_HALF_EVEN))
