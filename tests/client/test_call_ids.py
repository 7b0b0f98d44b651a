"""Ids and seals of the calls in a conversation, as hosts want them."""

import json
import re
import unittest
from dataclasses import replace
from typing import Any

from metrics.client import call_ids, chat, quirks, seals
from metrics.events import Tick, ToolStart
from tests.client.arrivals import TARGET, Arrived, call, chunk

LONG = "call_0123456789abcdef0123456789abcdef0123456789"
NINE = r"[a-zA-Z0-9]{9}"


def turn(*ids: str) -> list[dict[str, Any]]:
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
    results = [{"role": "tool", "tool_call_id": i, "content": "x"} for i in ids]
    return [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        *results,
    ]


def sent(host: str, messages: list[dict[str, Any]], served: str = "m") -> list[dict[str, Any]]:
    to = replace(TARGET, profile=host, served=served)
    body = json.loads(b"".join(chat.compose(to, chat.Conversation(messages), {}).body))
    found: list[dict[str, Any]] = body["messages"]
    return found


class IdsTest(unittest.TestCase):
    def test_an_id_that_does_not_fit_is_made_anew_for_the_call_and_its_result(self) -> None:
        cases = [
            ("api.mistral.ai", ["aB3dE6gH9"], True),
            ("api.mistral.ai", ["call_1", "call_2", "aB3dE6gH9"], False),
            ("api.openai.com", ["c" * 40], True),
            ("api.openai.com", [LONG, "c1"], False),
            ("", [LONG], True),
        ]
        for host, ids, same in cases:
            with self.subTest(host, ids=ids):
                messages = turn(*ids)
                before = json.dumps(messages)
                got = sent(host, messages)
                made = [one["id"] for one in got[1]["tool_calls"]]
                self.assertEqual(made, [message["tool_call_id"] for message in got[2:]])
                self.assertEqual(made == ids, same)
                self.assertEqual(len(set(made)), len(ids))
                pattern = quirks.of_host(host).ids
                self.assertFalse(pattern and call_ids.unfit(got, pattern))
                self.assertEqual(json.dumps(messages), before, "the caller's own stays as it is")

    def test_any_text_can_be_made_to_fit(self) -> None:
        for odd in ("", "é" * 99, "x\ud800" * 99):
            with self.subTest(odd[:3]):
                self.assertRegex(call_ids.fit(odd, re.compile(NINE)), NINE)

    def test_what_has_no_id_stays(self) -> None:
        for message in ({"role": "user", "content": "x"}, {"tool_calls": ["x", {"type": "function"}]}):
            with self.subTest(message=message):
                self.assertEqual(call_ids.fitted(message, NINE), message)
        self.assertFalse(call_ids.unfit([{"tool_calls": ["x", {"id": 5}]}], NINE))


class SealsTest(unittest.TestCase):
    GOOGLE = "generativelanguage.googleapis.com"

    def setUp(self) -> None:
        self.addCleanup(seals.forget)

    def signatures(self, messages: list[dict[str, Any]], host: str = GOOGLE) -> list[Any]:
        calls = sent(host, messages)[1]["tool_calls"]
        return [one.get("extra_content", {}).get("google", {}).get("thought_signature") for one in calls]

    def test_a_seal_comes_back_to_its_model(self) -> None:
        item = {
            "index": 0,
            "id": "c1",
            "type": "function",
            "function": {"name": "f", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "sig"}},
        }
        stream = call(item) + chunk({}, "tool_calls")
        heard = [event for event in chat.read(Arrived([stream]), TARGET) if not isinstance(event, Tick)]
        self.assertIn("sig", [event.signature for event in heard if isinstance(event, ToolStart)])
        self.assertEqual(self.signatures(turn("c1", "c2")), ["sig", None])
        self.assertEqual(self.signatures(turn("c1"), host=""), [None], "no other host is sent any")

    def test_one_that_is_lost_is_told_as_none(self) -> None:
        self.assertEqual(self.signatures(turn("c1", "c2")), [call_ids.SKIP, None])

    def test_what_its_caller_kept_stays(self) -> None:
        messages = turn("c1")
        messages[1]["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": "own"}}
        self.assertEqual(self.signatures(messages), ["own"])
