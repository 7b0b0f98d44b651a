import json
import unittest

from metrics.events import Chunk, Closed, Failed, Reasoning, Text, Tick, ToolArguments, ToolStart, gather
from metrics.formats import openai_responses
from metrics.formats.openai_responses_out import reply, stream
from metrics.formats.openai_responses_tools import Toolbox
from metrics.formats.protocol import Stamp
from metrics.records import Problem, Reply, Request, Usage
from tests.formats.responses_asked import CUSTOM, NAMESPACE, TOOL, parse
from tests.formats.responses_read import Reader, read, said
from tests.formats.streams import CALLED, END, STREAMS, USAGE, call

STAMP = Stamp("ab12", 1_796_000_000)
REQUEST = Request("bench/core:all", "core", "all", [{"role": "user", "content": "hello"}])
STATUSES = {"length": ("incomplete", "max_output_tokens"), "content_filter": ("incomplete", "content_filter")}


def written(events, request=REQUEST):
    return list(stream(request, iter(events), STAMP, now=lambda: STAMP.created + 2.5))


def streamed(*events, request=REQUEST):
    return read(written(events, request))


class StreamTest(unittest.TestCase):
    def test_what_is_said_is_read_back(self):
        for name, events, text, reasoning, calls in STREAMS:
            with self.subTest(name):
                told = streamed(*events)
                self.assertEqual(said(told.final["output"]), (text, reasoning, calls))
                self.assertEqual(told.final["output"], told.items)
                finish = events[-1].finish
                status, why = STATUSES.get(finish, ("completed", None))
                self.assertEqual(told.final["status"], status)
                self.assertEqual((told.final["incomplete_details"] or {}).get("reason"), why)
                self.assertEqual(told.final.get("bench"), events[-1].extra.get("bench"))
                self.assertEqual(told.final["usage"]["output_tokens"], events[-1].usage.out or 0)
                self.assertEqual(len(told.done), len(told.items))

    def test_cut_at_every_byte(self):
        for name, events, text, reasoning, calls in STREAMS:
            stream_bytes = b"".join(written(events))
            if len(stream_bytes) > 100_000:
                continue
            with self.subTest(name):
                reader = Reader()
                for at in range(len(stream_bytes)):
                    reader.feed(stream_bytes[at : at + 1])
                self.assertEqual(said(reader.end().final["output"]), (text, reasoning, calls))

    def test_a_reply_says_the_same(self):
        for name, events, text, reasoning, calls in STREAMS:
            with self.subTest(name):
                events = [inner for event in events for inner in getattr(event, "events", (event,))]
                told = reply(REQUEST, gather(iter(events)), STAMP)
                self.assertEqual(said(told["output"]), (text, reasoning, calls))
                final = streamed(*events).final
                for key in final:
                    if key not in ("output", "completed_at"):
                        self.assertEqual(told[key], final[key], key)

    def test_the_order_of_one_turn(self):
        told = streamed(Reasoning("hm"), Text("I "), Text("look."), *call(0, "c1", "look", "{", "}"), CALLED)
        self.assertEqual(
            [kind.removeprefix("response.") for kind in told.kinds],
            [
                *("created", "in_progress"),
                *("output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta"),
                *("reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done"),
                *("output_item.added", "content_part.added", "output_text.delta", "output_text.delta"),
                *("output_text.done", "content_part.done", "output_item.done"),
                *("output_item.added", "function_call_arguments.delta", "function_call_arguments.delta"),
                *("function_call_arguments.done", "output_item.done"),
                "completed",
            ],
        )

    def test_calls_in_order_are_said_as_they_come(self):
        writing = stream(
            REQUEST,
            iter(events := [*call(0, "c1", "look", "{}"), *call(1, "c2", "go", '{"b":', "1}"), CALLED]),
            STAMP,
        )
        before = [b"".join(written(events[:count])).count(b"event:") for count in range(len(events) + 1)]
        self.assertEqual(b"".join(writing).count(b"event:"), before[-1])
        grown = [after - earlier for earlier, after in zip(before, before[1:], strict=False)]
        # Begun; said; done and the next begun; said; said; done and the end.
        self.assertEqual(grown, [1, 1, 3, 1, 1, 3])

    def test_what_one_event_comes_to_goes_out_together(self):
        told = written([Reasoning("hm"), Text(""), Text("I "), Text("look."), END])
        self.assertEqual([piece.count(b"event:") for piece in told], [2, 3, 6, 1, 4])

    def test_ticks_are_events_that_say_how_far_it_is(self):
        told = written([Text("a"), Tick(), Reasoning("b"), Tick()])
        ticks = [
            json.loads(piece.split(b"data: ")[-1])["response"]
            for piece in told
            if b'"response.in_progress"' in piece
        ]
        self.assertEqual(
            [[item["type"] for item in tick["output"]] for tick in ticks],
            [[], ["message"], ["message", "reasoning"]],
        )
        self.assertEqual([item["status"] for item in ticks[-1]["output"]], ["completed", "in_progress"])

    def test_other_choices_and_empty_pieces_are_no_items(self):
        told = streamed(
            Text(""),
            Text("x", 1),
            Reasoning("", signature="s"),
            ToolStart(0, "c", "f", 1),
            Chunk(b"", ()),
            END,
        )
        self.assertEqual(told.final["output"], [])

    def test_a_blank_behind_a_complete_call_is_left_out(self):
        told = streamed(*call(0, "c1", "look", "{}"), Text("x"), ToolArguments(0, " "), CALLED)
        self.assertEqual(said(told.final["output"]), ("x", "", [("c1", "look", {})]))


