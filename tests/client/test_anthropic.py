"""Messages as servers really send them: each read whole, byte by byte, and cut at every position; and what
is sent to ask for them."""

import json
import unittest
from dataclasses import replace
from typing import Any

from metrics.client import anthropic, anthropic_manners, quirks, seals
from metrics.client.outgoing import Conversation
from metrics.events import Closed, Event, Reasoning, Text, Tick, singly
from metrics.events import ToolArguments as Args
from metrics.events import ToolStart as Start
from metrics.records import Problem, Usage
from tests.client.anthropic_said import (
    CALLED,
    GOOD,
    OPEN,
    PING,
    REDACTED,
    START,
    USAGE,
    begin,
    end,
    event,
    piece,
    said,
    stop,
    thought,
    use,
    whole,
)
from tests.client.arrivals import TARGET, Arrived, ids, splits

SPREAD = said(0, "hi").replace(b',"delta"', b',\ndata: "delta"')

# name, stream, what it says: events without ticks, or (status, kind) of the Problem that ends them
CASES: list[tuple[str, bytes, list[Event], tuple[int, str] | None]] = [
    ("good", START + PING + said(0, "hi") + stop(), GOOD, None),
    ("crlf", (START + said(0, "hi") + stop()).replace(b"\n", b"\r\n"), GOOD, None),
    ("bom, comments", b"\xef\xbb\xbf: x\n\n" + START + b":\n\n" + said(0, "hi") + stop(), GOOD, None),
    ("utf-8", START + said(0, "棚は🧰") + stop(), [OPEN, Text("棚は🧰"), Closed(usage=USAGE)], None),
    ("data over several lines", START + SPREAD + stop(), GOOD, None),
    ("one body", whole({"type": "text", "text": "hi"}), GOOD, None),
    ("no event lines", (START + said(0, "hi") + stop()).replace(b"event: ", b"id: "), GOOD, None),
    (
        "a kind on the event line alone",
        (START + said(0, "hi") + stop()).replace(b'"type":"message_stop"', b'"x":1'),
        GOOD,
        None,
    ),
    ("no stop event", START + said(0, "hi") + stop().rpartition(b"event:")[0], GOOD, None),
    ("something after the end", START + said(0, "hi") + stop() + said(1, "ho"), GOOD, None),
    ("a kind of event that is new", START + event("news", message="x") + said(0, "hi") + stop(), GOOD, None),
    ("a block without a beginning", START + piece(0, "text_delta", text="hi") + stop(), GOOD, None),
    (
        "usage over two events, zeros repeated",
        event(
            "message_start",
            message={"model": "m", "usage": {"input_tokens": 3, "cache_read_input_tokens": 5}},
        )
        + said(0, "hi")
        + event(
            "message_delta", delta={"stop_reason": "end_turn"}, usage={"input_tokens": 0, "output_tokens": 7}
        )
        + event("message_stop"),
        [
            OPEN,
            Text("hi"),
            Closed(
                usage=Usage(
                    uncached_in=3,
                    cache_read=5,
                    out=7,
                    raw={"input_tokens": 3, "cache_read_input_tokens": 5, "output_tokens": 7},
                )
            ),
        ],
        None,
    ),
    (
        "thinking, signed",
        START + thought(0, "h\u00e9", "c2ln") + said(1, "hi") + stop(),
        [OPEN, Reasoning("h\u00e9"), Reasoning("", signature="c2ln"), Text("hi"), Closed(usage=USAGE)],
        None,
    ),
    (
        "thinking that is not shown",
        START + thought(0, "", "c2ln") + said(1, "hi") + stop(),
        [OPEN, Reasoning("", signature="c2ln"), Text("hi"), Closed(usage=USAGE)],
        None,
    ),
    (
        "thinking that is sealed",
        START + begin(0, **REDACTED) + end(0) + said(1, "hi") + stop(),
        [OPEN, Reasoning("", sealed=REDACTED), Text("hi"), Closed(usage=USAGE)],
        None,
    ),
    (
        "thinking in one body",
        whole(
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            REDACTED,
            {"type": "text", "text": "hi"},
        ),
        [
            OPEN,
            Reasoning("hm"),
            Reasoning("", signature="c2ln"),
            Reasoning("", sealed=REDACTED),
            Text("hi"),
            Closed(usage=USAGE),
        ],
        None,
    ),
    (
        "a call",
        START + use(0, "t1", "", '{"a":', "1}") + stop("tool_use"),
        [OPEN, Start(0, "t1", "look"), Args(0, '{"a":'), Args(0, "1}"), CALLED],
        None,
    ),
    (
        "calls in parallel, one without an id, one with another's",
        START + said(0, "hi") + use(1, "t1", "{}") + use(2, "", "{}") + use(3, "t1", "{}") + stop("tool_use"),
        [
            OPEN,
            Text("hi"),
            *(Start(0, "t1", "look"), Args(0, "{}")),
            *(Start(1, "id1", "look"), Args(1, "{}")),
            *(Start(2, "id2", "look"), Args(2, "{}")),
            CALLED,
        ],
        None,
    ),
    (
        "a call told whole in its first event",
        START + use(0, "t1", a="é") + stop("tool_use"),
        [OPEN, Start(0, "t1", "look"), Args(0, '{"a":"é"}'), CALLED],
        None,
    ),
    (
        "a call without arguments",
        START + use(0, "t1") + stop("tool_use"),
        [OPEN, Start(0, "t1", "look"), CALLED],
        None,
    ),
    (
        "a call in one body",
        whole({"type": "tool_use", "id": "t1", "name": "look", "input": {"a": 1}}, reason="tool_use"),
        [OPEN, Start(0, "t1", "look"), Args(0, '{"a":1}'), CALLED],
        None,
    ),
    (
        "a call that was cut",
        START + use(0, "t1", '{"a":') + stop("max_tokens"),
        [OPEN, Start(0, "t1", "look"), Args(0, '{"a":'), Closed("length", USAGE)],
        None,
    ),
    (
        "a call by a server that says it ended",
        START + use(0, "t1", "{}") + stop(),
        [OPEN, Start(0, "t1", "look"), Args(0, "{}"), CALLED],
        None,
    ),
    ("no words", START + stop(), [OPEN, Closed(usage=USAGE)], None),
    ("neither: cut", START + said(0, "hi"), [OPEN, Text("hi")], (502, "cut")),
    (
        "torn in an event: cut",
        START + said(0, "hi") + b'data: {"type":"mess',
        [OPEN, Text("hi")],
        (502, "cut"),
    ),
    (
        "error first",
        event("error", error={"type": "overloaded_error", "message": "Overloaded"}),
        [],
        (503, "overloaded"),
    ),
    (
        "error midway",
        START + said(0, "hi") + event("error", error={"type": "rate_limit_error", "message": "slow"}),
        [OPEN, Text("hi")],
        (429, "rate_limited"),
    ),
    (
        "error in a body",
        b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
        [],
        (503, "overloaded"),
    ),
    (
        "an error after the end",
        START + said(0, "hi") + stop() + event("error", error={"message": "x"}),
        GOOD,
        None,
    ),
    ("nothing", b"", [], (502, "empty")),
    ("pings alone", PING + PING, [], (502, "empty")),
    ("a page", b"<html><title>Hello</title></html>", [], (502, "garbage")),
    ("another API's body", b'{"object":"chat.completion","choices":[]}', [], (502, "garbage")),
]

