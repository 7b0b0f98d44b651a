import unittest

from metrics.limits import usage
from metrics.telemetry import meter
from metrics.telemetry.meter import Histogram, Meter, families
from tests.telemetry.rows import row


class MeterTest(unittest.TestCase):
    def test_calls_by_model_and_outcome(self) -> None:
        found = Meter(0.0)
        for more in ({}, {"seconds": 0.01}, {"status": "error", "error": "auth"}, {"seconds": None}):
            found.hear(row(**more))
        counts = {dict(labels).get("error.type"): each.count for labels, each in found.durations()}
        self.assertEqual(counts, {None: 2, "auth": 1})
        sums = {dict(labels)["gen_ai.token.type"]: each.sum for labels, each in found.tokens()}
        self.assertEqual(sums, {"input": 60.0, "output": 28.0})

    def test_a_bound_belongs_to_its_bucket(self) -> None:
        for value, place in ((0.0, 0), (1.0, 0), (1.5, 1), (2.0, 1), (9.0, 2)):
            each = Histogram((1.0, 2.0))
            each.add(value)
            self.assertEqual(each.counts.index(1), place, value)

    def test_further_models_count_together(self) -> None:
        found = Meter(0.0)
        for number in range(meter.SERIES + 50):
            found.hear(row(served=f"m{number}"))
        series = found.durations()
        self.assertLessEqual(len(series), meter.SERIES + 1)
        self.assertEqual(sum(each.count for _, each in series), meter.SERIES + 50)


class FamiliesTest(unittest.TestCase):
    def test_they_are_what_the_ledger_adds_up_to(self) -> None:
        state = usage.empty()
        rows = [row(), row(model="dark", cost_usd=None, cost_status="unknown", status="error", error="auth")]
        for each in rows:
            usage.fold(state, each)
        found = {each.name: each for each in families(lambda by: usage.told(usage.copy(state, by), by))}
        self.assertEqual(dict(found["bench.calls"].rows), {(("model", "gpt"),): 1, (("model", "dark"),): 1})
        self.assertEqual(dict(found["bench.cost"].rows), {(("model", "gpt"),): 0.25})
        self.assertEqual(dict(found["bench.unknown_cost"].rows)[(("model", "dark"),)], 1)
        self.assertEqual(dict(found["bench.errors"].rows)[(("model", "dark"),)], 1)
        self.assertEqual(dict(found["bench.tokens"].rows)[(("model", "gpt"), ("kind", "cache_read"))], 5)
        self.assertEqual(dict(found["bench.key.calls"].rows), {(("key", "local"),): 2})
        self.assertEqual(len(found), 3 * 6)


if __name__ == "__main__":
    unittest.main()
