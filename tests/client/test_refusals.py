import json
import unittest

from metrics.client import errors, refusals
from metrics.records import Stated, Target
from tests.client.refused import NOW, REFUSED


def target(host):
    return Target("a", "e:m", "e", "e", "m", f"https://{host}/v1", profile=host)


def told(host, status, headers, body):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return errors.from_status(status, headers, raw, target(host), now=NOW)


class RefusalsTest(unittest.TestCase):
    def test_every_shape_is_told_apart_with_its_window_and_wait(self):
        for name, host, status, headers, body, cause, window, wait in REFUSED:
            with self.subTest(name):
                problem = told(host, status, headers, body)
                limited = problem.limited
                self.assertEqual(limited and limited.cause, cause, problem.message)
                if limited is None:
                    continue
                spent = [one for one in limited.stated if one.remaining == 0 or one.limit == 0]
                named = [f"{one.metric}/{one.window}" for one in spent]
                self.assertEqual(named, [window] if window else [], limited.stated)
                if wait is None:
                    self.assertIsNone(limited.until)
                else:
                    self.assertAlmostEqual((limited.until or 0) - NOW, wait, places=2)

    def test_there_are_enough_of_them(self):
        self.assertGreaterEqual(sum(row[5] is not None for row in REFUSED), 60)
        self.assertGreaterEqual(len({row[1] for row in REFUSED}), 15)

    def test_a_wait_that_is_known_is_the_one_that_is_told(self):
        for name, host, status, headers, body, cause, _, wait in REFUSED:
            if cause in ("window", "concurrency") and wait is not None:
                with self.subTest(name):
                    self.assertAlmostEqual(told(host, status, headers, body).retry_after or 0, wait, places=2)

    def test_whose_calls_it_concerns(self):
        scopes = {
            "openai tokens": "model",
            "openai no quota": "model",
            "mistral no allowance": "model",
            "openrouter day": "connection",
            "github minute": "connection",
            "github day": "model",
            "github at once": "connection",
            "hugging face monthly credits": "model",
            "deepinfra busy": "model",
        }
        found = {}
        for name, host, status, headers, body, *_ in REFUSED:
            limited = told(host, status, headers, body).limited
            found[name] = limited.scope if limited else None
        self.assertEqual({name: found[name] for name in scopes}, scopes)

    def test_when_a_window_ends(self):
        for one, expected in (
            (Stated("requests", "minute", 5, 0, None, "fixed"), 40.0),
            (Stated("requests", "minute", 5, 0, None, ""), 60.0),
            (Stated("requests", "minute", 5, 0, NOW + 7, "fixed"), 7.0),
            (Stated("requests", "minute", 5, 0, NOW + 1e20, ""), 60.0),
            (Stated("requests", "unknown", 5, 0, NOW + 1e20, ""), None),
            (Stated("requests", "month", 5, 0), 83_200.0),
            (Stated("requests", "unknown", 5, 0), None),
        ):
            with self.subTest(one):
                end = refusals.ends_at(one, NOW)
                self.assertEqual(None if end is None else end - NOW, expected)


if __name__ == "__main__":
    unittest.main()
