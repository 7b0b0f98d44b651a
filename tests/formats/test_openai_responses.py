import json
import random
import unittest

from metrics.formats import openai_responses
from metrics.records import Problem
from tests.formats.naming import naming
from tests.formats.responses_asked import ASKED, CUSTOM, HELLO, NAMESPACE, TOOL, Body, parse, refused

# Recorded of Codex 0.171: ids on every item, two developer messages, a namespace.
CODEX_ITEMS = [
    {
        "type": "message",
        "id": "msg_1",
        "role": "developer",
        "content": [{"type": "input_text", "text": "d1"}],
    },
    {
        "type": "message",
        "id": "msg_2",
        "role": "developer",
        "content": [{"type": "input_text", "text": "d2"}],
    },
    {
        "type": "message",
        "id": "msg_3",
        "role": "user",
        "content": [{"type": "input_text", "text": "go"}],
    },
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None},
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "spawn",
        "namespace": "multi_agent_v1",
        "arguments": "{}",
    },
    {
        "type": "function_call_output",
        "id": "fco_1",
        "call_id": "c1",
        "output": [{"type": "input_text", "text": "one"}, {"type": "input_text", "text": "two"}],
    },
]


class ParseTest(unittest.TestCase):
    def test_what_is_forwarded(self):
        request = parse(
            temperature=0.5,
            top_p=1,
            max_output_tokens=50,
            reasoning={"effort": "low", "summary": "auto"},
            text={"verbosity": "high", "format": {"type": "json_object"}},
            user="u",
            prompt_cache_key="k",
            stream=True,
            model="bench/core:all",
        )
        self.assertEqual(request.options, {"temperature": 0.5, "top_p": 1, "max_tokens": 50})
        self.assertEqual(
            request.passed,
            {
                "response_format": {"type": "json_object"},
                "verbosity": "high",
                "reasoning_effort": "low",
                "prompt_cache_key": "k",
                "user": "u",
            },
        )
        self.assertEqual(request.ignored, ("text.format", "text.verbosity", "reasoning.effort"))
        self.assertEqual(
            (request.stream, request.format, request.model), (True, "openai-responses", "bench/core:all")
        )

    def test_what_a_member_of_the_same_api_gets_as_it_was_sent(self):
        native = {
            "text": {"verbosity": "high"},
            "reasoning": {"effort": "low", "summary": "auto"},
            "include": ["reasoning.encrypted_content"],
            "store": False,
            "client_metadata": {"a": "b"},
            "truncation": "auto",
        }
        read = {"instructions": "i", "temperature": 1, "tools": [TOOL], "stream": True, "metadata": None}
        self.assertEqual(parse(**native, **read, bench={"reply": "route"}).native, native)

    def test_the_conversation_has_the_clients_own_id(self):
        for headers, body, expected in [
            ({}, {}, None),
            ({"session-id": "s", "thread-id": "t"}, {"prompt_cache_key": "k"}, "t"),
            ({"session-id": "s"}, {"prompt_cache_key": "k"}, "s"),
            ({"session_id": " s "}, {}, "s"),
            ({"x-session-id": " ", "x-session-affinity": "a"}, {}, "a"),
            ({}, {"prompt_cache_key": "k" * 300}, "k" * 200),
            ({}, {"prompt_cache_key": ""}, None),
        ]:
            with self.subTest(headers=headers, body=body):
                self.assertEqual(parse(headers, **body).session, expected)

    def test_a_schema_is_put_in_chats_place(self):
        form = {
            "type": "json_schema",
            "name": "n",
            "schema": {"type": "object"},
            "strict": True,
            "description": "d",
        }
        self.assertEqual(
            parse(text={"format": form}).passed["response_format"],
            {
                "type": "json_schema",
                "json_schema": {
                    "name": "n",
                    "description": "d",
                    "schema": {"type": "object"},
                    "strict": True,
                },
            },
        )

    def test_all_that_codex_sends_is_taken(self):
        request = parse(
            bench={"reply": "route"},
            input=CODEX_ITEMS,
            tools=[{**TOOL, "strict": False}, {**NAMESPACE, "name": "multi_agent_v1"}],
            tool_choice="auto",
            parallel_tool_calls=True,
            reasoning={"summary": "auto"},
            store=False,
            stream=True,
            include=["reasoning.encrypted_content"],
            prompt_cache_key="019a",
            client_metadata={"x": "{}"},
            text={"verbosity": "low"},
            service_tier="priority",
        )
        self.assertEqual(
            [message["role"] for message in request.messages],
            ["developer"] * 2 + ["user", "assistant", "tool"],
        )
        self.assertEqual(request.messages[-1], {"role": "tool", "tool_call_id": "c1", "content": "one\ntwo"})
        self.assertEqual(request.messages[3]["tool_calls"][0]["function"]["name"], "multi_agent_v1__spawn")
        self.assertEqual(
            [tool["function"]["name"] for tool in request.tools][:2], ["look", "multi_agent_v1__look"]
        )
        self.assertEqual(
            request.passed,
            {
                "tool_choice": "auto",
                "parallel_tool_calls": True,
                "verbosity": "low",
                "prompt_cache_key": "019a",
                "service_tier": "priority",
            },
        )

    def test_a_choice_without_tools_goes_nowhere(self):
        request = parse(tool_choice="auto", parallel_tool_calls=False, tools=[])
        self.assertEqual((request.passed, request.tools), ({}, []))

    def test_nulls_count_as_absent(self):
        request = parse(**dict.fromkeys(OPTIONAL))
        self.assertEqual((dict(request.options), request.passed, request.stream), ({}, {}, False))

    def test_wishes(self):
        request = parse(**{"with": ["x"], "bench": {"deadline": 2.5, "quorum": 2, "reply": "merged"}})
        self.assertEqual(
            (request.invited, request.deadline, request.quorum, request.reply), (("x",), 2.5, 2, "merged")
        )

    REFUSED = [
        ("no input", {"input": None}, '"input" must be'),
        ("no items", {"input": []}, "at least one user message"),
        ("instructions alone", {"input": "", "instructions": "x"}, "at least one user message"),
        ("instructions of items", {"instructions": [HELLO]}, '"instructions" must be a string'),
        ("an earlier response", {"previous_response_id": "resp_1"}, "nothing is stored"),
        ("a conversation", {"conversation": {"id": "c"}}, "nothing is stored"),
        ("a stored prompt", {"prompt": {"id": "p"}}, "kept at OpenAI"),
        ("in the background", {"background": True}, "nothing is stored"),
        ("background in words", {"background": "yes"}, '"background" must be true or false'),
        ("web search", {"tools": [{"type": "web_search"}]}, 'web_search = "disabled" in config.toml'),
        ("web search of old", {"tools": [{"type": "web_search_preview"}]}, 'web_search = "disabled"'),
        ("a hosted tool", {"tools": [{"type": "code_interpreter"}]}, '"code_interpreter" runs at OpenAI'),
        ("a local shell", {"tools": [{"type": "local_shell"}]}, '"local_shell"'),
        ("a tool on a panel", {"tools": [TOOL]}, ":route"),
        ("a custom tool on a panel", {"tools": [CUSTOM]}, ":route"),
        ("a namespace on a panel", {"tools": [NAMESPACE]}, ":route"),
        ("tools that are no list", {"tools": {"type": "function"}}, '"tools" must be a list'),
        ("a tool that is no object", {"tools": ["look"]}, '"tools" must be a list'),
        ("a tool without a name", {"tools": [{"type": "function"}]}, "tools[0].name"),
        (
            "chat's form of a tool",
            {"tools": [{"type": "function", "function": {"name": "x"}}]},
            "tools[0].name",
        ),
        ("a tool's schema in words", {"tools": [{**TOOL, "parameters": "x"}]}, "tools[0].parameters"),
        ("an unknown choice", {"tool_choice": "any"}, "tool_choice"),
        ("a choice of a hosted tool", {"tool_choice": {"type": "file_search"}}, "runs at OpenAI"),
        (
            "a choice of what is not there",
            {"tool_choice": {"type": "function", "name": "x"}},
            "does not declare",
        ),
        ("an unknown format", {"text": {"format": {"type": "xml"}}}, "text.format.type"),
        (
            "a schema without a name",
            {"text": {"format": {"type": "json_schema", "schema": {}}}},
            "a name and a schema",
        ),
        ("text in words", {"text": "short"}, '"text" must be an object'),
        ("effort as a number", {"reasoning": {"effort": 3}}, '"reasoning.effort"'),
        ("reasoning in words", {"reasoning": "high"}, '"reasoning" must be an object'),
        ("hot", {"temperature": 9}, '"temperature"'),
        ("no tokens", {"max_output_tokens": 0}, '"max_output_tokens"'),
        ("include in words", {"include": "reasoning"}, '"include"'),
        ("metadata in words", {"metadata": "x"}, '"metadata"'),
        ("stream in words", {"stream": "yes"}, '"stream" must be true or false'),
        ("a number beyond JSON", {"metadata": {"a": float("inf")}}, "too large"),
        ("with that is no list", {"with": "typo"}, '"with" must be a list'),
        ("an unknown reply", {"bench": {"reply": "best"}}, "bench.reply"),
    ]

    def test_refused(self):
        for name, fields, said in self.REFUSED:
            with self.subTest(name):
                self.assertIn(said, refused(**fields))

    def test_nesting_without_end_is_refused(self):
        value = {}
        for _ in range(500):
            value = {"a": value}
        self.assertIn("levels deep", refused(metadata=value))


