import unittest

from metrics.limits import cost
from metrics.records import Price, Tier, Usage

PRICE = Price(input=2.5, output=10, cache_read=0.25, cache_write=3.125)
LISTED = Price(input=2.5, output=10, source="models.dev")
TIERS = (Tier(100, input=2, output=20), Tier(1000, input=3))
TIERED = Price(1, 10, 0.1, tiers=TIERS)
FREE = Price(input=0, output=0)

# name, usage, price, cost in 1e-12 USD, status
CASES = [
    ("input and output", Usage(1000, out=100), PRICE, 3_500_000_000, "computed"),
    ("every kind of token", Usage(10, 20, 30, 40, 5), PRICE, 523_750_000, "computed"),
    ("reasoning is part of the output", Usage(0, out=10, reasoning=10), PRICE, 100_000_000, "computed"),
    ("no token at all", Usage(0, out=0), PRICE, 0, "computed"),
    ("a price that floats get wrong", Usage(3, out=0), Price(0.1, 0.1), 300_000, "computed"),
    ("a part of a unit is rounded to even", Usage(1, out=0), Price(0.0000005, 1.0), 0, "computed"),
    ("a cache read without a price", Usage(10, 5, None, 10), Price(1, 1), None, "unknown"),
    ("a cache write without a price", Usage(10, 0, 5, 10), Price(1, 1, 1), None, "unknown"),
    ("no tokens where no price is", Usage(10, 0, None, 10), Price(1, 1), 20_000_000, "computed"),
    ("output without a price", Usage(10, out=1), Price(1), None, "unknown"),
    ("only the output is free", Usage(10, out=1), Price(None, 0), None, "unknown"),
    ("no price", Usage(10, out=1), None, None, "unknown"),
    ("an empty price", Usage(10, out=1), Price(), None, "unknown"),
    ("nothing known of the tokens", Usage(), PRICE, None, "unknown"),
    ("nothing known of the tokens of a free model", Usage(), FREE, None, "unknown"),
    ("only the output known", Usage(out=5), PRICE, None, "unknown"),
    ("free in so many words", Usage(10, out=1), FREE, 0, "free"),
    ("free, but for its cache", Usage(10, 10, out=1), Price(0, 0, 1), 10_000_000, "computed"),
    ("free, with a cache nobody priced", Usage(10, 10, out=1), FREE, None, "unknown"),
    ("at a tier's border", Usage(100, out=1), TIERED, 110_000_000, "computed"),
    ("above it, for the whole request", Usage(101, out=1), TIERED, 222_000_000, "computed"),
    ("cached tokens count towards a tier", Usage(1, 100, out=1), TIERED, 32_000_000, "computed"),
    ("the highest tier inherits from no other", Usage(1001, out=1), TIERED, 3_013_000_000, "computed"),
    ("what no tier prices", Usage(1, 0, 1001, 1), TIERED, None, "unknown"),
    ("tiers in any order", Usage(1001, out=1), Price(1, 10, tiers=TIERS[::-1]), 3_013_000_000, "computed"),
    ("a flat-rate plan", Usage(10, 5, 5, 10), Price(plan="flat"), 0, "flat"),
    ("a free plan, with prices", Usage(10, out=1), Price(1, 1, plan="free"), 0, "free"),
    ("a flat-rate plan whose usage is not known", Usage(), Price(plan="flat"), 0, "flat"),
    ("the provider's own figure", Usage(10, out=1, cost=0.00123), LISTED, 1_230_000_000, "provider"),
    ("the user's price before it", Usage(10, out=1, cost=0.00123), PRICE, 35_000_000, "computed"),
    (
        "the user's price of too little",
        Usage(10, 5, out=1, cost=0.00123),
        Price(1, 1),
        1_230_000_000,
        "provider",
    ),
    ("a free model's own figure", Usage(10, out=1, cost=0.5), FREE, 0, "free"),
    ("the provider's own figure, without a price", Usage(cost=1e-9), None, 1000, "provider"),
    ("the provider says it was nothing", Usage(10, out=1, cost=0), LISTED, 0, "provider"),
]


class Cost(unittest.TestCase):
    def test_price(self) -> None:
        for name, usage, price, units, status in CASES:
            with self.subTest(name):
                self.assertEqual(cost.price(usage, price), (units, status))

    def test_what_is_expected_is_what_it_comes_to(self):
        for name, usage, price, expected, _ in CASES:
            plain = not (usage.cache_read or usage.cache_write) and usage.cost is None
            if plain and usage.uncached_in is not None and usage.out is not None:
                with self.subTest(name):
                    self.assertEqual(cost.expected(price, usage.uncached_in, usage.out), expected)

    def test_what_a_row_keeps(self) -> None:
        usage = Usage(101, out=1)
        tiered = {"input": 2, "output": 20, "cache_read": 0.1}
        cases: tuple[tuple[Price | None, str, tuple[object, ...]], ...] = (
            (TIERED, "computed", ("v", "user", tiered)),
            (LISTED, "computed", ("v", "models.dev", {"input": 2.5, "output": 10})),
            (LISTED, "unknown", ("v", "models.dev", {"input": 2.5, "output": 10})),
            (LISTED, "provider", (None, "provider", None)),
            (Price(plan="flat"), "flat", ("v", "user", {"plan": "flat"})),
            (LISTED, "none", (None, None, None)),
            (None, "unknown", (None, None, None)),
        )
        for price, status, kept in cases:
            with self.subTest(price=price, status=status):
                names = ("price_version", "price_source", "price")
                self.assertEqual(cost.basis(usage, price, status, "v"), dict(zip(names, kept, strict=True)))

    def test_usd_there_and_back(self) -> None:
        self.assertIsNone(cost.usd(None))
        self.assertIsNone(cost.units(None))
        for units in (0, 1, 123_456_789, 987_654_321_098_765, 3 * 10**12 + 1):
            with self.subTest(units):
                self.assertEqual(cost.units(cost.usd(units)), units)
