import json
import unittest

from tests.formats.anthropic_asked import BILLING, FUNCTION, MARK, SCHEMA, TOOL, parse, text, user


class FieldsTest(unittest.TestCase):
    def test_options(self):
        got = parse(temperature=0.5, top_p=1, top_k=5, stop_sequences=["x"], max_tokens=7)
        self.assertEqual(dict(got.options), {"temperature": 0.5, "top_p": 1, "max_tokens": 7, "stop": ["x"]})
        self.assertEqual((got.ignored, got.format), ((), "anthropic"))

    ANSWER = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}}
    PASSED = [
        ("nothing", {}, {}),
        ("any tool", {"tools": [TOOL], "tool_choice": {"type": "any"}}, {"tool_choice": "required"}),
        ("no tool", {"tools": [TOOL], "tool_choice": {"type": "none"}}, {"tool_choice": "none"}),
        (
            "this tool",
            {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "look"}},
            {"tool_choice": {"type": "function", "function": {"name": "look"}}},
        ),
        (
            "one at a time",
            {"tools": [TOOL], "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
            {"tool_choice": "auto", "parallel_tool_calls": False},
        ),
        ("a choice without tools", {"tool_choice": {"type": "any"}}, {}),
        ("a choice of no tools", {"tools": [], "tool_choice": {"type": "tool", "name": "web_search"}}, {}),
        ("a schema", {"output_config": {"format": SCHEMA}}, {"response_format": ANSWER}),
        ("a schema, as it was", {"output_format": SCHEMA}, {"response_format": ANSWER}),
        ("effort", {"output_config": {"effort": "low"}}, {"reasoning_effort": "low"}),
        ("all effort", {"output_config": {"effort": "max"}}, {"reasoning_effort": "high"}),
        ("effort of a new kind", {"output_config": {"effort": "cosmic"}}, {}),
        (
            "a small budget",
            {"thinking": {"type": "enabled", "budget_tokens": 1024}},
            {"reasoning_effort": "low"},
        ),
        (
            "a budget",
            {"thinking": {"type": "enabled", "budget_tokens": 8000}},
            {"reasoning_effort": "medium"},
        ),
        (
            "a big one",
            {"thinking": {"type": "enabled", "budget_tokens": 32000}},
            {"reasoning_effort": "high"},
        ),
        (
            "effort before budget",
            {"thinking": {"type": "enabled", "budget_tokens": 1024}, "output_config": {"effort": "high"}},
            {"reasoning_effort": "high"},
        ),
        ("adaptive thinking", {"thinking": {"type": "adaptive"}}, {}),
        ("a user", {"metadata": {"user_id": "u1"}}, {"user": "u1"}),
    ]

    def test_what_route_mode_passes_on(self):
        for name, fields, passed in self.PASSED:
            with self.subTest(name):
                self.assertEqual(dict(parse(**fields).passed), passed)

    def test_a_long_user_is_hashed(self):
        one, other = (
            parse(metadata={"user_id": json.dumps({"device": name * 60})}).passed["user"] for name in "ab"
        )
        self.assertNotEqual(one, other)
        self.assertEqual(len(one), 64)

    def test_tools(self):
        pi = {**TOOL, "eager_input_streaming": True, "cache_control": MARK, "type": "custom", "strict": True}
        strict = {"type": "function", "function": {**FUNCTION["function"], "strict": True}}
        self.assertEqual(list(parse(tools=[TOOL, pi]).tools), [FUNCTION, strict])
        bare = {"name": "f", "input_schema": {"type": "object", "properties": {"x": {}}}, "description": None}
        function = {"name": "f", "parameters": bare["input_schema"]}
        self.assertEqual(list(parse(tools=[bare]).tools), [{"type": "function", "function": function}])

    def test_what_a_panel_leaves_out_is_named(self):
        got = parse(
            "all",
            top_k=3,
            thinking={"type": "adaptive"},
            output_config={"effort": "high"},
            context_management={"edits": [{"type": "clear_tool_uses_20250919"}]},
            inference_geo="us",
            service_tier="auto",
        )
        left_out = ("top_k", "thinking", "output_config", "context_management", "inference_geo")
        self.assertEqual(got.ignored, left_out)
        self.assertEqual(parse("all", thinking={"type": "disabled"}, top_k=None).ignored, ())

    SHOWN = [
        (None, ""),
        ({"type": "disabled"}, ""),
        ({"type": "adaptive"}, "thinking"),
        ({"type": "enabled", "budget_tokens": 2000}, "thinking"),
        ({"type": "adaptive", "display": "summarized"}, "thinking"),
        ({"type": "adaptive", "display": "omitted"}, "sealed"),
    ]

    def test_thinking_is_shown_to_those_who_asked(self):
        for thinking, framing in self.SHOWN:
            with self.subTest(thinking=thinking):
                self.assertEqual(parse(thinking=thinking).framing, framing)

    def test_fields_for_a_member_of_this_api_are_as_they_were_sent(self):
        own = {
            "thinking": {"type": "adaptive", "display": "omitted"},
            "output_config": {"effort": "max"},
            "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
            "metadata": {"user_id": "u" * 99},
            "top_k": 5,
            "service_tier": "auto",
            "new_field": [1],
            "tools": [{**TOOL, "eager_input_streaming": True, "cache_control": MARK}],
        }
        beside = {
            "system": "s",
            "tool_choice": {"type": "auto"},
            "thread": {"type": "create"},
            "stop_sequences": [],
        }
        self.assertEqual(parse(**own, **beside, temperature=None).native, own)
        got = parse(headers={"anthropic-beta": "a-1,b-2", "anthropic-version": "2023-06-01"})
        self.assertEqual(got.native, {"headers": {"anthropic-beta": "a-1,b-2"}})

    SESSIONS = [
        ({}, None),
        ({"x-claude-code-session-id": "s1"}, "s1"),
        ({"x-claude-code-session-id": "s1", "x-claude-code-agent-id": "a1"}, "s1/a1"),
        ({"x-claude-code-agent-id": "a1"}, None),
        ({"x-claude-code-session-id": " "}, None),
        ({"x-claude-code-session-id": "s" * 999}, "s" * 200),
    ]

    def test_the_clients_own_session(self):
        for headers, session in self.SESSIONS:
            with self.subTest(headers=headers):
                self.assertEqual(parse(headers=headers).session, session)

    def test_wishes_and_stream(self):
        got = parse(**{"with": ["x"], "bench": {"deadline": 2.5, "reply": "merged"}, "stream": True})
        self.assertEqual((got.invited, got.deadline, got.reply, got.stream), (("x",), 2.5, "merged", True))

    def test_what_claude_code_sends(self):
        got = parse(
            model="claude-bench-core-route",
            max_tokens=32000,
            stream=True,
            thinking={"type": "adaptive"},
            output_config={"effort": "high"},
            context_management={"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
            metadata={"user_id": json.dumps({"session_id": "s" * 40, "device_id": "d" * 40})},
            system=[
                text(BILLING),
                text("You are an agent.", cache_control=MARK),
                text("Rules.", cache_control=MARK),
            ],
            messages=[
                user(text("<system-reminder>today</system-reminder>"), text("do it", cache_control=MARK)),
                {"role": "system", "content": "There are agents."},
            ],
            tools=[TOOL],
            thread={"type": "create"},
        )
        self.assertEqual([message["role"] for message in got.messages], ["system", "user", "system"])
        self.assertNotIn("billing", json.dumps(got.messages))
        self.assertEqual(got.passed["reasoning_effort"], "high")
        self.assertEqual(got.ignored, ())

    def test_nulls_count_as_absent(self):
        fields = (
            "system temperature top_p top_k stop_sequences tools tool_choice thinking output_config "
            "output_format metadata thread stream mcp_servers container with bench"
        )
        got = parse("all", **dict.fromkeys(fields.split()))
        self.assertEqual([message["content"] for message in got.messages], ["hello"])
        self.assertEqual((dict(got.options), got.stream, got.native), ({"max_tokens": 100}, False, {}))
