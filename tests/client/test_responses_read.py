"""Answers as OpenAI and servers like it give them: each read whole, byte by byte, and cut at every
position."""

import json
import random
import unittest

from metrics.client import objects, responses_read, responses_seals, seals
from metrics.events import Closed, Opened, Reasoning, Text, Tick, ToolArguments, ToolStart
from metrics.records import Problem, Usage
from tests.client.arrivals import DONE, TARGET, Arrived, splits
from tests.client.responses_said import (
    CREATED,
    USAGE,
    added,
    call,
    completed,
    custom,
    delta,
    done,
    event,
    response,
    said,
    text,
    thought,
)

SPENT = Usage(uncached_in=7, cache_read=4, out=7, reasoning=2, raw=USAGE)
OPEN = Opened("m-1")
HI = [OPEN, Text("h"), Text("i"), Closed(usage=SPENT)]
ITEM = {"item_id": "msg_1", "content_index": 0, "logprobs": []}
WORDS = delta("output_text", 0, "h", **ITEM) + delta("output_text", 0, "i", **ITEM)
SAID = added(0, text("") | {"content": []}) + WORDS
FULL = CREATED + SAID + done(0, text("hi")) + completed(text("hi"))
CALL = call("f", '{"a": 1}', "c1", id="fc_1")
SEALED = thought("why", "gAAA")
CUT = {"incomplete_details": {"reason": "max_output_tokens"}}
F, G = ToolStart(0, "c1", "f"), ToolStart(1, "c2", "g")


def args(place, piece, item="fc_1"):
    return delta("function_call_arguments", place, piece, item_id=item)


