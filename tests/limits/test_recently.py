import json
import unittest

from metrics.limits import recently
from metrics.limits.windows import Amounts, Track
from metrics.store.stamps import stamp

NOW = 1_796_000_000.0


def row(at, attempts=1, model="m", **more):
    said = {
        "connection": "groq",
        "model_id": f"groq:{model}",
        "attempts": attempts,
        "uncached_in": 90,
        "out": 10,
    }
    return {"at": stamp(at), **said, **more}


def used(past, seconds, now, model="", column="requests", kind="rolling"):
    """How much of a window is used up for whoever begins now."""
    track = Track()
    scope = json.loads(json.dumps(past)).get("groq", {}).get(model)
    track.seed(*recently.lines(scope, now), now)
    return track.window(column, kind, seconds, 1e9, now).used(now)


class RecentlyTest(unittest.TestCase):
    def test_what_was_sent_is_there_after_a_restart(self):
        past = {}
        for at in range(3000, 0, -10):
            recently.fold(past, row(NOW - at, model="m" if at % 20 else "n"))
        self.assertEqual(used(past, 60.0, NOW), 6)
        self.assertEqual(used(past, 60.0, NOW, "groq:m"), 3)
        self.assertEqual(used(past, 86_400.0, NOW, column="tokens"), 300 * 100)
        self.assertEqual(used(past, 0.0, NOW, kind="calendar"), 300)
        self.assertGreaterEqual(used(past, 1000.0, NOW), 100)
        self.assertLessEqual(used(past, 1000.0, NOW), 100 + 30, "five minutes are the grain of what is older")

    def test_attempts_are_what_a_provider_counts_and_what_was_not_sent_is_nothing(self):
        past = {}
        recently.fold(past, row(NOW - 5, attempts=3))
        recently.fold(past, row(NOW - 4, attempts=0))
        recently.fold(past, {"at": stamp(NOW), "attempts": 1})
        self.assertEqual(used(past, 60.0, NOW), 3)

    def test_it_stays_small_for_ever(self):
        past = {}
        for step in range(20_000):
            recently.fold(past, row(NOW + step * 7))
        scope = past["groq"][""]
        self.assertLessEqual(len(scope["fine"]), recently.FINE + 2)
        self.assertLessEqual(len(scope["coarse"]), 86_400 / recently.PIECE + 3)

    def test_rows_that_end_out_of_order_and_months(self):
        past = {}
        for at in (NOW, NOW - 3, NOW + 40 * 86_400, NOW - 2):
            recently.fold(past, row(at))
        later = NOW + 40 * 86_400
        self.assertEqual(used(past, 0.0, later, kind="calendar"), 1)
        self.assertEqual(recently.lines(None, NOW), ([], Amounts()))

    def test_cost_is_exact(self):
        self.assertEqual(recently.of_row(row(NOW, cost_usd=0.000123)), Amounts(1, 100, 90, 10, 123_000_000))


if __name__ == "__main__":
    unittest.main()
