import unittest

from metrics.events import Closed, Failed, Text, Tick, gather
from metrics.formats import anthropic, anthropic_out
from metrics.records import Problem, Reply, Usage
from tests.formats.anthropic_asked import REQUEST, STAMP, Reader, heard, text, written
from tests.formats.streams import STREAMS, call


class StreamTest(unittest.TestCase):
    def test_what_is_said_is_read_back(self):
        for name, events, said, reasoning, calls in STREAMS:
            with self.subTest(name):
                reader = heard(events)
                self.assertEqual("".join(reader.of("text")), said)
                self.assertEqual("".join(reader.of("thinking")), reasoning)
                self.assertEqual(reader.calls, calls)
                self.assertTrue(reader.ended)
                end = events[-1]
                self.assertEqual(reader.last.get("bench"), end.extra.get("bench"))
                self.assertEqual(reader.last["delta"]["stop_reason"], anthropic_out.STOP_REASONS[end.finish])

    def test_the_same_byte_by_byte(self):
        for name, events, said, _, calls in STREAMS:
            whole = written(events)
            if len(whole) > 100_000:
                continue
            with self.subTest(name):
                reader = Reader()
                for at in range(len(whole)):
                    reader.feed(whole[at : at + 1])
                self.assertEqual(("".join(reader.of("text")), reader.calls), (said, calls))
                self.assertTrue(reader.ended)

    def test_whole_replies_say_the_same(self):
        for name, events, said, reasoning, calls in STREAMS:
            with self.subTest(name):
                unwrapped = [inner for event in events for inner in getattr(event, "events", (event,))]
                whole = anthropic.reply(REQUEST, gather(unwrapped), STAMP)
                reader = heard(events)
                blocks = whole["content"]
                self.assertEqual("".join(b["text"] for b in blocks if b["type"] == "text"), said)
                self.assertEqual("".join(b["thinking"] for b in blocks if b["type"] == "thinking"), reasoning)
                uses = [b for b in blocks if b["type"] == "tool_use"]
                self.assertEqual([(use["id"], use["name"], use["input"]) for use in uses], calls)
                self.assertEqual(whole["usage"], reader.last["usage"])
                ended = {name: whole[name] for name in ("stop_reason", "stop_sequence")}
                self.assertEqual(ended, reader.last["delta"])
                self.assertEqual(whole.get("bench"), reader.last.get("bench"))

    def test_the_first_event_is_the_whole_message(self):
        start = heard([Tick(), Closed()]).message
        usage = start.pop("usage")
        self.assertEqual(
            start,
            {
                "id": "msg_ab12",
                "type": "message",
                "role": "assistant",
                "model": "bench/core:route",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
            },
        )
        self.assertGreater(usage["input_tokens"], 0)
        self.assertGreaterEqual(usage["output_tokens"], 1)
        self.assertEqual(
            usage["cache_creation"], {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}
        )
        self.assertEqual((usage["cache_creation_input_tokens"], usage["cache_read_input_tokens"]), (0, 0))

    def test_usage(self):
        spent = heard([Closed("stop", Usage(7, 3, 2, 5, 1))]).last["usage"]
        self.assertEqual(
            [
                spent[f"{name}_tokens"]
                for name in ("input", "cache_read_input", "cache_creation_input", "output")
            ],
            [7, 3, 2, 5],
        )
        self.assertEqual(spent["output_tokens_details"], {"thinking_tokens": 1})

    def test_an_unknown_input_keeps_its_estimate(self):
        reader = heard([Text("a"), Closed("stop", Usage(out=4))])
        self.assertEqual(reader.last["usage"]["input_tokens"], reader.message["usage"]["input_tokens"])

    STOPS = [
        (Closed("stop"), "end_turn", None),
        (Closed("stop", stop_sequence="END"), "stop_sequence", "END"),
        (Closed("length", stop_sequence="END"), "max_tokens", None),
        (Closed("content_filter"), "refusal", None),
        (Closed("tool_calls"), "tool_use", None),
    ]

    def test_why_it_stopped(self):
        for closed, reason, sequence in self.STOPS:
            with self.subTest(reason):
                self.assertEqual(
                    heard([closed]).last["delta"], {"stop_reason": reason, "stop_sequence": sequence}
                )

    def test_calls_decide_over_a_provider_that_says_stop(self):
        told = [*call(0, "c1", "look", "{}"), Closed("stop")]
        self.assertEqual(heard(told).last["delta"]["stop_reason"], "tool_use")
        self.assertEqual(anthropic.reply(REQUEST, gather(told), STAMP)["stop_reason"], "tool_use")

    def test_ticks_are_pings(self):
        self.assertEqual(heard([Tick(), Text("a"), Tick(), Closed()]).pings, 2)

    def test_a_late_error_is_the_last_word(self):
        for before in ([], [Text("half")], [*call(0, "c", "f", '{"a')]):
            with self.subTest(before=before):
                reader = heard([*before, Failed(Problem(529, "busy"))])
                self.assertEqual(reader.error["error"], {"type": "overloaded_error", "message": "busy"})
                self.assertFalse(reader.ended)

    def test_a_lone_surrogate_passes(self):
        self.assertEqual(heard([Text("x\ud800"), Closed()]).of("text"), ["x\ud800"])


class ReplyTest(unittest.TestCase):
    def test_shape(self):
        reply = anthropic.reply(REQUEST, Reply("hi", usage=Usage(1, out=2), extra={"bench": {}}), STAMP)
        self.assertEqual(
            {name: value for name, value in reply.items() if name != "usage"},
            {
                "id": "msg_ab12",
                "type": "message",
                "role": "assistant",
                "model": "bench/core:route",
                "content": [text("hi")],
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "bench": {},
            },
        )

    def test_broken_arguments_stay_visible(self):
        for arguments, given in [
            ('{"a":1}', {"a": 1}),
            ("", {}),
            ('{"a":', {"INVALID_JSON": '{"a":'}),
            ("[1]", {"INVALID_JSON": "[1]"}),
            ('{"a":1e999}', {"INVALID_JSON": '{"a":1e999}'}),
        ]:
            with self.subTest(arguments):
                made = {"id": "c", "type": "function", "name": "f", "arguments": arguments}
                reply = anthropic.reply(REQUEST, Reply(tool_calls=(made,), finish="tool_calls"), STAMP)
                self.assertEqual(
                    reply["content"], [{"type": "tool_use", "id": "c", "name": "f", "input": given}]
                )
