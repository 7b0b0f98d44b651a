"""Conversations as Ollama takes them."""

import json
import unittest

from metrics.client.ollama_messages import written
from metrics.records import Problem

USER = {"role": "user", "content": "hi"}
LOOK = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a":1}'}}
LOOKED = {"id": "c1", "function": {"name": "look", "arguments": {"a": 1}}}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
TEXT = {"type": "text", "text": "what"}


def called(*calls, **more):
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def asking(*calls, **more):
    return {"role": "assistant", "content": "", "tool_calls": list(calls), **more}


CASES = [
    ("a word", [USER], [USER]),
    (
        "instructions stay where they are",
        [USER, {"role": "developer", "content": "a"}, {"role": "system", "content": [TEXT]}],
        [USER, {"role": "system", "content": "a"}, {"role": "system", "content": "what"}],
    ),
    (
        "a picture",
        [{"role": "user", "content": [TEXT, PICTURE, {"type": "text", "text": "is it"}]}],
        [{"role": "user", "content": "what\n\nis it", "images": ["AA=="]}],
    ),
    (
        "calls and results, each under its tool's name",
        [
            USER,
            called(LOOK, {**LOOK, "id": "c2", "_signature": "x"}),
            {"role": "tool", "tool_call_id": "c1", "content": "row"},
        ],
        [
            USER,
            asking(LOOKED, {**LOOKED, "id": "c2"}),
            {"role": "tool", "content": "row", "tool_name": "look", "tool_call_id": "c1"},
        ],
    ),
    (
        "a result of no call keeps its own name",
        [USER, {"role": "tool", "tool_call_id": "x", "name": "n", "content": "row"}],
        [USER, {"role": "tool", "content": "row", "tool_name": "n", "tool_call_id": "x"}],
    ),
    (
        "an id that comes again",
        [
            called(LOOK),
            called({**LOOK, "function": {"name": "go"}}),
            {"role": "tool", "tool_call_id": "c1", "content": "r"},
        ],
        [
            asking(LOOKED),
            asking({"id": "c1", "function": {"name": "go", "arguments": {}}}),
            {"role": "tool", "content": "r", "tool_name": "go", "tool_call_id": "c1"},
        ],
    ),
    (
        "thoughts that its caller kept",
        [USER, {"role": "assistant", "content": "a", "reasoning_content": "hm"}],
        [USER, {"role": "assistant", "content": "a", "thinking": "hm"}],
    ),
    ("nothing", [USER, {"role": "assistant", "content": ""}, USER], [USER, USER]),
    ("marks of ours", [{**USER, "_cache": {}}], [USER]),
    (
        "a refusal is what was said",
        [{"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}],
        [{"role": "assistant", "content": "no"}],
    ),
]


class WrittenTest(unittest.TestCase):
    def test_cases(self):
        for name, messages, expected in CASES:
            with self.subTest(name):
                before = json.dumps(messages)
                self.assertEqual(written(messages), expected)
                self.assertEqual(json.dumps(messages), before)

    def test_a_pictures_address_is_refused(self):
        asked = [
            USER,
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://h/a.png"}}]},
        ]
        with self.assertRaises(Problem) as caught:
            written(asked)
        self.assertEqual((caught.exception.status, caught.exception.param), (400, "messages[1]"))
        self.assertIn("inline", caught.exception.message)