OPTIONAL = (
    *("instructions", "tools", "tool_choice", "parallel_tool_calls", "max_output_tokens", "max_tool_calls"),
    *("temperature", "top_p", "top_logprobs", "text", "reasoning", "include", "store", "stream"),
    *("stream_options", "truncation", "background", "previous_response_id", "conversation", "prompt"),
    *("metadata", "service_tier", "user", "safety_identifier", "prompt_cache_key", "with", "bench"),
    *("prompt_cache_retention", "context_management", "moderation", "client_metadata"),
)


class FuzzTest(unittest.TestCase):
    """Whatever is sent: a Request, or a Problem that is the caller's."""

    VALUES = (
        *(None, True, 0, -1, 1.5, 1e999, 2**70, "", "x", "\ud800", [], [None], [[]], {}, {"type": None}),
        *(
            [{"type": "message"}],
            {"type": "function"},
            [{"type": "function", "name": 5}],
            {"format": {"type": []}},
        ),
        *(
            {"effort": {}},
            [{"role": "user", "content": [{"type": "input_image", "image_url": 5}]}],
            ["x" * 10_000],
        ),
        *(
            [{"type": ["x"]}],
            [{"type": "namespace", "name": "n", "tools": [{"type": "namespace", "name": "m"}]}],
        ),
        *({"type": "allowed_tools", "tools": [{}]}, {"type": "allowed_tools", "mode": []}, {"type": {}}),
    )

    def check(self, fields):
        try:
            parse(**fields)
        except Problem as problem:
            self.assertTrue(400 <= problem.status < 500, fields)

    def test_every_field_of_every_kind(self):
        for mode in ("all", "route"):
            for name in (*OPTIONAL, "input", "model"):
                for value in self.VALUES:
                    with self.subTest(name=name, value=repr(value)[:50]):
                        self.check({"bench": {"reply": mode}, name: value})

    def test_every_field_of_every_item(self):
        fields = (
            "type",
            "role",
            "content",
            "id",
            "call_id",
            "name",
            "namespace",
            "arguments",
            "input",
            "output",
        )
        fields += ("encrypted_content", "summary", "phase", "status")
        for item in ASKED:
            for name in fields:
                for value in self.VALUES:
                    with self.subTest(item=item.get("type"), name=name, value=repr(value)[:50]):
                        self.check(
                            {"bench": {"reply": "route"}, "input": [HELLO, *ASKED, {**item, name: value}]}
                        )

    def test_anything(self):
        draw = random.Random(20261129)
        words = (*OPTIONAL, "input", "type", "role", "content", "name", "tools", "format", "call_id", "text")
        kinds = (
            "message",
            "function",
            "custom",
            "namespace",
            "function_call",
            "function_call_output",
            "reasoning",
        )
        for _ in range(3000):
            body = {name: _anything(draw, words, kinds, 4) for name in draw.sample(words, draw.randrange(8))}
            self.check({"bench": {"reply": draw.choice(("all", "route"))}, **body})


