"""What the Ollama format writes, the dialect of the same API reads back as the same message; what the dialect
composes, the format reads as the same request."""

import json
import unittest
from dataclasses import replace

from metrics.client import ollama
from metrics.client.outgoing import Conversation
from metrics.events import Failed, Text, gather
from metrics.formats import ollama as form
from metrics.formats.protocol import Stamp
from metrics.records import Problem, Request
from tests.client.arrivals import TARGET, Arrived
from tests.formats.ollama_asked import PICTURE, chat
from tests.formats.streams import STREAMS

HERE = replace(TARGET, api="ollama")
ASKED = Request("core", "core", "all", [{"role": "user", "content": "x"}], framing="chat")
STAMP = Stamp("ab12", 1_796_000_000)
STEP = 7  # bytes between cuts; the reader's own tests cut at every one


def read(pieces):
    return gather(ollama.read(Arrived(pieces), HERE))


def calls(reply):
    return [(call["id"], call["name"], json.loads(call["arguments"] or "{}")) for call in reply.tool_calls]


class WrittenTest(unittest.TestCase):
    def check(self, reply, events, text, reasoning, called):
        self.assertEqual((reply.text, reply.reasoning, calls(reply)), (text, reasoning, called))
        finish = events[-1].finish
        self.assertEqual(reply.finish, "stop" if finish == "content_filter" else finish)
        spent = events[-1].usage
        if spent.out is not None:
            self.assertEqual((reply.usage.prompt, reply.usage.out), (spent.prompt, spent.out))

    def test_every_stream_is_read_back(self):
        for name, events, *expected in STREAMS:
            written = b"".join(form.stream(ASKED, iter(events), STAMP))
            for at in range(0, min(len(written), 3000), STEP if len(written) < 10_000 else 40 * STEP):
                with self.subTest(name, at=at):
                    self.check(read([written[:at], written[at:]]), events, *expected)
            with self.subTest(name, whole=True):
                whole = json.dumps(form.reply(ASKED, gather(events), STAMP)).encode()
                self.check(read([whole]), events, *expected)

    def test_a_late_failure_is_read_as_one(self):
        events = [Text("half"), Failed(Problem(429, "rate limit reached: slow down, please"))]
        with self.assertRaises(Problem) as caught:
            read([b"".join(form.stream(ASKED, iter(events), STAMP))])
        self.assertIn("slow down", caught.exception.message)
        self.assertEqual(caught.exception.kind, "rate_limited")


def call(call_id, name, arguments):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


MESSAGES = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": [{"type": "text", "text": "look"}, PICTURE]},
    {
        "role": "assistant",
        "content": "so",
        "reasoning_content": "hm",
        "tool_calls": [call("c1", "look", '{"a":"é"}'), call("c2", "go", "{}")],
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
    "reasoning_effort": "medium",
    "response_format": {"type": "json_schema", "json_schema": {"name": "response", "schema": SCHEMA}},
}


class ComposedTest(unittest.TestCase):
    def asked(self, options, native=None):
        outgoing = ollama.compose(HERE, Conversation(MESSAGES, "ollama", native), options)
        return json.loads(b"".join(outgoing.body))

    def test_the_same_request(self):
        for stream in (True, False):
            body = self.asked({**OPTIONS, **PASSED, "tools": TOOLS})
            request = chat(**{**body, "model": "bench/core:route", "stream": stream})
            self.assertEqual([*request.messages], MESSAGES)
            self.assertEqual((request.options, request.passed), (OPTIONS, PASSED))
            self.assertEqual([*request.tools], TOOLS)
            self.assertEqual(request.stream, stream)

    def test_the_callers_own_words_come_back_as_they_went(self):
        sent = {
            "options": {"num_ctx": 8192, "num_predict": -1, "mirostat": 2, "stop": "", "seed": -1},
            "keep_alive": "10m",
            "think": "low",
            "truncate": False,
        }
        request = chat(**sent)
        body = self.asked({**request.options, **request.passed}, request.native)
        for name, value in sent.items():
            with self.subTest(name):
                self.assertEqual(body[name], value)
        self.assertEqual(chat(**{**sent, "model": "bench/core"}).native, {}, "a panel has no use for them")
