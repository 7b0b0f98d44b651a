import unittest

from metrics.events import (
    Burst,
    Chunk,
    Closed,
    Failed,
    Opened,
    Reasoning,
    Text,
    Tick,
    ToolArguments,
    ToolStart,
    gather,
    singly,
)
from metrics.records import Problem, Usage


class GatherTest(unittest.TestCase):
    def test_a_message_is_the_sum_of_its_pieces(self):
        usage = Usage(1, 0, 0, 2)
        reply = gather(
            [
                Opened("m"),
                Tick(),
                Reasoning("h"),
                Reasoning("m"),
                Text("a"),
                ToolStart(1, "c2", "go"),
                ToolStart(0, "c1", "look"),
                ToolArguments(0, "{"),
                ToolArguments(1, "[]"),
                ToolArguments(0, "}"),
                Text("b"),
                Text("another choice", 1),
                Closed("tool_calls", usage, "X", {"bench": {}}),
                Text("never read"),
            ]
        )
        self.assertEqual((reply.text, reply.reasoning, reply.finish), ("ab", "hm", "tool_calls"))
        self.assertEqual(
            [(call["id"], call["arguments"]) for call in reply.tool_calls], [("c1", "{}"), ("c2", "[]")]
        )
        self.assertEqual((reply.usage, reply.stop_sequence, reply.extra), (usage, "X", {"bench": {}}))

    def test_thoughts_end_with_their_seals(self):
        sealed = {"type": "redacted_thinking", "data": "x"}
        reply = gather(
            [Reasoning("a"), Reasoning("b"), Reasoning("", signature="s"), Reasoning("", sealed=sealed)]
            + [Reasoning("c"), Closed()]
        )
        self.assertEqual(
            reply.thoughts,
            (
                {"text": "ab", "signature": "s", "sealed": None},
                {"text": "", "signature": None, "sealed": sealed},
                {"text": "c", "signature": None, "sealed": None},
            ),
        )

    def test_thoughts_know_their_place(self):
        told = [Reasoning("a"), Text("xy"), Reasoning("b", signature="s"), ToolStart(0, "c1", "look")]
        reply = gather([*told, Reasoning("c"), Closed()])
        self.assertEqual([thought.get("behind") for thought in reply.thoughts], [None, (2, 1)])
        reply = gather([Text("x"), Reasoning("b", signature="s"), Closed()])
        self.assertEqual(reply.thoughts[0]["behind"], (1, 0))

    def test_chunks_are_kept_and_what_they_mean_is_gathered(self):
        reply = gather([Opened("m"), Chunk(b"{1}", (Text("a"),)), Chunk(b"{2}", ()), Text("b"), Closed()])
        self.assertEqual((reply.text, reply.chunks), ("ab", (b"{1}", b"{2}")))

    def test_a_chunk_that_came_whole_is_kept_as_it_was_read(self):
        answer = {"choices": [{"delta": {"content": "a"}}]}
        reply = gather([Chunk(answer, (Opened("m"), Text("a"))), Closed()])
        self.assertEqual((reply.text, reply.chunks), ("a", (answer,)))

    TOGETHER = [
        ("text", Text(""), [Text("a"), Text('"')], ('a"', "", ())),
        ("thoughts", Reasoning(""), [Reasoning("a"), Reasoning('"')], ("", 'a"', ())),
        (
            "arguments",
            ToolArguments(0, ""),
            [ToolArguments(0, "a"), ToolArguments(0, '"')],
            ("", "", ('a"',)),
        ),
    ]

    def test_what_came_together_is_its_pieces(self):
        for name, like, pieces, said in self.TOGETHER:
            burst = Burst(like, ["a", '"'], [b"a", b'\\"'])
            chunks = Burst(like, ["a", '"'], [b"a", b'\\"'], b'{"x":"', b'"}')
            raw = [b'{"x":"a"}', b'{"x":"\\""}']
            with self.subTest(name):
                self.assertEqual(list(singly([Tick(), burst, Closed()])), [Tick(), *pieces, Closed()])
                alone = [(one.raw, one.events) for one in singly([chunks])]
                self.assertEqual(alone, [(one, (piece,)) for one, piece in zip(raw, pieces, strict=True)])
                for told in (burst, chunks):
                    reply = gather([ToolStart(0, "c", "f"), told, Closed()])
                    calls = tuple(call["arguments"] for call in reply.tool_calls if call["arguments"])
                    self.assertEqual((reply.text, reply.reasoning, calls), said)
                expected = ('a"',) if type(like) is Text else tuple(raw)
                self.assertEqual(gather([ToolStart(0, "c", "f"), chunks, Closed()]).chunks, expected)

    def test_a_failure_is_raised(self):
        with self.assertRaises(Problem) as caught:
            gather([Text("a"), Failed(Problem(429, "slow"))])
        self.assertEqual(caught.exception.status, 429)

    def test_a_stream_without_an_end_is_no_message(self):
        with self.assertRaises(Problem) as caught:
            gather([Text("a")])
        self.assertEqual(caught.exception.status, 502)
