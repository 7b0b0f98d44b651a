import unittest
from typing import Any

from metrics.commands.seats import Seats, tokens

OPENING = {
    "event": "panel.started",
    "panel": "p1",
    "reply": "merged",
    "seats": [
        {"call": "p1.member1", "seat": "member", "alias": "kimi"},
        {"call": "p1.explorer", "seat": "explorer", "alias": "glm"},
    ],
    "skipped": [{"alias": "tiny", "why": "small"}],
}


def heard(*events: dict[str, Any]) -> Seats:
    seats = Seats()
    for event in (OPENING, *events):
        seats.hear(event)
    return seats


class Hearing(unittest.TestCase):
    def test_who_waits_and_who_answered(self) -> None:
        seats = heard(
            {"event": "seat.started", "call": "p1.explorer"},
            {"event": "seat.reasoning", "call": "p1.explorer", "text": "hm"},
            {"event": "seat.delta", "call": "p1.explorer", "text": "yes"},
            {"event": "tick"},
            {"event": "seat.done", "call": "p1.member1", "status": "error", "message": "refused"},
        )
        self.assertEqual([chair.alias for chair in seats.waiting], ["glm"])
        self.assertEqual(seats.waiting[0].written, 5)
        self.assertEqual([chair.status for chair in seats.chairs.values()], ["error", "pending"])
        self.assertEqual(seats.answered, [])
        self.assertEqual((seats.panel, seats.reply, len(seats.skipped)), ("p1", "merged", 1))

    def test_a_merger_is_known_by_its_own_events(self) -> None:
        seats = heard(
            {"event": "merge.started", "call": "p1.merger"},
            {"event": "merge.delta", "call": "p1.merger", "text": "both"},
            {"event": "merge.done", "call": "p1.merger", "seat": "merger", "alias": "opus", "status": "ok"},
        )
        merger = seats.chairs["p1.merger"]
        self.assertEqual(
            (merger.alias, merger.who["seat"], merger.written, merger.status), ("opus", "merger", 4, "ok")
        )

    def test_how_it_ended(self) -> None:
        self.assertIsNone(heard().ended)
        self.assertIsNotNone(heard({"event": "panel.done"}).ended)
        self.assertIsNotNone(heard({"event": "failed", "status": 502}).failed)

    def test_what_is_not_known_yet_is_let_by(self) -> None:
        self.assertEqual(len(heard({"event": "of a later version", "call": "x"}, {}).chairs), 2)


class Words(unittest.TestCase):
    def test_a_row_and_a_section(self) -> None:
        event = {
            "event": "seat.done",
            "call": "p1.explorer",
            "status": "cut",
            "seconds": 0,
            "answer": "half",
            "message": "broke off",
        }
        chair = heard(event).chairs["p1.explorer"]
        self.assertEqual(chair.row(), ("p1.explorer", "explorer", "glm", "cut", "0.0", "unknown", "unknown"))
        self.assertEqual(chair.section(), "## glm (explorer, cut, 0.0 s)\n\nhalf\n\n_cut: broke off_\n\n")

    def test_tokens(self) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({}, "unknown"),
            ({"in": None, "out": None}, "unknown"),
            ({"in": 1200, "out": 0}, "1,200 in, 0 out"),
            ({"in": 5, "out": None}, "5 in"),
            ({"in": 5, "out": 6, "estimated": True}, "~5 in, ~6 out"),
        ]
        for said, wanted in cases:
            with self.subTest(wanted):
                self.assertEqual(tokens(said), wanted)


if __name__ == "__main__":
    unittest.main()
