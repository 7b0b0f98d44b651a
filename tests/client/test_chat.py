"""Streams as providers really send them: each read whole, byte by byte, and cut at every position."""

import json
import unittest
from typing import Any

from metrics.client import chat
from metrics.events import Chunk, Closed, Event, Opened, Reasoning, Text, Tick
from metrics.events import ToolArguments as Args
from metrics.events import ToolStart as Start
from metrics.records import Problem, Usage
from tests.client.arrivals import TARGET, Arrived, splits

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
SPENT = Usage(uncached_in=11, out=7, raw=USAGE)
DONE = b"data: [DONE]\n\n"


def frame(value: Any, end: str = "\n") -> bytes:
    return f"data: {json.dumps(value, separators=(',', ':'), ensure_ascii=False)}{end}{end}".encode()


def chunk(delta: dict[str, Any] | None, finish: str | None = None, index: int = 0, **more: Any) -> bytes:
    return frame({"choices": [{"index": index, "delta": delta, "finish_reason": finish}], **more})


def call(*items: dict[str, Any], finish: str | None = None) -> bytes:
    return chunk({"tool_calls": list(items)}, finish)


def part(
    index: int | None, arguments: Any, call_id: str | None = None, name: str | None = None
) -> dict[str, Any]:
    item: dict[str, Any] = {} if index is None else {"index": index}
    if call_id is not None:
        item["id"] = call_id
    function = {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}
    return {**item, "type": "function", "function": function}


def whole(message: dict[str, Any], finish: str = "stop", **more: Any) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"object": "chat.completion", "choices": [choice], **more}).encode()


HI = chunk({"role": "assistant", "content": "hi"})
STOP = chunk({}, "stop")
SPEND = frame({"choices": [], "usage": USAGE})
OPEN = Opened()
GOOD: list[Event] = [OPEN, Text("hi"), Closed(usage=SPENT)]

