import json
import unittest

from metrics.bench import allowances, changes
from metrics.records import Problem
from tests.bench.bench import BY, BenchCase


class BudgetTest(unittest.TestCase):
    READ = [
        ("5usd/month", {"month": 5.0}),
        (" $0.50 / day ", {"day": 0.5}),
        ("20USD/Total", {"total": 20.0}),
        (".5/day", {"day": 0.5}),
        ("2usd/day, 20usd/month", {"day": 2.0, "month": 20.0}),
        ("0usd/day", {"day": 0.0}),
        ({"month": 5}, {"month": 5.0}),
        ({"day": 1, "month": None}, {"day": 1.0}),
        ("none", None),
        ("", None),
        (None, None),
        ({}, None),
    ]

    def test_amounts_are_read(self):
        for value, budget in self.READ:
            with self.subTest(value):
                self.assertEqual(allowances.budget("budget", value), budget)

    REFUSED = [
        *("5", "5usd", "usd/month", "-1usd/day", "5eur/month", "5usd/week", "1e5/day", "5usd/day,x"),
        *(5, [], {"week": 1}, {"day": -1}, {"day": "5"}, {"day": True}, "9999999999usd/day"),
    ]

    def test_what_is_no_amount_is_refused(self):
        for value in self.REFUSED:
            with self.subTest(value), self.assertRaises(Problem) as caught:
                allowances.budget("budget", value)
            self.assertEqual(caught.exception.status, 400)


class AllowancesTest(BenchCase):
    def test_the_bench_and_collections_have_budgets(self):
        self.assertFalse(allowances.any())
        allowances.save(None, {"budget": "5usd/day"}, BY)
        allowances.save("core", {"budget": {"month": 2}, "unknown_cost": "allow"}, BY)
        self.assertTrue(allowances.any())
        self.assertEqual(allowances.bench(), {"budget": {"day": 5.0}, "unknown_cost": "refuse"})
        self.assertEqual(allowances.collection("core"), {"budget": {"month": 2.0}, "unknown_cost": "allow"})
        self.assertIsNone(allowances.collection("other")["budget"])
        self.assertEqual(list(allowances.all()["collections"]), ["core"])
        self.assertEqual(changes.recent(1)[0][0]["what"], "budget of core")
        allowances.save(None, {"budget": None}, BY)
        allowances.save("core", {"budget": "none"}, BY)
        self.assertFalse(allowances.any())

    BROKEN = [
        {"bench": {"budget": {"day": "much"}}},
        {"bench": 5},
        {"bench": {"budgte": {"day": 1}}},
    ]

    def test_a_limit_that_cannot_be_read_is_not_passed_over(self):
        for raw in self.BROKEN:
            with self.subTest(raw):
                self.write("budgets.json", json.dumps(raw))
                with self.assertRaises(Problem) as caught:
                    allowances.bench()
                self.assertEqual(
                    (caught.exception.status, "budgets.json" in caught.exception.message), (503, True)
                )


if __name__ == "__main__":
    unittest.main()
