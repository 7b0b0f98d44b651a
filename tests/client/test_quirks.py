"""Which host wants what, and what is learned from a refusal."""

import json
import unittest
from dataclasses import replace
from typing import Any

from metrics.client import chat, errors, quirks
from metrics.records import Target
from tests.client.arrivals import TARGET

MESSAGES = [{"role": "user", "content": "hi"}]


def target(host: str, **fields: Any) -> Target:
    return replace(TARGET, profile=host, **fields)


def sent(to: Target, options: dict[str, Any], **more: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    outgoing = chat.compose(to, chat.Conversation(MESSAGES), options, **more)
    fields = json.loads(b"".join(outgoing.body))
    return {key: value for key, value in fields.items() if key not in ("model", "messages")}, outgoing.changed


STREAM = {"stream": True, "stream_options": {"include_usage": True}}
OPTIONS = {"temperature": 0.5, "top_p": 1, "stop": ["END"], "seed": 0, "max_tokens": 100}


class Compose(unittest.TestCase):
    def setUp(self) -> None:
        quirks.forget()

    def test_options(self) -> None:
        rest = {"temperature": 0.5, "top_p": 1, "stop": ["END"]}
        left_out = " left out (not accepted by this model)"
        reasoner = ("max_tokens raised from 100 to 4196 (room to reason)",)
        cases: list[tuple[str, Target, dict[str, Any], tuple[str, ...]]] = [
            ("unknown host", target(""), {**OPTIONS, **STREAM}, ()),
            (
                "openai",
                target("api.openai.com", served="gpt-4.1"),
                {**rest, "seed": 0, "max_completion_tokens": 100, **STREAM},
                (),
            ),
            (
                "openai reasoner",
                target("api.openai.com", served="gpt-5-mini"),
                {"seed": 0, "max_completion_tokens": 4196, **STREAM},
                ("temperature" + left_out, "top_p" + left_out, "stop" + left_out, *reasoner),
            ),
            (
                "mistral",
                target("api.mistral.ai"),
                {**rest, "random_seed": 0, "max_tokens": 100, "stream": True},
                (),
            ),
            (
                "gemini",
                target("generativelanguage.googleapis.com"),
                {**rest, "max_tokens": 100, **STREAM},
                ("seed" + left_out,),
            ),
            ("reasons", target("", reasoning=True), {**OPTIONS, "max_tokens": 4196, **STREAM}, reasoner),
            ("does not reason", target("", reasoning=False), {**OPTIONS, **STREAM}, ()),
        ]
        for name, to, expected, changed in cases:
            with self.subTest(name):
                self.assertEqual(sent(to, OPTIONS), (expected, changed))

    def test_budget(self) -> None:
        cases: list[tuple[int, bool | None, int | None, int]] = [
            (100, None, None, 100),
            (100, None, 50, 50),
            (100, True, None, 4196),
            (100, True, 1000, 1000),
            (100, True, 100, 100),
            (8000, True, None, 16000),
            (40000, True, None, 56384),
            (40000, True, 30000, 30000),
        ]
        for asked, reasons, most, expected in cases:
            with self.subTest(asked=asked, reasons=reasons, most=most):
                fields, changed = sent(target("", reasoning=reasons, max_output=most), {"max_tokens": asked})
                self.assertEqual(fields["max_tokens"], expected)
                self.assertEqual(bool(changed), expected != asked)

    def test_the_rest_of_the_request(self) -> None:
        to = replace(TARGET, key="sk-1", served='a"b')
        outgoing = chat.compose(to, chat.Conversation(MESSAGES), {"seed": None, "stream": False})
        body = json.loads(b"".join(outgoing.body))
        self.assertEqual(body, {"model": 'a"b', "messages": MESSAGES, **STREAM})
        self.assertEqual((outgoing.method, outgoing.url), ("POST", "http://127.0.0.1:1/v1/chat/completions"))
        self.assertEqual(dict(outgoing.headers)["Authorization"], "Bearer sk-1")
        unstreamed = chat.compose(TARGET, chat.Conversation(MESSAGES), {}, stream=False)
        self.assertEqual(json.loads(b"".join(unstreamed.body)), {"model": "m", "messages": MESSAGES})
        self.assertNotIn("Authorization", dict(unstreamed.headers))
        self.assertNotIn("sk-1", repr(to))

    def test_seats_share_the_conversation(self) -> None:
        conversation = chat.Conversation(MESSAGES)
        bodies = [chat.compose(target(host), conversation, {}).body for host in ("", "api.openai.com")]
        self.assertIs(bodies[0][1], bodies[1][1])


class Learn(unittest.TestCase):
    def setUp(self) -> None:
        quirks.forget()
        self.addCleanup(quirks.forget)

    def refuse(self, to: Target, message: str, status: int = 400, **fields: Any) -> bool:
        body = json.dumps({"error": {"message": message, **fields}}).encode()
        return quirks.learn(to, errors.from_status(status, {}, body, to, now=0.0))

    def test_lessons(self) -> None:
        wrong_budget = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead."
        )
        cases: list[tuple[str, str, str, Any]] = [
            ("openai's words", wrong_budget, "budget", "max_completion_tokens"),
            ("mistral's words", "body.stream_options: Extra inputs are not permitted", "usage", False),
            ("gemini's words", 'Unknown name "seed": Cannot find field.', "drop", frozenset({"seed"})),
            (
                "two at once",
                'Unknown name "seed": Cannot find field. Unknown name "stop": Cannot find field.',
                "drop",
                frozenset({"seed", "stop"}),
            ),
            (
                "temperature",
                "Unsupported value: 'temperature' does not support 0.2 with this model.",
                "drop",
                frozenset({"temperature"}),
            ),
            (
                "history",
                "body.messages.1.assistant.reasoning_content: Extra inputs are not permitted",
                "message_drop",
                frozenset({"reasoning_content"}),
            ),
        ]
        for name, message, field, value in cases:
            with self.subTest(name):
                quirks.forget()
                self.assertTrue(self.refuse(TARGET, message))
                self.assertEqual(getattr(quirks.for_target(TARGET), field), value)
                self.assertFalse(self.refuse(TARGET, message), "the same lesson twice")
                other = replace(TARGET, served="other")
                self.assertEqual(quirks.for_target(other), quirks.Quirks())

    def test_the_budget_is_switched_once(self) -> None:
        self.assertTrue(self.refuse(TARGET, "unsupported", param="max_tokens"))
        self.assertFalse(self.refuse(TARGET, "unsupported", param="max_completion_tokens"))

    def test_no_lesson(self) -> None:
        for status, message in [
            (400, "max_tokens is too large: 100000. This model writes at most 16384."),
            (400, "please stop; this is not supported"),
            (400, "Unsupported image format"),
            (401, "unknown 'seed'"),
            (429, "unsupported 'seed'"),
            (400, "maximum context length is 10, max_tokens unsupported"),
        ]:
            with self.subTest(message):
                self.assertFalse(self.refuse(TARGET, message, status))