# name, stream, what it says: events without ticks, or (status, kind) of the Problem that ends them
CASES: list[tuple[str, bytes, list[Event], tuple[int, str] | None]] = [
    ("good", HI + STOP + SPEND + DONE, GOOD, None),
    ("crlf", (HI + STOP + SPEND + DONE).replace(b"\n", b"\r\n"), GOOD, None),
    ("cr", (HI + STOP + SPEND + DONE).replace(b"\n", b"\r"), GOOD, None),
    ("bom", b"\xef\xbb\xbf" + HI + STOP + SPEND + DONE, GOOD, None),
    ("comments", b": PROCESSING\n\n" + HI + b":\n" + STOP + b": x\n\n" + SPEND + DONE, GOOD, None),
    ("blank lines first", b"\n\n \r\n" + HI + STOP + SPEND + DONE, GOOD, None),
    ("words between", b"data: ping\n\ndata:\n\n" + HI + STOP + SPEND + DONE, GOOD, None),
    (
        "data over several lines",
        b'data: {"choices":[{"index":0,\ndata: "delta":{"content":"hi"},\ndata: '
        b'"finish_reason":"stop"}]}\n\n',
        [OPEN, Text("hi"), Closed()],
        None,
    ),
    (
        "utf-8",
        chunk({"content": "棚は🧰"}) + STOP + DONE,
        [OPEN, Text("棚は🧰"), Closed()],
        None,
    ),
    (
        "half of a surrogate pair",
        HI.replace(b"hi", b"ok \\udc4d") + STOP,
        [OPEN, Text("ok \ufffd"), Closed()],
        None,
    ),
    ("no [DONE]", HI + STOP + SPEND, GOOD, None),
    ("no [DONE], no last line end", HI + STOP.rstrip(b"\n"), [OPEN, Text("hi"), Closed()], None),
    ("[DONE] without a finish", HI + DONE, [OPEN, Text("hi"), Closed()], None),
    ("something after [DONE]", HI + STOP + SPEND + DONE + HI, GOOD, None),
    ("neither: cut", HI, [OPEN, Text("hi")], (502, "cut")),
    ("torn in a chunk: cut", HI + b'data: {"choices":[{"ind', [OPEN, Text("hi")], (502, "cut")),
    ("error first", frame({"error": {"code": 429, "message": "Provider busy"}}), [], (429, "rate_limited")),
    (
        "error midway",
        HI + frame({"error": {"message": "upstream overloaded", "code": 503}}) + DONE,
        [OPEN, Text("hi")],
        (503, "overloaded"),
    ),
    (
        "error midway, named event",
        HI + b"event: error\n" + frame({"type": "error", "error": {"type": "overloaded_error"}}),
        [OPEN, Text("hi")],
        (503, "overloaded"),
    ),
    (
        "openrouter's error chunk",
        HI + chunk({"content": ""}, "error", error={"code": 502, "message": "gone"}),
        [OPEN, Text("hi")],
        (502, "upstream"),
    ),
    ("finish error without a word", HI + chunk({}, "error"), [OPEN, Text("hi")], (502, "upstream")),
    (
        "deepseek out of resources",
        HI + chunk({}, "insufficient_system_resource"),
        [OPEN, Text("hi")],
        (503, "overloaded"),
    ),
    ("error past the finish", HI + STOP + frame({"error": "late"}), [OPEN, Text("hi"), Closed()], None),
    ("nothing", b"", [], (502, "empty")),
    ("only blanks", b"\n\n", [], (502, "empty")),
    ("only comments", b": x\n\n: y\n\n", [], (502, "empty")),
    ("only [DONE]", DONE, [], (502, "empty")),
    ("plain text", b"Internal error, sorry", [], (502, "garbage")),
    ("an event that is text", b"data: Internal error\n\n", [], (502, "garbage")),
    ("an event that is no JSON", HI + b"data: {nonsense}\n\n", [OPEN, Text("hi")], (502, "garbage")),
    ("a page", b"<html><title>Login</title></html>", [], (502, "garbage")),
    ("broken JSON", b'{"choices": [', [], (502, "garbage")),
    ("an error as JSON", b'{"error":{"message":"slow down","code":429}}', [], (429, "rate_limited")),
    ("an error in a list", b'[{"error":{"code":503,"message":"x"}}]', [], (503, "overloaded")),
    ("JSON without choices", b'{"object":"chat.completion","choices":[]}', [], (502, "empty")),
    (
        "JSON though a stream was asked for",
        b"\n\n" + whole({"role": "assistant", "content": "hi"}, usage=USAGE, model="m"),
        [Opened("m"), Text("hi"), Closed(usage=SPENT)],
        None,
    ),
    (
        "JSON with tools and an object for arguments",
        whole({"content": None, "tool_calls": [part(None, {"a": 1}, "x", "f")]}, "tool_calls"),
        [OPEN, Start(0, "x", "f"), Args(0, '{"a":1}'), Closed("tool_calls")],
        None,
    ),
    ("all in one chunk", chunk({"content": "hi"}, "stop", usage=USAGE) + DONE, GOOD, None),
    (
        "usage null, then real",
        chunk({"content": "hi"}, usage=None) + chunk({}, "stop", usage=None) + SPEND + DONE,
        GOOD,
        None,
    ),
    (
        "usage in every chunk",
        chunk({"content": "hi"}, usage={"prompt_tokens": 11}) + chunk({}, "stop", usage=USAGE) + DONE,
        GOOD,
        None,
    ),
    (
        "usage zero at the end",
        HI + STOP + SPEND + frame({"choices": [], "usage": {"prompt_tokens": 0}}),
        GOOD,
        None,
    ),
    ("groq's usage", HI + chunk({}, "stop", x_groq={"usage": USAGE}) + DONE, GOOD, None),
    (
        "names",
        frame({"choices": [], "model": "", "prompt_filter_results": []})
        + chunk({"content": "hi"}, "stop", model="m-1", provider="P", system_fingerprint="fp"),
        [Opened("m-1", "P", "fp"), Text("hi"), Closed()],
        None,
    ),
    (
        "reasoning",
        chunk({"reasoning_content": "a"})
        + chunk({"reasoning": "b", "reasoning_details": [{"type": "reasoning.text", "text": "b"}]})
        + chunk({"reasoning_details": [{"text": "c"}, {"summary": "d"}, {"data": "secret"}]})
        + chunk({"reasoning_content": "e", "reasoning": "e"})
        + chunk({"reasoning_content": "", "content": "hi"}, "stop"),
        [OPEN, *map(Reasoning, ("a", "b", "cd", "e")), Text("hi"), Closed()],
        None,
    ),
    (
        "content in parts",
        chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]})
        + chunk({"content": [{"type": "text", "text": "hi"}]}, "stop"),
        [OPEN, Reasoning("hm"), Text("hi"), Closed()],
        None,
    ),
    (
        "logprobs",
        frame({"choices": [{"index": 0, "delta": {"content": "hi"}, "logprobs": {"content": [1]}}]}) + STOP,
        [OPEN, Text("hi", 0, {"content": [1]}), Closed()],
        None,
    ),
    (
        "two choices",
        chunk({"content": "a"})
        + chunk({"content": "b"}, index=1)
        + chunk({}, "length")
        + chunk({}, "stop", 1),
        [OPEN, Text("a"), Text("b", 1), Closed("length")],
        None,
    ),
    ("refusal", chunk({"refusal": "no"}) + STOP, [OPEN, Text("no"), Closed("content_filter")], None),
    (
        "perplexity sends all so far beside the delta",
        frame(
            {"choices": [{"delta": {"content": "hi"}, "message": {"content": "hi"}, "finish_reason": "stop"}]}
        ),
        [OPEN, Text("hi"), Closed()],
        None,
    ),
    (
        "stop string of vllm",
        HI + frame({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "stop_reason": "END"}]}),
        [OPEN, Text("hi"), Closed(stop_sequence="END")],
        None,
    ),
    (
        "stop token of vllm",
        HI + frame({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "stop_reason": 128009}]}),
        [OPEN, Text("hi"), Closed()],
        None,
    ),
    (
        "odd shapes",
        frame(
            {
                "choices": [
                    None,
                    5,
                    {"index": None, "delta": None},
                    {"delta": {"content": 5, "tool_calls": [None]}},
                ]
            }
        )
        + frame({"choices": {}})
        + frame({"choices": [{"delta": "x", "finish_reason": "stop"}], "usage": [1]}),
        [OPEN, Closed()],
        None,
    ),
]

