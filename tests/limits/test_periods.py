import random
import unittest
from typing import Any

from metrics.limits import cost, periods, usage
from metrics.limits.periods import DAY, HOUR, MOST, WEEK, Stretch
from metrics.store.stamps import epoch, stamp
from tests.limits.test_usage import row

NOW = epoch("2026-11-29T14:22:20.000Z")
TONIGHT = epoch("2026-11-30")


def kept(rows: list[dict[str, Any]]) -> usage.State:
    state = usage.empty()
    for one in rows:
        usage.fold(state, one)
    return state


def told(state: usage.State, stretch: Stretch, by: str = "model", **more: Any) -> dict[str, Any]:
    return periods.told(usage.copy(state, by), by, stretch, **more)


class Stretches(unittest.TestCase):
    def test_named_ones(self) -> None:
        # span, when it begins, its pieces, seconds of each; each ends with the hour or day that has begun
        cases = (
            ("24h", "2026-11-28T15:00:00Z", 24, HOUR),
            ("7d", "2026-11-23", 28, 6 * HOUR),
            ("30d", "2026-10-31", 30, DAY),
            ("90d", "2026-09-01", 90, DAY),
            ("month", "2026-11-01", 29, DAY),
            ("year", "2025-12-01", 52, WEEK),
        )
        self.assertEqual(tuple(case[0] for case in cases), periods.SPANS)
        for span, since, pieces, step in cases:
            with self.subTest(span):
                found = periods.named(span, NOW)
                self.assertEqual(
                    (stamp(found.since), found.pieces, found.step), (stamp(epoch(since)), pieces, step)
                )
                self.assertLessEqual(NOW, found.until)

    def test_between_two_moments(self) -> None:
        cases = (
            ("an hour", 3600, HOUR),
            ("two days", 2 * DAY, HOUR),
            ("a week", 7 * DAY, 6 * HOUR),
            ("a quarter", 90 * DAY, DAY),
            ("a year", 365 * DAY, WEEK),
            ("since the epoch", NOW - 1, WEEK),
        )
        for name, long, step in cases:
            with self.subTest(name):
                found = periods.between(NOW - long, NOW)
                self.assertEqual(found.step, step)
                self.assertLessEqual(found.pieces, MOST)
                self.assertLessEqual(NOW, found.until)
                self.assertLess(found.until - step, NOW)


class Told(unittest.TestCase):
    def test_pieces_add_up_to_a_plain_count(self) -> None:
        draw = random.Random(6)
        rows = [
            row(
                NOW - draw.random() * 40 * DAY, draw.choice((None, 5, 10**9)), model=draw.choice("abcdefghij")
            )
            for _ in range(1500)
        ]
        rows.sort(key=lambda one: str(one["at"]))
        state = kept(rows)
        for span in periods.SPANS:
            with self.subTest(span):
                found = told(state, periods.named(span, NOW))
                since, until = found["since"], found["until"]
                within = [one for one in rows if since <= one["at"] < until]
                self.assertEqual(sum(sum(each["calls"]) for each in found["names"]), len(within))
                self.assertEqual(found["total"]["calls"], len(within))
                self.assertLessEqual(len(found["names"]), periods.NAMES + 1)
                self.assertEqual(sum(each["calls"] for each in found["rows"]), len(within))
                self.one_by_one(found, rows)

    def one_by_one(self, found: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        for each in found["names"][: periods.NAMES]:
            for number, at in enumerate(found["at"]):
                end = stamp(epoch(at) + found["step_s"])
                mine = [one for one in rows if one["model"] == each["name"] and at <= one["at"] < end]
                units = sum(round((one["cost_usd"] or 0) * cost.UNITS) for one in mine)
                self.assertEqual(each["calls"][number], len(mine))
                if each["usd"][number] is not None:
                    self.assertEqual(each["usd"][number], cost.usd(units))
                self.assertEqual(each["unknown"][number], sum(one["cost_usd"] is None for one in mine))

    def test_what_is_dark_is_null_and_what_is_not_there_is_nothing(self) -> None:
        (one,) = told(kept([row(NOW, None)]), periods.named("24h", NOW))["names"]
        self.assertEqual((one["usd"][-1], one["calls"][-1], one["usd"][0]), (None, 1, 0.0))

    def test_the_stretch_before(self) -> None:
        rows = [row(NOW - days * DAY, 10**12) for days in (65, 45, 44, 3)]
        found = told(kept(rows), periods.named("30d", NOW))
        before = found["before"]
        self.assertEqual((found["total"]["calls"], before["total"]["calls"]), (1, 2))
        self.assertEqual((before["since"][:10], before["until"][:10]), ("2026-10-01", "2026-10-31"))
        self.assertIsNone(told(kept(rows[2:]), periods.named("30d", NOW))["before"])

    def test_hours_of_long_ago_are_told_by_the_day(self) -> None:
        rows = [row(NOW - hours * 3600) for hours in range(30 * 24, 0, -1)]
        old = periods.between(NOW - 25 * DAY, NOW - 24 * DAY)
        found = told(kept(rows), old)
        self.assertEqual((old.step, found["step_s"]), (HOUR, DAY))
        self.assertEqual(found["total"]["calls"], 48)

    def test_renamed_models_are_one(self) -> None:
        rows = [row(NOW, model="old"), row(NOW, model="new")]
        found = told(kept(rows), periods.named("24h", NOW), who=lambda name: "new")
        self.assertEqual([(each["name"], each["calls"][-1]) for each in found["names"]], [("new", 2)])

    def test_lines_of_a_file(self) -> None:
        rows = [row(NOW, model="b"), row(NOW - DAY, model="a"), row(NOW, model="a")]
        copied = usage.copy(kept(rows), "model")
        lines = [
            (at[:10], name, counts[0])
            for at, name, counts in periods.rows(copied, "model", periods.named("30d", NOW))
        ]
        self.assertEqual(lines, [("2026-11-28", "a", 1), ("2026-11-29", "a", 1), ("2026-11-29", "b", 1)])

    def test_an_empty_ledger(self) -> None:
        found = told(usage.empty(), periods.named("30d", NOW))
        self.assertEqual(
            (found["names"], found["total"]["calls"], found["before"], len(found["at"])), ([], 0, None, 30)
        )


if __name__ == "__main__":
    unittest.main()
