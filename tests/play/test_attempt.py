"""What may leave while another member could still answer; the whole of it is tried in test_routing."""

import itertools
import unittest
from dataclasses import replace
from unittest import mock

from metrics.events import Burst, Chunk, Closed, Opened, Reasoning, Text, ToolStart
from metrics.play.attempt import PATIENCE, QUIET, THINKING, Attempt, Waiting
from metrics.play.calls import Clocks

ROLE = Chunk(b"{}", ())
NAMED = Chunk(b"{}", (Opened("m"),))


def attempt(stream=True, step=0.0):
    ticking = itertools.count()
    waiting = Waiting(Clocks(monotonic=lambda: next(ticking) * step), lambda: False, 0.0, 0.0)
    turn = mock.Mock()
    turn.request.stream = stream
    return Attempt(turn, mock.Mock(alias="mm"), waiting, last=False)


class LeaveTest(unittest.TestCase):
    FIRST = [
        ("text", Text("a"), True, True),
        ("a call", ToolStart(0, "c1", "look"), True, True),
        ("a chunk with text", Chunk(b"{}", (Opened("m"), Text("a"))), True, True),
        ("a chunk that says who speaks", ROLE, False, False),
        ("a name", Opened("m"), False, False),
        ("a chunk with a name", NAMED, False, False),
        ("a thought", Reasoning("hm"), False, True),
        ("thoughts together", Burst(Reasoning("hm"), ["h", "m"], [b"h", b"m"]), False, True),
        ("text together", Burst(Text("a"), ["h", "m"], [b"h", b"m"]), True, True),
        ("a chunk with a thought", Chunk(b"{}", (Reasoning("hm"),)), False, True),
    ]

    def test_what_decides_a_streamed_turn(self):
        for name, event, leaves, _ in self.FIRST:
            with self.subTest(name):
                self.assertEqual(attempt()._may_leave(event), leaves)

    def test_whoever_has_said_something_be_it_held_back_is_waited_for(self):
        for name, event, _, speaks in self.FIRST:
            with self.subTest(name):
                trying = attempt(step=PATIENCE)
                trying.held = [NAMED, event]
                self.assertIsNone(trying._trouble(0.0))
                self.assertEqual(trying._trouble(-1.0) is None, speaks)
                self.assertIsNone(replace(trying, last=True)._trouble(-1.0))

    def test_thinking_leaves_after_a_while(self):
        trying = attempt(step=THINKING / 4)
        left = [trying._may_leave(Reasoning("hm")) for _ in range(8)]
        self.assertEqual(left[:4], [False] * 4)
        self.assertTrue(left[-1])

    def test_what_was_held_leaves_first_and_once_decided_all_leaves(self):
        def said():
            yield from (NAMED, Reasoning("hm"), Text("a"), ROLE, Text("b"), Closed())
            return mock.Mock(status="ok")

        for stream in (True, False):
            with mock.patch("metrics.play.attempt._place", return_value=said()):
                trying = attempt(stream)
                left = list(trying.events())
            self.assertEqual(left, [NAMED, Reasoning("hm"), Text("a"), ROLE, Text("b")])
            self.assertEqual((trying.said, trying.closed), (stream, Closed()))


class WaitingTest(unittest.TestCase):
    def test_a_keep_alive_is_due_after_each_quiet_time(self):
        now = iter([QUIET - 1, QUIET, QUIET + 1, 2 * QUIET])
        waiting = Waiting(Clocks(monotonic=lambda: next(now)), lambda: False, 0.0, 0.0)
        self.assertEqual([waiting.due() for _ in range(4)], [False, True, False, True])
