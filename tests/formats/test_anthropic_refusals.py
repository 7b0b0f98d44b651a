import json
import random
import unittest

from metrics.formats import anthropic, anthropic_out
from metrics.records import Problem
from metrics.web.table import Call
from tests.formats.anthropic_asked import (
    HELLO,
    MARK,
    PNG,
    SCHEMA,
    TOOL,
    USE,
    assistant,
    body,
    parse,
    request,
    resolving,
    result,
    text,
    user,
)


class RefusedTest(unittest.TestCase):
    def block(kind, **fields):
        return {"messages": [user({"type": kind, **fields})]}

    CASES = [
        ("no max_tokens", {"max_tokens": None}, "max_tokens"),
        ("max_tokens in words", {"max_tokens": "many"}, "max_tokens"),
        ("true tokens", {"max_tokens": True}, "max_tokens"),
        ("nothing to write, and nobody to say so", {"max_tokens": 0}, "max_tokens"),
        ("no messages", {"messages": None}, "messages"),
        ("an object as messages", {"messages": {}}, "messages"),
        ("no message", {"messages": []}, "messages"),
        ("a null message", {"messages": [None]}, "messages[0]"),
        ("a role that is not there", {"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ("a role that is no string", {"messages": [{"role": [], "content": "x"}]}, "messages[0].role"),
        ("null content", {"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        ("a string as block", {"messages": [{"role": "user", "content": ["x"]}]}, "messages[0].content[0]"),
        ("a block without type", {"messages": [user({})]}, "messages[0].content[0]"),
        ("nothing but system", {"messages": [{"role": "system", "content": "x"}]}, "user message"),
        ("an empty message", {"messages": [{"role": "user", "content": ""}]}, "user message"),
        ("a system that is a number", {"system": 5}, "system"),
        ("a picture as system", {"system": [PNG]}, "system[0]"),
        ("a PDF", block("document", source={"type": "base64", "data": "x"}), "PDF"),
        ("a PDF's address", block("document", source={"type": "url", "url": "https://a"}), "PDF"),
        ("an uploaded file", block("document", source={"type": "file", "file_id": "f"}), "inline"),
        ("an uploaded picture", block("image", source={"type": "file", "file_id": "f"}), "inline"),
        ("an upload for a container", block("container_upload", file_id="f"), "inline"),
        ("a picture of nothing", block("image", source={"type": "base64", "data": ""}), "source.data"),
        ("a picture that is none", block("image", source={"type": "base64", "data": "aGVsbG8="}), "picture"),
        ("a picture without source", block("image"), "source"),
        ("a source of a new kind", block("image", source={"type": "hologram"}), "hologram"),
        ("a block of a new kind", block("hologram"), "hologram"),
        ("a result of a server tool", block("web_search_tool_result", content=[]), "Anthropic"),
        (
            "a call of a server tool",
            {"messages": [*HELLO, assistant({"type": "server_tool_use", "id": "x", "name": "web_search"})]},
            "Anthropic",
        ),
        ("a call by the user", {"messages": [user(USE)]}, "tool_use"),
        ("text that is none", block("text", text=5), "messages[0].content[0].text"),
        ("a mark that is none", block("text", text="x", cache_control="yes"), "cache_control"),
        ("a result of no call", block("tool_result", content="x"), "tool_use_id"),
        ("a result that is a number", block("tool_result", tool_use_id="t", content=5), "content"),
        ("an error in words", block("tool_result", tool_use_id="t", is_error="yes"), "is_error"),
        ("a result in a result", block("tool_result", tool_use_id="t", content=[result("x")]), "tool_result"),
        ("a call without id", {"messages": [*HELLO, assistant({**USE, "id": None})]}, "id"),
        ("a call with a list", {"messages": [*HELLO, assistant({**USE, "input": []})]}, "input"),
        (
            "thinking in numbers",
            {"messages": [*HELLO, assistant({"type": "thinking", "thinking": 5})]},
            "thinking",
        ),
        (
            "web search",
            {"tools": [{"type": "web_search_20260318", "name": "web_search"}]},
            "web_search_20260318",
        ),
        ("code execution", {"tools": [{"type": "code_execution_20260521"}]}, "runs at Anthropic"),
        ("a toolset of a server", {"tools": [{"type": "mcp_toolset"}]}, "runs at Anthropic"),
        ("bash", {"tools": [{"type": "bash_20250124", "name": "bash"}]}, "input_schema"),
        ("an editor", {"tools": [{"type": "text_editor_20250728", "name": "e"}]}, "input_schema"),
        ("memory", {"tools": [{"type": "memory_20250818", "name": "memory"}]}, "input_schema"),
        ("a computer", {"tools": [{"type": "computer_20251124", "name": "computer"}]}, "input_schema"),
        ("a browser", {"tools": [{"type": "browser_toolset_20260801"}]}, "input_schema"),
        ("tools that are none", {"tools": {}}, "tools"),
        ("a tool without a name", {"tools": [{"input_schema": {}}]}, "tools[0].name"),
        ("a tool without a schema", {"tools": [{"name": "f"}]}, "tools[0].input_schema"),
        ("a kind of tool that is no string", {"tools": [{"type": 5}]}, "tools[0].type"),
        ("a choice in a word", {"tools": [TOOL], "tool_choice": "auto"}, "tool_choice"),
        ("a choice of a new kind", {"tools": [TOOL], "tool_choice": {"type": "best"}}, "tool_choice.type"),
        ("a choice of nothing", {"tools": [TOOL], "tool_choice": {"type": "tool"}}, "tool_choice.name"),
        ("five stops", {"stop_sequences": list("abcde")}, "stop_sequences"),
        ("a stop in a word", {"stop_sequences": "x"}, "stop_sequences"),
        ("hot", {"temperature": 9}, "temperature"),
        ("stream in words", {"stream": "yes"}, "stream"),
        ("servers of tools", {"mcp_servers": [{"url": "https://a"}]}, "mcp_servers"),
        ("a container", {"container": "c1"}, "container"),
        ("thinking in a word", {"thinking": "hard"}, "thinking"),
        ("a budget in words", {"thinking": {"type": "enabled", "budget_tokens": "all"}}, "budget_tokens"),
        ("effort as a number", {"output_config": {"effort": 5}}, "output_config.effort"),
        ("a format of a new kind", {"output_config": {"format": {"type": "xml"}}}, "output_config.format"),
        ("a format without schema", {"output_format": {"type": "json_schema"}}, "schema"),
        ("a user that is a number", {"metadata": {"user_id": 5}}, "metadata.user_id"),
        ("a thread in a word", {"thread": "mine"}, "thread"),
    ]

    def test_refused(self):
        for name, fields, said in self.CASES:
            with self.subTest(name):
                with self.assertRaises(Problem) as caught:
                    parse(**fields)
                self.assertEqual(caught.exception.status, 400)
                self.assertIn(said, f"{caught.exception.message} {caught.exception.param}")

    PANEL = [
        ("tools", {"tools": [TOOL]}),
        ("a call", {"messages": [*HELLO, assistant(USE)]}),
        ("a result", {"messages": [*HELLO, user(result("x"))]}),
    ]

    def test_refused_in_a_panel(self):
        for name, fields in self.PANEL:
            with self.subTest(name):
                with self.assertRaises(Problem) as caught:
                    parse("all", **fields)
                self.assertEqual(caught.exception.status, 400)
                self.assertIn(":route", caught.exception.message)
        self.assertEqual([m["content"] for m in parse("all", tools=[]).messages], ["hello"])

    def test_a_thread_that_is_not_kept(self):
        """FINDINGS of the JS SDK's toolRunner: told so, it sends the whole conversation again."""
        with self.assertRaises(Problem) as caught:
            parse(thread={"type": "continue", "previous_message_id": "msg_1"})
        response = anthropic.error(caught.exception, request({}))
        self.assertEqual(response.status, 404)
        self.assertEqual(json.loads(response.body)["error"]["details"], {"error_code": "thread_not_found"})
        self.assertIn(("x-should-retry", "false"), response.headers)


class FuzzTest(unittest.TestCase):
    WRONG = [
        None,
        True,
        False,
        0,
        -1,
        1.5,
        10**400,
        1e308,
        "",
        "x",
        "\ud800",
        "x" * 10_000,
        [],
        [None],
        [[]],
        {},
    ]
    WRONG += [{"type": "x"}, {"type": None}, {"type": []}, [{}], [{"type": "text"}], [{"type": 5}]]

    SEEDS = [
        body(
            system=[text("s", cache_control=MARK)],
            messages=[
                user(
                    PNG,
                    text("x"),
                    {"type": "document", "source": {"type": "content", "content": [text("a")]}},
                    {"type": "search_result", "title": "t", "source": "s", "content": [text("a")]},
                    {"type": "mid_conv_system", "content": "x"},
                ),
                assistant({"type": "thinking", "thinking": "a", "signature": "b"}, USE),
                user(result([text("a"), PNG], is_error=True)),
            ],
            tools=[TOOL],
            tool_choice={"type": "tool", "name": "look", "disable_parallel_tool_use": True},
            thinking={"type": "enabled", "budget_tokens": 5000, "display": "omitted"},
            output_config={"effort": "high", "format": SCHEMA},
            metadata={"user_id": "u"},
            stop_sequences=["a"],
            thread={"type": "create"},
            stream=True,
            bench={"deadline": 5},
        )
    ]

    def tried(self, fields):
        try:
            with resolving("route"):
                got = anthropic.parse(Parsed(fields))
            anthropic_out.estimate(got)
        except Problem as problem:
            self.assertIn(problem.status, (400, 404))

    def test_every_place_holds_every_wrong_thing(self):
        for seed in self.SEEDS:
            for path in places(seed):
                for wrong in self.WRONG:
                    self.tried(altered(seed, path, wrong))
                self.tried(altered(seed, path, GONE))

    def test_random_json(self):
        rng = random.Random(7)
        words = [
            "type",
            "text",
            "content",
            "role",
            "user",
            "source",
            "tool_use",
            "image",
            "messages",
            "id",
            "x",
        ]

        def value(depth):
            pick = rng.random()
            if depth > 5 or pick < 0.4:
                return rng.choice([*self.WRONG, *words])
            if pick < 0.7:
                return [value(depth + 1) for _ in range(rng.randrange(4))]
            return {rng.choice(words): value(depth + 1) for _ in range(rng.randrange(5))}

        for _ in range(2000):
            self.tried(
                body(
                    **{name: value(0) for name in rng.sample(["messages", "system", "tools", "thinking"], 2)}
                )
            )

    DEEP = [
        '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":%s}]}',
        '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"f","input_schema":%s}]}',
        '{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"i",'
        '"name":"n","input":%s}]},{"role":"user","content":"x"}]}',
        '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"output_config":{"format":'
        '{"type":"json_schema","schema":%s}}}',
    ]

    def test_depth_and_numbers_without_end(self):
        for wrapper in self.DEEP:
            for deep in ('{"a":' * 900 + "1" + "}" * 900, "[" * 900 + "]" * 900, '{"a":1e999}'):
                with self.subTest(wrapper[:60], deep=deep[:12]), resolving("route"):
                    try:
                        got = anthropic.parse(Call("POST", "/v1/messages", {}, (wrapper % deep).encode()))
                        anthropic_out.estimate(got)
                    except Problem as problem:
                        self.assertEqual(problem.status, 400)


GONE = object()


class Parsed:
    """A call whose body is a value already."""

    key = None

    def __init__(self, fields):
        self.fields = fields
        self.headers = {}

    def json(self):
        return self.fields


def places(value, path=()):
    """The paths to everything inside `value`."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (*path, key)
        yield from places(inner, (*path, key))


def altered(value, path, new):
    key, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copy[key] = altered(value[key], rest, new)
    elif new is GONE:
        del copy[key]
    else:
        copy[key] = new
    return copy