STOPS = [
    ("end_turn", "stop"),
    ("max_tokens", "length"),
    ("model_context_window_exceeded", "length"),
    ("refusal", "content_filter"),
    ("pause_turn", "stop"),
    ("tool_use", "stop"),  # without a call
    ("some_new_reason", "stop"),
]


def told(arrived: Arrived, target: Any = TARGET) -> tuple[list[Event], Problem | None]:
    events: list[Event] = []
    try:
        for one in singly(anthropic.read(arrived, target, now=lambda: 0.0, new_id=ids())):
            if not isinstance(one, Tick):
                events.append(one)
    except Problem as problem:
        return events, problem
    return events, None


class ReadTest(unittest.TestCase):
    def setUp(self) -> None:
        self.addCleanup(seals.forget)

    def test_every_stream_however_it_is_cut(self) -> None:
        for name, stream, events, failure in CASES:
            for pieces in splits(stream):
                with self.subTest(name, cut=len(pieces[0]) if pieces else 0):
                    got, problem = told(Arrived(pieces))
                    self.assertEqual(got, events)
                    self.assertEqual(problem and (problem.status, problem.kind), failure)

    def test_why_it_stopped(self) -> None:
        for reason, finish in STOPS:
            for stream in (
                START + said(0, "x") + stop(reason),
                whole({"type": "text", "text": "x"}, reason=reason),
            ):
                with self.subTest(reason, stream=stream[:6]):
                    events, _ = told(Arrived([stream]))
                    self.assertEqual(events[-1], Closed(finish, USAGE))

    def test_the_stop_sequence_that_matched(self) -> None:
        events, _ = told(Arrived([START + said(0, "x") + stop("stop_sequence", stop_sequence="END")]))
        self.assertEqual(events[-1], Closed("stop", USAGE, "END"))

    def test_a_connection_that_breaks_past_the_end_of_the_answer(self) -> None:
        gone = Problem(502, "gone", kind="cut")
        finished = START + said(0, "hi") + stop().rpartition(b"event:")[0]
        self.assertEqual(told(Arrived([finished], broken=gone)), (GOOD, None))
        self.assertEqual(told(Arrived([START + said(0, "hi")], broken=gone))[1], gone)

    def test_silence_is_a_tick(self) -> None:
        stream = START + said(0, "hi") + stop()
        ticks = [one for one in anthropic.read(Arrived([b"", stream, b""]), TARGET) if isinstance(one, Tick)]
        self.assertEqual(len(ticks), 1)

    def test_a_refusal_keeps_its_status_and_its_wait(self) -> None:
        body = b'{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}'
        _, problem = told(Arrived([body], 429, {"retry-after": "3"}))
        assert problem
        self.assertEqual((problem.status, problem.kind, problem.retry_after), (429, "rate_limited", 3.0))

    def test_what_was_sealed_before_a_call_is_kept_for_its_model(self) -> None:
        stream = START + thought(0, "hm", "c2ln") + begin(1, **REDACTED) + end(1) + use(2, "t1", "{}")
        told(Arrived([stream + stop("tool_use")]))
        signed = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
        self.assertEqual(seals.find(TARGET.model_id, "t1"), (signed, REDACTED))
        self.assertIsNone(seals.find("e:other", "t1"))


