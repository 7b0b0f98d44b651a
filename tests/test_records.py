import contextlib
import unittest

from metrics.records import Answer, Problem, Target, Usage
from tests.play.people import seat


class RecordsTest(unittest.TestCase):
    PROBLEMS = [
        (Problem(429, "x"), "rate_limited", True),
        (Problem(400, "x"), "bad_request", False),
        (Problem(502, "x"), "upstream", True),
        (Problem(429, "x", kind="payment", retryable=False), "payment", False),
        (Problem(418, "x"), "error", False),
    ]

    def test_a_problem_knows_its_kind_and_whether_to_try_again(self):
        for problem, kind, retryable in self.PROBLEMS:
            with self.subTest(status=problem.status):
                self.assertEqual((problem.kind, problem.retryable, str(problem)), (kind, retryable, "x"))

    def test_a_problem_passes_through_a_context_manager(self):
        """A frozen slotted exception breaks here: contextlib sets its traceback."""

        @contextlib.contextmanager
        def block():
            yield

        with self.assertRaises(Problem), block():
            raise Problem(400, "x")

    def test_prompt_counts_all_input_and_unknown_stays_unknown(self):
        self.assertEqual(Usage(1, 2, 3).prompt, 6)
        self.assertEqual(Usage(1).prompt, 1)
        self.assertIsNone(Usage(cache_read=3).prompt)

    def test_a_key_is_not_shown(self):
        target = Target("a", "e:a", "e", "e", "a", "http://x/v1", key="sk-secret")
        self.assertNotIn("sk-secret", repr(target))

    def test_who_answered(self):
        answered = {
            s: Answer(seat("a"), s).answered for s in ("ok", "cut", "empty", "error", "timeout", "refused")
        }
        self.assertEqual([status for status, yes in answered.items() if yes], ["ok", "cut"])
