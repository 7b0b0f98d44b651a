import json
import random
import unittest
from dataclasses import replace

from metrics.events import Closed, Opened, Reasoning, Text, ToolArguments, ToolStart, gather
from metrics.formats import anthropic
from metrics.records import Reply, Request
from tests.formats.anthropic_asked import HELLO, REQUEST, STAMP, heard, text
from tests.formats.streams import call

REDACTED = {"type": "redacted_thinking", "data": "cmVk"}


def thinking(said, signature=""):
    return {"type": "thinking", "thinking": said, "signature": signature}


# name, events, blocks of thinking as a caller that asked for them gets them, and one that asked for seals
THOUGHTS = [
    ("unsigned", [Reasoning("hm")], [thinking("hm")], []),
    ("signed", [Reasoning("h"), Reasoning("m"), Reasoning("", signature="s1")], [thinking("hm", "s1")], None),
    ("at once", [Reasoning("hm", signature="s1")], [thinking("hm", "s1")], None),
    ("a seal alone", [Reasoning("", signature="s1")], [thinking("", "s1")], None),
    (
        "two",
        [Reasoning("a", signature="s1"), Reasoning("b", signature="s2")],
        [thinking("a", "s1"), thinking("b", "s2")],
        None,
    ),
    (
        "redacted between",
        [Reasoning("a", signature="s1"), Reasoning("", sealed=REDACTED), Reasoning("", signature="s2")],
        [thinking("a", "s1"), REDACTED, thinking("", "s2")],
        None,
    ),
    ("another API's seal", [Reasoning("a", sealed={"type": "reasoning"})], [thinking("a")], []),
]


class ThoughtsTest(unittest.TestCase):
    SHOWN = [("thinking", 2), ("sealed", 3), ("", None)]

    def test_are_told_to_the_letter_streamed_and_not(self):
        for framing, place in self.SHOWN:
            request = replace(REQUEST, framing=framing)
            for case in THOUGHTS:
                expected = [] if place is None else case[2] if case[place] is None else case[place]
                events = [*case[1], Text("x"), Closed()]
                with self.subTest(case[0], framing=framing):
                    whole = anthropic.reply(request, gather(events), STAMP)["content"]
                    self.assertEqual(whole, [*expected, text("x")])
                    self.assertEqual(read_back(heard(events, request)), whole)

    def test_stand_where_they_were_thought(self):
        events = [
            *(Reasoning("a", signature="s1"), Text("x"), Reasoning("b", signature="s2"), Text("y")),
            *(*call(0, "c1", "look", "{}"), Reasoning("", sealed=REDACTED), *call(1, "c2", "look", "{}")),
            Closed("tool_calls"),
        ]
        whole = anthropic.reply(REQUEST, gather(events), STAMP)["content"]
        told = ["thinking", "text", "thinking", "text", "tool_use", "redacted_thinking", "tool_use"]
        self.assertEqual([block["type"] for block in whole], told)
        self.assertEqual([b["id"] for b in whole if b["type"] == "tool_use"], ["c1", "c2"])
        streamed = read_back(heard(events))
        self.assertEqual([block["type"] for block in streamed], told)
        hidden = anthropic.reply(replace(REQUEST, framing=""), gather(events), STAMP)["content"]
        self.assertEqual([block["type"] for block in hidden], ["text", "tool_use", "tool_use"])

    def test_wait_for_a_call_that_is_half_told(self):
        events = [
            ToolStart(0, "c1", "look"),
            ToolArguments(0, '{"a":'),
            Reasoning("hm", signature="s1"),
            Reasoning("", sealed=REDACTED),
            Reasoning("", signature="s2"),
            ToolArguments(0, "1}"),
            Closed("tool_calls"),
        ]
        told = read_back(heard(events))
        self.assertEqual(told[1:], [thinking("hm", "s1"), REDACTED, thinking("", "s2")])
        self.assertEqual(told[0]["input"], '{"a":1}')

    def test_that_are_not_shown_keep_the_connection_alive(self):
        events = [*[Reasoning("hm")] * 20, Closed()]
        for framing, pings in (("", 2), ("sealed", 2), ("thinking", 0)):
            with self.subTest(framing=framing):
                self.assertEqual(heard(events, replace(REQUEST, framing=framing)).pings, pings)


def read_back(reader):
    """The blocks that a client puts together from a stream."""
    fields = {"text": "text", "thinking": "thinking", "tool_use": "input"}
    told = []
    for block in reader.blocks:
        pieces, field = "".join(block["pieces"]), fields.get(block["type"])
        kept = {name: value for name, value in block.items() if name not in ("pieces", "signed")}
        told.append({**kept, field: pieces} if field else kept)
    return told


