"""Answers of Gemini's own API: (name, body, events without ticks, (status, kind) of the Problem at their
end)."""

import json

from metrics.events import Closed, Opened, Reasoning, Text
from metrics.events import ToolArguments as Args
from metrics.events import ToolStart as Start
from metrics.records import Usage
from tests.client.arrivals import frame


def candidate(*parts, finish=None, **more):
    made = {"content": {"role": "model", "parts": list(parts)}, **more}
    return {"candidates": [{**made, **({"finishReason": finish} if finish else {}), "index": 0}]}


def text(words, finish=None, **more):
    return {**candidate({"text": words}, finish=finish), **more}


def stream(*values):
    return b"".join(frame(value) for value in values)


USAGE = {"promptTokenCount": 5, "candidatesTokenCount": 3, "thoughtsTokenCount": 4, "totalTokenCount": 12}
SPENT = Usage(uncached_in=5, out=7, reasoning=4, raw=USAGE)
HI = text("hi", modelVersion="g")
END = text("", "STOP", usageMetadata=USAGE)
OPEN = Opened("g")
GOOD = [OPEN, Text("hi"), Closed(usage=SPENT)]
LOOK = {"functionCall": {"id": "c1", "name": "look", "args": {"a": "é"}}}
STARTED = [Start(0, "c1", "look"), Args(0, '{"a":"é"}')]

# name, body, events without ticks, (status, kind) of the Problem that ends them
CASES = [
    ("good", stream(HI, END), GOOD, None),
    ("crlf", stream(HI, END).replace(b"\n", b"\r\n"), GOOD, None),
    ("bom and comments", b"\xef\xbb\xbf: x\n\n" + stream(HI, END), GOOD, None),
    ("data over several lines", stream(HI, END).replace(b',"', b',\ndata: "'), GOOD, None),
    ("[DONE], as some gateways add", stream(HI, END) + b"data: [DONE]\n\n", GOOD, None),
    ("no last line end", stream(HI, END).rstrip(b"\n"), GOOD, None),
    ("one body", json.dumps(text("hi", "STOP", usageMetadata=USAGE, modelVersion="g")).encode(), GOOD, None),
    ("a list, as without alt=sse", json.dumps([HI, END]).encode(), GOOD, None),
    ("a body without a reason", json.dumps(HI).encode(), [OPEN, Text("hi"), Closed()], None),
    ("utf-8", stream(text("棚は🧰"), END), [Opened(), Text("棚は🧰"), Closed(usage=SPENT)], None),
    (
        "thoughts",
        stream(candidate({"text": "hm", "thought": True}, {"text": "so"}), END),
        [Opened(), Reasoning("hm"), Text("so"), Closed(usage=SPENT)],
        None,
    ),
    ("a call", stream(candidate(LOOK, finish="STOP")), [Opened(), *STARTED, Closed("tool_calls")], None),
    (
        "calls without ids, and with one twice",
        stream(candidate({"functionCall": {"name": "go"}}, LOOK, LOOK, finish="STOP")),
        [
            *(Opened(), Start(0, "id1", "go"), Args(0, "{}")),
            *(Start(1, "c1", "look"), Args(1, '{"a":"é"}')),
            *(Start(2, "id2", "look"), Args(2, '{"a":"é"}')),
            Closed("tool_calls"),
        ],
        None,
    ),
    (
        "a signed call",
        stream(candidate({**LOOK, "thoughtSignature": "c2ln"}), END),
        [
            Opened(),
            Start(0, "c1", "look", signature="c2ln"),
            STARTED[1],
            Closed("tool_calls", usage=SPENT),
        ],
        None,
    ),
    (
        "a signature by itself",
        stream(HI, candidate({"text": "", "thoughtSignature": "c2ln"}, finish="STOP")),
        [OPEN, Text("hi"), Closed()],
        None,
    ),
    ("cut by the limit", stream(text("ha", "MAX_TOKENS")), [Opened(), Text("ha"), Closed("length")], None),
    (
        "several candidates",
        stream(
            {
                "candidates": [
                    {"content": {"parts": [{"text": "b"}]}, "index": 1},
                    {"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"},
                ]
            }
        ),
        [Opened(), Text("b", 1), Text("a"), Closed()],
        None,
    ),
    (
        "blocked",
        stream({"promptFeedback": {"blockReason": "SAFETY"}}),
        [Opened(), Closed("content_filter")],
        None,
    ),
    (
        "blocked, in one body",
        json.dumps(
            {"promptFeedback": {"blockReason": "OTHER"}, "usageMetadata": {"promptTokenCount": 5}}
        ).encode(),
        [
            Opened(),
            Closed("content_filter", Usage(uncached_in=5, out=0, raw={"promptTokenCount": 5})),
        ],
        None,
    ),
    (
        "without content",
        stream({"candidates": [{"finishReason": "SAFETY", "index": 0}]}),
        [Opened(), Closed("content_filter")],
        None,
    ),
    ("recitation", stream(text("ha", "RECITATION")), [Opened(), Text("ha"), Closed("content_filter")], None),
    ("a reason of tomorrow", stream(text("hi", "NEWER")), [Opened(), Text("hi"), Closed()], None),
    ("for no reason", stream(text("hi", "OTHER")), [Opened(), Text("hi"), Closed()], None),
    (
        "for no reason, without a word",
        stream({"candidates": [{"finishReason": "OTHER"}]}),
        [Opened()],
        (502, "upstream"),
    ),
    (
        "a call that it could not write",
        stream({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(x)"}]}),
        [Opened()],
        (502, "upstream"),
    ),
    ("no reason at all: cut", stream(HI), [OPEN, Text("hi")], (502, "cut")),
    (
        "thoughts alone: cut",
        stream(candidate({"text": "hm", "thought": True})),
        [Opened(), Reasoning("hm")],
        (502, "cut"),
    ),
    ("torn: cut", stream(HI) + b'data: {"candid', [OPEN, Text("hi")], (502, "cut")),
    ("torn past its end", stream(HI, END) + b'data: {"candid', GOOD, None),
    (
        "unspecified is no end",
        stream(text("hi", "FINISH_REASON_UNSPECIFIED")),
        [Opened(), Text("hi")],
        (502, "cut"),
    ),
    ("a body without a word", json.dumps(text("")).encode(), [Opened()], (502, "empty")),
    ("nothing", b"", [], (502, "empty")),
    ("only comments", b": x\n\n", [], (502, "empty")),
    (
        "an error inside of a success",
        stream({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}),
        [],
        (503, "overloaded"),
    ),
    (
        "an error in a list",
        b'[{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED"}}]',
        [],
        (429, "rate_limited"),
    ),
    (
        "an error midway",
        stream(HI, {"error": {"code": 500, "message": "gone", "status": "INTERNAL"}}),
        [OPEN, Text("hi")],
        (500, "upstream"),
    ),
    ("an error past its end", stream(HI, END, {"error": {"message": "late"}}), GOOD, None),
    ("a page", b"<html><title>Login</title></html>", [], (502, "garbage")),
    ("words", b"Internal error", [], (502, "garbage")),
    ("another API", b'{"choices":[{"message":{"content":"x"}}]}', [], (502, "garbage")),
    (
        "odd shapes",
        stream({"candidates": [5, {"content": {"parts": [7, {"text": 8}]}, "index": "x"}]}, HI, END),
        [Opened(), Text("hi"), Closed(usage=SPENT)],
        None,
    ),
]
