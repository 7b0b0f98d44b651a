import argparse
import unittest

from metrics.commands.prices import prices

CASES = (
    ("in=3,out=15", {"input": 3, "output": 15}),
    (" in = 3 , cache_read=0.3", {"input": 3, "cache_read": 0.3}),
    ("plan=flat", {"plan": "flat"}),
    (
        "in=3,out=15,in>200k=6,out>200,000=22.5,in>1m=9".replace("200,000", "200k"),
        {
            "input": 3,
            "output": 15,
            "tiers": [{"above": 200_000, "input": 6, "output": 22.5}, {"above": 1_000_000, "input": 9}],
        },
    ),
)
WRONG = (
    ("input=3", "is no price"),
    ("in=3,in=4", "twice"),
    ("in>1k=3,in>1000=4", "twice"),
    ("in>lots=3", "whole number"),
    ("in>=3", "whole number"),
    ("in", "not an amount"),
    ("in=-1", "not an amount"),
    ("in=inf", "not an amount"),
    ("plan=cheap", "free and flat"),
    ("", "is no price"),
)


class Prices(unittest.TestCase):
    def test_what_is_written(self) -> None:
        for text, price in CASES:
            with self.subTest(text):
                self.assertEqual(prices(text), price)

    def test_what_is_wrong(self) -> None:
        for text, why in WRONG:
            with self.subTest(text), self.assertRaisesRegex(argparse.ArgumentTypeError, why):
                prices(text)