class CallsTest(unittest.TestCase):
    def test_calls_that_come_in_order_are_streamed(self):
        """The second opens as soon as the first is whole, and every piece goes out when it comes."""
        events = [
            *call(0, "c1", "look", '{"a":', "1}"),
            *call(1, "c2", "go", '{"b":', "2}"),
            Closed("tool_calls"),
        ]
        said = []
        for event in self.stepwise(events, said):
            if isinstance(event, ToolArguments):
                self.assertIn(json.dumps(event.text), b"".join(said).decode())

    def stepwise(self, events, said):
        """Each event, once all that it made the stream write is in `said`."""

        def told():
            yield Opened()
            for event in events:
                before.append(event)
                yield event

        before = []
        stream = anthropic.stream(REQUEST, told(), STAMP)
        for piece in stream:
            said.append(piece)
            while len(before) > 1:
                yield before.pop(0)

    CUT = [
        ("half a call", [ToolStart(0, "c", "f"), ToolArguments(0, '{"a":')], ['{"a":'], []),
        ("before its arguments", [ToolStart(0, "c", "f")], [], []),
        ("behind a whole one", [*call(0, "c", "f", "{}"), ToolStart(1, "d", "g")], ["{}"], [{}]),
        ("behind one without any", [ToolStart(0, "c", "f"), *call(1, "d", "g", '{"a"')], [""], [{}]),
        ("whole after all", [*call(0, "c", "f", '{"a":1}')], ['{"a":1}'], [{"a": 1}]),
    ]

    def test_a_call_that_was_cut_does_not_look_whole(self):
        for name, events, streamed, whole in self.CUT:
            with self.subTest(name):
                events = [*events, Closed("length")]
                reader = heard(events)
                self.assertEqual(reader.of("tool_use"), streamed)
                self.assertEqual(reader.last["delta"]["stop_reason"], "max_tokens")
                reply = anthropic.reply(REQUEST, gather(events), STAMP)
                self.assertEqual([block["input"] for block in reply["content"]], whole)
                self.assertEqual(reply["stop_reason"], "max_tokens")

    def test_text_said_while_a_call_is_half_told_waits(self):
        reader = heard(
            [
                ToolStart(0, "c", "f"),
                ToolArguments(0, '{"a":'),
                Text("mean"),
                Text("while"),
                Reasoning("hm"),
                ToolArguments(0, "1}"),
                Text("!"),
                Closed("tool_calls"),
            ]
        )
        self.assertEqual([b["type"] for b in reader.blocks], ["tool_use", "text", "thinking", "text"])
        self.assertEqual(reader.of("text"), ["meanwhile", "!"])
        self.assertEqual(reader.calls, [("c", "f", {"a": 1})])

    def test_three_calls_in_any_order(self):
        rng = random.Random(3)
        for _ in range(200):
            pieces = {n: [f'{{"n":{n},', f'"s":"{"x" * n}', '"}'] for n in range(3)}
            events, left = [], [n for n in range(3) for _ in range(4)]
            rng.shuffle(left)
            begun = {}
            for n in left:
                # An index counts the calls in the order of their starts.
                if n not in begun:
                    begun[n] = len(begun)
                    events.append(ToolStart(begun[n], f"c{n}", "f"))
                else:
                    events.append(ToolArguments(begun[n], pieces[n].pop(0)))
                if rng.random() < 0.2:
                    events.append(Text("t"))
            reader = heard([*events, Closed("tool_calls")])
            expected = [(f"c{n}", "f", {"n": n, "s": "x" * n}) for n in begun]
            self.assertEqual(reader.calls, expected)
            self.assertEqual("".join(reader.of("text")), "t" * sum(isinstance(e, Text) for e in events))

    def test_signed_thinking_closes_its_block(self):
        reader = heard([Reasoning("a"), Reasoning("", signature="c2ln"), Reasoning("b"), Text("c"), Closed()])
        self.assertEqual([b.get("signature") for b in reader.blocks], ["c2ln", "", None])
        self.assertEqual(reader.of("thinking"), ["a", "b"])

    def test_thinking_nobody_asked_for_is_not_shown_but_keeps_the_line_alive(self):
        plain = Request("m", "core", "route", HELLO)
        reader = heard([Reasoning("hm")] * 20 + [Text("a"), Closed()], plain)
        self.assertEqual([block["type"] for block in reader.blocks], ["text"])
        self.assertGreater(reader.pings, 1)
        reply = anthropic.reply(plain, Reply("a", "hm"), STAMP)
        self.assertEqual(reply["content"], [text("a")])
