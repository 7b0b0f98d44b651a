import unittest
from typing import Any

from metrics.evidence import reliability
from metrics.evidence.reliability import Fact, after
from metrics.limits import ledger
from tests.store.case import HomeCase

Outcome = tuple[Any, ...]

OK = ("ok",)
LIMITED = ("error", "rate_limited")
DEAD = ("error", "unreachable")

# name, outcomes one second apart from second 100 on, seconds until which it rests, failures in a row
OUTCOMES: list[tuple[str, list[Outcome], float | None, int]] = [
    ("nothing", [], None, 0),
    ("an answer", [OK], None, 0),
    ("a stated rest", [("error", "rate_limited", 7.5)], 107.5, 0),
    ("a stated rest of no time", [("error", "rate_limited", 0.0)], 100.0, 0),
    ("a stated rest of a week is a day", [("error", "rate_limited", 604_800.0)], 86_500.0, 0),
    ("no rest stated", [LIMITED], 120.0, 0),
    ("again, and longer", [LIMITED, LIMITED, LIMITED], 282.0, 0),
    ("as long as it gets", [LIMITED] * 6, 705.0, 0),
    (
        "a shorter rest does not shorten a longer one",
        [("error", "rate_limited", 60.0), ("error", "rate_limited", 1.0)],
        160.0,
        0,
    ),
    ("an answer ends a rest nobody stated", [LIMITED, LIMITED, OK], None, 0),
    ("an answer does not end a stated one", [("error", "rate_limited", 60.0), OK], 160.0, 0),
    ("after an answer rests are short again", [LIMITED, LIMITED, OK, LIMITED], 123.0, 0),
    ("overloaded rests, and counts", [("error", "overloaded")], 110.0, 1),
    ("out of credit rests for long, and counts", [("error", "payment")], 1900.0, 1),
    ("failures", [DEAD, ("timeout", "timeout"), ("empty", "empty")], None, 3),
    ("an answer forgets them", [DEAD, DEAD, OK, DEAD], None, 1),
    ("half an answer is an answer", [DEAD, DEAD, ("cut", "unreachable")], None, 0),
    (
        "the caller's own mistakes",
        [("error", "bad_request"), ("error", "too_large"), ("error", "context")],
        None,
        0,
    ),
    ("the caller's own budget", [("empty", "out_of_budget")], None, 0),
    ("the caller's own impatience", [("timeout", "timeout", None, 2.0)], None, 0),
    ("a time-out after a while", [("timeout", "timeout", None, 120.0)], None, 1),
    ("refused by a filter", [("refused", "refused")], None, 0),
    ("skipped", [("skipped",)], None, 0),
    ("a key that is wrong", [("error", "auth")], None, 1),
    ("an unknown kind", [("error", None)], None, 1),
]


def told(outcomes: list[Outcome]) -> Fact:
    fact: Fact = {}
    for second, (status, *rest) in enumerate(outcomes):
        fact = after(fact, status, 100.0 + second, *rest)
    return fact


class After(unittest.TestCase):
    def test_outcomes(self) -> None:
        for name, outcomes, until, failures in OUTCOMES:
            with self.subTest(name):
                fact = told(outcomes)
                self.assertEqual((fact.get("until"), fact.get("failures", 0)), (until, failures))

    def test_the_same_outcome_twice_counts_once(self) -> None:
        fact = after({}, "error", 5.0, "unreachable")
        self.assertEqual(after(fact, "error", 5.0, "unreachable"), fact)

    def test_it_changes_nothing_it_was_given(self) -> None:
        fact: Fact = {}
        after(fact, "error", 1.0, "overloaded")
        self.assertEqual(fact, {})


class Known(HomeCase):
    """Through the ledger, which keeps what is known."""

    def test_it_is_the_ledger_that_keeps_it(self) -> None:
        reliability.note("a:b", "ok", 5.0)
        self.assertEqual(list(ledger.LOG.state["models"]), ["a:b"])

    def test_who_is_steady(self):
        for outcomes, steady in [
            ([], False),
            (["ok"], True),
            (["ok", "error"], False),
            (["error", "cut"], True),
        ]:
            with self.subTest(outcomes):
                model = f"e:{len(outcomes)}{outcomes}"
                for at, status in enumerate(outcomes):
                    reliability.note(model, status, 100.0 + at)
                self.assertEqual(reliability.steady(model), steady)

    def test_a_model_nobody_called(self) -> None:
        self.assertIsNone(reliability.cooling("a:b", 0.0))
        self.assertIsNone(reliability.failing("a:b"))
        self.assertIsNone(reliability.last_answered("a:b"))

    def test_cooling_ends(self) -> None:
        reliability.note("a:b", "error", 100.0, "rate_limited", 7.25)
        self.assertEqual(reliability.cooling("a:b", 107.2), 107.25)
        self.assertIsNone(reliability.cooling("a:b", 107.25))

    def test_why_it_rests(self) -> None:
        self.assertIsNone(reliability.resting_why("a:b", 0.0))
        reliability.note("a:b", "error", 100.0, "rate_limited", 60.0)
        reliability.note("a:b", "error", 101.0, "overloaded")
        self.assertEqual(reliability.resting_why("a:b", 120.0), "rate_limited")  # which lasts longer
        self.assertIsNone(reliability.resting_why("a:b", 160.0))
        reliability.note("a:c", "error", 100.0, "overloaded", 60.0)
        reliability.note("a:c", "ok", 110.0)
        self.assertEqual(reliability.resting_why("a:c", 120.0), "overloaded")

    def test_failing_from_the_third_on_until_it_answers(self) -> None:
        for second in range(3):
            self.assertIsNone(reliability.failing("a:b"))
            reliability.note("a:b", "error", second, "auth")
        self.assertEqual(reliability.failing("a:b"), "3 failures in a row, the last of them: auth")
        reliability.note("a:b", "ok", 10.0)
        self.assertIsNone(reliability.failing("a:b"))

    def test_another_chance_from_time_to_time(self) -> None:
        for second in (0, 1, 2):
            reliability.note("a:b", "error", second, "auth")
        self.assertIsNotNone(reliability.failing("a:b", now=600.0))
        self.assertIsNone(reliability.failing("a:b", now=602.0))
        reliability.note("a:b", "error", 602.0, "auth")
        self.assertIsNotNone(reliability.failing("a:b", now=602.0 + 1199.0))
        self.assertIsNone(reliability.failing("a:b", now=602.0 + 1200.0))
        for second in range(2000):
            reliability.note("a:b", "error", 700.0 + second, "auth")
        self.assertIsNone(reliability.failing("a:b", now=2699.0 + reliability.LATEST_CHANCE))

    def test_when_it_answered_to_the_millisecond(self) -> None:
        reliability.note("a:b", "ok", 1_796_048_540.1234)
        self.assertEqual(reliability.last_answered("a:b"), 1_796_048_540.123)

    def test_without_a_ledger(self) -> None:
        keeper, facts = reliability._kept, reliability._facts
        self.addCleanup(reliability.kept_by, keeper, facts)
        reliability.kept_by(reliability._keep_alone, lambda: reliability._alone)
        self.addCleanup(reliability._alone.clear)
        reliability.note("a:b", "ok", 5.0)
        self.assertEqual(reliability.last_answered("a:b"), 5.0)
