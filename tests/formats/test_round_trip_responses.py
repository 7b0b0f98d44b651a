"""What the Responses format writes, the Responses dialect reads back as the same message; what the dialect
asks, the format reads as the same request."""

import json
import unittest
from dataclasses import replace

from metrics.client import responses, responses_read, responses_seals, seals
from metrics.client.outgoing import Conversation
from metrics.events import Failed, Reasoning, Text, gather
from metrics.formats import openai_responses
from metrics.formats.protocol import Stamp
from metrics.records import Problem, Request
from tests.client.arrivals import TARGET, Arrived
from tests.client.responses_said import completed
from tests.effort import effort
from tests.formats.responses_asked import CUSTOM, NAMESPACE, PICTURE, TOOL, parse
from tests.formats.streams import END, STREAMS

ASKED = Request("core", "core", "all", [{"role": "user", "content": "x"}])
STAMP = Stamp("ab12", 1_796_000_000)
STEP = effort(61, 7)  # bytes between cuts; the reader's own tests cut at every one
SAID = [one for one in STREAMS if one[2] or one[3] or one[4]]  # a provider that says nothing is a Problem
SEALED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"}

WHOLE = {
    "instructions": "be brief",
    "input": [
        {"role": "developer", "content": "dev"},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": PICTURE, "detail": "low"},
            ],
        },
        SEALED,
        {"role": "assistant", "content": [{"type": "output_text", "text": "on it"}], "phase": "commentary"},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"a":1}'},
        {**SEALED, "id": "rs_2", "encrypted_content": "gB"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "*** x"},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [
                {"type": "input_text", "text": "a cat"},
                {"type": "input_image", "image_url": PICTURE, "detail": "high"},
            ],
        },
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "ok"},
        {"role": "user", "content": "so?"},
    ],
    "tools": [TOOL, {**CUSTOM, "format": {"type": "text"}}],
    "tool_choice": {"type": "custom", "name": "patch"},
    "parallel_tool_calls": False,
    "max_output_tokens": 100,
    "temperature": 0.5,
    "text": {
        "verbosity": "low",
        "format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}},
    },
    "reasoning": {"effort": "low", "summary": "auto"},
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "k",
    "user": "u",
    "truncation": "auto",
    "store": True,
}


def read(pieces):
    return gather(responses_read.read(Arrived(pieces), TARGET))


def calls(reply):
    return [(call["id"], call["name"], json.loads(call["arguments"] or "{}")) for call in reply.tool_calls]


def asked(request):
    """The body of a request to a Responses member, for what a caller of the same API asked."""
    conversation = Conversation(request.messages, "responses", request.native)
    options = {**request.options, **request.passed, "tools": list(request.tools)}
    return json.loads(b"".join(responses.compose(TARGET, conversation, options).body))


class ReplyTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(seals.forget)

    def test_every_stream_is_read_back(self):
        for name, events, text, reasoning, called in SAID:
            written = b"".join(openai_responses.stream(ASKED, iter(events), STAMP))
            for at in range(0, min(len(written), 3000), STEP if len(written) < 100_000 else 1000):
                with self.subTest(name, at=at):
                    self.same(read([written[:at], written[at:]]), events, text, reasoning, called)

    def test_every_whole_reply_is_read_back(self):
        for name, events, text, reasoning, called in SAID:
            with self.subTest(name):
                told = openai_responses.reply(ASKED, gather(iter(events)), STAMP)
                self.same(read([json.dumps(told).encode()]), events, text, reasoning, called)

    def same(self, reply, events, text, reasoning, called):
        finish, spent = events[-1].finish, events[-1].usage
        cut = finish == "length"
        self.assertEqual((reply.text, reply.reasoning), (text, reasoning))
        self.assertEqual(reply.finish, finish)
        if not cut:
            self.assertEqual(calls(reply), called)
        if spent.out is not None:
            self.assertEqual((reply.usage.prompt, reply.usage.out), (spent.prompt, spent.out))

    def test_nothing_said_is_no_answer(self):
        with self.assertRaises(Problem) as caught:
            read([b"".join(openai_responses.stream(ASKED, iter([END]), STAMP))])
        self.assertEqual(caught.exception.kind, "empty")

    def test_seals_and_phases_are_read_back(self):
        request = replace(ASKED, native={"include": ["reasoning.encrypted_content"]})
        events = [Reasoning("why"), Reasoning("", sealed=SEALED), Text("x", phase="commentary"), END]
        written = b"".join(openai_responses.stream(request, iter(events), STAMP))
        heard = list(responses_read.read(Arrived([written]), TARGET))
        sealed = [event.sealed["encrypted_content"] for event in heard if getattr(event, "sealed", None)]
        phases = [event.phase for event in heard if isinstance(event, Text)]
        self.assertEqual((sealed, phases), (["gA"], ["commentary"]))

    def test_a_late_failure_is_read_as_one(self):
        events = [Text("half"), Failed(Problem(429, "slow down, please", retry_after=3))]
        with self.assertRaises(Problem) as caught:
            read([b"".join(openai_responses.stream(ASKED, iter(events), STAMP))])
        self.assertIn("slow down", caught.exception.message)
        self.assertEqual(caught.exception.kind, "rate_limited")


class RequestTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(seals.forget)
        self.addCleanup(responses_seals.forget)

    def test_a_request_goes_through_as_it_was_asked(self):
        first = parse(bench={"reply": "route"}, **WHOLE)
        body = asked(first)
        again = parse(bench={"reply": "route"}, **body)
        for field in ("messages", "options", "tools", "passed", "session"):
            with self.subTest(field):
                self.assertEqual(getattr(again, field), getattr(first, field))
        self.assertEqual(asked(again), body)

    def test_items_are_those_that_were_sent(self):
        body = asked(parse(bench={"reply": "route"}, **WHOLE))
        kinds = [item.get("type", "message") for item in WHOLE["input"]]
        self.assertEqual([item["type"] for item in body["input"]], kinds)
        self.assertEqual(body["input"][2], SEALED)
        for name in ("instructions", "text", "reasoning", "include", "truncation", "tools", "tool_choice"):
            with self.subTest(name):
                self.assertEqual(body[name], WHOLE[name])

    def test_a_namespace_is_flat_and_found_again(self):
        request = parse(bench={"reply": "route"}, tools=[NAMESPACE])
        names = [tool["name"] for tool in asked(request)["tools"]]
        self.assertEqual(names, ["mcp__a__look", "mcp__a__spawn"])
        item = {"type": "function_call", "call_id": "c1", "name": names[0], "arguments": "{}"}
        answered = gather(responses_read.read(Arrived([completed(item)]), TARGET))
        told = openai_responses.reply(request, answered, STAMP)["output"][0]
        self.assertEqual((told["name"], told["namespace"]), ("look", "mcp__a"))
