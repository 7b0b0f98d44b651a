from typing import Any

from metrics.evidence import offloads, standing, verdicts
from metrics.evidence.cells import DAY0, ONE, PLACES, SUMS
from metrics.evidence.standing import Record
from metrics.store import home, stamps
from tests.store.case import HomeCase

AT = "2026-01-01T12:00:00.000Z"


def cell(**sums: float) -> list[int]:
    made = [0] * len(SUMS)
    for name, amount in sums.items():
        made[PLACES[name]] = int(amount * ONE)
    return made


def routed(useful: float, judged: float) -> list[int]:
    return cell(route_useful=useful, n_route=judged)


class Relative(HomeCase):
    def test_levels(self) -> None:
        cases: list[tuple[str, dict[str, list[int]], float]] = [
            ("nobody judged", {}, 0.5),
            ("one verdict", {"a": routed(1, 1)}, (0.5 + 1 / 3) / (1 + 1 / 3)),
            ("a favourite counts at most once", {"a": routed(2e6, 2e6)}, 0.75),
            ("two", {"a": routed(2, 2), "b": routed(0, 2)}, (0.5 + 0.5) / 2),
            ("panels count less", {"a": cell(useful=1, n_useful=1)}, (0.5 + 0.3 / 2.3) / (1 + 0.3 / 2.3)),
            ("members' too", {"a": cell(seated_useful=0, n_seated=1)}, 0.5 / (1 + 0.3 / 2.3)),
            ("findings are another matter", {"a": cell(new=5, n_claims=1)}, 0.5),
        ]
        for name, models, expected in cases:
            with self.subTest(name):
                found = standing.relative({"code": models}, "code", DAY0, 0.3)
                self.assertAlmostEqual(found.level, expected, 5)

    def test_records(self) -> None:
        shapes = {
            "code": {"a": routed(2, 2), "b": routed(0, 2)},
            "prose": {"a": routed(1, 1), "c": routed(0, 1)},
        }
        found = standing.relative(shapes, "code", DAY0, 0.3)
        self.assertEqual(found.level, 0.5)
        self.assertEqual(found.records["a"], Record(4.0, 2.0, 6.0, 3.0))
        self.assertEqual(found.records["b"], Record(0.0, 2.0, 0.0, 2.0))
        self.assertEqual(found.records["c"], Record(0.0, 0.0, 0.0, 1.0))
        self.assertEqual(standing.relative(shapes, "quick", DAY0, 0.3).level, 0.5)

    def test_old_verdicts_fade(self) -> None:
        later = standing.relative({"code": {"a": routed(4, 4)}}, "code", DAY0 + 120, 0.3)
        self.assertAlmostEqual(later.records["a"].own_n, 1.0, 5)

    def test_who_has_only_findings_has_no_record_here(self) -> None:
        self.assertEqual(
            standing.relative({"code": {"a": cell(new=1, n_claims=1)}}, "code", DAY0, 1).records, {}
        )


class Of(HomeCase):
    def give(self, call: str, useful: bool | None, **more: Any) -> None:
        subject = {"at": AT, "collection": "core", "shape": "code", "model": "aa", "model_id": "x:a"}
        offloads.record({"call": call, "seat": "member", "status": "ok", **subject, **more})
        if useful is None:
            verdicts.withdraw(call, now=stamps.epoch(AT))
        else:
            verdicts.give(call, useful, now=stamps.epoch(AT))

    def own(self) -> tuple[float, float] | None:
        found = standing.of("core", "code", DAY0, 0.3).records.get("x:a")
        return None if found is None else (found.own_n, found.all_n)

    def test_each_verdict_shows_at_once_and_a_restart_keeps_it(self) -> None:
        call, panel = "r20260101-120000-0a1b2c3d.1", "p20260101-120000-0a1b2c3d"
        steps: list[tuple[str, bool | None, dict[str, Any], tuple[float, float] | None]] = [
            (call, True, {}, (1.0, 1.0)),
            (call, False, {}, (1.0, 1.0)),
            (f"{panel}.member1", True, {}, (1.3, 1.3)),
            (f"{panel}.explorer", True, {"seat": "explorer"}, (1.6, 1.6)),
            (f"{panel}.member2", True, {"shape": "prose"}, (1.6, 1.9)),
            (f"{panel}.member3", False, {"status": "error"}, (1.6, 1.9)),
            (f"{panel}.merger", True, {"seat": "merger"}, (1.6, 1.9)),
            (f"{panel}.member1", None, {}, (1.3, 1.6)),
            (call, None, {}, (0.3, 0.6)),
        ]
        for at, useful, more, expected in steps:
            with self.subTest(at=at, useful=useful):
                self.give(at, useful, **more)
                self.assertEqual(self.own(), expected)
                home.close()
                self.assertEqual(self.own(), expected)
        home.close()
        (self.home / "verdicts.counters").unlink()
        self.assertEqual(self.own(), (0.3, 0.6))

    def test_a_failed_answer_that_is_judged_twice(self) -> None:
        call = "p20260101-120000-0a1b2c3d.member1"
        self.give(call, True, status="timeout")
        self.give(call, False, status="ok")  # corrected since: the first verdict decided what it counts
        self.assertIsNone(self.own())
        self.give(call, None)
        self.assertEqual(verdicts.evidence("core", dict), {})

    def test_another_folder_is_another_record(self) -> None:
        self.give("r20260101-120000-0a1b2c3d.1", True)
        self.assertIsNotNone(self.own())
        home.use(self.home / "other")
        self.assertIsNone(self.own())

    def test_worked_out_once_until_the_next_verdict_or_day(self) -> None:
        self.give("r20260101-120000-0a1b2c3d.1", True)
        asked = ("core", "code", DAY0, 0.3)
        first = standing.of(*asked)
        self.assertIs(standing.of(*asked), first)
        self.assertIsNot(standing.of("core", "code", DAY0 + 1, 0.3), first)
        self.assertIs(standing.of(*asked), first)
        self.give("r20260101-120000-0a1b2c3d.2", True)
        self.assertIsNot(standing.of(*asked), first)


if __name__ == "__main__":
    import unittest

    unittest.main()