class CutTest(unittest.TestCase):
    """A call that was cut is nothing a client may run: Codex runs what is said to be done, whatever its
    status."""

    CUT = Closed("length", USAGE)

    def test_the_last_call_of_a_cut_answer_is_not_done(self):
        for name, pieces in (("half", ['{"a"']), ("none", []), ("all, it seems", ['{"a":1}'])):
            for finish in ("length", "content_filter"):
                with self.subTest(name, finish=finish):
                    told = streamed(*call(0, "c1", "look", *pieces), Closed(finish, USAGE))
                    self.assertEqual((told.done, told.final["status"]), (set(), "incomplete"))
                    self.assertEqual(told.final["output"][0]["status"], "incomplete")
                    self.assertEqual(told.final["output"][0]["arguments"], "".join(pieces))
                    self.assertNotIn("response.function_call_arguments.done", told.kinds)

    def test_calls_before_it_are_done(self):
        told = streamed(*call(0, "c1", "look", "{}"), *call(1, "c2", "go", '{"b'), self.CUT)
        self.assertEqual(
            (told.done, [item["status"] for item in told.final["output"]]), ({0}, ["completed", "incomplete"])
        )

    def test_of_mixed_calls_only_whole_ones_are_done(self):
        mixed = [
            ToolStart(0, "c1", "look"),
            ToolStart(1, "c2", "go"),
            ToolArguments(1, "{}"),
            ToolArguments(0, '{"a'),
        ]
        told = read_loose(written([*mixed, self.CUT]))
        self.assertEqual([item["status"] for item in told["output"]], ["incomplete", "incomplete"])

    def test_a_whole_reply_says_so_too(self):
        cut = Reply(
            "I look.",
            tool_calls=({"id": "c1", "type": "function", "name": "look", "arguments": ""},),
            finish="length",
        )
        told = reply(REQUEST, cut, STAMP)
        self.assertEqual((told["status"], told["completed_at"]), ("incomplete", None))
        self.assertEqual([item["status"] for item in told["output"]], ["completed", "incomplete"])
        self.assertEqual(told["output"][1]["arguments"], "")

    def test_a_text_that_was_cut_is_closed_as_incomplete(self):
        told = streamed(Reasoning("hm"), Text("half"), self.CUT)
        self.assertEqual([item["status"] for item in told.items], ["completed", "incomplete"])


def read_loose(pieces):
    """The last response of a stream, without the reader's checks."""
    return json.loads(pieces[-1].split(b"data: ")[-1])["response"]


