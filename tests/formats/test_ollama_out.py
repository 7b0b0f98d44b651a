import json
import unittest

from metrics.events import Closed, Failed, Reasoning, Text, Tick, gather
from metrics.formats import ollama, ollama_out
from metrics.formats.protocol import Stamp
from metrics.records import Problem, Request, Usage
from tests.formats.ollama_asked import HELLO
from tests.formats.streams import STREAMS, call

STAMP = Stamp("ab12", 1_796_000_000)
BEGUN = STAMP.created * 10**9


class Ticking:
    """A clock that is a millisecond on at each look."""

    def __init__(self):
        self.now = BEGUN

    def __call__(self):
        self.now += 10**6
        return self.now


def request(kind="chat"):
    return Request("bench/core", "core", "all", HELLO, framing=kind, stream=True, format="ollama")


def lines(events, kind="chat"):
    return list(ollama.stream(request(kind), iter(events), STAMP, Ticking()))


def read(chunks):
    """A strict reader that ends a line wherever httpx does."""
    buffer = b"".join(chunks).decode("utf-8")
    assert buffer.endswith("\n")
    assert len(buffer.splitlines()) == buffer.count("\n")
    return [json.loads(line) for line in buffer.splitlines()]


def said(told):
    """(text, thoughts, calls) as an SDK gathers them."""
    text, thoughts, calls = "", "", []
    for line in told:
        message = line.get("message") or {"content": line.get("response"), **line}
        text += message["content"]
        thoughts += message.get("thinking") or ""
        calls += message.get("tool_calls", [])
    return text, thoughts, [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in calls]


class StreamTest(unittest.TestCase):
    def test_what_is_said_is_read_back(self):
        for name, events, *wanted in STREAMS:
            with self.subTest(name):
                told = read(lines(events))
                self.assertEqual(list(said(told)), wanted)
                self.assertEqual([line["done"] for line in told], [False] * (len(told) - 1) + [True])
                self.assertEqual({line["model"] for line in told}, {"bench/core"})
                self.assertTrue(all(line["created_at"].endswith("Z") for line in told))
                last = told[-1]
                self.assertEqual(last["done_reason"], "length" if events[-1].finish == "length" else "stop")
                self.assertEqual(last.get("bench"), events[-1].extra.get("bench"))
                self.assertEqual(last["message"], {"role": "assistant", "content": ""})

    def test_generate_says_it_in_response(self):
        told = read(lines([Reasoning("hm"), Text("a"), Tick(), Text("b\u2028"), Closed()], "generate"))
        self.assertEqual("".join(line["response"] for line in told), "ab\u2028")
        self.assertEqual(told[0]["thinking"], "hm")
        self.assertTrue(all("message" not in line for line in told))
        reply = ollama.reply(
            request("generate"), gather([Reasoning("hm"), Text("a"), Closed()]), STAMP, Ticking()
        )
        self.assertEqual((reply["response"], reply["thinking"], reply["done"]), ("a", "hm", True))

    def test_cut_anywhere_it_reads_the_same(self):
        for name, events, *_ in STREAMS:
            if name == "a megabyte":
                continue
            whole = b"".join(lines(events))
            with self.subTest(name):
                told = read([whole])
                for at in range(len(whole)):
                    self.assertEqual(read([whole[:at], whole[at:]]), told)

    def test_each_piece_is_whole_lines(self):
        for piece in lines([Text("a"), Tick(), *call(0, "c", "f", "{}"), Closed("stop")]):
            read([piece])

    def test_the_whole_reply_says_the_same(self):
        for name, events, *wanted in STREAMS:
            if any(hasattr(event, "raw") for event in events):
                continue  # only chat is given chunks, and gathers none
            with self.subTest(name):
                reply = ollama.reply(request(), gather(events), STAMP, Ticking())
                self.assertEqual(list(said([reply])), wanted)
                last = read(lines(events))[-1]
                for field in ("done", "done_reason", "prompt_eval_count", "eval_count", "bench"):
                    self.assertEqual(reply.get(field), last.get(field))

    def test_counts(self):
        spent = Usage(uncached_in=7, cache_read=3, cache_write=0, out=5, reasoning=2)
        last = read(lines([Tick(), Text("a"), Text("b"), Closed("stop", spent)]))[-1]
        self.assertEqual((last["prompt_eval_count"], last["eval_count"]), (10, 5))
        durations = {name: value for name, value in last.items() if name.endswith("_duration")}
        self.assertEqual(
            durations,
            {
                "total_duration": 2_000_000,
                "load_duration": 0,
                "prompt_eval_duration": 1_000_000,
                "eval_duration": 1_000_000,
            },
        )

    def test_a_clock_that_was_set_back(self):
        for reply in (
            read(ollama.stream(request(), iter([Text("a"), Closed()]), STAMP, lambda: BEGUN - 10**12))[-1],
            ollama.reply(request(), gather([Text("a"), Closed()]), STAMP, lambda: BEGUN - 10**12),
        ):
            self.assertGreaterEqual(min(v for k, v in reply.items() if k.endswith("_duration")), 0)

    def test_a_late_error(self):
        for events in ([Text("a"), Failed(Problem(502, "gone"))], [Failed(Problem(502, "gone"))]):
            told = read(lines(events))
            self.assertEqual(told[-1], {"error": "gone"})
            self.assertEqual(len(told), len(events))

    def test_half_a_call_is_not_shown(self):
        events = [*call(0, "a", "f", "{}"), *call(1, "b", "g", '{"x":'), Closed("length")]
        for told in (read(lines(events)), [ollama.reply(request(), gather(events), STAMP, Ticking())]):
            self.assertEqual(said(told)[2], [("a", "f", {})])
            self.assertEqual(told[-1]["done_reason"], "length")

    def test_a_malformed_call(self):
        events = [Text("x"), *call(0, "a", "f", "no json"), Closed("tool_calls")]
        self.assertIn("no JSON object", read(lines(events))[-1]["error"])
        with self.assertRaises(Problem) as caught:
            ollama.reply(request(), gather(events), STAMP, Ticking())
        self.assertEqual(caught.exception.status, 502)

    def test_headers(self):
        self.assertEqual(dict(ollama.stream_headers(request()))["Content-Type"], "application/x-ndjson")

    def test_created_at(self):
        self.assertEqual(ollama_out.head("m", 0)["created_at"], "1970-01-01T00:00:00.000000Z")
