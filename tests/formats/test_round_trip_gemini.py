"""What the Gemini format writes, the dialect of the same API reads back as the same message; what the dialect
composes, the format reads as the same request."""

import json
import unittest
from dataclasses import replace

from metrics.client import gemini, seals
from metrics.client.outgoing import Conversation
from metrics.events import Failed, Reasoning, Text, ToolArguments, ToolStart, gather
from metrics.formats import gemini as form
from metrics.formats.protocol import Stamp
from metrics.records import Problem, Request
from tests.client.arrivals import TARGET, Arrived
from tests.formats.gemini_asked import PICTURE, parse
from tests.formats.streams import CALLED, STREAMS

HERE = replace(TARGET, api="gemini", served="gemini-3-pro")
ASKED = Request("core", "core", "all", [{"role": "user", "content": "x"}], framing="sse")
ARRAY = replace(ASKED, framing="array")
STAMP = Stamp("ab12", 1_796_000_000)
STEP = 7  # bytes between cuts; the reader's own tests cut at every one


def read(pieces):
    return gather(gemini.read(Arrived(pieces), HERE))


def calls(reply):
    return [(call["id"], call["name"], json.loads(call["arguments"] or "{}")) for call in reply.tool_calls]


class WrittenTest(unittest.TestCase):
    def setUp(self):
        seals.forget()
        self.addCleanup(seals.forget)

    def check(self, reply, events, text, reasoning, called):
        self.assertEqual((reply.text, reply.reasoning, calls(reply)), (text, reasoning, called))
        self.assertEqual(reply.finish, events[-1].finish)
        spent = events[-1].usage
        if spent.out is not None:
            self.assertEqual((reply.usage.prompt, reply.usage.out), (spent.prompt, spent.out))
            self.assertEqual((reply.usage.cache_read, reply.usage.reasoning), (3, 2))

    def test_every_stream_is_read_back(self):
        for name, events, *expected in STREAMS:
            written = b"".join(form.stream(ASKED, iter(events), STAMP))
            for at in range(0, min(len(written), 3000), STEP if len(written) < 10_000 else 40 * STEP):
                with self.subTest(name, at=at):
                    self.check(read([written[:at], written[at:]]), events, *expected)

    def test_in_the_other_framing_and_whole(self):
        for name, events, *expected in STREAMS:
            with self.subTest(name):
                self.check(read([b"".join(form.stream(ARRAY, iter(events), STAMP))]), events, *expected)
            if name.startswith(("nothing", "ticks only")):
                continue  # a whole answer without a word is none
            with self.subTest(name, whole=True):
                written = json.dumps(form.reply(ASKED, gather(events), STAMP)).encode()
                reply = read([written])
                self.assertEqual((reply.text, reply.reasoning, calls(reply)), tuple(expected))

    def test_a_signature_comes_through(self):
        events = [
            Reasoning("hm"),
            ToolStart(0, "c1", "look", signature="c2ln"),
            ToolArguments(0, "{}"),
            CALLED,
        ]
        for request in (ASKED, ARRAY):
            reply = read([b"".join(form.stream(request, iter(events), STAMP))])
            self.assertEqual(reply.tool_calls[0]["signature"], "c2ln")

    def test_a_late_failure_is_read_as_one(self):
        events = [Text("half"), Failed(Problem(429, "slow down, please", retry_after=3))]
        with self.assertRaises(Problem) as caught:
            read([b"".join(form.stream(ASKED, iter(events), STAMP))])
        self.assertIn("slow down", caught.exception.message)
        self.assertEqual((caught.exception.status, caught.exception.retry_after), (429, 3))


def call(call_id, name, arguments, **more):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


MESSAGES = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": [{"type": "text", "text": "look"}, PICTURE]},
    {
        "role": "assistant",
        "content": "so",
        "tool_calls": [call("c1", "look", '{"a":"é"}', _signature="c2ln"), call("c2", "go", "{}")],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "row"},
    {"role": "tool", "tool_call_id": "c2", "content": '{"t":3}'},
    {"role": "user", "content": "and?"},
]
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
TOOLS = [
    {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": SCHEMA}},
    {"type": "function", "function": {"name": "go", "parameters": {"type": "object", "properties": {}}}},
]
OPTIONS = {"temperature": 0.5, "top_p": 0.9, "stop": ["x"], "seed": 3, "max_tokens": 9}
PASSED = {
    "presence_penalty": 1,
    "frequency_penalty": 0.5,
    "reasoning_effort": "low",
    "response_format": {"type": "json_schema", "json_schema": {"name": "response", "schema": SCHEMA}},
}
CHOICES = ["auto", "none", "required", {"type": "function", "function": {"name": "look"}}]


class ComposedTest(unittest.TestCase):
    def setUp(self):
        seals.forget()
        self.addCleanup(seals.forget)

    def asked(self, options, native=None):
        conversation = Conversation(MESSAGES, "gemini", native)
        outgoing = gemini.compose(replace(HERE, served="other"), conversation, options)
        return json.loads(b"".join(outgoing.body))

    def test_the_same_request(self):
        for choice in CHOICES:
            with self.subTest(choice):
                body = self.asked({**OPTIONS, **PASSED, "tools": TOOLS, "tool_choice": choice})
                request = parse(**body)
                self.assertEqual([*request.messages], MESSAGES)
                self.assertEqual(request.options, OPTIONS)
                left = TOOLS[:1] if isinstance(choice, dict) else TOOLS
                self.assertEqual([*request.tools], left)
                expected = {**PASSED, **({} if choice == "auto" else {"tool_choice": choice})}
                self.assertEqual(request.passed, expected)

    def test_the_callers_own_words_come_back_as_they_went(self):
        sent = {
            "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
            "generationConfig": {
                "topK": 40,
                "mediaResolution": "MEDIA_RESOLUTION_LOW",
                "responseMimeType": "application/json",
                "responseSchema": {"type": "OBJECT", "propertyOrdering": ["a"]},
                "thinkingConfig": {"thinkingLevel": "HIGH", "includeThoughts": True},
            },
            "tools": [
                {
                    "functionDeclarations": [
                        {"name": "look", "parameters": {"type": "OBJECT"}, "behavior": "x"}
                    ]
                }
            ],
            "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}},
        }
        request = parse(**sent)
        body = self.asked({**request.options, **request.passed, "tools": request.tools}, request.native)
        for name, value in sent.items():
            with self.subTest(name):
                self.assertEqual(body[name], value)