# name, body, what it says, (status, kind) of the Problem that ends it
CASES = [
    ("all events", FULL, HI, None),
    ("crlf", FULL.replace(b"\n", b"\r\n"), HI, None),
    ("[DONE] behind", FULL + DONE, HI, None),
    ("types in the event line alone", FULL.replace(b'"type": "response.output_text.delta", ', b""), HI, None),
    ("no deltas", CREATED + done(0, text("hi")) + completed(), [OPEN, Text("hi"), Closed(usage=SPENT)], None),
    ("only the last event", completed(text("hi")), [OPEN, Text("hi"), Closed(usage=SPENT)], None),
    ("the last event without output", CREATED + SAID + done(0, text("hi")) + completed(), HI, None),
    ("response.done", FULL.replace(b"response.completed", b"response.done"), HI, None),
    ("nothing announced", CREATED + WORDS + completed(text("hi")), HI, None),
    ("a last delta is missing", CREATED + SAID + completed(text("hi!")), [*HI[:3], Text("!"), HI[3]], None),
    ("another id in each event", FULL.replace(b"msg_1", b"x", 2).replace(b"msg_1", b"y", 2), HI, None),
    (
        "one response",
        json.dumps(response("completed", [text("hi")], usage=USAGE)).encode(),
        [OPEN, Text("hi"), Closed(usage=SPENT)],
        None,
    ),
    (
        "budget",
        CREATED + SAID + event("incomplete", response=response("incomplete", [text("hi")], **CUT)),
        [*HI[:3], Closed("length")],
        None,
    ),
    (
        "filtered",
        CREATED
        + SAID
        + event(
            "incomplete", response=response("incomplete", incomplete_details={"reason": "content_filter"})
        ),
        [*HI[:3], Closed("content_filter")],
        None,
    ),
    (
        "refused",
        CREATED + delta("refusal", 0, "no") + completed(),
        [OPEN, Text("no"), Closed("content_filter", SPENT)],
        None,
    ),
    (
        "a call",
        CREATED
        + added(0, {**CALL, "arguments": ""})
        + args(0, '{"a":')
        + args(0, " 1}")
        + done(0, CALL)
        + completed(CALL),
        [OPEN, F, ToolArguments(0, '{"a":'), ToolArguments(0, " 1}"), Closed("tool_calls", SPENT)],
        None,
    ),
    (
        "a call without deltas",
        CREATED + done(0, CALL) + completed(CALL),
        [OPEN, F, ToolArguments(0, '{"a": 1}'), Closed("tool_calls", SPENT)],
        None,
    ),
    (
        "a call without arguments",
        done(0, {**CALL, "arguments": ""}) + completed(CALL),
        [F, ToolArguments(0, "{}"), OPEN, Closed("tool_calls", SPENT)],
        None,
    ),
    (
        "calls that interleave",
        added(0, {**CALL, "arguments": ""})
        + added(1, call("g", "", "c2", id="fc_2"))
        + args(0, '{"a"')
        + args(1, "{", "fc_2")
        + args(0, ": 1}")
        + args(1, "}", "fc_2")
        + completed(CALL, call("g", "{}", "c2")),
        [
            F,
            G,
            ToolArguments(0, '{"a"'),
            ToolArguments(1, "{"),
            ToolArguments(0, ": 1}"),
            ToolArguments(1, "}"),
            OPEN,
            Closed("tool_calls", SPENT),
        ],
        None,
    ),
    (
        "one id for two calls",
        done(0, CALL) + done(1, {**CALL, "id": "fc_2"}) + completed(),
        [
            F,
            ToolArguments(0, '{"a": 1}'),
            ToolStart(1, "id1", "f"),
            ToolArguments(1, '{"a": 1}'),
            OPEN,
            Closed("tool_calls", SPENT),
        ],
        None,
    ),
    (
        "arguments as an object",
        done(0, {**CALL, "arguments": {"a": 1}}) + completed(),
        [F, ToolArguments(0, '{"a":1}'), OPEN, Closed("tool_calls", SPENT)],
        None,
    ),
    (
        "a call of a text tool",
        added(0, custom("p", "", "c1"))
        + delta("custom_tool_call_input", 0, "*** x", item_id="ctc_1")
        + completed(custom("p", "*** x", "c1")),
        [
            ToolStart(0, "c1", "p", kind="custom"),
            ToolArguments(0, "*** x"),
            OPEN,
            Closed("tool_calls", SPENT),
        ],
        None,
    ),
    (
        "a call that was cut stays cut",
        added(0, {**CALL, "arguments": ""})
        + args(0, '{"a":')
        + event(
            "incomplete",
            response=response("incomplete", [{**CALL, "arguments": '{"a":', "status": "incomplete"}], **CUT),
        ),
        [F, ToolArguments(0, '{"a":'), OPEN, Closed("length")],
        None,
    ),
    (
        "a thought",
        added(0, thought(""))
        + delta("reasoning_summary_text", 0, "w", summary_index=0)
        + delta("reasoning_summary_text", 0, "x", summary_index=1)
        + done(0, thought(""))
        + completed(thought(""), text("hi")),
        [Reasoning("w"), Reasoning("\n\nx"), OPEN, Text("hi"), Closed(usage=SPENT)],
        None,
    ),
    (
        "a thought and its summary",
        delta("reasoning_text", 0, "raw") + delta("reasoning_summary_text", 0, "sum") + completed(text("hi")),
        [Reasoning("raw"), OPEN, Text("hi"), Closed(usage=SPENT)],
        None,
    ),
    (
        "a sealed thought",
        done(0, SEALED) + done(1, text("hi")) + completed(SEALED, text("hi")),
        [Reasoning("why", sealed=SEALED), Text("hi"), OPEN, Closed(usage=SPENT)],
        None,
    ),
    (
        "phases",
        done(0, text("on it", phase="commentary"))
        + done(1, text("yes", id="msg_2", phase="final_answer"))
        + completed(),
        [Text("on it", phase="commentary"), Text("yes", phase="final_answer"), OPEN, Closed(usage=SPENT)],
        None,
    ),
    (
        "log probabilities",
        delta("output_text", 0, "h", logprobs=[{"token": "h"}]) + completed(text("h")),
        [Text("h", logprobs={"content": [{"token": "h"}], "refusal": None}), OPEN, Closed(usage=SPENT)],
        None,
    ),
    (
        "what we know nothing of",
        event("web_search_call.searching", item_id="ws") + added(0, {"type": "web_search_call"}) + FULL,
        HI,
        None,
    ),
    ("cut", CREATED + SAID, HI[:3], (502, "cut")),
    ("torn", CREATED + SAID + b'event: response.completed\ndata: {"type":"resp', HI[:3], (502, "cut")),
    (
        "a bare error",
        CREATED + event("error", code="rate_limit_exceeded", message="slow down", param=None),
        [OPEN],
        (429, "rate_limited"),
    ),
    (
        "an error in an object",
        CREATED + event("error", error={"type": "overloaded_error", "message": "x"}),
        [OPEN],
        (503, "overloaded"),
    ),
    (
        "an error without a type",
        b'data: {"error": {"message": "bad key", "code": "invalid_api_key"}}\n\n',
        [],
        (401, "auth"),
    ),
    (
        "failed",
        CREATED
        + SAID
        + event("failed", response=response("failed", error={"code": "server_error", "message": "oh"})),
        HI[:3],
        (502, "upstream"),
    ),
    (
        "failed, the request's fault",
        event("failed", response=response("failed", error={"code": "invalid_prompt", "message": "no"})),
        [],
        (400, "bad_request"),
    ),
    (
        "failed, too long",
        event(
            "failed",
            response=response("failed", error={"code": "context_length_exceeded", "message": "long"}),
        ),
        [],
        (400, "context"),
    ),
    (
        "failed, whole",
        json.dumps(response("failed", error={"code": "server_error", "message": "oh"})).encode(),
        [],
        (502, "upstream"),
    ),
    ("cancelled", event("cancelled", response=response("cancelled")), [], (502, "upstream")),
    ("said nothing", CREATED + completed(), [OPEN], (502, "empty")),
    ("nothing", b"", [], (502, "empty")),
    ("another API", b'{"object": "chat.completion", "choices": []}', [], (502, "garbage")),
    (
        "another API's chunks",
        b'data: {"object": "chat.completion.chunk", "choices": [{}]}\n\n',
        [],
        (502, "garbage"),
    ),
    ("a page", b"<html>", [], (502, "garbage")),
]


