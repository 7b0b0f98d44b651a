import unittest

from metrics.client import anthropic_events, seals
from metrics.client.anthropic_events import Messages, digest
from metrics.events import Closed, Reasoning, Text, ToolArguments, ToolStart
from metrics.records import Problem
from tests.client.arrivals import TARGET, ids


def reader():
    return Messages(TARGET, lambda: 0.0, ids())


def take(messages, *values):
    return [event for value in values for event in messages.take(value)]


def begin(index, **block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index, kind, **words):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **words}}


class TakeTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(seals.forget)

    def test_blocks_that_are_open_at_once(self):
        messages = reader()
        said = take(
            messages,
            begin(0, type="tool_use", id="a", name="f", input={}),
            begin(1, type="tool_use", id="b", name="g", input={}),
            delta(1, "input_json_delta", partial_json="{}"),
            delta(0, "input_json_delta", partial_json="{}"),
        )
        self.assertEqual(
            said,
            [ToolStart(0, "a", "f"), ToolStart(1, "b", "g"), ToolArguments(1, "{}"), ToolArguments(0, "{}")],
        )

    def test_blocks_that_are_never_closed(self):
        messages = reader()
        take(messages, begin(0, type="thinking", thinking="a", signature="s"))
        self.assertEqual(list(messages.close())[0], Reasoning("", signature="s"))

    def test_a_signature_in_pieces(self):
        messages = reader()
        said = take(
            messages,
            begin(0, type="thinking", thinking=""),
            delta(0, "signature_delta", signature="s1"),
            delta(0, "signature_delta", signature="s2"),
            {"type": "content_block_stop", "index": 0},
        )
        self.assertEqual(said, [Reasoning("", signature="s1s2")])
        self.assertEqual(seals.find(seals.OWNER, digest("s1s2")), TARGET.served)

    NONSENSE = [
        {},
        {"type": "content_block_start"},
        {"type": "content_block_start", "content_block": 4},
        {
            "type": "content_block_delta",
            "index": 9,
            "delta": {"type": "input_json_delta", "partial_json": "{"},
        },
        {"type": "content_block_delta", "index": 9, "delta": {"type": "citations_delta", "citation": {}}},
        {"type": "content_block_stop", "index": {}},
        {"type": "content_block_start", "index": [], "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": {}, "delta": {"type": "thinking_delta", "thinking": ""}},
        {"type": "content_block_stop", "index": 9},
        {"type": "message_start", "message": None},
        {"type": "message_delta", "delta": [], "usage": 4},
        {"type": ["x"]},
        begin(0, type="server_tool_use", id="s", name="web_search", input={"q": "x"}),
        begin(0, type="text", text=None),
    ]

    def test_nonsense_says_nothing_and_breaks_nothing(self):
        for value in self.NONSENSE:
            with self.subTest(value=value):
                messages = reader()
                said = [
                    event for event in take(messages, value) if not isinstance(event, anthropic_events.Opened)
                ]
                self.assertEqual(said, [])
                self.assertEqual(take(messages, begin(1, type="text", text="x"))[-1], Text("x"))

    def test_an_error_without_a_kind(self):
        with self.assertRaises(Problem) as caught:
            take(reader(), {"error": {"message": "slow down", "type": "rate_limit_error"}})
        self.assertEqual(caught.exception.status, 429)

    def test_content_that_is_a_string(self):
        said = take(reader(), {"type": "message", "content": "x", "stop_reason": "end_turn"})
        self.assertEqual(said[-1], Text("x"))

    def test_a_stop_sequence_counts_only_where_it_stopped(self):
        messages = reader()
        told = {"stop_reason": "end_turn", "stop_sequence": "END"}
        take(messages, {"type": "message", "content": [], **told})
        self.assertEqual(list(messages.close()), [Closed("stop")])
