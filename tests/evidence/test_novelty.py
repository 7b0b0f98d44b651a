from typing import Any

from metrics.evidence import cells, claims, novelty, offloads, panels, verdicts
from metrics.store import bodies, home, stamps
from tests.store.case import HomeCase

PANEL = "p20260101-142220-0a1b2c3d"
AT = "2026-01-01T14:22:20.123Z"
NOW = stamps.epoch(AT) + 60
MEMBER, SILENT, EXPLORER, SECOND = (
    f"{PANEL}.{seat}" for seat in ("member1", "member2", "explorer", "explorer2")
)


class NoveltyCase(HomeCase):
    def setUp(self) -> None:
        super().setUp()
        seats = [self.seat(MEMBER, "ma"), self.seat(SILENT, "mb", "error")]
        seats += [self.seat(EXPLORER, "xa"), self.seat(SECOND, "xb")]
        panels.record({"panel": PANEL, "at": AT, "collection": "core", "seats": seats})
        bodies.keep(PANEL, {"answers": {MEMBER: "The  Cache is\nnever emptied.", SILENT: "the lock leaks"}})

    def seat(self, call: str, alias: str, status: str = "ok") -> dict[str, Any]:
        kind = call.rpartition(".")[2].rstrip("0123456789")
        row = {"call": call, "seat": kind, "status": status}
        more = {"at": AT, "collection": "core", "shape": "code", "model": alias, "model_id": f"x:{alias}"}
        offloads.record(row | more)
        return row

    def give(self, call: str, **said: Any) -> None:
        verdicts.give(call, now=NOW, **said)

    def found(self, model: str = "x:xa") -> tuple[float, float]:
        """(new, n_claims) of the model's cell."""
        cell = verdicts.evidence("core", dict).get("code", {}).get(model, [0] * len(cells.SUMS))
        return cell[0] / cells.ONE, cell[1] / cells.ONE


class Novelty(NoveltyCase):
    def test_of(self) -> None:
        cases: list[tuple[str, dict[str, Any], int | None]] = [
            ("nothing is decided", {"useful": True}, None),
            ("all false", {"false": ["a", "b"]}, 0),
            ("real, and nobody else says so", {"real": ["a", "c"], "false": ["b"]}, 2),
            ("a member's answer holds one of them", {"real": ["the cache is never emptied", "c"]}, 1),
            ("a word or two is no claim of the member's", {"real": ["the cache"], "false": []}, 1),
            ("half a word is not the same", {"real": ["he cache is"], "false": []}, 1),
            ("a member that failed said nothing", {"real": ["the lock leaks"], "false": []}, 1),
            ("taken back", {"real": [], "false": []}, None),
        ]
        for name, said, expected in cases:
            with self.subTest(name):
                self.give(EXPLORER, **said)
                self.assertEqual(novelty.of(EXPLORER), expected)

    def test_whose_count_a_claim_touches(self) -> None:
        cases = ((EXPLORER, [EXPLORER]), (MEMBER, [EXPLORER, SECOND]), (f"{PANEL}.merger", []), ("x", []))
        for call, expected in cases:
            with self.subTest(call):
                self.assertEqual(novelty.touched(call), expected)


class Counted(NoveltyCase):
    def test_claims_reach_the_cell_and_leave_it(self) -> None:
        steps: list[tuple[str, dict[str, Any], tuple[float, float]]] = [
            (EXPLORER, {"real": ["a", "b"]}, (2, 1)),
            (EXPLORER, {"false": ["b"]}, (1, 1)),
            (EXPLORER, {"useful": True}, (1, 1)),
            (MEMBER, {"real": ["A"]}, (0, 1)),  # a member makes the claim too, so it is not new
            (MEMBER, {"real": [], "false": ["a"]}, (0, 1)),
            (MEMBER, {"false": []}, (1, 1)),
            (EXPLORER, {"real": [], "false": []}, (0, 0)),
        ]
        for call, said, expected in steps:
            with self.subTest(said):
                self.give(call, **said)
                self.assertEqual(self.found(), expected)
        home.close()
        (self.home / "verdicts.counters").unlink()
        self.assertEqual(self.found(), (0, 0))

    def test_a_claim_marked_by_itself(self) -> None:
        claims.mark(EXPLORER, "a", 0, 1, "real", "local", NOW)
        verdicts.settle(EXPLORER, "local", NOW)
        verdicts.settle(EXPLORER, "local", NOW)
        self.assertEqual(self.found(), (1, 1))
        self.assertEqual(verdicts.revision(), 1)
        self.assertIsNone(verdicts.of(EXPLORER))

    def test_counts_of_verdicts_are_not_touched(self) -> None:
        self.give(EXPLORER, real=["a"])
        self.assertEqual(verdicts.record("core"), {})
