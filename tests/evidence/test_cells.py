import random
import unittest
from datetime import date
from typing import Any

from metrics.evidence import cells
from metrics.evidence.cells import ONE, SUMS

DAY = "20260101"  # DAY0: a verdict weighs ONE
LATER = "20260302"  # a half-life later


def row(seat: str = "explorer", day: str = DAY, model: str = "x:a", **more: Any) -> dict[str, Any]:
    call = f"r{day}-120000-0a1b2c3d.1" if seat == "route" else f"p{day}-120000-0a1b2c3d.{seat}1"
    said = {"call": call, "collection": "core", "shape": "code", "model_id": model, "seat": seat, "was": None}
    return said | {"useful": True} | more


def folded(*rows: dict[str, Any]) -> cells.Cells:
    state: cells.Cells = {}
    for each in rows:
        cells.fold(state, each)
    return state


def sums(*rows: dict[str, Any], shape: str = "code", model: str = "x:a") -> dict[str, float]:
    """The sums of one cell that are not nothing, in verdicts of DAY0."""
    cell = folded(*rows).get("core", {}).get(shape, {}).get(model, [0] * len(SUMS))
    return {name: amount / ONE for name, amount in zip(SUMS, cell, strict=True) if amount}


def found(new: int | None, was: int | None = None, seat: str = "explorer") -> dict[str, Any]:
    return row(seat) | {"new": new, "was_new": was}


class Contributions(unittest.TestCase):
    def test_what_a_row_adds(self) -> None:
        no = {"useful": False}
        cases: list[tuple[str, dict[str, Any], dict[str, float]]] = [
            ("an explorer", row(), {"useful": 1, "n_useful": 1}),
            ("not useful", row(**no), {"n_useful": 1}),
            ("a member", row("member"), {"seated_useful": 1, "n_seated": 1}),
            ("a routed answer", row("route"), {"route_useful": 1, "n_route": 1}),
            ("a merger", row("merger"), {}),
            ("an answer that failed", row(answered=False), {}),
            ("no opinion", row(useful=None), {}),
            ("a half-life later", row(day=LATER), {"useful": 2, "n_useful": 2}),
            ("new findings", found(3), {"new": 3, "n_claims": 1}),
            ("claims, and none of them new", found(0), {"n_claims": 1}),
            ("a member's claims", found(3, seat="member"), {}),
        ]
        for name, each, expected in cases:
            with self.subTest(name):
                self.assertEqual(sums(each), expected)

    def test_changes_of_mind(self) -> None:
        first, second = row(), row(useful=False, was=True)
        undone = row(was=False, useful=None, withdrawn=True)
        self.assertEqual(sums(first, second), {"n_useful": 1})
        self.assertEqual(sums(first, second, undone), {})
        self.assertEqual(sums(found(2), found(3, 2)), {"new": 3, "n_claims": 1})
        self.assertEqual(sums(found(2), found(None, 2)), {})

    def test_who_judged_nothing_has_no_cell(self) -> None:
        self.assertEqual(folded(row("merger"), row(useful=None), row(answered=False)), {})

    def test_a_task_that_nobody_named_is_general(self) -> None:
        self.assertEqual(sums(row(shape=None), shape="general"), {"useful": 1, "n_useful": 1})

    def test_no_call(self) -> None:
        for call in ("", "x20260101-1.member1", "p20261301-120000-0a1b2c3d.member1"):
            with self.subTest(call), self.assertRaises(ValueError):
                cells.fold({}, row() | {"call": call})


class Sums(unittest.TestCase):
    def test_the_order_of_verdicts_does_not_matter(self) -> None:
        draw = random.Random(3)
        days = [f"{date.fromordinal(cells.DAY0 + draw.randrange(900)):%Y%m%d}" for _ in range(200)]
        rows = [
            row(draw.choice(("explorer", "member", "route")), day, useful=bool(n % 3))
            for n, day in enumerate(days)
        ]
        expected = folded(*rows)
        for _ in range(5):
            draw.shuffle(rows)
            self.assertEqual(folded(*rows), expected)

    def test_what_is_taken_back_leaves_nothing(self) -> None:
        draw = random.Random(4)
        days = [f"{date.fromordinal(cells.DAY0 + draw.randrange(3000)):%Y%m%d}" for _ in range(100)]
        given = [row(day=day) for day in days]
        taken = [row(day=day, was=True, useful=None, withdrawn=True) for day in days]
        kept = [row(day=DAY), row(day=LATER, useful=False)]
        self.assertEqual(folded(*given, *kept, *taken), folded(*kept))

    def test_a_late_verdict_weighs_as_its_panel(self) -> None:
        late = row(day=DAY) | {"at": "2029-01-01T00:00:00.000Z"}
        self.assertEqual(folded(late), folded(row(day=DAY)))

    def test_fading(self) -> None:
        day0 = cells.DAY0
        for days, share in ((0, 1.0), (60, 0.5), (120, 0.25), (-60, 2.0)):
            with self.subTest(days):
                self.assertAlmostEqual(cells.weight(day0) * cells.fade(day0 + days), share, 5)

    def test_dates_that_are_mistakes(self) -> None:
        for day in ("99991231", "00010101"):
            with self.subTest(day):
                self.assertGreater(sums(row(day=day))["n_useful"], 0)


if __name__ == "__main__":
    unittest.main()