JUNK = [None, True, 0, -1, 3.5, "", "x", [], {}, [None], [{}], {"type": "x"}, [[]], "\ud800", {"a": {"b": 1}}]


def bent(value, chance, odds):
    """A JSON value with some of it replaced by junk."""
    if chance.random() < odds:
        return chance.choice(JUNK)
    if isinstance(value, dict):
        return {key: bent(inner, chance, odds) for key, inner in value.items()}
    return [bent(inner, chance, odds) for inner in value] if isinstance(value, list) else value


class FuzzTest(unittest.TestCase):
    def test_whatever_a_server_sends_is_an_answer_or_a_problem(self):
        chance = random.Random(7)
        frames = [frame for _, body, _, _ in CASES for frame in body.split(b"\n\n") if b"data: {" in frame]
        values = [
            value
            for frame in frames
            if (value := objects.decoded(frame.partition(b"data: ")[2], TARGET, False))
        ]
        for number in range(1500):
            picked = [bent(chance.choice(values), chance, 0.04) for _ in range(chance.randrange(1, 8))]
            body = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in picked)
            with self.subTest(number):
                events, problem = said(Arrived([body]))
                self.assertTrue(problem or isinstance(events[-1], Closed))


class ReadTest(unittest.TestCase):
    def setUp(self):
        seals.forget()
        self.addCleanup(seals.forget)

    def test_every_answer_cut_anywhere(self):
        for name, body, expected, ended in CASES:
            for pieces in splits(body) if body else [[]]:
                with self.subTest(name, pieces=len(pieces)):
                    events, problem = said(Arrived(pieces))
                    self.assertEqual(events, expected)
                    self.assertEqual(problem and (problem.status, problem.kind), ended)

    def test_only_what_means_nothing_else_is_a_sign_of_life(self):
        still = event("in_progress", response=response("in_progress"))
        searching = event("web_search_call.searching", item_id="ws")
        for name, body, ticks in (
            ("an answer", CREATED + still + FULL[len(CREATED) :], 0),
            ("kept alive", CREATED + still * 3 + FULL[len(CREATED) :], 2),
            ("a tool of the provider's", CREATED + searching * 2 + FULL[len(CREATED) :], 2),
        ):
            with self.subTest(name):
                events = list(responses_read.read(Arrived([body]), TARGET))
                self.assertEqual(sum(isinstance(one, Tick) for one in events), ticks)

    def test_a_refusal(self):
        body = json.dumps({"error": {"message": "no such model", "code": "model_not_found"}}).encode()
        _, problem = said(Arrived([body], 404))
        self.assertEqual((problem.status, problem.kind), (404, "not_found"))

    def test_past_the_end_nothing_counts(self):
        events, problem = said(Arrived([FULL], broken=Problem(502, "gone", kind="cut")))
        self.assertEqual((events, problem), (HI, None))

    def test_what_is_sealed_is_kept_for_the_call_it_led_to(self):
        body = done(0, SEALED) + done(1, CALL) + done(2, call("g", "{}", "c2")) + completed()
        said(Arrived([body]))
        self.assertEqual(responses_seals.of_call(TARGET.model_id, "c1"), (SEALED,))
        self.assertEqual(responses_seals.of_call(TARGET.model_id, "c2"), ())
        self.assertEqual(responses_seals.of_call("e:other", "c1"), ())
