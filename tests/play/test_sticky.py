import unittest
from dataclasses import replace

from metrics.play import sticky
from metrics.records import Request

SYSTEM = {"role": "system", "content": "be brief"}
ASKED = {"role": "user", "content": "hello"}
SAID = {"role": "assistant", "content": "hi"}
PICTURE = {
    "role": "user",
    "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}],
}
BILLED = "x-anthropic-billing-header: cc_version=2; cch=1f2;\nbe brief"


def request(*messages, **more):
    return Request("bench/core", "core", "route", messages or [SYSTEM, ASKED], **more)


class KeyTest(unittest.TestCase):
    SAME = [
        ("a later turn", request(SYSTEM, ASKED, SAID, {"role": "user", "content": "and now?"})),
        (
            "parts for a string",
            request(SYSTEM, {"role": "user", "content": [{"type": "text", "text": "hello"}]}),
        ),
        ("other tools and options", request(options={"temperature": 1}, tools=[{"type": "function"}])),
        ("Claude Code's changing line", request({"role": "system", "content": BILLED}, ASKED)),
        ("a developer", request({"role": "developer", "content": "be brief"}, ASKED)),
    ]
    OTHER = [
        ("another collection", replace(request(), collection="other")),
        ("another user", replace(request(), key="bwk_2")),
        ("another beginning", request(SYSTEM, {"role": "user", "content": "hullo"})),
        ("another system text", request({"role": "system", "content": "be long"}, ASKED)),
        ("a session", request(session="s1")),
        ("a session named like the words", request(session="be brief")),
        ("a picture", request(PICTURE)),
        ("nothing that can be read", request({"role": "user", "content": None})),
    ]

    def test_what_is_the_same_conversation(self):
        for name, asked in self.SAME:
            with self.subTest(name):
                self.assertEqual(sticky.key(asked), sticky.key(request()))

    def test_what_is_another(self):
        keys = [sticky.key(request()), *(sticky.key(asked) for _, asked in self.OTHER)]
        self.assertEqual(len(set(keys)), len(keys))

    def test_a_session_holds_whatever_is_said(self):
        self.assertEqual(
            sticky.key(request(session="s1")),
            sticky.key(request({"role": "user", "content": "x"}, session="s1")),
        )

    def test_no_word_of_it_is_in_the_key(self):
        self.assertRegex(sticky.key(request()), r"^[0-9a-f]{24}$")

    def test_it_is_the_same_in_every_version(self):
        """Conversations go on over a restart, which may be an update."""
        for asked, found in [
            (request(), "6cbae4e0318701d03683dc5b"),
            (request(session="s1"), "348d21a1eabf12cac99d3e19"),
            (
                request(SYSTEM, {"role": "user", "content": "ü\ud83d" * sticky.WINDOW}),
                "1344c472ed4631a28c71e936",
            ),
        ]:
            self.assertEqual(sticky.key(asked), found)

    def test_what_begins(self):
        for name, asked, begins in [
            ("the first words", request(), True),
            ("a session", request(session="s"), False),
            ("an answer", request(ASKED, SAID, ASKED), False),
            ("a result", request(ASKED, {"role": "tool", "content": "x", "tool_call_id": "c"}), False),
        ]:
            with self.subTest(name):
                self.assertEqual(sticky.begins(asked), begins)