A = part(0, "", "call_a", "f")
START = Start(0, "call_a", "f")

# name, the chunks before the finish, what they say
TOOLS: list[tuple[str, bytes, list[Event]]] = [
    (
        "plain",
        call(A) + call(part(0, '{"a":')) + call(part(0, "1}")),
        [START, Args(0, '{"a":'), Args(0, "1}")],
    ),
    (
        "empty id and name go on",
        call(A) + call(part(0, '{"a":', "", "")) + call(part(0, "1}", "call_a", "")),
        [START, Args(0, '{"a":'), Args(0, "1}")],
    ),
    (
        "interleaved",
        call(A, part(1, "", "call_b", "g")) + call(part(1, "{")) + call(part(0, "{}")) + call(part(1, "}")),
        [START, Start(1, "call_b", "g"), Args(1, "{"), Args(0, "{}"), Args(1, "}")],
    ),
    (
        "stray index",
        call(part(0, '{"a":', "call_a", "f")) + call(part(1, "1}")) + call(part(2, " ")),
        [START, Args(0, '{"a":'), Args(0, "1}"), Args(0, " ")],
    ),
    (
        "no index",
        call(part(None, '{"a":', "call_a", "f")) + call(part(None, "1}"), part(None, "{}", "call_b", "f")),
        [START, Args(0, '{"a":'), Args(0, "1}"), Start(1, "call_b", "f"), Args(1, "{}")],
    ),
    (
        "every call has index 0",
        call(part(0, "{}", "call_a", "f"), part(0, "{}", "call_b", "f")),
        [START, Args(0, "{}"), Start(1, "call_b", "f"), Args(1, "{}")],
    ),
    (
        "no ids, every call has index 0",
        call(part(0, '{"a":1}', None, "f"), part(0, "{}", None, "f")),
        [Start(0, "id1", "f"), Args(0, '{"a":1}'), Start(1, "id2", "f"), Args(1, "{}")],
    ),
    (
        "a new id with each piece",
        call(part(0, "", "x1", "f")) + call(part(0, '{"a":', "x2", "f")) + call(part(0, "1}", "x3", "f")),
        [Start(0, "x1", "f"), Args(0, '{"a":'), Args(0, "1}")],
    ),
    (
        "the function's name as the id",
        call(part(0, "{}", "f", "f"), part(1, "{}", "f", "f")),
        [Start(0, "f", "f"), Args(0, "{}"), Start(1, "id1", "f"), Args(1, "{}")],
    ),
    (
        "the whole call once more",
        call(A) + call(part(0, "{}")) + call(part(0, "{}", "call_a", "f")),
        [START, Args(0, "{}")],
    ),
    (
        "the name comes late",
        call({"index": 0, "id": "call_a", "function": {"arguments": "{"}}) + call(part(0, "}", None, "f")),
        [START, Args(0, "{}")],
    ),
    ("no arguments", call(A), [START, Args(0, "{}")]),
    ("blank arguments", call(A) + call(part(0, " \n")), [START, Args(0, "{}")]),
    ("null arguments", call(part(0, None, "call_a", "f")), [START, Args(0, "{}")]),
    ("arguments that say null", call(A) + call(part(0, "nu")) + call(part(0, "ll")), [START, Args(0, "{}")]),
    ("an object", call(part(0, {"a": "é"}, "call_a", "f")), [START, Args(0, '{"a":"é"}')]),
    (
        "custom",
        call({"index": 0, "id": "c", "type": "custom", "custom": {"name": "sh", "input": ""}})
        + call({"index": 0, "custom": {"input": "null"}}),
        [Start(0, "c", "sh", kind="custom"), Args(0, "null")],
    ),
    (
        "gemini's signature",
        call({**part(0, "{}", "call_a", "f"), "extra_content": {"google": {"thought_signature": "s"}}}),
        [Start(0, "call_a", "f", signature="s"), Args(0, "{}")],
    ),
]  # fmt: skip