class Writing(unittest.TestCase):
    def test_fields_are_left_out_by_path(self) -> None:
        body = {"a": 1, "b": {"c": 2, "d": 3}, "e": {"f": 4}}
        cases: list[tuple[set[str], dict[str, Any], int]] = [
            (set(), body, 0),
            ({"a"}, {"b": {"c": 2, "d": 3}, "e": {"f": 4}}, 1),
            ({"b.c", "e.f", "x.y", "a.z"}, {"a": 1, "b": {"d": 3}}, 2),
        ]
        for names, expected, told in cases:
            with self.subTest(names=names):
                left, changed = quirks.without(body, names)
                self.assertEqual((left, len(changed)), (expected, told))
        self.assertEqual(body, {"a": 1, "b": {"c": 2, "d": 3}, "e": {"f": 4}})

    def test_tools_lose_what_is_refused_and_nothing_else(self) -> None:
        schema = {
            "type": "object",
            "title": "t",
            "properties": {"title": {"type": "string", "title": "t", "enum": ["title"]}, "strict": {}},
            "additionalProperties": False,
        }
        tools = [{"type": "function", "function": {"name": "f", "strict": True, "parameters": schema}}]
        row = quirks.Quirks(
            tool_drop=frozenset({"strict"}), schema_drop=frozenset({"title", "additionalProperties"})
        )
        plain = {
            "type": "object",
            "properties": {"title": {"type": "string", "enum": ["title"]}, "strict": {}},
        }
        expected = [{"type": "function", "function": {"name": "f", "parameters": plain}}]
        text = {"type": "custom", "title": "t", "format": {"type": "text"}}
        tools, expected = [*tools, text], [*expected, text]
        self.assertEqual(quirks.plainer(tools, row), expected)
        self.assertIs(quirks.plainer(tools, quirks.Quirks()), tools)

    def test_a_refused_tool_field_is_left_out_of_the_next_request(self) -> None:
        self.addCleanup(quirks.forget)
        body = json.dumps({"error": {"message": "tools.0.function.strict: Extra inputs are not permitted"}})
        problem = errors.from_status(422, {}, body.encode(), TARGET, now=0.0)
        self.assertTrue(quirks.learn(TARGET, problem))
        tool = {"type": "function", "function": {"name": "f", "strict": True}}
        fields, _ = sent(TARGET, {"tools": [tool]})
        self.assertEqual(fields["tools"], [{"type": "function", "function": {"name": "f"}}])


class Tables(unittest.TestCase):
    def test_hosts(self) -> None:
        for host, budget in [
            ("api.openai.com", "max_completion_tokens"),
            ("API.OpenAI.com.", "max_completion_tokens"),
            ("eu.api.openai.com", "max_completion_tokens"),
            ("notapi.openai.com", "max_tokens"),
            ("api.openai.com.evil", "max_tokens"),
            ("", "max_tokens"),
        ]:
            with self.subTest(host):
                self.assertEqual(quirks.of_host(host).budget, budget)
        self.assertEqual(quirks.for_target(replace(TARGET, base="https://api.mistral.ai/v1")).usage, False)
        self.assertEqual(quirks.for_target(replace(TARGET, base="http://[")), quirks.Quirks())

    def test_openai_reasoners(self) -> None:
        for served, expected in [
            ("o3-mini", True),
            ("gpt-5", True),
            ("gpt-5-mini-2025-08-07", True),
            ("gpt-5-2025-08-07", True),
            ("gpt-5.1", False),
            ("gpt-5-chat-latest", False),
            ("gpt-4o", False),
        ]:
            with self.subTest(served):
                self.assertEqual(quirks.for_target(target("api.openai.com", served=served)).reasons, expected)

    def test_providers(self) -> None:
        self.assertEqual(len(quirks.PROVIDERS), 10)
        for name, row in quirks.PROVIDERS.items():
            with self.subTest(name):
                self.assertTrue(row.env.endswith("_API_KEY"))
                self.assertEqual(quirks.host_of(row.base), row.host)


if __name__ == "__main__":
    unittest.main()
