"""What a file that is taken along tells of a panel, in words."""

import unittest
from typing import Any

from metrics.dashboard import sheet

SEAT: dict[str, Any] = {
    "call": "p1.member1",
    "seat": "member",
    "alias": "kimi",
    "model_id": "hub:kimi",
    "status": "ok",
    "seconds": 14.23,
    "tokens": {"out": 1586, "estimated": False},
    "cost": 0.0112,
}
# a seat -> its line of figures
LINES = (
    (SEAT, "member, hub:kimi, 14.2 s, 1,586 tokens, $0.011"),
    ({**SEAT, "cost": None}, "member, hub:kimi, 14.2 s, 1,586 tokens, cost unknown"),
    ({**SEAT, "cost": 0}, "member, hub:kimi, 14.2 s, 1,586 tokens, no cost"),
    (
        {**SEAT, "tokens": {"out": 9, "estimated": True}, "seat": "explorer", "finish": "length"},
        "explorer, hub:kimi, 14.2 s, about 9 tokens, $0.011, cut at its limit of tokens",
    ),
    ({**SEAT, "tokens": {}}, "member, hub:kimi, 14.2 s, tokens unknown, $0.011"),
    ({**SEAT, "status": "error", "message": "quota used up"}, "member, hub:kimi, failed: quota used up"),
    ({**SEAT, "status": "pending"}, "member, hub:kimi, still at work when this was recorded"),
)
COSTS = (
    ([0.01, 0.02], "$0.030"),
    ([0, 0], "no cost"),
    ([0.01, None], "at least $0.010, 1 of unknown price"),
    ([None, 0], "cost unknown, 1 of unknown price"),
    ([1234.5], "$1,234.50"),
    ([0.00012], "$0.00012"),
    ([0.0000454], "$0.000045"),
)


def kept(*seats: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"panel": {"panel": "p1", "at": "2026", "collection": "core", "seats": list(seats)}, **more}


class TestSheet(unittest.TestCase):
    def test_a_seat_in_a_line(self) -> None:
        for seat, line in LINES:
            with self.subTest(line):
                self.assertEqual(", ".join(sheet.of(kept(seat)).answers[0].facts), line)

    def test_what_it_cost(self) -> None:
        for costs, said in COSTS:
            with self.subTest(said):
                told = sheet.of(kept(*({**SEAT, "cost": cost} for cost in costs)))
                self.assertEqual(dict(told.facts)["Cost"], said)

    def test_members_first_and_the_merger_apart(self) -> None:
        told = sheet.of(
            kept(
                {**SEAT, "call": "p1.merger", "seat": "merger", "alias": "m"},
                {**SEAT, "call": "p1.explorer", "seat": "explorer", "alias": "x"},
                {**SEAT, "call": "p1.member2", "alias": "b"},
                {**SEAT, "alias": "a"},
            )
        )
        self.assertEqual([answer.alias for answer in told.answers], ["a", "b", "x"])
        self.assertEqual(told.merged and told.merged.alias, "m")
        self.assertEqual(dict(told.facts)["Answered"], "3 of 3 seats")

    def test_words_verdicts_and_claims(self) -> None:
        body = {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "Is it\nsafe?"}, {"type": "image_url"}],
                },
            ],
            "answers": {"p1.member1": "No."},
            "reasoning": {"p1.member1": "Hm."},
        }
        told = sheet.of(
            kept(
                SEAT,
                body=body,
                verdicts={"p1.member1": {"useful": True, "best": True, "note": "short"}},
                claims={"p1.member1": [{"decision": "real", "quote": "No"}]},
            )
        )
        self.assertEqual((told.title, told.system), ("Is it", "Be brief."))
        self.assertEqual(told.question, "Is it\nsafe?\n\n(image_url, not kept)")
        (answer,) = told.answers
        self.assertEqual((answer.text, answer.reasoning, answer.note), ("No.", "Hm.", "short"))
        self.assertEqual(answer.verdict, "useful, the best of the panel")
        self.assertEqual(answer.claims, (("real finding", "No"),))

    def test_without_words(self) -> None:
        told = sheet.of(kept(SEAT, body=None))
        self.assertEqual((told.question, told.words_kept), (None, False))
        self.assertIn("not kept", told.title)
        self.assertEqual(told.answers[0].verdict, "not judged")


if __name__ == "__main__":
    unittest.main()
