import unittest

from metrics.play import minutes
from metrics.records import Skipped, Usage
from tests.play.people import ID, answer, failed, panel, seat

DATA = "data:image/png;base64," + "A" * 1000


class BenchObjectTest(unittest.TestCase):
    def test_what_every_reply_tells(self):
        told = minutes.bench(panel("a", "b"), (answer("a"), failed("b", name="member2")))
        self.assertEqual(
            list(told), ["panel", "collection", "shape", "shape_by", "reply", "seats", "verdict"]
        )
        self.assertEqual(told["panel"], ID)

    def test_what_is_told_when_there_is_something_to_tell(self):
        asked = panel(
            "a", skipped=[Skipped("explorer", "z", "rests")], ignored=("logprobs",), dropped=("mcp",)
        )
        changed = answer("a", changed=("max_tokens raised",))
        told = minutes.bench(asked, (changed,), (seat("b", "member2"),), answer("m", name="merger"), "a note")
        self.assertEqual(told["skipped"], [{"seat": "explorer", "alias": "z", "why": "rests"}])
        self.assertEqual((told["ignored"], told["changed"]), (["logprobs"], ["a: max_tokens raised"]))
        self.assertEqual(told["dropped_tools"], ["mcp"])
        self.assertEqual((told["merger"]["alias"], told["note"]), ("m", "a note"))
        self.assertEqual(told["seats"][1]["status"], "pending")

    def test_a_seat(self):
        told = minutes.seat(answer("a", cost=2_500_000, provider="p", seconds=1.23456))
        self.assertEqual((told["cost"], told["seconds"]), (2.5e-6, 1.235))
        self.assertEqual(told["served_by"], {"provider": "p", "fingerprint": None})
        unknown = minutes.seat(answer("a"))
        self.assertEqual((unknown["cost"], unknown["served_by"]), (None, None), "unknown is never zero")
        self.assertNotIn("program", unknown)

    def test_total_adds_what_is_known_and_marks_estimates(self):
        parts = (answer("a"), answer("b", usage=Usage(1, 2, 3, 4, 1, estimated=True)), failed("c"))
        total = minutes.total(parts)
        self.assertEqual((total.prompt, total.out, total.reasoning, total.estimated), (16, 9, 1, True))


class StoredTest(unittest.TestCase):
    CASES = [
        ("text stays", {"role": "user", "content": "x"}, {"role": "user", "content": "x"}),
        (
            "what only dialects read goes",
            {"role": "user", "content": "x", "_turn": [{"type": "image"}], "_cache": {}},
            {"role": "user", "content": "x"},
        ),
        (
            "a picture leaves its size",
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": DATA}}]},
            {
                "role": "user",
                "content": [
                    {
                        "type": "image_url",
                        "image_url": {"url": "data:image/png;base64"},
                        "characters": len(DATA),
                    }
                ],
            },
        ),
        (
            "an address stays",
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a/b"}}]},
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "https://a/b"}, "characters": 11}],
            },
        ),
    ]

    def test_without_images(self):
        for name, message, stored in self.CASES:
            with self.subTest(name):
                self.assertEqual(minutes.without_images(message), stored)
