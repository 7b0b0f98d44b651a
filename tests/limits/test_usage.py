import json
import random
import unittest
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from metrics.limits import cost, ledger, usage
from metrics.records import Problem
from metrics.store import home, stamps
from tests.store.case import HomeCase

NOW = stamps.epoch("2026-11-29T14:22:20.000Z")
HOUR = 3600.0


def row(at: float = NOW, units: int | None = 5, **more: Any) -> dict[str, Any]:
    said = {"at": stamps.stamp(at), "model": "kimi", "status": "ok", "out": 3, "uncached_in": 7}
    priced = {"cost_usd": cost.usd(units), "cost_status": "unknown" if units is None else "computed"}
    return {**dict.fromkeys(ledger.FIELDS), **said, **priced, **more}


UNCHARGED = row(units=None, cost_status="none", status="error", error="rate_limited", out=None)


def kept(*rows: dict[str, Any]) -> usage.State:
    state = usage.empty()
    for one in rows:
        usage.fold(state, one)
    return state


def told(state: usage.State, by: str = "model", since: float | None = None, **more: Any) -> dict[str, Any]:
    return usage.told(usage.copy(state, by), by, since, **more)


class Moment(unittest.TestCase):
    def test_when_it_is(self) -> None:
        cases = {
            "": None,
            "1h": NOW - 3600,
            "7d": NOW - 7 * 86_400,
            "2w": NOW - 14 * 86_400,
            "99999d": 0.0,
            "2026-11-01": stamps.epoch("2026-11-01"),
            "2026-11-01T06:00:00Z": stamps.epoch("2026-11-01T06:00:00Z"),
        }
        for said, at in cases.items():
            with self.subTest(said):
                self.assertEqual(usage.moment(said, NOW), at)

    def test_what_is_no_moment(self) -> None:
        for said in ("7", "d", "-7d", "7y", "yesterday", "2026-13-01", "1e9d", "0001-01-01", "7d "):
            with self.subTest(said), self.assertRaisesRegex(Problem, "12h, 7d or 4w"):
                usage.moment(said, NOW)


class Counted(unittest.TestCase):
    def test_what_a_row_counts_as(self) -> None:
        # name, row, what of its answer
        cases: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
            ("answered", row(), {"calls": 1, "priced_calls": 1, "known_usd": 5e-12, "errors": 0}),
            ("billed", row(cost_status="provider"), {"known_usd": 5e-12, "billed_usd": 5e-12}),
            ("by its price", row(), {"known_usd": 5e-12, "billed_usd": 0.0}),
            ("free", row(units=0), {"priced_calls": 1, "known_usd": 0.0, "unknown_calls": 0}),
            ("unknown", row(units=None), {"priced_calls": 0, "known_usd": None, "unknown_calls": 1}),
            (
                "uncharged",
                UNCHARGED,
                {"known_usd": 0.0, "unknown_calls": 0, "unmetered_calls": 0, "errors": 1},
            ),
            ("estimated", row(estimated=True), {"estimated_calls": 1}),
            ("uncounted", row(units=None, out=None), {"unmetered_calls": 1}),
            ("caller left", row(status="cut", error="caller_left"), {"errors": 0}),
            ("cut", row(status="cut", error="upstream"), {"errors": 1}),
            ("killed", row(status="error", error="interrupted"), {"errors": 0, "interrupted": 1}),
        )
        for name, one, wanted in cases:
            with self.subTest(name):
                total = told(kept(one))["total"]
                self.assertEqual({field: total[field] for field in wanted}, wanted)

    def test_tokens_by_kind(self) -> None:
        one = row(uncached_in=1, cache_read=2, cache_write=3, out=4, reasoning=5)
        tokens = {"uncached_in": 2, "cache_read": 4, "cache_write": 6, "out": 8, "reasoning": 10}
        self.assertEqual(told(kept(one, one))["total"]["tokens"], tokens)

    def test_known_and_unknown_costs_are_told_apart(self) -> None:
        total = told(kept(row(units=2 * 10**12), row(units=None)))["total"]
        self.assertEqual((total["known_usd"], total["priced_calls"], total["unknown_calls"]), (2.0, 1, 1))

    def test_by_each(self) -> None:
        rows = [
            row(model="a", key="k", collection="c", purpose="panel", endpoint="e"),
            row(model="b", key="k", collection=None, purpose="route", endpoint="e", units=9),
        ]
        cases = {
            "model": ["b", "a"],
            "key": ["k"],
            "collection": [None, "c"],
            "purpose": ["route", "panel"],
            "endpoint": ["e"],
            "day": ["2026-11-29"],
        }
        for by, names in cases.items():
            with self.subTest(by):
                answer = told(kept(*rows), by)
                self.assertEqual([one["name"] for one in answer["rows"]], names)
                self.assertEqual(answer["total"]["calls"], 2)

    def test_nothing(self) -> None:
        answer = told(usage.empty())
        self.assertEqual((answer["rows"], answer["total"]["calls"], answer["since"]), ([], 0, None))
        self.assertEqual(answer["total"]["known_usd"], 0.0)

    def test_names_that_are_one(self) -> None:
        answer = told(
            kept(row(model="old"), row(model="new")), named={"old": "new", "new": "new"}.__getitem__
        )
        self.assertEqual([(one["name"], one["calls"]) for one in answer["rows"]], [("new", 2)])

    def test_names_are_bounded(self) -> None:
        state = kept(*(row(model=f"m{number}" * 100) for number in range(usage.MOST + 7)))
        rows = told(state)["rows"]
        self.assertEqual(len(rows), usage.MOST + 1)
        self.assertEqual({one["calls"] for one in rows if one["name"] == usage.OTHERS}, {7})
        self.assertEqual(max(len(one["name"]) for one in rows), usage.LONGEST)

    def test_a_bent_row_counts_nowhere(self) -> None:
        state = kept(row())
        for bent in ({"out": "many"}, {"cost_usd": "much"}, {"at": 5}, {"reasoning": [1]}):
            with self.subTest(bent), self.assertRaises((TypeError, ValueError)):
                usage.fold(state, row() | bent)
        for by in usage.BY:
            self.assertEqual(told(state, by)["total"]["calls"], 1)


