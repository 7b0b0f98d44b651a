import unittest

from metrics.evidence import panels, reliability
from metrics.play import again, seating
from tests.play.house import NOW, House, draw, request


class Again(House):
    """A panel with one explorer's chair and three who could take it; x1 has waited longest."""

    def setUp(self):
        super().setUp()
        self.seat("core", "m1", explorers=1)
        self.add("x1", "x2", "x3")
        for age, alias in ((300, "x1"), (200, "x2"), (100, "x3")):
            reliability.note(f"fake:{alias}", "ok", NOW - age)
        panel = seating.convene(request(), draw())
        self.row = {"panel": panel.id, "collection": "core", "decision": panel.decision, "seats": []}

    def after(self, **asked):
        return [seat["alias"] for seat in again.decide(self.row, **asked)["after"]]

    def test_the_same_facts_decide_the_same(self):
        told = again.decide(self.row)
        self.assertEqual(told["before"], told["after"])
        self.assertEqual(self.after(), ["x1"])
        self.assertEqual((told["policy"], told["was"], told["gone"]), (told["was"], told["policy"], []))

    def test_without_somebody(self):
        self.assertEqual(self.after(without={"x1"}), ["x2"])
        self.assertEqual(self.after(without={"x1", "x2", "x3"}), [])

    def test_with_what_is_known_today(self):
        reliability.note("fake:x1", "ok", NOW + 100)
        self.assertEqual(self.after(), ["x1"], "the record is as it was")
        self.assertEqual(self.after(today=True), ["x2"])
        panels.record({"panel": self.row["panel"], "at": "2026-11-29T14:22:20.000Z", **self.row})
        told = again.decide(self.row, today=True)
        self.assertEqual(
            {one["alias"]: one["wait"] for one in told["candidates"]}, {"x1": 1, "x2": 1, "x3": 1}
        )

    def test_who_left_the_bench_is_told(self):
        from metrics.bench import moves

        moves.retire("x1", "gone", "test")
        told = again.decide(self.row, today=True)
        self.assertEqual(told["gone"], ["x1"])
        self.assertEqual([seat["alias"] for seat in told["after"]], ["x2"])


if __name__ == "__main__":
    unittest.main()