class FailureTest(unittest.TestCase):
    CASES = [
        (Problem(502, "m: gone", kind="cut"), "server_error", "m: gone"),
        (
            Problem(429, "slow down.", retry_after=11.2),
            "rate_limit_exceeded",
            "slow down. Please try again in 12s.",
        ),
        (
            Problem(429, "please try again in 3s", retry_after=3),
            "rate_limit_exceeded",
            "please try again in 3s",
        ),
        (Problem(429, "slow down"), "rate_limit_exceeded", "slow down"),
        (Problem(400, "too long", kind="context"), "context_length_exceeded", "too long"),
        (Problem(413, "too long", code="context_length_exceeded"), "context_length_exceeded", "too long"),
        (Problem(402, "pay"), "insufficient_quota", "pay"),
        (Problem(429, "pay", kind="payment", retryable=False), "insufficient_quota", "pay"),
        (Problem(400, "no such parameter"), "invalid_prompt", "no such parameter"),
        (Problem(401, "no key"), "invalid_prompt", "no key"),
        (Problem(503, "busy", retry_after=5), "server_error", "busy"),
        (Problem(504, "too slow"), "server_error", "too slow"),
        (Problem(500, "x", code="weird"), "server_error", "x"),
    ]

    def test_codes_and_words(self):
        for problem, code, message in self.CASES:
            with self.subTest(problem.message, status=problem.status):
                told = streamed(Failed(problem))
                self.assertEqual((told.error["code"], told.error["message"]), (code, message))
                self.assertEqual(told.final["error"], {"code": code, "message": message})
                self.assertEqual(told.kinds[-2:], ["error", "response.failed"])

    def test_what_is_open_is_closed_inside_and_not_done(self):
        """Codex keeps an item that is done, and would end its next attempt with half an answer."""
        told = streamed(Reasoning("hm"), Text("half"), Failed(Problem(502, "gone")))
        self.assertEqual(told.kinds[-4:-2], ["response.output_text.done", "response.content_part.done"])
        self.assertEqual(told.done, {0})
        self.assertEqual([item["status"] for item in told.final["output"]], ["completed", "incomplete"])
        self.assertEqual(said(told.final["output"])[0], "half")

    def test_an_open_call_is_never_done(self):
        told = streamed(*call(0, "c1", "look", "{}"), Failed(Problem(502, "gone")))
        self.assertEqual((told.done, told.final["output"][0]["status"]), (set(), "incomplete"))

    def test_calls_that_wait_were_never_there(self):
        told = streamed(ToolStart(0, "c1", "look"), *call(1, "c2", "go", "{}"), Failed(Problem(502, "gone")))
        self.assertEqual([item["call_id"] for item in told.final["output"]], ["c1"])


class ToolsTest(unittest.TestCase):
    def asked(self, *tools):
        return Request("m", "c", "route", [], tools=Toolbox(list(tools)).tools)

    def both(self, events, request):
        """The outputs of the stream and of the whole reply, which must be one; with the stream's reader."""
        told = streamed(*events, request=request)
        whole = reply(request, gather(iter(events)), STAMP)
        self.assertEqual(whole["output"], told.final["output"])
        return told

    def test_a_namespace_stands_beside_the_bare_name(self):
        other = {**NAMESPACE, "name": "mcp__b"}
        events = [*call(0, "c1", "mcp__b__look", "{}"), *call(1, "c2", "look", "{}"), CALLED]
        told = self.both(events, self.asked(TOOL, NAMESPACE, other))
        first, second = told.final["output"]
        self.assertEqual((first["namespace"], first["name"], second["name"]), ("mcp__b", "look", "look"))
        self.assertNotIn("namespace", second)

    def test_a_custom_tools_input_is_its_text(self):
        events = [*call(0, "c1", "patch", '{"input":"a\\', 'n\\u00e9"', "}"), CALLED]
        told = self.both(events, self.asked(CUSTOM))
        item = told.final["output"][0]
        self.assertEqual((item["type"], item["input"], told.texts), ("custom_tool_call", "a\né", ["a\né"]))
        self.assertNotIn("arguments", item)

    def test_written_in_another_way(self):
        for arguments, text in (("raw text", "raw text"), ("{}", ""), ('{"x":1,"input":"y"}', "y")):
            with self.subTest(arguments):
                told = self.both([*call(0, "c1", "patch", *arguments), CALLED], self.asked(CUSTOM))
                self.assertEqual((told.final["output"][0]["input"], told.texts), (text, [text]))

    def test_cut_while_it_is_written(self):
        told = streamed(
            *call(0, "c1", "patch", '{"input":"hal'), Closed("length"), request=self.asked(CUSTOM)
        )
        self.assertEqual((told.done, told.final["output"][0]["input"]), (set(), "hal"))

    def test_a_member_that_knows_such_tools_writes_the_text_itself(self):
        start = ToolStart(0, "c1", "patch", kind="custom", namespace="ns")
        told = self.both([start, ToolArguments(0, '{"input":"as it is"}'), CALLED], self.asked(CUSTOM))
        self.assertEqual(told.final["output"][0]["input"], '{"input":"as it is"}')

    def test_a_name_nobody_declared_is_called_as_it_is(self):
        told = self.both([*call(0, "c1", "other", "{}"), CALLED], self.asked(TOOL))
        self.assertEqual(told.final["output"][0]["name"], "other")


