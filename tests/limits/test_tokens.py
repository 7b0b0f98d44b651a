import json
import tracemalloc
import unittest

from metrics.limits import tokens
from metrics.longjson import AsWritten

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}

CALL = {"id": "c1", "type": "function", "function": {"name": "edit", "arguments": "x" * 396}}
CUSTOM = {"id": "c2", "type": "custom", "custom": {"name": "exec", "input": "x" * 396}}


class TokensTest(unittest.TestCase):
    CASES = [
        ("nothing", [{"role": "user", "content": ""}], 4),
        ("400 characters", [{"role": "user", "content": "x" * 400}], 114),
        ("parts count", [{"role": "user", "content": [{"type": "text", "text": "x" * 400}]}], 114),
        ("an image", [{"role": "user", "content": [IMAGE]}], 2504),
        ("null content", [{"role": "assistant", "content": None}], 4),
        (
            "a tool call's arguments",
            [{"role": "assistant", "content": None, "tool_calls": [CALL, CUSTOM]}],
            224,
        ),
    ]

    def test_estimate(self):
        for name, messages, expected in self.CASES:
            with self.subTest(name):
                self.assertEqual(tokens.estimate(messages), expected)

    def test_tools(self):
        tool = {"type": "function", "function": {"name": "look", "description": "x" * 400}}
        one, two = tokens.of_tools([tool]), tokens.of_tools((tool, tool))
        self.assertEqual(tokens.of_tools(()), 0)
        self.assertTrue(110 < one < 140 and 2 * one - 4 < two < 2 * one + 4, (one, two))

    def test_tools_as_they_were_written(self):
        tool = {"type": "function", "function": {"name": "look", "description": "x" * 400}}
        text = json.dumps([tool]).encode()
        self.assertEqual(tokens.of_tools(AsWritten([tool], text)), tokens.of_tools([tool]))

    def test_text(self):
        self.assertEqual([tokens.of_text(text) for text in ("", "a", "abcd", "abcde")], [0, 1, 1, 2])

    def test_task_is_the_newest_user_words(self):
        messages = [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": "no"},
            {"role": "user", "content": [{"type": "text", "text": "  second\n question "}, IMAGE]},
        ]
        self.assertEqual(tokens.task(messages), "second question")
        self.assertEqual(tokens.task([{"role": "user", "content": "word " * 100}], 12), "word word w…")
        self.assertEqual(tokens.task([{"role": "system", "content": "x"}]), "")

    def test_task_looks_on_where_the_beginning_is_not_enough(self):
        for blank in (0, 20, 23, 24, 25, 500):
            for word in ("b", "b" * 9, "b" * 30):
                with self.subTest(blank=blank, word=word):
                    text = "a" + " " * blank + word + " c"
                    line = " ".join(text.split())
                    wanted = line if len(line) <= 12 else line[:11].rstrip() + "…"
                    self.assertEqual(tokens.task([{"role": "user", "content": text}], 12), wanted)

    def test_task_does_not_split_a_long_prompt(self):
        parts = [{"type": "text", "text": text} for text in ("a", " \n b ", "word " * 400_000)]
        message = {"role": "user", "content": parts}
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        self.assertEqual(tokens.task([message], 12), "a b word wo…")
        self.assertLess(tracemalloc.get_traced_memory()[1], 500_000)
