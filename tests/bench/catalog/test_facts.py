import unittest
from typing import Any

from metrics.bench.catalog import facts
from metrics.records import Price, Tier


class Facts(unittest.TestCase):
    def test_figures_that_can_be_trusted(self) -> None:
        cases: tuple[tuple[Any, Any, Any], ...] = (
            (facts.whole, 5, 5),
            (facts.whole, 5.0, 5),
            (facts.whole, 0, None),
            (facts.whole, True, None),
            (facts.whole, "5", None),
            (facts.whole, float("nan"), None),
            (facts.whole, 1e12, None),
            (facts.truth, False, False),
            (facts.truth, 0, None),
            (facts.text, "x" * 300, "x" * 200),
            (facts.text, "", None),
            (facts.date, "2026-01", "2026-01"),
            (facts.date, "soon", None),
            (facts.words, ["text"], ["text"]),
            (facts.words, [], None),
            (facts.words, ["text", 5], None),
            (facts.usd, "0.0000005", 5e-7),
            (facts.usd, 0, 0.0),
            (facts.usd, "-1", None),
            (facts.usd, "much", None),
            (facts.usd, "NaN", None),
            (facts.usd, True, None),
            (facts.usd, 1e9, None),
        )
        for read, value, wanted in cases:
            with self.subTest(read=read.__name__, value=value):
                self.assertEqual(read(value), wanted)

    def test_a_price(self) -> None:
        kept = {"input": 3, "cache_read": 0.3, "tiers": [{"above": 200_000, "input": 6}]}
        price = Price(3, None, 0.3, tiers=(Tier(200_000, 6),), source="listing")
        self.assertEqual(facts.price(kept, "listing"), price)
        for nothing in (None, {}, [], {"request": 0.1}):
            with self.subTest(nothing):
                self.assertIsNone(facts.price(nothing, "listing"))

    def test_what_is_of_the_model_is_among_the_facts(self) -> None:
        self.assertLessEqual(set(facts.OF_THE_MODEL), set(facts.FACTS))
        self.assertNotIn("price", facts.OF_THE_MODEL)
