"""Tools that run at a vendor, in every format: one table of how each writes them and what is left of it."""

import json
import unittest
from typing import Any

from metrics.formats import anthropic, gemini, hosted, ollama, openai_chat, openai_responses
from metrics.records import Problem, Request
from metrics.web.table import Call
from tests.formats.naming import naming

ASK = [{"role": "user", "content": "hello"}]
CHAT_TOOL = {"type": "function", "function": {"name": "look"}}
RESPONSES_TOOL = {"type": "function", "name": "look"}
ANTHROPIC_TOOL = {"name": "look", "input_schema": {"type": "object"}}
GEMINI_TOOL = {"functionDeclarations": [{"name": "look"}]}
SEARCH = {"type": "web_search_20250305", "name": "web_search"}

FORMATS: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "chat": (openai_chat, "/v1/chat/completions", {"messages": ASK}),
    "responses": (openai_responses, "/v1/responses", {"input": "hello"}),
    "anthropic": (anthropic, "/v1/messages", {"max_tokens": 9, "messages": ASK}),
    "ollama": (ollama, "/api/chat", {"messages": ASK}),
    "gemini": (
        gemini,
        "/v1beta/models/bench/core:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]},
    ),
}


def parse(form: str, fields: dict[str, Any], drops: bool, mode: str = "route") -> Request:
    module, path, base = FORMATS[form]
    body = json.dumps({"model": "bench/core", **base, **fields}).encode()
    with naming(lambda model, reply=None: ("core", mode), drops):
        asked: Request = module.parse(Call("POST", path, {}, body, parts={"name": "bench/core"}))
    return asked


def turns(form: str, *traces: dict[str, Any]) -> dict[str, Any]:
    """A conversation in which the assistant used a hosted tool: question, what it left, words, question."""
    if form == "responses":
        said = {"role": "assistant", "content": "found"}
        return {"input": [*ASK, *traces, said, {"role": "user", "content": "more"}]}
    if form == "gemini":
        parts = [*traces, {"text": "found"}]
        question = {"role": "user", "parts": [{"text": "hello"}]}
        return {"contents": [question, {"role": "model", "parts": parts}, question]}
    blocks = [*traces, {"type": "text", "text": "found"}]
    return {"messages": [*ASK, {"role": "assistant", "content": blocks}, *ASK]}


# format, fields, what is dropped, the field that a refusal names
DECLARED: list[tuple[str, dict[str, Any], tuple[str, ...], str]] = [
    ("chat", {"tools": [{"type": "web_search"}, CHAT_TOOL]}, ("web_search",), "tools[0]"),
    ("responses", {"tools": [RESPONSES_TOOL, {"type": "web_search"}]}, ("web_search",), "tools[1]"),
    ("responses", {"tools": [RESPONSES_TOOL, {"type": "mcp", "server_label": "x"}]}, ("mcp",), "tools[1]"),
    (
        "responses",
        {"tools": [RESPONSES_TOOL, {"type": "namespace", "name": "n", "tools": [{"type": "local_shell"}]}]},
        ("local_shell",),
        "tools[1].tools[0]",
    ),
    ("anthropic", {"tools": [SEARCH, ANTHROPIC_TOOL]}, ("web_search_20250305",), "tools[0]"),
    (
        "anthropic",
        {
            "tools": [ANTHROPIC_TOOL, {"type": "mcp_toolset", "mcp_server_name": "x"}],
            "mcp_servers": [{"type": "url", "url": "https://example.com", "name": "x"}],
        },
        ("mcp_servers", "mcp_toolset"),
        "mcp_servers",
    ),
    ("anthropic", {"tools": [ANTHROPIC_TOOL], "container": "c_1"}, ("container",), "container"),
    ("ollama", {"tools": [{"type": "web_search"}, CHAT_TOOL]}, ("web_search",), "tools[0]"),
    ("gemini", {"tools": [{"googleSearch": {}}, GEMINI_TOOL]}, ("googleSearch",), "tools[0]"),
    (
        "gemini",
        {"tools": [{"url_context": {}, **GEMINI_TOOL}, {"code_execution": {}}]},
        ("urlContext", "codeExecution"),
        "tools[0]",
    ),
]

