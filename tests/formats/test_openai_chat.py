import json
import unittest
from unittest import mock

from metrics.events import Closed, Failed, Reasoning, Text, Tick, ToolArguments, ToolStart, gather
from metrics.formats import openai_chat
from metrics.formats.protocol import Stamp
from metrics.records import Problem, Reply, Request, Usage
from tests.formats.naming import naming

HELLO = [{"role": "user", "content": "hello"}]
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
CALLS = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
STAMP = Stamp("ab12", 1_796_000_000)


class Body:
    """A call that holds only a body."""

    headers: dict[str, str] = {}
    key = None

    def __init__(self, **fields):
        self.fields = {"model": "bench/core", "messages": HELLO, **fields}

    def json(self, *, as_written=False):
        return self.fields


def parse(**fields):
    with naming(lambda model, reply=None: ("core", reply or "all")):
        return openai_chat.parse(Body(**fields))


class ParseTest(unittest.TestCase):
    def test_what_is_not_altered_stays_the_same_list(self):
        """Whoever sends it on may then send what it was read from."""
        spelled = {"image_url": "data:image/png;base64,iVBORw0KGgo="}
        odd = [{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", **spelled}]}]
        for messages, same in ((HELLO, True), (odd, False)):
            self.assertEqual(parse(messages=messages).messages is messages, same)
        hosted = {"type": "web_search"}
        with mock.patch.object(openai_chat.Hosted, "tool"):
            for tools, same in ((TOOLS, True), ([*TOOLS, hosted], False)):
                asked = parse(messages=HELLO, tools=tools, bench={"reply": "route"})
                self.assertEqual((asked.tools is tools, asked.tools), (same, TOOLS))

    def test_the_conversation_has_the_clients_own_id(self):
        self.assertEqual(parse(prompt_cache_key="k").session, "k")
        self.assertEqual(parse(prompt_cache_key=7).session, None)
        with mock.patch.object(Body, "headers", {"x-session-affinity": "a"}):
            self.assertEqual(parse(prompt_cache_key="k").session, "a")

    def test_the_conversation_is_kept_as_sent(self):
        """Roles, turns and images reach the seats untouched (fault 29)."""
        messages = [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "one", "name": "ann"},
            {"role": "assistant", "content": "two"},
            {"role": "developer", "content": "d"},
            {"role": "user", "content": [{"type": "text", "text": "three"}, IMAGE]},
        ]
        self.assertEqual(parse(messages=messages).messages, messages)

    def test_what_is_forwarded(self):
        request = parse(
            temperature=0.5,
            top_p=1,
            stop=["x"],
            seed=7,
            max_completion_tokens=50,
            max_tokens=9,
            presence_penalty=1,
            vendor={"x": 1},
        )
        self.assertEqual(
            request.options, {"temperature": 0.5, "top_p": 1, "stop": ["x"], "seed": 7, "max_tokens": 50}
        )
        self.assertEqual(request.ignored, ("presence_penalty",))
        self.assertEqual(request.passed, {"presence_penalty": 1, "vendor": {"x": 1}})

    def test_nulls_count_as_absent(self):
        fields = dict.fromkeys(
            (
                "temperature",
                "top_p",
                "stop",
                "seed",
                "max_tokens",
                "n",
                "tools",
                "with",
                "bench",
                "stream",
                "stream_options",
            )
        )
        request = parse(**fields)
        self.assertEqual((dict(request.options), request.stream, request.invited), ({}, False, ()))

    def test_wishes(self):
        request = parse(**{"with": ["x"], "bench": {"deadline": 2.5, "quorum": 2, "reply": "merged"}})
        self.assertEqual(
            (request.invited, request.deadline, request.quorum, request.reply), (("x",), 2.5, 2, "merged")
        )

    REFUSED = [
        ("no messages", {"messages": None}, "messages"),
        ("messages not a list", {"messages": 5}, "messages"),
        ("no message", {"messages": []}, "messages"),
        ("a message that is no object", {"messages": ["hi"]}, "messages[0]"),
        ("a number as content", {"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ("null content", {"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        ("an unknown role", {"messages": [*HELLO, {"role": "banana", "content": "x"}]}, "messages[1].role"),
        ("no role", {"messages": [{"content": "x"}]}, "messages[0].role"),
        ("a role that is no string", {"messages": [{"role": ["user"], "content": "x"}]}, "messages[0].role"),
        ("no user message", {"messages": [{"role": "system", "content": "x"}]}, "messages"),
        ("an empty user message", {"messages": [{"role": "user", "content": ""}]}, "messages"),
        (
            "an audio part",
            {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]},
            "messages[0].content[0].type",
        ),
        (
            "a part without type",
            {"messages": [{"role": "user", "content": [{}]}]},
            "messages[0].content[0].type",
        ),
        (
            "a text part without text",
            {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
            "messages[0].content[0].text",
        ),
        (
            "a file address as image",
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///etc"}}]}
                ]
            },
            "messages[0].content[0].image_url.url",
        ),
        ("tools", {"tools": TOOLS}, ":route"),
        ("tools of the wrong type", {"tools": {}}, '"tools" must be a list'),
        (
            "a tool result",
            {"messages": [*HELLO, {"role": "tool", "content": "x", "tool_call_id": "c"}]},
            ":route",
        ),
        (
            "a tool result of no call",
            {"messages": [*HELLO, {"role": "tool", "content": "x"}]},
            "tool_call_id",
        ),
        ("a tool call", {"messages": [*HELLO, {"role": "assistant", "tool_calls": CALLS}]}, ":route"),
        (
            "a tool call of nothing",
            {"messages": [{"role": "assistant", "tool_calls": [{}]}]},
            "tool_calls[0]",
        ),
        (
            "tool calls of the wrong type",
            {"messages": [{"role": "assistant", "tool_calls": 5}]},
            "tool_calls",
        ),
        ("a hosted tool", {"tools": [{"type": "web_search"}]}, "web_search"),
        ("a tool without a name", {"tools": [{"type": "function", "function": {}}]}, "tools[0]"),
        (
            "a tool whose parameters are no schema",
            {"tools": [{"type": "function", "function": {"name": "x", "parameters": [1]}}]},
            "tools[0].function.parameters",
        ),
        ("legacy functions", {"functions": [{}]}, "functions"),
        ("n", {"n": 2}, '"n" is 2'),
        ("n that is no number", {"n": "2"}, '"n" must be a whole number'),
        ("with that is no list", {"with": "typo"}, '"with" must be a list'),
        ("with of numbers", {"with": [1]}, '"with" must be a list'),
        ("bench that is no object", {"bench": []}, '"bench" must be an object'),
        ("an unknown reply", {"bench": {"reply": "best"}}, "bench.reply"),
        ("a deadline in words", {"bench": {"deadline": "soon"}}, '"deadline" must be a number'),
        ("no time at all", {"bench": {"deadline": 0}}, '"deadline"'),
        ("a quorum of none", {"bench": {"quorum": 0}}, '"quorum"'),
        ("a true quorum", {"bench": {"quorum": True}}, '"quorum"'),
        ("hot", {"temperature": 9}, '"temperature"'),
        ("not a number", {"temperature": float("nan")}, '"temperature"'),
        ("stream in words", {"stream": "yes"}, '"stream" must be true or false'),
        ("no tokens", {"max_tokens": 0}, '"max_tokens"'),
        ("a fraction of a token", {"max_tokens": 1.5}, '"max_tokens"'),
        ("five stops", {"stop": list("abcde")}, '"stop"'),
        ("stops of numbers", {"stop": [1]}, '"stop"'),
        ("stream options in words", {"stream_options": "usage"}, '"stream_options"'),
    ]

    def test_refused(self):
        for name, fields, said in self.REFUSED:
            with self.subTest(name):
                with self.assertRaises(Problem) as caught:
                    parse(**fields)
                self.assertEqual(caught.exception.status, 400)
                self.assertIn(said, f"{caught.exception.message} {caught.exception.param}")

    def test_route_mode_takes_tools_and_passes_the_rest_on(self):
        messages = [
            *HELLO,
            {"role": "assistant", "content": None, "tool_calls": CALLS},
            {"role": "tool", "tool_call_id": "c1", "content": "x"},
        ]
        request = parse(
            bench={"reply": "route"},
            messages=messages,
            tools=TOOLS,
            tool_choice="auto",
            response_format={"type": "json_object"},
            n=2,
            vendor={"x": 1},
        )
        self.assertEqual((request.messages, request.tools), (messages, TOOLS))
        self.assertEqual(
            request.passed,
            {"tool_choice": "auto", "response_format": {"type": "json_object"}, "n": 2, "vendor": {"x": 1}},
        )

    def test_a_picture_is_kept_as_sent_or_repaired(self):
        right = {"role": "user", "content": [IMAGE]}
        self.assertIs(parse(messages=[right]).messages[0], right)
        bare = {"type": "image_url", "image_url": "data:image/jpg;base64,iVBORw0KGgo"}
        self.assertEqual(
            parse(messages=[{"role": "user", "content": [bare]}]).messages[0]["content"], [IMAGE]
        )

    def test_an_empty_list_of_tools_is_fine(self):
        self.assertEqual(parse(tools=[]).messages, HELLO)


REQUEST = Request("bench/core:all", "core", "all", HELLO)
USAGE = Usage(uncached_in=7, cache_read=3, cache_write=0, out=5, reasoning=2)

STREAMS = [
    ("text", [Text("a"), Text("bé\n")], "abé\n", ""),
    ("reasoning", [Reasoning("hm"), Text("a")], "a", "hm"),
    ("only ticks", [Tick(), Tick()], "", ""),
    ("a megabyte", [Text("x" * 1_000_000)], "x" * 1_000_000, ""),
    ("a lone surrogate", [Text("x\ud800")], "x\ud800", ""),
]


def chunks(events, request=REQUEST):
    written = b"".join(openai_chat.stream(request, iter(events), STAMP))
    return [frame for frame in written.decode().split("\n\n") if frame]


def objects(frames):
    return [json.loads(frame[6:]) for frame in frames if frame.startswith("data: {")]


class StreamTest(unittest.TestCase):
    def test_what_is_said_is_read_back(self):
        for name, events, text, reasoning in STREAMS:
            with self.subTest(name):
                frames = chunks([*events, Closed("stop", USAGE, extra={"bench": {"panel": "p"}})])
                told = objects(frames)
                self.assertEqual(frames[-1], "data: [DONE]")
                deltas = [chunk["choices"][0]["delta"] for chunk in told]
                self.assertEqual(deltas[0], {"role": "assistant", "content": "", "refusal": None})
                self.assertEqual("".join(delta.get("content") or "" for delta in deltas), text)
                self.assertEqual("".join(delta.get("reasoning_content") or "" for delta in deltas), reasoning)
                self.assertEqual(
                    [chunk["choices"][0]["finish_reason"] for chunk in told][-2:], [None, "stop"]
                )
                self.assertEqual(told[-1]["bench"], {"panel": "p"})
                self.assertEqual(
                    {(c["id"], c["created"], c["model"], c["object"]) for c in told},
                    {("chatcmpl-ab12", 1_796_000_000, "bench/core:all", "chat.completion.chunk")},
                )
                self.assertTrue(all(len(chunk["choices"]) == 1 and "usage" not in chunk for chunk in told))

    def test_usage_when_asked(self):
        request = Request("core", "core", "all", HELLO, include_usage=True)
        told = objects(chunks([Text("a"), Closed("stop", USAGE)], request))
        self.assertEqual([chunk["usage"] for chunk in told[:-1]], [None] * (len(told) - 1))
        self.assertEqual(told[-1]["choices"], [])
        self.assertEqual(told[-1]["usage"]["prompt_tokens"], 10)
        self.assertEqual(told[-1]["usage"]["completion_tokens_details"], {"reasoning_tokens": 2})

    def test_ticks_are_comments(self):
        self.assertIn(": keep-alive", chunks([Tick(), Text("a"), Closed()]))

    def test_a_late_error_ends_the_stream_without_done(self):
        frames = chunks([Text("a"), Failed(Problem(502, "gone"))])
        self.assertEqual(json.loads(frames[-1][6:])["error"]["message"], "gone")
        self.assertNotIn("data: [DONE]", frames)

    def test_tool_calls(self):
        told = objects(
            chunks(
                [
                    ToolStart(0, "c1", "f"),
                    ToolArguments(0, '{"a"'),
                    ToolArguments(0, ":1}"),
                    Closed("tool_calls"),
                ]
            )
        )
        calls = [chunk["choices"][0]["delta"]["tool_calls"][0] for chunk in told[1:-1]]
        self.assertEqual(
            calls[0], {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}
        )
        self.assertEqual("".join(call["function"]["arguments"] for call in calls), '{"a":1}')

    def test_custom_tool_calls(self):
        said = [ToolStart(0, "c1", "sh", kind="custom"), ToolArguments(0, "ls"), Closed("tool_calls")]
        calls = [chunk["choices"][0]["delta"]["tool_calls"][0] for chunk in objects(chunks(said))[1:-1]]
        self.assertEqual(
            calls,
            [
                {"index": 0, "id": "c1", "type": "custom", "custom": {"name": "sh", "input": ""}},
                {"index": 0, "custom": {"input": "ls"}},
            ],
        )
        whole = openai_chat.reply(REQUEST, gather(said), STAMP)["choices"][0]["message"]["tool_calls"]
        self.assertEqual(whole, [{"id": "c1", "type": "custom", "custom": {"name": "sh", "input": "ls"}}])


class ReplyTest(unittest.TestCase):
    def test_all_that_the_api_requires_is_there(self):
        reply = openai_chat.reply(
            REQUEST, Reply("hi", finish="length", usage=USAGE, extra={"bench": {}}), STAMP
        )
        self.assertEqual(reply["id"], "chatcmpl-ab12")
        self.assertEqual(reply["model"], "bench/core:all")
        self.assertEqual(
            reply["choices"],
            [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": "hi", "refusal": None},
                    "logprobs": None,
                    "finish_reason": "length",
                }
            ],
        )
        self.assertEqual(reply["usage"]["total_tokens"], 15)
        self.assertEqual(reply["usage"]["prompt_tokens_details"], {"cached_tokens": 3})

    def test_a_call_that_was_cut_is_no_call_without_arguments(self):
        calls = [{"id": f"c{n}", "type": "function", "name": "f", "arguments": ""} for n in range(2)]
        for finish, last in (("tool_calls", "{}"), ("length", ""), ("content_filter", "")):
            with self.subTest(finish):
                told = openai_chat.reply(REQUEST, Reply(tool_calls=tuple(calls), finish=finish), STAMP)
                made = told["choices"][0]["message"]["tool_calls"]
                self.assertEqual([call["function"]["arguments"] for call in made], ["{}", last])


