import unittest
from random import Random

from metrics.client import midnights
from metrics.limits.windows import AT_ONCE, DAY, FORGET, ONE, Amounts, Track
from tests.effort import effort

NOW = 1_796_000_000.0
KINDS = [
    ("rolling", 60.0),
    ("rolling", DAY),
    ("fixed", 60.0),
    ("pacific", DAY),
    ("calendar", 0.0),
    ("bucket", 60.0),
]


class WindowsTest(unittest.TestCase):
    def test_sums_are_those_of_a_plain_recount(self):
        random, track, sent, now = Random(7), Track(), [], NOW
        windows = {
            ("rolling", 60.0): lambda at, tick: (tick + 1) * 0.25 + 60.24 > at,
            ("rolling", 3600.0): lambda at, tick: (tick + 1) * 0.25 + 3600.24 > at,
            ("fixed", 60.0): lambda at, tick: tick * 0.25 >= at - at % 60,
            ("pacific", DAY): lambda at, tick: tick * 0.25 >= midnights.pacific_day(at)[0],
            ("calendar", 0.0): lambda at, tick: tick * 0.25 >= midnights.utc_month(at)[0],
        }
        for _ in range(effort(600, 4000)):
            now += random.choice((0.0, 0.1, random.uniform(0, 40)))
            if sent and random.random() < 0.3:
                at = random.randrange(max(0, len(sent) - 20), len(sent))
                more = random.randint(-5, 50)
                track.change(sent[at][0], Amounts(0, more), now)
                sent[at] = (sent[at][0], sent[at][1] + more)
            else:
                sent.append((track.add(Amounts(1, 10), now), 10))
            if random.random() < 0.05:
                for (kind, seconds), inside in windows.items():
                    expected = sum(amount for tick, amount in sent if inside(now, tick))
                    found = track.window("tokens", kind, seconds, 1e9, now).used(now)
                    self.assertAlmostEqual(found, expected, msg=(kind, seconds))

    def test_a_window_that_comes_late_knows_what_went_before(self):
        for kind, seconds in KINDS:
            with self.subTest(kind, seconds=seconds):
                early, late = Track(), Track()
                early.window("requests", kind, seconds, 50.0, NOW).used(NOW)
                for step in range(40):
                    for track in (early, late):
                        track.add(Amounts(1), NOW + step * 0.5)
                now = NOW + 20
                used = [
                    track.window("requests", kind, seconds, 50.0, now).used(now) for track in (early, late)
                ]
                self.assertAlmostEqual(used[0], used[1], delta=0.5 if kind == "bucket" else 0)

    def test_what_was_only_noted_counts_as_it_went_out(self):
        track, ticks = Track(), []
        for step in range(3 * AT_ONCE):
            ticks.append(track.add(Amounts(1, 10), NOW + step * 0.1))
            if step >= 7:
                track.change(ticks[step - 7], Amounts(0, 5), NOW + step * 0.1)
        now = NOW + (len(ticks) - 1) * 0.1
        inside = [at for at, tick in enumerate(ticks) if (tick + 1) * 0.25 + 10.24 > now]
        known = sum(15 if at < len(ticks) - 7 else 10 for at in inside)
        self.assertEqual(track.window("tokens", "rolling", 10.0, 1e9, now).used(now), known)
        self.assertEqual(track.window("requests", "calendar", 0.0, 1e9, now).used(now), len(ticks))

    def test_what_is_older_than_a_day_is_let_go(self):
        track = Track()
        for step in range(FORGET * 4):
            track.add(Amounts(1), NOW + step * 100)
        self.assertLess(len(list(track.lines(0, 0.0))), DAY / 100 + FORGET + 2)
        end = NOW + (FORGET * 4 - 1) * 100
        self.assertEqual(track.window("requests", "rolling", DAY, 9, end).used(end), 865)

    def test_a_clock_that_is_put_back_counts_nothing_twice(self):
        track = Track()
        for now in (NOW, NOW - 3600, NOW + 1):
            track.add(Amounts(1), now)
        self.assertEqual(track.window("requests", "rolling", 60.0, 9, NOW + 1).used(NOW + 1), 3)

    def test_what_is_known_from_before(self):
        track = Track()
        track.seed([(NOW - 50, Amounts(2)), (NOW - 10, Amounts(1))], Amounts(70), NOW)
        self.assertEqual(track.window("requests", "rolling", 60.0, 9, NOW).used(NOW), 3)
        self.assertEqual(track.window("requests", "calendar", 0.0, 99, NOW).used(NOW), 70)
        track.add(Amounts(1), NOW)
        self.assertEqual(track.window("requests", "calendar", 0.0, 99, NOW).used(NOW), 71)
        after = midnights.utc_month(NOW)[1]
        self.assertEqual(track.window("requests", "calendar", 0.0, 99, after).used(after), 0)

    def test_when_something_is_given_back(self):
        for kind, expected in (("rolling", 60.5), ("fixed", 40.0), ("bucket", 12.0)):
            with self.subTest(kind):
                track = Track()
                window = track.window("requests", kind, 60.0, 10.0, NOW)
                self.assertIn(window.resets(NOW), (None, NOW + 40))
                track.add(Amounts(2), NOW)
                self.assertAlmostEqual(window.resets(NOW) - NOW, expected, places=1)

    def test_a_window_that_nobody_looks_at_loses_what_has_left_it(self):
        track, step = Track(), 50.0
        for kind in ("rolling", "fixed", "bucket", "pacific"):
            track.window("requests", kind, 60.0, 1e9, NOW)
        calls = 4 * FORGET
        for call in range(calls):
            track.add(ONE, NOW + call * step)
        now, today = NOW + (calls - 1) * step, Track()
        for call in range(calls - int(DAY / step) - 1, calls):
            today.add(ONE, NOW + call * step)
        for kind in ("rolling", "fixed", "bucket", "pacific"):
            used = [each.window("requests", kind, 60.0, 1e9, now).used(now) for each in (track, today)]
            self.assertAlmostEqual(used[0], used[1], places=3, msg=kind)

    def test_limits_that_change_all_the_time_fill_no_memory(self):
        track = Track()
        for limit in range(500):
            track.make_room()
            track.window("tokens", "bucket", 60.0, 1000.0 + limit, NOW)
        self.assertLessEqual(len(track._windows), 64)


if __name__ == "__main__":
    unittest.main()
