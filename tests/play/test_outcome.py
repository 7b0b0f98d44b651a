import time
import unittest

from metrics.client.chat import Conversation
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
)
from metrics.play import outcome
from metrics.play.outcome import Said
from metrics.records import Price, Problem, Seat, Target, Usage

SEAT = Seat(
    "p20261129-114140-0a1b2c3d.member1",
    "member",
    Target("mm", "e:mm", "e", "e", "mm", "http://127.0.0.1:9/v1", price=Price(1.0, 2.0)),
)
ASKED = Conversation([{"role": "user", "content": "hello"}])
USED = Usage(uncached_in=10, out=5)


def of(*events, problem=None):
    said = Said()
    for at, event in enumerate(events):
        said.hear(event, lambda at=at: float(at))
    return outcome.of(SEAT, said, problem, ASKED)


class OutcomeTest(unittest.TestCase):
    ENDED = [
        ("words", [Opened("m"), Text("a"), Closed(usage=USED)], "ok", None),
        ("words in chunks", [Chunk(b"", (Text("a"),)), Closed(usage=USED)], "ok", None),
        ("a call", [ToolStart(0, "c", "look"), Closed("tool_calls")], "ok", None),
        ("nothing", [Closed()], "empty", "empty"),
        ("blanks", [Text(" \n"), Closed()], "empty", "empty"),
        ("thoughts alone", [Reasoning("hm"), Closed()], "empty", "empty"),
        ("thoughts to the limit", [Reasoning("hm"), Closed("length")], "empty", "out_of_budget"),
        ("withheld", [Closed("content_filter")], "refused", "refused"),
    ]

    def test_a_stream_that_ended(self):
        for name, events, status, error in self.ENDED:
            with self.subTest(name):
                answer = of(*events)
                self.assertEqual((answer.status, answer.error), (status, error))

    TOGETHER = [
        ("text", Text(""), ("ab", "", ("",))),
        ("thoughts", Reasoning(""), ("", "ab", ("",))),
        ("arguments", ToolArguments(0, ""), ("", "", ("ab",))),
        ("nobody's arguments", ToolArguments(1, ""), ("", "", ("",))),
    ]

    def test_pieces_that_came_together(self):
        for name, like, said in self.TOGETHER:
            with self.subTest(name):
                burst = Burst(like, ["a", "b"], [b"a", b"b"])
                answer = of(Opened("m"), burst, Closed(usage=USED))
                self.assertEqual((answer.text, answer.reasoning, answer.first_token_s), (*said[:2], 1.0))
                called = of(ToolStart(0, "c", "look"), burst, Closed(usage=USED))
                self.assertEqual(tuple(arguments for _, arguments in called.calls), said[2])

    BROKEN = [
        ("before a word", [], "upstream", "error"),
        ("within words", [Text("half")], "cut", "cut"),
        ("late", [Text("half")], "timeout", "timeout"),
        ("in time", [], "timeout", "timeout"),
        ("refused", [], "refused", "refused"),
    ]

    def test_a_call_that_broke(self):
        for name, events, kind, status in self.BROKEN:
            with self.subTest(name):
                answer = of(*events, problem=Problem(502, "why", kind=kind, code="c"))
                self.assertEqual((answer.status, answer.error, answer.code), (status, kind, "c"))

    def test_what_it_cost(self):
        self.assertEqual((of(Text("a"), Closed(usage=USED)).cost, USED.estimated), (20_000_000, False))
        half = of(Text("half"), problem=Problem(502, "why", kind="cut"))
        self.assertTrue(half.usage.estimated)
        self.assertGreater(half.cost, 0)
        never = of(problem=Problem(429, "slow"))
        self.assertEqual((never.cost, never.cost_status, never.usage.out), (None, "none", None))

    def test_calls_are_kept_whole(self):
        said = [
            ToolStart(1, "b", "two"),
            ToolStart(0, "a", "one"),
            ToolArguments(0, "{"),
            ToolArguments(0, "}"),
        ]
        self.assertEqual(of(*said, Tick(), Closed("tool_calls")).calls, (("one", "{}"), ("two", "")))

    def test_a_failure_in_the_stream_is_raised(self):
        with self.assertRaises(Problem):
            Said().hear(Failed(Problem(500, "no")), time.monotonic)