FIELDS = """
id object created_at status completed_at error incomplete_details instructions
max_output_tokens max_tool_calls model output parallel_tool_calls previous_response_id
reasoning store temperature text tool_choice tools top_p truncation usage user metadata
service_tier background
"""


class ObjectTest(unittest.TestCase):
    def test_it_repeats_what_was_sent(self):
        """Fault 20: tools, instructions and all, untouched."""
        sent = {
            "instructions": "Be brief.",
            "temperature": 0.5,
            "top_p": 0.9,
            "max_output_tokens": 99,
            "tools": [TOOL, NAMESPACE, CUSTOM],
            "tool_choice": {"type": "function", "name": "look"},
            "parallel_tool_calls": False,
            "text": {"verbosity": "low"},
            "reasoning": {"effort": "high", "summary": "auto"},
            "metadata": {"a": "b"},
            "user": "u",
            "service_tier": "flex",
            "prompt_cache_key": "k",
        }
        request = parse(bench={"reply": "route"}, store=True, **sent)
        wanted = {**sent, "text": {"verbosity": "low", "format": {"type": "text"}}, "store": False}
        told = reply(request, Reply("x"), STAMP)
        read = [told, streamed(Text("x"), END, request=request).final, read_loose(written([], request))]
        for response in read:
            self.assertEqual({name: response[name] for name in wanted}, wanted)

    def test_every_field_is_there(self):
        told = reply(
            parse(),
            Reply("x", usage=USAGE, extra={"bench": {"panel": "p"}}),
            STAMP,
            now=lambda: STAMP.created + 2.5,
        )
        for name in FIELDS.split():
            self.assertIn(name, told)
        self.assertEqual(
            (told["id"], told["created_at"], told["completed_at"]),
            ("resp_ab12", STAMP.created, STAMP.created + 2),
        )
        self.assertEqual(
            (told["tools"], told["tool_choice"], told["parallel_tool_calls"]), ([], "auto", True)
        )
        self.assertEqual(
            (told["text"], told["reasoning"]),
            ({"format": {"type": "text"}}, {"effort": None, "summary": None}),
        )
        self.assertEqual(
            told["usage"],
            {
                "input_tokens": 10,
                "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0},
                "output_tokens": 5,
                "output_tokens_details": {"reasoning_tokens": 2},
                "total_tokens": 15,
            },
        )
        self.assertEqual(
            told["output"],
            [
                {
                    "id": "msg_ab120",
                    "type": "message",
                    "status": "completed",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "x", "annotations": [], "logprobs": []}],
                }
            ],
        )
        self.assertEqual(told["bench"], {"panel": "p"})

    def test_unknown_usage_is_zero(self):
        self.assertEqual(reply(REQUEST, Reply(usage=Usage()), STAMP)["usage"]["total_tokens"], 0)


class RefusalTest(unittest.TestCase):
    def test_before_the_stream_it_is_openais_error(self):
        for status, kind in (
            (400, "invalid_request_error"),
            (429, "rate_limit_error"),
            (502, "server_error"),
        ):
            response = openai_responses.error(Problem(status, "x", param="p"), None)
            told = json.loads(response.body)["error"]
            self.assertEqual((response.status, told["type"], told["param"]), (status, kind, "p"))
            self.assertEqual(list(told), ["message", "type", "param", "code"])