def ids() -> Any:
    numbers = iter(range(1, 100))
    return lambda: f"id{next(numbers)}"


def said(arrived: Arrived, **more: Any) -> tuple[list[Event], Problem | None]:
    events: list[Event] = []
    try:
        for event in chat.read(arrived, TARGET, now=lambda: 0.0, new_id=ids(), **more):
            if not isinstance(event, Tick):
                events.append(event)
    except Problem as problem:
        return events, problem
    return events, None


class Read(unittest.TestCase):
    maxDiff = None

    def test_every_split_says_the_same(self) -> None:
        for name, stream, expected, failure in CASES:
            with self.subTest(name):
                for pieces in splits(stream):
                    events, problem = said(Arrived(pieces))
                    self.assertEqual(events, expected, pieces)
                    self.assertEqual((problem.status, problem.kind) if problem else None, failure, pieces)

    def test_tools(self) -> None:
        for name, stream, expected in TOOLS:
            with self.subTest(name):
                for pieces in splits(stream + STOP + DONE):
                    events, problem = said(Arrived(pieces))
                    self.assertIsNone(problem)
                    self.assertEqual(events, [OPEN, *expected, Closed("tool_calls")], pieces)

    def test_a_stream_that_breaks_anywhere(self) -> None:
        """Before the finish it is cut; past it, complete. The text so far is never lost nor bent."""
        cut = Problem(502, "broke off", kind="cut")
        stream = HI + chunk({"content": "ho"}) + STOP + SPEND + DONE
        complete = len(HI + chunk({"content": "ho"}) + STOP)
        for broken in (cut, None):
            for end in range(len(stream)):
                with self.subTest(end=end, broken=broken):
                    events, problem = said(Arrived([stream[:end]], broken=broken))
                    texts = "".join(event.text for event in events if isinstance(event, Text))
                    self.assertTrue("hiho".startswith(texts))
                    # Two line ends short of a whole event is still the whole object.
                    if end >= complete - (0 if broken else 2):
                        self.assertIsNone(problem)
                        self.assertIsInstance(events[-1], Closed)
                    else:
                        self.assertIn(
                            problem and problem.kind, ("cut",) if texts or broken else ("cut", "empty")
                        )

    def test_refused(self) -> None:
        events, problem = said(Arrived([b'{"error":{"message":"slow"}}'], 429, {"retry-after": "7"}))
        self.assertEqual(
            (events, problem and problem.status, problem and problem.retry_after), ([], 429, 7.0)
        )

    def test_quiet(self) -> None:
        pieces = [b"", b"\n", b"", HI, b"", b": x\n\n", STOP, b""]
        kinds = [type(event).__name__ for event in chat.read(Arrived(pieces), TARGET)]
        self.assertEqual(kinds, ["Tick"] * 3 + ["Opened", "Text", "Tick", "Tick", "Tick", "Closed"])

    def test_a_call_without_an_id_gets_one_of_its_own(self) -> None:
        self.assertRegex(chat.new_call_id(), "^call_[0-9a-f]{24}$")


