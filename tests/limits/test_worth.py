import random
import unittest
from typing import Any

from metrics.limits import worth
from metrics.records import Price

TOKENS = {"uncached_in": 300, "cache_read": 600, "cache_write": 100, "out": 50, "reasoning": 0}


def used(calls: int = 100, usd: float | None = 2.0, **more: Any) -> dict[str, Any]:
    counts = {"errors": 0, "interrupted": 0, "unknown_calls": 0, "tokens": TOKENS}
    return {"calls": calls, "known_usd": usd, **counts, **more}


class OfModel(unittest.TestCase):
    def test_each_useful_answer(self) -> None:
        # name, what was used, [useful, not useful, looked at], what each useful one costs
        cases: tuple[tuple[str, dict[str, Any], list[int], float | None], ...] = (
            ("half of them", used(), [10, 10, 20], 0.04),
            ("failed calls are paid for too", used(calls=100, errors=20), [10, 10, 20], 0.05),
            ("free", used(usd=0.0), [10, 10, 20], 0.0),
            ("free and useless", used(usd=0.0), [0, 5, 5], 0.0),
            ("never judged", used(), [0, 0, 0], None),
            ("no price", used(usd=None, unknown_calls=100), [10, 10, 20], None),
            ("half of it has no price", used(usd=1.0, unknown_calls=50), [10, 10, 20], 0.04),
            ("never answered", used(errors=100), [10, 10, 20], None),
        )
        for name, one, judged, wanted in cases:
            with self.subTest(name):
                each = worth.of_model(one, judged, [0, 0])["each_useful"]
                got = each and each["usd"]
                self.assertEqual(got is None, wanted is None)
                if wanted is not None:
                    self.assertAlmostEqual(got, wanted)
                    self.assertLessEqual(each["low"], got)
                    self.assertLessEqual(got, each["high"])

    def test_none_useful_is_more_than_something(self) -> None:
        each = worth.of_model(used(), [0, 5, 5], [0, 0])["each_useful"]
        self.assertEqual((each["usd"], each["high"]), (None, None))
        self.assertGreater(each["low"], 0.02)

    def test_each_real_finding(self) -> None:
        told = worth.of_model(used(), [1, 1, 10], [5, 3])
        self.assertAlmostEqual(told["each_real"]["usd"], 0.04)
        self.assertEqual((told["real"], told["false"], told["looked_at"]), (5, 3, 10))
        self.assertIsNone(worth.of_model(used(), [0, 0, 0], [0, 0])["each_real"])

    def test_the_true_cost_lies_in_the_range_about_as_often_as_it_says(self) -> None:
        draw, inside, times = random.Random(8), 0, 400
        for _ in range(times):
            useful = sum(draw.random() < 0.6 for _ in range(40))
            each = worth.of_model(used(), [useful, 40 - useful, 40], [0, 0])["each_useful"]
            inside += each["low"] <= 0.02 / 0.6 <= each["high"]
        self.assertGreater(inside / times, 0.92)


class OverAll(unittest.TestCase):
    def over(self, *models: tuple[dict[str, Any], list[int], list[int]]) -> dict[str, Any]:
        return worth.over_all([(one, worth.of_model(one, judged, found)) for one, judged, found in models])

    def test_each_models_share_holds_for_its_own(self) -> None:
        told = self.over(
            (used(calls=100, usd=1.0), [10, 0, 10], [0, 0]),
            (used(calls=300, usd=3.0), [5, 5, 10], [0, 0]),
            (used(calls=999, usd=9.0), [0, 0, 0], [0, 0]),  # nobody judged it: it says nothing
            (used(calls=999, usd=None, unknown_calls=999), [5, 5, 10], [0, 0]),
        )
        self.assertAlmostEqual(told["each_useful"]["usd"], 4.0 / 250)
        self.assertLess(told["each_useful"]["low"], 4.0 / 250)
        self.assertLess(4.0 / 250, told["each_useful"]["high"])
        self.assertEqual((told["models"], told["judged"]), (3, 30))

    def test_nothing_is_known(self) -> None:
        for models in ((), ((used(), [0, 0, 0], [0, 0]),), ((used(), [0, 5, 5], [0, 0]),)):
            told = self.over(*models)
            self.assertIsNone(told["each_useful"])
            self.assertIsNone(told["each_real"])

    def test_free(self) -> None:
        self.assertEqual(self.over((used(usd=0.0), [5, 5, 10], [1, 0]))["each_useful"]["usd"], 0.0)

    def test_ranges_hold(self) -> None:
        draw, inside, times = random.Random(9), [0, 0], 400
        for _ in range(times):
            models = []
            for rate, calls in ((0.8, 100), (0.4, 300)):
                useful = sum(draw.random() < rate for _ in range(30))
                real = sum(draw.random() < rate for _ in range(60))  # two chances in each answer
                models.append((used(calls=calls, usd=calls / 100), [useful, 30 - useful, 30], [real, 0]))
            told = self.over(*models)
            for place, (name, true) in enumerate((("each_useful", 4 / 200), ("each_real", 4 / 400))):
                inside[place] += told[name]["low"] <= true <= told[name]["high"]
        self.assertGreater(min(inside) / times, 0.92)


class Caches(unittest.TestCase):
    def test_share_and_what_it_saved(self) -> None:
        self.assertEqual(worth.cached(TOKENS), 0.6)
        self.assertIsNone(worth.cached(dict.fromkeys(TOKENS, 0)))
        price = Price(3.0, 15.0, 0.3)
        self.assertAlmostEqual(worth.saved([(used(), price), (used(), None)]) or 0, 600 * 2.7 / 1e6)
        self.assertIsNone(worth.saved([(used(), None), (used(), Price(3.0, 15.0))]))


if __name__ == "__main__":
    unittest.main()
