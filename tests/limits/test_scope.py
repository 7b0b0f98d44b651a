import unittest

from metrics.limits.quota import Limit
from metrics.limits.scope import Hold, Left, Scope
from metrics.limits.windows import DAY, Amounts
from metrics.records import Stated

NOW = 1_796_000_000.0


class ScopeTest(unittest.TestCase):
    def test_what_is_left_refills_where_the_provider_says_how(self):
        for name, left, ask, expected in (
            ("enough", Left("requests", "day", 5, 100, NOW + 50, NOW, 0.0), 5, 0),
            ("none until the reset", Left("requests", "day", 0, 100, NOW + 50, NOW, 0.0), 1, 50),
            ("a bucket: one comes soon", Left("requests", "day", 0, 100, NOW + 50, NOW, 0.5), 1, 2),
            ("never later than its reset", Left("requests", "day", -90, 100, NOW + 50, NOW, 0.5), 1, 50),
            ("the reset has passed", Left("requests", "day", 0, 100, NOW - 1, NOW, 0.0), 1, 0),
            ("more than it ever has", Left("tokens", "day", 100, 100, NOW + 50, NOW, 0.0), 500, 0),
        ):
            with self.subTest(name):
                self.assertAlmostEqual(left.fits(ask, NOW) - NOW, expected)

    def test_groqs_reset_of_requests_is_no_wait(self):
        scope = Scope("groq", "groq:m", {})
        scope.left["requests/day"] = Left("requests", "day", 14_369, 14_400, NOW + 186, NOW, 14_400 / 86_400)
        self.assertTrue(all(fit.at == NOW for fit in scope.fits(Amounts(1), Amounts(), NOW)))

    def test_what_cannot_be_waited_for_is_not_kept(self):
        scope = Scope("groq", "groq:m", {})
        for stated in (
            Stated("requests", "unknown", None, 0),
            Stated("requests", "minute", None, None, NOW + 5),
            Stated("requests", "minute", None, 0, NOW - 5),
            Stated("concurrency", "", None, 0, NOW + 5),
        ):
            scope.hear(stated, "headers", NOW)
        self.assertEqual(scope.left, {})
        self.assertTrue(scope.free())

    def test_a_limit_counts_on_while_another_changes_all_the_time(self):
        scope, day = Scope("groq", "groq:m", {}), Limit("requests", "day", 300, DAY, "rolling", "set", None)
        for sent in range(300):
            other = Limit("tokens", "minute", 1e6 + sent, 60.0, "bucket", "headers", NOW)
            scope.hold_to((other, day), NOW + sent)
            self.assertEqual(scope.fits(Amounts(1), Amounts(), NOW + sent), [], sent)
            tick = scope.take(Amounts(1, 50), NOW + sent)
            scope.change(tick, Amounts(0, 5), 1, NOW + sent)
        self.assertEqual([fit.why for fit in scope.fits(Amounts(1), Amounts(), NOW + 300)], [day])
        self.assertLess(len(scope.track._windows), 70)

    def test_every_hold_has_words(self):
        for cause in ("concurrency", "window", "exhausted", "overload", "else"):
            self.assertTrue(Hold(NOW, cause, NOW).words())


if __name__ == "__main__":
    unittest.main()
