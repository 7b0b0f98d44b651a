"""What a request to a Responses model says, for callers of the same API and of others."""

import json
import unittest
from dataclasses import replace

from metrics.client import quirks, responses, responses_seals, seals
from metrics.client.outgoing import Conversation
from metrics.records import Problem
from tests.client import arrivals

ASK = [{"role": "user", "content": "hi"}]
ASKED = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}]
TARGET = replace(arrivals.TARGET, api="responses")
REASONER = replace(TARGET, reasoning=True)
ENCRYPTED = "reasoning.encrypted_content"
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
FUNCTION = {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}}
CUSTOM = {"type": "function", "function": {"name": "p", "parameters": SCHEMA}, "_custom": {"type": "text"}}
GRAMMAR = {"syntax": "lark", "definition": "x"}
CHATS_CUSTOM = {
    "type": "custom",
    "custom": {"name": "p", "description": "d", "format": {"type": "grammar", "grammar": GRAMMAR}},
}
SENT_ON = ("text", "reasoning", "include", "truncation", "store", "client_metadata")
NO_PLACE = " left out (the Responses API has no place for it)"

# name, options, the fields they become
FLAT = {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA}
OPTIONS = [
    (
        "same",
        {"temperature": 1, "top_p": 0.5, "user": "u"},
        {"temperature": 1, "top_p": 0.5, "user": "u"},
    ),
    ("nothing asked", {"n": 1, "logprobs": False, "presence_penalty": 0, "seed": None}, {}),
    ("limit", {"max_tokens": 100}, {"max_output_tokens": 100}),
    ("other limit", {"max_completion_tokens": 100}, {"max_output_tokens": 100}),
    ("effort", {"reasoning_effort": "low"}, {"reasoning": {"effort": "low"}}),
    (
        "json",
        {"response_format": {"type": "json_object"}},
        {"text": {"format": {"type": "json_object"}}},
    ),
    (
        "schema",
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}},
        {"text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}},
    ),
    ("verbosity", {"verbosity": "low"}, {"text": {"verbosity": "low"}}),
    (
        "log probabilities",
        {"logprobs": True, "top_logprobs": 2},
        {"top_logprobs": 2, "include": ["message.output_text.logprobs"]},
    ),
    ("functions", {"tools": [FUNCTION]}, {"tools": [{**FLAT, "strict": False}]}),
    (
        "a function without parameters",
        {"tools": [{"type": "function", "function": {"name": "f", "strict": True}}]},
        {
            "tools": [
                {
                    "type": "function",
                    "name": "f",
                    "parameters": {"type": "object", "properties": {}},
                    "strict": True,
                }
            ]
        },
    ),
    (
        "a choice",
        {"tools": [FUNCTION], "tool_choice": {"type": "function", "function": {"name": "f"}}},
        {"tools": [{**FLAT, "strict": False}], "tool_choice": {"type": "function", "name": "f"}},
    ),
    ("a choice without tools", {"tool_choice": "auto"}, {}),
    (
        "chat's own text tool",
        {"tools": [CHATS_CUSTOM], "tool_choice": {"type": "custom", "custom": {"name": "p"}}},
        {
            "tools": [
                {
                    "type": "custom",
                    "name": "p",
                    "description": "d",
                    "format": {"type": "grammar", **GRAMMAR},
                }
            ],
            "tool_choice": {"type": "custom", "name": "p"},
        },
    ),
    (
        "a text tool",
        {"tools": [CUSTOM], "tool_choice": {"type": "function", "function": {"name": "p"}}},
        {
            "tools": [{"type": "custom", "name": "p", "format": {"type": "text"}}],
            "tool_choice": {"type": "custom", "name": "p"},
        },
    ),
    (
        "allowed tools",
        {
            "tools": [FUNCTION],
            "tool_choice": {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "f"}}],
                },
            },
        },
        {
            "tools": [{**FLAT, "strict": False}],
            "tool_choice": {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "f"}],
            },
        },
    ),
]


def composed(target=TARGET, messages=ASK, options=None, native=None, api="chat", **more):
    return responses.compose(target, Conversation(messages, api, native), options or {}, **more)


def sent(*args, **named):
    return json.loads(b"".join(composed(*args, **named).body))


class ComposeTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(quirks.forget)

    def test_the_least(self):
        outgoing = composed(replace(TARGET, key="k"))
        self.assertEqual((outgoing.method, outgoing.url), ("POST", "http://127.0.0.1:1/v1/responses"))
        self.assertEqual(dict(outgoing.headers)["Authorization"], "Bearer k")
        body = json.loads(b"".join(outgoing.body))
        self.assertEqual(body, {"model": "m", "input": ASKED, "store": False, "stream": True})
        self.assertNotIn("stream", sent(stream=False))

    def test_options(self):
        for name, options, expected in OPTIONS:
            with self.subTest(name):
                outgoing = composed(options=options)
                body = json.loads(b"".join(outgoing.body))
                self.assertEqual(
                    body, {"model": "m", "input": ASKED, "store": False, "stream": True, **expected}
                )
                self.assertEqual(outgoing.changed, ())

    def test_what_is_altered_is_told(self):
        cases = [
            ({"stop": ["END"], "seed": 1}, TARGET, {}, ("stop" + NO_PLACE, "seed" + NO_PLACE)),
            ({"store": True}, TARGET, {}, ("store" + NO_PLACE,)),
            (
                {"max_tokens": 5},
                TARGET,
                {"max_output_tokens": 16},
                ("max_tokens raised from 5 to 16 (the least that the Responses API takes)",),
            ),
            (
                {"max_tokens": 100},
                REASONER,
                {"max_output_tokens": 4196, "include": [ENCRYPTED]},
                ("max_tokens raised from 100 to 4196 (room to reason)",),
            ),
        ]
        for options, target, expected, changed in cases:
            with self.subTest(options):
                outgoing = composed(target, options=options)
                body = json.loads(b"".join(outgoing.body))
                known = {"model": "m", "input": ASKED, "store": False, "stream": True}
                self.assertEqual((body, outgoing.changed), ({**known, **expected}, changed))

    def test_fields_of_the_same_api_go_as_they_came(self):
        native = {
            "text": {"verbosity": "low", "format": {"type": "text"}},
            "reasoning": {"effort": "high", "summary": "auto"},
            "include": [ENCRYPTED],
            "truncation": "auto",
            "store": True,
            "client_metadata": {"a": "b"},
            "headers": {"x": "y"},
            "model": "other",
            "input": "other",
            "stream": False,
        }
        options = {"reasoning_effort": "high", "verbosity": "low", "tools": [FUNCTION]}
        body = sent(REASONER, options=options, native=native, api="responses")
        told = {name: native[name] for name in SENT_ON}
        tools = [{"type": "function", "name": "f", "description": "d", "parameters": SCHEMA}]
        self.assertEqual(body, {"model": "m", "input": ASKED, "stream": True, **told, "tools": tools})
        other = sent(options={}, native={"truncation": "auto"}, api="anthropic")
        self.assertNotIn("truncation", other)

    def test_sealed_reasoning_is_asked_for_where_the_model_reasons(self):
        cases = [
            (TARGET, (), "chat", None),
            (TARGET, (ENCRYPTED,), "responses", [ENCRYPTED]),
            (REASONER, (), "chat", [ENCRYPTED]),
            (REASONER, ("other",), "responses", ["other", ENCRYPTED]),
            (replace(TARGET, reasoning=False), (ENCRYPTED,), "responses", None),
            (TARGET, (ENCRYPTED,), "responses", [ENCRYPTED]),
            (replace(TARGET, profile="api.openai.com", served="gpt-5.1-codex"), (), "chat", [ENCRYPTED]),
            (replace(TARGET, profile="api.openai.com", served="gpt-4.1"), (), "chat", None),
        ]
        for target, include, api, expected in cases:
            with self.subTest(target=target.served, include=include):
                body = sent(target, native={"include": list(include)}, api=api)
                self.assertEqual(body.get("include"), expected)

    def test_seats_share_the_conversation(self):
        self.addCleanup(seals.forget)
        sealed = {"id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
        turn = {"role": "assistant", "content": "x", "_encrypted": [sealed]}
        for name, messages, same in (("plain", ASK, True), ("sealed by one", [*ASK, turn, *ASK], False)):
            with self.subTest(name):
                responses_seals.note("e:a", sealed)
                conversation = Conversation(messages)
                first, other, third = (
                    responses.compose(replace(TARGET, model_id=f"e:{one}"), conversation, {}).body[1]
                    for one in "abc"
                )
                self.assertIs(other, third)
                self.assertEqual(first is other, same)

    def test_system_text_goes_where_it_is_heard(self):
        messages = [{"role": "system", "content": "be brief"}, *ASK]
        told = [
            {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "be brief"}]}
        ]
        for host, instructions, before in (("", "be brief", []), ("openrouter.ai", None, told)):
            with self.subTest(host):
                body = sent(replace(TARGET, profile=host), messages)
                self.assertEqual((body.get("instructions"), body["input"]), (instructions, [*before, *ASKED]))

    def test_one_that_cannot_be_sent(self):
        with self.assertRaises(Problem) as caught:
            composed(replace(TARGET, base="ftp://x"))
        self.assertEqual(caught.exception.status, 400)


class LearnTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(quirks.forget)
        self.addCleanup(seals.forget)
        self.addCleanup(responses_seals.forget)

    def test_a_refused_field_is_left_out_and_told(self):
        options = {"reasoning_effort": "low"}
        native = {"reasoning": {"effort": "low", "summary": "auto"}, "include": [ENCRYPTED]}
        refusals = [
            (
                "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
                "reasoning.effort",
            ),
            ("Encrypted content is not supported with this model.", "include"),
        ]
        for message, _ in refusals:
            problem = Problem(400, message, kind="bad_request")
            self.assertTrue(responses.learn(TARGET, problem))
            self.assertFalse(responses.learn(TARGET, problem), "the same lesson twice")
        outgoing = composed(options=options, native=native, api="responses")
        body = json.loads(b"".join(outgoing.body))
        self.assertEqual(body["reasoning"], {"summary": "auto"})
        self.assertNotIn("include", body)
        left_out = " left out (not accepted by this model)"
        self.assertEqual(outgoing.changed, tuple(name + left_out for _, name in reversed(refusals)))

    def test_a_refused_seal_is_not_sent_again(self):
        sealed = {"id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
        messages = [*ASK, {"role": "assistant", "content": "x", "_encrypted": [sealed]}, *ASK]
        self.assertEqual(sent(messages=messages)["input"][1], {"type": "reasoning", **sealed})
        problem = Problem(400, "could not be verified", code="invalid_encrypted_content", kind="bad_request")
        self.assertTrue(responses.learn(TARGET, problem))
        self.assertNotIn("reasoning", [item["type"] for item in sent(messages=messages)["input"]])
        self.assertFalse(responses.learn(TARGET, Problem(400, "too long", kind="context")))