class Relay(unittest.TestCase):
    def relayed(self, stream: bytes) -> tuple[list[Any], list[Event]]:
        """The chunks as objects, and what they mean."""
        events, problem = said(Arrived([stream]), relay=True)
        self.assertIsNone(problem)
        chunks = [event for event in events if isinstance(event, Chunk)]
        for one in chunks:
            self.assertNotIn(b"\n", one.raw)
        meaning = [event for one in chunks for event in one.events]
        return [json.loads(one.raw) for one in chunks], [*meaning, events[-1]]

    def test_bytes_pass_and_what_matters_is_decoded(self) -> None:
        more = chunk({"content": " there"}, None, 0, odd={"kept": True})
        raw = [frame_.removeprefix(b"data: ").rstrip() for frame_ in (HI, more, STOP)]
        events, problem = said(Arrived([HI + more + STOP + SPEND + DONE]), relay=True)
        self.assertIsNone(problem)
        self.assertEqual(
            events,
            [
                Chunk(raw[0], (OPEN, Text("hi"))),
                Chunk(raw[1], ()),
                Chunk(raw[2], ()),
                Closed(usage=SPENT),
            ],
        )

    def test_tools_are_put_right_in_the_chunk(self) -> None:
        for name, stream, expected in TOOLS:
            with self.subTest(name):
                chunks, meaning = self.relayed(stream + chunk({}, "stop") + DONE)
                self.assertEqual(meaning, [OPEN, *expected, Closed("tool_calls")])
                # What a plain client makes of the chunks is what the events say.
                events, _ = said(Arrived([b"".join(map(frame, chunks))]))
                self.assertEqual(events, [OPEN, *expected, Closed("tool_calls")])
                for one in chunks:
                    for item in one["choices"][0]["delta"].get("tool_calls", []):
                        self.assertIsInstance(item["index"], int)
                        self.assertNotEqual(item.get("id"), "")
                self.assertEqual(chunks[-1]["choices"][0]["finish_reason"], "tool_calls")

    def test_a_whole_answer_becomes_a_chunk(self) -> None:
        chunks, meaning = self.relayed(whole({"role": "assistant", "content": "hi"}, usage=USAGE))
        self.assertEqual(chunks[0]["object"], "chat.completion.chunk")
        self.assertEqual(chunks[0]["choices"][0]["delta"]["content"], "hi")
        self.assertEqual(meaning, GOOD)

    def test_plain(self) -> None:
        for text, expected in [
            ('{"choices":[{"delta":{"content":"x"},"finish_reason":null}],"usage":null}', True),
            ('{"choices":[{"delta":{"content":"x"},"finish_reason": null}],"usage": null}', True),
            (
                '{"choices":[{"delta":{"content":"\\"finish_reason\\":\\"stop\\""},"finish_reason":null}]}',
                True,
            ),
            (
                '{"choices":[{"delta":{"content":"x"},"native_finish_reason":"stop","finish_reason":null}]}',
                True,
            ),
            ('{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}', False),
            ('{"choices":[{"finish_reason":null},{"finish_reason":"stop"}]}', False),
            ('{"choices":[{"finish_reason" : "stop"}]}', False),
            ('{"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":1}}', False),
            ('{"choices":[{"delta":{"tool_calls":[]}}]}', False),
            ('{"error":{}}', False),
            ('{"choices":[', False),
        ]:
            with self.subTest(text):
                self.assertEqual(chat.plain(text.encode()), expected)


if __name__ == "__main__":
    unittest.main()
