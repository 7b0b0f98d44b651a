import tempfile
import unittest
from pathlib import Path
from random import Random

from metrics.limits import pacing
from metrics.limits.pacing import Fit
from metrics.store import home
from tests.effort import effort
from tests.limits.simulated import Play

SCHEDULES, CALLS = effort(100, 1000), 18


class Why:
    def words(self):
        return "5 requests a minute"


class PacingTest(unittest.TestCase):
    def test_the_latest_moment_decides(self):
        for name, fits, patience, word, seconds in (
            ("no limit is known", [], 0, "go", 0),
            ("it fits", [Fit(10.0, Why())], 0, "go", 0),
            ("a wait that fits", [Fit(12.0, Why()), Fit(11.0, Why())], 2, "wait", 2),
            ("a wait that does not", [Fit(12.0, Why())], 1.9, "refuse", 2),
            ("nothing to wait for", [Fit(12.0, Why(), firm=True)], 99, "refuse", 2),
            ("no time at all", [Fit(10.1, Why())], -1, "refuse", 0.1),
        ):
            with self.subTest(name):
                verdict = pacing.decide(fits, 10.0, patience)
                self.assertEqual((verdict.word, round(verdict.seconds, 6)), (word, seconds))
                self.assertEqual(verdict.why, "" if word == "go" else "5 requests a minute")

    def test_rolling(self):
        ticks, ones = [400, 402, 440], [1, 2, 1]  # quarter seconds: 100.0, 100.5, 110.0
        for name, limit, ask, ahead, expected in (
            ("room left", 5, 1, 0, 120.0),
            ("the oldest leaves", 4, 1, 0, 160.49),
            ("two must leave", 4, 2, 0, 160.99),
            ("behind one other", 4, 1, 1, 160.99),
            ("behind more than the window holds", 4, 1, 4, 220.49),
            ("above the limit: an empty window", 4, 9, 0, 170.49),
            ("a limit that was lowered", 2, 1, 0, 160.99),
        ):
            with self.subTest(name):
                found = pacing.rolling(ticks, ones, 0, 4, limit, ask, ahead, 60.0, 120.0)
                self.assertAlmostEqual(found, expected)

    def test_on_the_clock(self):
        for name, used, ask, ahead, now, expected in (
            ("room left", 3, 1, 0, 130.0, 130.0),
            ("full", 4, 1, 0, 130.0, 180.24),
            ("behind others", 3, 1, 1, 130.0, 180.24),
            ("behind a window's worth", 4, 1, 4, 130.0, 240.24),
            ("just before the end", 0, 1, 0, 179.8, 180.24),
            ("just after the beginning", 0, 1, 0, 120.2, 120.24),
        ):
            with self.subTest(name):
                found = pacing.fixed(used, 4, ask, ahead, lambda at: (at - at % 60, at - at % 60 + 60), now)
                self.assertAlmostEqual(found, expected)

    def test_bucket(self):
        for name, spent, ask, expected in (
            ("room left", 50, 5, 10.0),
            ("full", 60, 1, 11.24),
            ("half of what it asks for", 55, 10, 15.24),
            ("all of it, just given back", 0, 60, 10.24),
            ("all of it, full for a while", -1, 60, 10.0),
            ("above the limit", -1, 90, 10.0),
        ):
            with self.subTest(name):
                self.assertAlmostEqual(pacing.bucket(spent, 60, ask, 0, 60.0, 10.0), expected)

    def test_at_once(self):
        self.assertEqual(pacing.at_once(2, 3, 0, 5.0, 10.0), 10.0)
        self.assertGreater(pacing.at_once(3, 3, 0, 5.0, 10.0), 10.0)
        self.assertGreater(pacing.at_once(2, 3, 1, 5.0, 10.0), 10.0)


class SimulationTest(unittest.TestCase):
    """Thousands of schedules against a provider that counts plainly (simulated.py)."""

    def setUp(self):
        home.use(Path(self.enterContext(tempfile.TemporaryDirectory())))
        self.addCleanup(home.close)

    def test_never_over_a_true_window_and_never_later_than_a_second_after_it_would_fit(self):
        latest = 0.0
        for seed in range(SCHEDULES):
            play = Play(Random(seed))
            play.run(CALLS)
            self.assertEqual(play.over, [], seed)
            latest = max(latest, *play.waits)
            self.assertLessEqual(latest, 1.0, (seed, play.limited.limits))
        self.assertGreater(latest, 0.1)

    def test_never_over_a_true_window_although_calls_are_late_on_their_way(self):
        for seed in range(SCHEDULES):
            play = Play(Random(f"late {seed}"), late=0.23)
            play.run(CALLS)
            self.assertEqual(play.over, [], (seed, play.limited.limits))


if __name__ == "__main__":
    unittest.main()