# format, what a hosted tool left, what is dropped
TRACES: list[tuple[str, list[dict[str, Any]], tuple[str, ...]]] = [
    ("responses", [{"type": "web_search_call", "id": "ws_1", "status": "completed"}], ("web_search_call",)),
    (
        "responses",
        [{"type": "local_shell_call", "call_id": "c"}, {"type": "local_shell_call_output", "call_id": "c"}],
        ("local_shell_call", "local_shell_call_output"),
    ),
    ("responses", [{"type": "mcp_list_tools"}, {"type": "mcp_call"}], ("mcp_list_tools", "mcp_call")),
    ("responses", [{"type": "tool_search_output"}], ("tool_search_output",)),
    (
        "anthropic",
        [
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        ],
        ("server_tool_use", "web_search_tool_result"),
    ),
    (
        "anthropic",
        [{"type": "mcp_tool_use"}, {"type": "mcp_tool_result"}],
        ("mcp_tool_use", "mcp_tool_result"),
    ),
    (
        "gemini",
        [{"executableCode": {"code": "1"}}, {"code_execution_result": {"output": "1"}}],
        ("executableCode", "codeExecutionResult"),
    ),
]

# format, tools, choice, what becomes of it: (names of the tools, tool_choice)
CHOICES: list[tuple[str, list[dict[str, Any]], Any, tuple[list[str], Any]]] = [
    ("chat", [{"type": "web_search"}, CHAT_TOOL], {"type": "web_search"}, (["look"], "auto")),
    ("chat", [{"type": "web_search"}, CHAT_TOOL], "required", (["look"], "required")),
    ("chat", [{"type": "web_search"}], "required", ([], None)),
    ("chat", [{"type": "web_search"}], {"type": "web_search"}, ([], None)),
    ("responses", [{"type": "web_search"}, RESPONSES_TOOL], {"type": "web_search"}, (["look"], "auto")),
    ("responses", [{"type": "web_search"}], {"type": "web_search"}, ([], None)),
    ("responses", [{"type": "web_search"}], "required", ([], None)),
    (
        "responses",
        [{"type": "web_search"}, RESPONSES_TOOL],
        {"type": "allowed_tools", "mode": "required", "tools": [{"type": "web_search"}, RESPONSES_TOOL]},
        (["look"], "required"),
    ),
    (
        "responses",
        [{"type": "web_search"}, RESPONSES_TOOL],
        {"type": "allowed_tools", "mode": "required", "tools": [{"type": "web_search"}]},
        ([], None),
    ),
    ("anthropic", [SEARCH, ANTHROPIC_TOOL], {"type": "tool", "name": "web_search"}, (["look"], "auto")),
    ("anthropic", [SEARCH, ANTHROPIC_TOOL], {"type": "any"}, (["look"], "required")),
    ("anthropic", [SEARCH], {"type": "tool", "name": "web_search"}, ([], None)),
    (
        "anthropic",
        [SEARCH, ANTHROPIC_TOOL],
        {"type": "tool", "name": "look"},
        (["look"], {"type": "function", "function": {"name": "look"}}),
    ),
]