def _anything(draw, words, kinds, depth):
    kind = draw.randrange(9 if depth else 6)
    if kind < 6:
        return (
            None,
            draw.choice((True, False)),
            draw.randrange(-5, 10**12),
            draw.random(),
            "text",
            draw.choice(kinds),
        )[kind]
    if kind == 6:
        return [_anything(draw, words, kinds, depth - 1) for _ in range(draw.randrange(4))]
    return {draw.choice(words): _anything(draw, words, kinds, depth - 1) for _ in range(draw.randrange(5))}


class OtherRoutesTest(unittest.TestCase):
    def test_nothing_is_stored(self):
        for method, pattern, answer in openai_responses.PATHS[2:]:
            with self.subTest(f"{method} {pattern}"), self.assertRaises(Problem) as caught:
                answer(Body())
            self.assertEqual((caught.exception.status, caught.exception.retryable), (404, False))
            self.assertIn("nothing is stored", caught.exception.message)

    def test_tokens_are_counted(self):
        def count(**fields):
            with naming(lambda model: ("core", "all")):
                told = json.loads(openai_responses.input_tokens(Body(**fields)).body)
            self.assertEqual(told["object"], "response.input_tokens")
            return told["input_tokens"]

        few = count(input="hello " * 100)
        self.assertTrue(150 < few < 200)
        self.assertGreater(count(input="hello " * 100, instructions="x" * 400), few + 100)
        self.assertGreater(count(input="hello " * 100, tools=[TOOL, CUSTOM]), few)
        with self.assertRaises(Problem):
            count(input=5)
