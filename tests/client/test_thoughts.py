"""Thoughts that go back with the calls they led to."""

import json
import unittest
from typing import Any

from metrics.client import chat, quirks, seals, thoughts
from metrics.records import Problem
from tests.client.arrivals import TARGET, Arrived, call, chunk, part

REFUSAL = "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"


def turn(*ids: str, **more: Any) -> list[dict[str, Any]]:
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
    return [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": calls, **more},
    ]


def sent(messages: list[dict[str, Any]]) -> Any:
    body = json.loads(b"".join(chat.compose(TARGET, chat.Conversation(messages), {}).body))
    return body["messages"][1].get(thoughts.FIELD)


class ThoughtsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.addCleanup(seals.forget)
        self.addCleanup(quirks.forget)

    def answer(self) -> None:
        stream = chunk({"reasoning_content": "I "}) + chunk({"reasoning_content": "look"})
        stream += call(part(0, "{}", "c1", "f"), part(1, "{}", "c2", "f")) + chunk({}, "tool_calls")
        list(chat.read(Arrived([stream]), TARGET))

    def test_they_go_back_once_they_are_wanted(self) -> None:
        self.answer()
        self.assertIsNone(sent(turn("c1", "c2")))
        self.assertTrue(quirks.learn(TARGET, Problem(400, REFUSAL, kind="bad_request")))
        self.assertEqual(sent(turn("c1", "c2")), "I look")
        self.assertEqual(sent(turn("c1", reasoning_content="own")), "own")
        self.assertEqual(sent(turn("c9")), thoughts.LOST)
        self.assertIsNone(sent([*turn()[:1], {"role": "assistant", "content": "x"}]))
        self.assertFalse(quirks.learn(TARGET, Problem(400, REFUSAL, kind="bad_request")))

    def test_another_model_has_none_of_them(self) -> None:
        self.answer()
        self.assertIsNone(thoughts.find("e:other", "c1"))
        self.assertIsNone(thoughts.find(TARGET.model_id, "c2"), "the first call has them")

    def test_nothing_is_no_thought(self) -> None:
        thoughts.keep("m", "a", "")
        self.assertIsNone(thoughts.find("m", "a"))

    def test_another_conversation_with_a_call_of_that_id_gets_none(self) -> None:
        """Some servers number the calls of each conversation from 0."""
        thoughts.keep("m", "functions.look:0", "of one user")
        thoughts.keep("m", "functions.look:0", "of another")
        self.assertIsNone(thoughts.find("m", "functions.look:0"))
