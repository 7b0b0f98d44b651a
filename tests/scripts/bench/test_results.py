import unittest

from scripts.bench.results import Results, turned


def filled(*rounds):
    """Results of a scenario "s" whose rounds are (base, other)."""
    results = Results()
    for base, other in rounds:
        results.add("s", "base", {"p50_ms": base, "errors": 0})
        results.add("s", "other", {"p50_ms": other, "errors": 1})
    return results


class ResultsTest(unittest.TestCase):
    def test_each_comes_first_in_its_turn(self):
        orders = ["".join(turned("abc", number)) for number in range(4)]
        self.assertEqual(orders, ["abc", "bca", "cab", "abc"])

    def test_all_is_compared_within_a_round(self):
        results = filled((1.0, 3.0), (10.0, 30.0), (100.0, 200.0))  # the machine slows down
        self.assertEqual(results.ratio("s", "other", "base", "p50_ms"), 3.0)
        self.assertEqual(results.added("s", "other", "base", "p50_ms"), 20.0)
        self.assertEqual(results.median("s", "other", "p50_ms"), 30.0)
        self.assertEqual(results.errors, 3)

    def test_nothing_is_divided_by_nothing(self):
        self.assertGreater(filled((0.0, 1.0)).ratio("s", "other", "base", "p50_ms"), 1.0)