# --- asking

ASKED = Conversation([{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}])
BASES = [
    ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
    ("https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"),
    ("https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"),
    ("https://api.anthropic.com/v1/v1/", "https://api.anthropic.com/v1/messages"),
    ("https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1/messages"),
    ("https://host/anthropic", "https://host/anthropic/v1/messages"),
    ("https://host/api/anthropic/v1?x=1", "https://host/api/anthropic/v1/messages?x=1"),
]


def sent(
    options: Any = None, target: Any = TARGET, conversation: Conversation = ASKED, stream: bool = True
) -> dict[str, Any]:
    """The body that goes out."""
    outgoing = anthropic.compose(target, conversation, options or {}, stream=stream)
    value = json.loads(b"".join(outgoing.body))
    assert isinstance(value, dict)
    return value


class ComposeTest(unittest.TestCase):
    def setUp(self) -> None:
        for module in (anthropic_manners, quirks, seals):
            self.addCleanup(module.forget)

    def test_where_it_goes(self) -> None:
        for base, url in BASES:
            with self.subTest(base):
                self.assertEqual(anthropic.compose(replace(TARGET, base=base), ASKED, {}).url, url)

    def test_headers(self) -> None:
        target = replace(TARGET, key=" k1 ")
        headers = dict(anthropic.compose(target, ASKED, {}).headers)
        self.assertEqual((headers["x-api-key"], headers["anthropic-version"]), ("k1", "2023-06-01"))
        self.assertNotIn("Authorization", headers)
        self.assertNotIn("x-api-key", dict(anthropic.compose(TARGET, ASKED, {}).headers))

    def test_the_body(self) -> None:
        self.assertEqual(
            sent({"max_tokens": 9, "temperature": None, "model": "x"}),
            {
                "model": "m",
                "max_tokens": 9,
                "stream": True,
                "system": "s",
                "messages": [{"role": "user", "content": "hi"}],
            },
        )
        self.assertNotIn("stream", sent(stream=False))

    def test_betas_of_a_caller_of_this_api(self) -> None:
        named = {"headers": {"anthropic-beta": "a-1, message-threads-2026-08-12,b-2"}}
        own = Conversation(ASKED.messages, "anthropic", named)
        other = Conversation(ASKED.messages, "gemini", named)
        self.assertEqual(dict(anthropic.compose(TARGET, own, {}).headers)["anthropic-beta"], "a-1,b-2")
        self.assertNotIn("headers", sent(conversation=own))
        self.assertNotIn("anthropic-beta", dict(anthropic.compose(TARGET, other, {}).headers))

    def test_native_fields_are_for_callers_of_this_api_alone(self) -> None:
        for api, there in (("anthropic", True), ("gemini", False), ("", False)):
            with self.subTest(api):
                conversation = Conversation(ASKED.messages, api, {"top_k": 4, "service_tier": "auto"})
                self.assertEqual("top_k" in sent(conversation=conversation), there)

    def test_native_fields_never_stand_for_ours(self) -> None:
        conversation = Conversation(
            ASKED.messages, "anthropic", {"model": "x", "stream": False, "messages": []}
        )
        body = sent(conversation=conversation)
        self.assertEqual((body["model"], body["stream"], len(body["messages"])), ("m", True, 1))

    def test_a_conversation_is_written_once_for_seats_alike(self) -> None:
        own = [{"role": "user", "content": "x", "_turn": [{"type": "text", "text": "x"}]}]
        for conversation in (ASKED, Conversation(own)):
            seats = (TARGET, replace(TARGET, model_id="e:n", served="n"))
            first, second = (anthropic.compose(seat, conversation, {}).body for seat in seats)
            self.assertTrue(any(one is other for one in first for other in second))

    def test_a_refused_signature_is_asked_again_without_thinking_once(self) -> None:
        signed = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
        call = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        messages = [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": None, "tool_calls": [call], "_thinking": [signed]},
            {"role": "tool", "tool_call_id": "t1", "content": "r"},
        ]
        own = Conversation(messages, "anthropic", {"thinking": {"type": "enabled", "budget_tokens": 2000}})
        options = {"max_tokens": 9000}
        refusal = Problem(
            400, "a: messages.1.content.0: Invalid `signature` in `thinking` block", kind="bad_request"
        )
        self.assertEqual(sent(options, conversation=own)["messages"][1]["content"][0], signed)
        self.assertTrue(anthropic.learn(TARGET, refusal))
        again = sent(options, conversation=own)
        self.assertNotIn("thinking", again)
        self.assertEqual([block["type"] for block in again["messages"][1]["content"]], ["tool_use"])
        self.assertFalse(anthropic.learn(TARGET, refusal))
        # What was refused is not sent again, and its turn goes on without.
        self.assertEqual(sent(options, conversation=own), again)


class ListTest(unittest.TestCase):
    def test_a_listing_is_asked_for_as_this_api_is(self) -> None:
        asked = []

        class Transport:
            def open(self, method: str, url: str, headers: Any = ()) -> Arrived:
                asked.append((method, url, dict(headers)))
                able = {"thinking": {"supported": True}, "image_input": {"supported": True}}
                first = {"id": "claude-x", "max_input_tokens": 9, "capabilities": able}
                listed = {"data": [first, {"id": "other"}]}
                return Arrived([json.dumps(listed).encode()])

        found = anthropic.list_models(Transport(), "https://host/anthropic", "k1")
        facts = {"context": 9, "vision": True, "tools": True, "reasoning": True}
        self.assertEqual(found, [{"served": "claude-x", **facts}, {"served": "other"}])
        method, url, headers = asked[0]
        self.assertEqual((method, url), ("GET", "https://host/anthropic/v1/models?limit=1000"))
        self.assertEqual((headers["x-api-key"], headers["anthropic-version"]), ("k1", "2023-06-01"))
        self.assertNotIn("k1", url)