class ErrorTest(unittest.TestCase):
    CASES = [
        (Problem(400, "x", param="n"), "invalid_request_error", None, {"x-should-retry": "false"}),
        (
            Problem(404, "x", code="model_not_found"),
            "invalid_request_error",
            "model_not_found",
            {"x-should-retry": "false"},
        ),
        (Problem(413, "x"), "invalid_request_error", "request_too_large", {"x-should-retry": "false"}),
        (Problem(429, "x", retry_after=1.2), "rate_limit_error", "rate_limit_exceeded", {"Retry-After": "2"}),
        (Problem(429, "x", retry_after=3), "rate_limit_error", "rate_limit_exceeded", {"Retry-After": "3"}),
        (Problem(502, "x"), "server_error", None, {}),
        (Problem(418, "x"), "invalid_request_error", None, {"x-should-retry": "false"}),
    ]

    def test_shape_and_headers(self):
        for problem, kind, code, headers in self.CASES:
            with self.subTest(status=problem.status):
                response = openai_chat.error(problem, None)
                error = json.loads(response.body)["error"]
                self.assertEqual(list(error), ["message", "type", "param", "code"])
                self.assertEqual((error["type"], error["code"]), (kind, code))
                told = dict(response.headers)
                self.assertEqual({name: told.get(name) for name in headers}, headers)
                self.assertEqual("x-should-retry" in told, "x-should-retry" in headers)
