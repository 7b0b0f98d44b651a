"""Streams as providers really send them: each read whole, byte by byte, and cut at every position."""

import json
import unittest
from typing import Any

from metrics.client import chat
from metrics.events import Chunk, Closed, Event, Opened, Reasoning, Text
from metrics.events import ToolArguments as Args
from metrics.events import ToolStart as Start
from metrics.records import Problem, Usage
from tests.client.arrivals import DONE, TARGET, Arrived, chunk, frame, part, relayed, said, splits

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
SPENT = Usage(uncached_in=11, out=7, raw=USAGE)


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
    (
        "error past the finish, in a chunk that begins a call",
        HI + STOP + chunk({"tool_calls": [part(0, "{", "x", "f")]}, "error"),
        [OPEN, Text("hi"), Closed()],
        None,
    ),
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
    ("JSON of another API", b'{"type":"message","content":[]}', [], (502, "garbage")),
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


class Read(unittest.TestCase):
    maxDiff = None

    def test_every_split_says_the_same(self) -> None:
        for name, stream, expected, failure in CASES:
            with self.subTest(name):
                for pieces in splits(stream):
                    events, problem = said(Arrived(pieces))
                    self.assertEqual(events, expected, pieces)
                    self.assertEqual((problem.status, problem.kind) if problem else None, failure, pieces)

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


class Relay(unittest.TestCase):
    def test_bytes_pass_and_what_matters_is_decoded(self) -> None:
        more = chunk({"content": " there"}, None, 0, odd={"kept": True})
        raw = [frame_.removeprefix(b"data: ").rstrip() for frame_ in (HI, more, STOP)]
        events, problem = said(Arrived([HI + more + STOP + SPEND + DONE]), relay=True)
        self.assertIsNone(problem)
        self.assertEqual(
            events,
            [
                Chunk(raw[0], (OPEN, Text("hi"))),
                Chunk(raw[1], (Text(" there"),)),
                Chunk(raw[2], ()),
                Closed(usage=SPENT),
            ],
        )

    def test_a_whole_answer_becomes_a_chunk(self) -> None:
        chunks, meaning = relayed(whole({"role": "assistant", "content": "hi"}, usage=USAGE))
        self.assertEqual(chunks[0]["object"], "chat.completion.chunk")
        self.assertEqual(chunks[0]["choices"][0]["delta"]["content"], "hi")
        self.assertEqual(meaning, GOOD)

    def test_what_says_nothing_is_left_out(self) -> None:
        empty = [
            chunk({"role": "assistant", "content": "", "refusal": None, "tool_calls": []}),
            chunk({"role": "assistant"}, index=1, content_filter_results={}),
            chunk(None),
        ]
        for silent in empty:
            with self.subTest(silent):
                events, _ = said(Arrived([silent + HI + STOP + DONE]), relay=True)
                self.assertEqual([type(event) for event in events], [Opened, Chunk, Chunk, Closed])
        events, problem = said(
            Arrived([empty[0] + frame({"error": {"message": "busy", "code": 429}})]), relay=True
        )
        self.assertEqual((events, problem and problem.status), ([OPEN], 429))

    def test_usage_is_left_to_the_end(self) -> None:
        spending = [
            chunk({"content": text}, finish, usage=USAGE) for text, finish in (("a", None), ("b", "stop"))
        ]
        chunks, meaning = relayed(b"".join(spending) + DONE)
        self.assertEqual(["usage" in one for one in chunks], [False, False])
        self.assertEqual(meaning[-1], Closed(usage=SPENT))

    def test_what_not_every_reader_can_take_is_put_right(self) -> None:
        for name, sent, right in [
            ("half of a pair", rb"\udc4d", "\ufffd"),
            ("both halves", rb"\uD83E\uDDF0", "🧰"),
            ("no utf-8", b"\xe6\xa3", "\ufffd"),
            ("utf-8", "棚".encode(), "棚"),
        ]:
            with self.subTest(name):
                chunks, _ = relayed(HI + HI.replace(b"hi", sent) + STOP + DONE)
                self.assertEqual(chunks[1]["choices"][0]["delta"]["content"], right)

    def test_numbers_that_are_no_json_are_not_sent_on(self) -> None:
        for word in (b"NaN", b"-Infinity"):
            sent = chunk({"content": "a"}, logprobs={"content": [{"logprob": 0}]}).replace(
                b"0}]}", word + b"}]}"
            )
            events, _ = said(Arrived([HI + sent + STOP + DONE]), relay=True)
            raw = [event.raw for event in events if isinstance(event, Chunk)]
            with self.subTest(word):
                self.assertEqual((word in sent, any(word in one for one in raw)), (True, False))

    def test_a_torn_last_chunk_is_not_sent_on(self) -> None:
        for end in range(len(HI) - 20, len(HI) - 2):
            events, problem = said(Arrived([HI + HI[:end]]), relay=True)
            self.assertEqual((len(events), problem and problem.kind), (1, "cut"))

    def test_shapes_are_put_right(self) -> None:
        """Clients look into choices without asking whether all is there."""
        for name, choice, delta in [
            ("no delta", {"index": 0, "finish_reason": "stop"}, {}),
            ("a delta of null", {"index": 0, "delta": None, "finish_reason": "stop"}, {}),
            ("no index", {"delta": {"content": "a"}, "finish_reason": "stop"}, {"content": "a"}),
            (
                "an index in words",
                {"index": "0", "delta": {"content": "a"}, "finish_reason": "stop"},
                {"content": "a"},
            ),
            (
                "a message",
                {"index": 0, "message": {"content": "a"}, "finish_reason": "stop"},
                {"content": "a"},
            ),
            (
                "parts",
                {
                    "index": 0,
                    "delta": {
                        "content": [{"type": "thinking", "thinking": "h"}, {"type": "text", "text": "a"}]
                    },
                    "finish_reason": "stop",
                },
                {"content": "a", "reasoning_content": "h"},
            ),
        ]:
            with self.subTest(name):
                made = relayed(HI + frame({"choices": [choice]}) + DONE)[0][1]["choices"]
                self.assertEqual((made[0]["index"], made[0]["finish_reason"]), (0, "stop"))
                self.assertEqual(made[0]["delta"], delta)
        chunks, _ = relayed(
            HI + frame({"choices": [{"index": 0, "delta": {"content": "b"}}]}) * 3 + STOP + DONE
        )
        self.assertEqual([one["choices"][0]["finish_reason"] for one in chunks], [None] * 4 + ["stop"])

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
                self.assertEqual(chat.plain(text.encode(), Text("x")), expected)


if __name__ == "__main__":
    unittest.main()
