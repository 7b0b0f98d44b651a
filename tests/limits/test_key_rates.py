import random
import unittest

from metrics.bench import keys
from metrics.bench.keys import Key
from metrics.limits import key_rates
from metrics.limits.key_rates import WINDOW, Window
from metrics.records import Problem
from tests.bench.bench import BY, BenchCase

NOW = 1_796_000_000.0


def wait(act, *given):
    """Seconds that a 429 says; 0 when there is none, -1 when it never fits."""
    try:
        act(*given)
    except Problem as problem:
        assert problem.status == 429
        return problem.retry_after if problem.retryable else -1
    return 0


class WindowTest(unittest.TestCase):
    def test_any_schedule_against_a_plain_count(self):
        """Whatever comes when, what is let in never exceeds the limit in any window, and a wait is exact."""
        for seed in range(300):
            chance, window, let_in, now = random.Random(seed), Window(), [], 1000.0
            limit = chance.randint(1, 8)
            for _ in range(60):
                now += chance.choice((0, 0.1, 1, 7.5, 29.9, 60))
                amount = chance.randint(1, limit)
                inside = [each for when, each in let_in if when > now - WINDOW]
                pause = window.wait(amount, limit, now)
                self.assertEqual(pause == 0, sum(inside) + amount <= limit, seed)
                if pause:
                    then = now + pause + 0.001  # floats
                    left = sum(each for when, each in let_in if when > then - WINDOW)
                    self.assertLessEqual(left + amount, limit, seed)
                    before = now + pause - 0.01
                    left = sum(each for when, each in let_in if when > before - WINDOW)
                    self.assertGreater(left + amount, limit, seed)
                else:
                    window.add(amount, now)
                    let_in.append((now, amount))


class RatesTest(BenchCase):
    def setUp(self):
        super().setUp()
        key_rates._windows.clear()

    def key(self, **limits):
        keys.create("app", limits, BY)
        return keys.get("app")

    def test_requests(self):
        key = self.key(rpm=2)
        waits = [wait(key_rates.admit, key, 0, NOW + at) for at in (0, 10, 20, 59.5, 60, 61, 70)]
        self.assertEqual(waits, [0, 0, 40, 0.5, 0, 9, 0])

    def test_tokens_are_set_aside_and_settled(self):
        key = self.key(tpm=100)
        self.assertEqual(wait(key_rates.admit, key, 60, NOW), 0)
        self.assertEqual(key_rates.hold("app", 60, NOW), 60)
        self.assertEqual(wait(key_rates.admit, key, 60, NOW), key_rates.BUSY)
        self.assertEqual(wait(key_rates.hold, "app", 60, NOW), key_rates.BUSY)
        key_rates.settle("app", 60, 90, NOW + 5)
        self.assertEqual(wait(key_rates.hold, "app", 20, NOW + 6), 59)
        self.assertEqual(wait(key_rates.hold, "app", 10, NOW + 6), 0)
        self.assertEqual(wait(key_rates.hold, "app", 101, NOW + 600), -1)

    def test_a_refused_request_does_not_count(self):
        key = self.key(rpm=1, tpm=10)
        self.assertEqual([wait(key_rates.admit, key, size, NOW) for size in (11, 5, 5)], [-1, 0, 60])

    def test_a_key_without_limits_leaves_no_trace(self):
        key = self.key()
        key_rates.admit(key, 10**9, NOW)
        self.assertEqual((key_rates.hold("app", 10**9, NOW), key_rates.hold("local", 5, NOW)), (0, 0))
        key_rates.settle("local", 0, 50, NOW)
        self.assertEqual((key_rates.headers(key, True, NOW), key_rates.state(key, NOW)), ((), {}))
        self.assertEqual(key_rates._windows, {})

    def test_headers_in_both_ways(self):
        key = Key("app", "", rpm=90, tpm=1000)
        for _ in range(2):
            key_rates.admit(key, 0, NOW)
        plain = dict(key_rates.headers(key, False, NOW + 0.5))
        self.assertEqual(
            [plain[f"x-ratelimit-{part}-requests"] for part in ("limit", "remaining", "reset")],
            ["90", "88", "1m0s"],
        )
        self.assertEqual(plain["x-ratelimit-reset-tokens"], "0s")
        twins = dict(key_rates.headers(key, True, NOW + 30))
        self.assertEqual(twins["anthropic-ratelimit-requests-remaining"], "88")
        self.assertRegex(twins["anthropic-ratelimit-requests-reset"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")
        self.assertEqual(twins["x-ratelimit-reset-requests"], "30s")


if __name__ == "__main__":
    unittest.main()
