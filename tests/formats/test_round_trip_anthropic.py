"""What the Messages format writes for its caller, the dialect of the same API reads back as the same message;
and what the dialect composes, the format reads as the same request."""

import json
import unittest
from dataclasses import replace

from metrics.client import anthropic as dialect
from metrics.client import seals
from metrics.client.outgoing import Conversation
from metrics.events import Closed, Failed, Reasoning, Text, gather
from metrics.formats import anthropic
from metrics.records import Problem, Request, Usage
from metrics.web.table import Call
from tests.client.arrivals import TARGET, Arrived
from tests.formats import mutants
from tests.formats.anthropic_asked import (
    HELLO,
    MARK,
    PNG,
    STAMP,
    TOOL,
    USE,
    assistant,
    parse,
    resolving,
    result,
    text,
    user,
)
from tests.formats.streams import STREAMS, call

ASKED = Request("core", "core", "route", HELLO, framing="thinking")
CUTS = 40  # of each stream; the reader's own tests cut at every byte
REDACTED = {"type": "redacted_thinking", "data": "cmVk"}
SIGNED = {"type": "thinking", "thinking": "hm é", "signature": "c2ln"}
THOUGHTS = [Reasoning("hm "), Reasoning("é"), Reasoning("", signature="c2ln"), Reasoning("", sealed=REDACTED)]


def read(pieces):
    return gather(dialect.read(Arrived(pieces), TARGET))


def calls(reply):
    return [(call["id"], call["name"], json.loads(call["arguments"] or "{}")) for call in reply.tool_calls]


class ReadBackTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(seals.forget)

    def test_every_stream(self):
        for name, events, said, reasoning, called in STREAMS:
            written = b"".join(anthropic.stream(ASKED, iter(events), STAMP))
            size = min(len(written), 3000)
            for at in range(0, size, max(1, size // CUTS)):
                with self.subTest(name, at=at):
                    reply = read([written[:at], written[at:]])
                    self.assertEqual((reply.text, reply.reasoning, calls(reply)), (said, reasoning, called))
                    self.assertEqual(reply.finish, events[-1].finish)
                    spent = events[-1].usage
                    if spent.out is not None:
                        self.assertEqual((reply.usage.prompt, reply.usage.out), (spent.prompt, spent.out))

    def test_every_whole_reply(self):
        for name, events, said, reasoning, called in STREAMS:
            with self.subTest(name):
                plain = [inner for event in events for inner in getattr(event, "events", (event,))]
                whole = anthropic.reply(ASKED, gather(plain), STAMP)
                reply = read([json.dumps(whole).encode()])
                self.assertEqual((reply.text, reply.reasoning, calls(reply)), (said, reasoning, called))

    def test_thoughts_come_back_to_the_letter(self):
        spent = Usage(3, 4, 5, 6, 2)
        events = [*THOUGHTS, Text("I look."), *call(0, "t1", "look", "{}"), Closed("tool_calls", spent)]
        streamed = b"".join(anthropic.stream(ASKED, iter(events), STAMP))
        whole = json.dumps(anthropic.reply(ASKED, gather(events), STAMP)).encode()
        for written in (streamed, whole):
            with self.subTest(written=written[:8]):
                reply = read([written])
                self.assertEqual(reply.thoughts, gather(events).thoughts)
                self.assertEqual(seals.find(TARGET.model_id, "t1"), (SIGNED, REDACTED))
                self.assertEqual(replace(reply.usage, raw=None), spent)

    def test_a_late_failure(self):
        events = [Text("half"), Failed(Problem(429, "slow down, please", retry_after=3))]
        with self.assertRaises(Problem) as caught:
            read([b"".join(anthropic.stream(ASKED, iter(events), STAMP))])
        self.assertEqual((caught.exception.status, caught.exception.kind), (429, "rate_limited"))
        self.assertIn("slow down", caught.exception.message)


# --- the other way round


def composed(request):
    """What a member of this API is sent for `request`."""
    options = {
        **request.options,
        **request.passed,
        **({"tools": list(request.tools)} if request.tools else {}),
    }
    conversation = Conversation(request.messages, request.format, request.native)
    outgoing = dialect.compose(TARGET, conversation, options, stream=False)
    return json.loads(b"".join(outgoing.body)), outgoing


# A request that holds whatever the API has: each field must arrive as it was sent.
WHOLE = {
    "max_tokens": 9000,
    "system": [text("Rules.", cache_control=MARK)],
    "messages": [
        user(text("see"), PNG, {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}),
        assistant(SIGNED, REDACTED, text("I look."), USE, {**USE, "id": "t2", "input": {}}),
        user(
            result([text("shot"), PNG], cache_control=MARK),
            result("no such thing", "t2", is_error=True),
            text("go on", cache_control={**MARK, "ttl": "1h"}),
        ),
    ],
    "tools": [{**TOOL, "cache_control": MARK, "eager_input_streaming": True}],
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    "thinking": {"type": "enabled", "budget_tokens": 2048, "display": "summarized"},
    "output_config": {
        "effort": "max",
        "format": {"type": "json_schema", "schema": {"type": "object", "properties": {}}},
    },
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "metadata": {"user_id": "u" * 90},
    "stop_sequences": ["END"],
    "temperature": 1,
    "service_tier": "auto",
    "cache_control": MARK,
}


class SentTest(unittest.TestCase):
    def test_a_request_arrives_as_it_was_sent(self):
        body, outgoing = composed(parse(**WHOLE))
        self.assertEqual(body, {"model": "m", **WHOLE})
        self.assertEqual(outgoing.changed, ())

    def test_whatever_is_read_can_be_sent(self):
        sent = 0
        for raw in mutants.bodies({"model": "bench/core", **WHOLE}, seed=5, count=120):
            with self.subTest(raw=raw[:300]):
                try:
                    with resolving("route"):
                        request = anthropic.parse(Call("POST", "/v1/messages", {}, raw))
                    composed(request)
                    sent += 1
                except Problem as problem:
                    self.assertEqual(problem.status // 100, 4)
        self.assertGreater(sent, 10)

    def test_what_claude_code_sends(self):
        fields = {
            "thinking": {"type": "adaptive"},
            "output_config": {"effort": "high"},
            "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
            "metadata": {"user_id": '{"session_id":"s"}'},
        }
        note = "x-anthropic-billing-header: cc_version=2.1.150; cch=abc12;"
        request = parse(
            system=[text(note), text("You are an agent.", cache_control=MARK)],
            messages=[
                user(text("do it", cache_control=MARK)),
                {"role": "system", "content": "There are agents."},
            ],
            tools=[TOOL],
            headers={"anthropic-beta": "claude-code-20250219,message-threads-2026-08-12"},
            thread={"type": "create"},
            stream=True,
            **fields,
        )
        body, outgoing = composed(request)
        self.assertEqual({name: body[name] for name in fields}, fields)
        self.assertEqual(body["system"], [text("You are an agent.", cache_control=MARK)])
        self.assertEqual(dict(outgoing.headers)["anthropic-beta"], "claude-code-20250219")
        self.assertNotIn("thread", body)
        self.assertNotIn("billing", json.dumps(body))

    def test_a_request_in_chats_words_is_read_as_the_same(self):
        request = Request(
            "core",
            "core",
            "route",
            [
                {"role": "system", "content": "s"},
                {
                    "role": "user",
                    "content": [text("see"), {"type": "image_url", "image_url": {"url": "https://a/b"}}],
                },
                {
                    "role": "assistant",
                    "content": "I look.",
                    "tool_calls": [
                        {
                            "id": "t1",
                            "type": "function",
                            "function": {"name": "look", "arguments": '{"a":"é"}'},
                        },
                        {"id": "t2", "type": "function", "function": {"name": "look", "arguments": "{}"}},
                    ],
                },
                {"role": "tool", "tool_call_id": "t1", "content": "one"},
                {"role": "tool", "tool_call_id": "t2", "content": ""},
                {"role": "user", "content": "go on"},
            ],
            options={"max_tokens": 9, "temperature": 0.5, "top_p": 0.5, "stop": ["END"]},
            tools=[
                {
                    "type": "function",
                    "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}},
                }
            ],
            passed={"tool_choice": "required", "parallel_tool_calls": False, "user": "u1"},
            format="openai-chat",
        )
        body, outgoing = composed(request)
        self.assertEqual(outgoing.changed, ())
        read_as = parse(**body)
        bare = [{name: value for name, value in m.items() if name != "_turn"} for m in read_as.messages]
        self.assertEqual(bare, request.messages)
        self.assertEqual((dict(read_as.options), dict(read_as.passed)), (request.options, request.passed))
        self.assertEqual(list(read_as.tools), request.tools)
