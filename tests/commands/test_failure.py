import unittest

from metrics.commands.failure import EXITS, NEXT_STEPS, Failure, told, usage
from metrics.records import KINDS, Problem


class Failures(unittest.TestCase):
    def test_exit_codes(self) -> None:
        cases = [
            (usage("wrong"), 2),
            (Failure(503, "x", kind="no_server"), 3),
            (Failure(401, "x"), 4),
            (Failure(403, "x"), 4),
            (Failure(401, "x", kind="upstream_auth"), 1),
            (Failure(499, "x", kind="interrupted"), 130),
            (Failure(500, "x"), 1),
            (Failure(400, "x"), 1),
        ]
        for failure, code in cases:
            with self.subTest(failure.kind):
                self.assertEqual(failure.exit, code)

    def test_every_failure_says_what_comes_next(self) -> None:
        for kind in {*KINDS.values(), *EXITS, *NEXT_STEPS, "never heard of"}:
            with self.subTest(kind):
                document = Failure(400, "x", kind=kind).document()["error"]
                self.assertEqual((document["kind"], document["message"]), (kind, "x"))
                self.assertTrue(document["hint"])
        self.assertEqual(Failure(404, "x", hint="do this").hint, "do this")

    def test_problems_from_below(self) -> None:
        failure = Failure(404, "x", hint="do this")
        self.assertIs(told(failure), failure)
        foreign = told(Problem(429, "slow down", retry_after=3.0))
        self.assertEqual(
            (foreign.kind, foreign.message, foreign.retry_after), ("rate_limited", "slow down", 3.0)
        )


if __name__ == "__main__":
    unittest.main()