class Hours(unittest.TestCase):
    """Against a plain count of the same rows, over more hours than are told apart."""

    rows: list[dict[str, Any]]
    state: usage.State
    end: float

    @classmethod
    def setUpClass(cls) -> None:
        draw = random.Random(5)
        cls.rows = []
        for number in range(3000):
            late = draw.choice((1.0, 30.0)) * HOUR if draw.random() < 0.05 else 0.0
            at = NOW + number * HOUR / 4 - late
            cls.rows.append(row(at, draw.choice((None, draw.randrange(10**13))), model=draw.choice("abc")))
        cls.state = kept(*cls.rows)
        cls.end = NOW + 3000 * HOUR / 4

    def recount(self, start: str) -> dict[str, tuple[int, int]]:
        calls: Counter[str] = Counter()
        units: Counter[str] = Counter()
        for one in self.rows:
            if one["at"] >= start:
                calls[one["model"]] += 1
                units[one["model"]] += cost.units(one["cost_usd"]) or 0
        return {name: (calls[name], units[name]) for name in calls}

    def test_every_question_agrees_with_a_recount(self) -> None:
        for hours in (1, 5, 24, 7 * 24, 13 * 24, 15 * 24, 20 * 24, 40 * 24):
            with self.subTest(hours):
                answer = told(self.state, since=self.end - hours * HOUR)
                found = {
                    one["name"]: (one["calls"], cost.units(one["known_usd"]) or 0) for one in answer["rows"]
                }
                self.assertEqual(found, self.recount(answer["since"]))
                asked = datetime.fromtimestamp(self.end - hours * HOUR, UTC)
                start = datetime.fromisoformat(answer["since"])
                slack = timedelta(hours=1) if hours <= 13 * 24 else timedelta(days=1)
                self.assertTrue(timedelta(0) <= asked - start < slack, (asked, start))

    def test_everything_is_kept_once(self) -> None:
        self.assertEqual(told(self.state)["total"]["calls"], 3000)
        self.assertEqual(told(self.state, "day")["total"]["calls"], 3000)

    def test_what_is_kept_is_bounded(self) -> None:
        self.assertLessEqual(len(self.state["open"]), usage.OPEN)
        self.assertEqual(len(self.state["hours"]), usage.HOURS)
        text = json.dumps(self.state)
        self.assertLess(len(text), 600_000)
        self.assertNotIn("\\", text)

    def test_old_days_go(self) -> None:
        state = kept(*(row(NOW + day * 24 * HOUR) for day in range(usage.DAYS + 400)))
        self.assertEqual(len(state["days"]), usage.DAYS)


class Kept(HomeCase):
    def test_the_ledger_answers_after_a_restart_too(self) -> None:
        for at in (NOW, NOW + HOUR, NOW + 5 * HOUR):
            ledger.add(row(at))
        for _ in range(2):
            self.assertEqual(ledger.used("model", NOW)["total"]["calls"], 3)
            self.assertEqual(ledger.used("day", NOW + HOUR)["total"]["calls"], 2)
            home.close()