class HostedTest(unittest.TestCase):
    def refused(self, form: str, fields: dict[str, Any], mode: str = "route") -> Problem:
        with self.assertRaises(Problem) as caught:
            parse(form, fields, False, mode)
        return caught.exception

    def test_refused_with_the_setting_that_drops_them(self) -> None:
        for form, fields, dropped, where in DECLARED:
            for mode in ("route", "all"):
                with self.subTest(form=form, dropped=dropped, mode=mode):
                    problem = self.refused(form, fields, mode)
                    self.assertEqual((problem.status, problem.param), (400, where))
                    self.assertIn(f'{where}: "{dropped[0]}" runs at', problem.message)
                    self.assertIn("`bench collection save core --drop-hosted-tools yes`", problem.message)
                    self.assertIn("drop_hosted_tools", problem.message)

    def test_dropped_and_named(self) -> None:
        for form, fields, dropped, _ in DECLARED:
            with self.subTest(form=form, dropped=dropped):
                asked = parse(form, fields, True)
                self.assertEqual(asked.dropped, dropped)
                self.assertEqual([tool["function"]["name"] for tool in asked.tools], ["look"])
                self.assertFalse(json.dumps(asked.passed).count(dropped[-1]))

    def test_a_panel_answers_without_them_but_takes_no_others(self) -> None:
        for form, fields, dropped, _ in DECLARED:
            with self.subTest(form=form, dropped=dropped):
                with self.assertRaises(Problem) as caught:
                    parse(form, fields, True, "all")
                self.assertIn("takes no tools", caught.exception.message)
        alone = {"tools": [{"type": "web_search"}]}
        self.assertEqual(parse("responses", alone, True, "all").dropped, ("web_search",))

    def test_what_they_left_in_the_conversation(self) -> None:
        for form, traces, dropped in TRACES:
            with self.subTest(form=form, dropped=dropped):
                problem = self.refused(form, turns(form, *traces))
                self.assertIn(f'"{dropped[0]}" comes from a tool that runs at', problem.message)
                self.assertIn("--drop-hosted-tools yes", problem.message)
                asked = parse(form, turns(form, *traces), True)
                said = [(message["role"], message["content"]) for message in asked.messages]
                self.assertEqual(said, [("user", "hello"), ("assistant", "found"), ("user", said[-1][1])])
                self.assertEqual(asked.dropped, dropped)

    def test_a_turn_of_nothing_else_is_left_out(self) -> None:
        used = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
        turn = {"role": "assistant", "content": [used]}
        asked = parse("anthropic", {"messages": [*ASK, turn, *ASK]}, True)
        self.assertEqual([message["role"] for message in asked.messages], ["user", "user"])

    def test_a_choice_of_one_falls_back(self) -> None:
        for form, tools, choice, left in CHOICES:
            with self.subTest(form=form, choice=choice):
                fields = {"tools": tools, "tool_choice": choice, "parallel_tool_calls": False}
                if form == "anthropic":
                    del fields["parallel_tool_calls"]
                asked = parse(form, fields, True)
                names = [tool["function"]["name"] for tool in asked.tools]
                self.assertEqual((names, asked.passed.get("tool_choice")), left)
                self.assertEqual(
                    asked.passed.get("parallel_tool_calls"), False if names and form != "anthropic" else None
                )

    def test_allowed_tools_in_chat(self) -> None:
        tools = [{"type": "web_search"}, CHAT_TOOL]
        for allowed, left in (
            ([{"type": "web_search"}, CHAT_TOOL], [CHAT_TOOL]),
            ([{"type": "web_search"}], None),
        ):
            with self.subTest(allowed):
                choice = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": allowed}}
                asked = parse("chat", {"tools": tools, "tool_choice": choice}, True)
                wanted = {**choice, "allowed_tools": {"mode": "auto", "tools": left}} if left else "none"
                self.assertEqual(asked.passed["tool_choice"], wanted)

    def test_nothing_is_altered_where_there_are_none(self) -> None:
        """A choice that a provider may know and we do not is its own affair."""
        choice = {"type": "web_search"}
        asked = parse("chat", {"tools": [CHAT_TOOL], "tool_choice": choice}, True)
        self.assertEqual((asked.passed["tool_choice"], asked.dropped), (choice, ()))

    def test_a_kind_that_is_none_is_refused_all_the_same(self) -> None:
        for form, tool in (("chat", {"type": 5}), ("responses", {"type": {}}), ("anthropic", {"type": 5})):
            with self.subTest(form), self.assertRaises(Problem) as caught:
                parse(form, {"tools": [tool]}, True)
            self.assertIn("must be the kind of it", caught.exception.message)

    def test_a_long_kind_is_cut_in_the_record(self) -> None:
        asked = parse("chat", {"tools": [{"type": "x" * 500}]}, True)
        self.assertEqual(asked.dropped, ("x" * hosted.LONGEST,))

    def test_tools_that_only_a_vendors_models_know_are_no_hosted_ones(self) -> None:
        """The caller runs them: without them it would not get what it asked for."""
        fields = {"tools": [{"type": "bash_20250124", "name": "bash"}]}
        with self.assertRaises(Problem) as caught:
            parse("anthropic", fields, True)
        self.assertIn("input_schema", caught.exception.message)


if __name__ == "__main__":
    unittest.main()
