"""Conversations as input items."""

import unittest

from metrics.client import responses_items, responses_seals, seals
from metrics.records import Problem
from tests.client.responses_said import thought

URL = "data:image/png;base64,AAAA"
PICTURE = {"type": "image_url", "image_url": {"url": URL}}
SHOWN = {"type": "input_image", "image_url": URL, "detail": "auto"}


def said(role, text, kind="input_text"):
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def called(call_id="c1", **more):
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}, **more}


def result(text, call_id="c1", **more):
    return {"role": "tool", "tool_call_id": call_id, "content": text, **more}


def item(call_id="c1"):
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": '{"a":1}'}


def output(value, call_id="c1", kind="function_call_output"):
    return {"type": kind, "call_id": call_id, "output": value}


PATCH = {"type": "custom_tool_call", "call_id": "c1", "name": "p", "input": "*** x"}
A = {"id": "rs_1", "summary": [{"type": "summary_text", "text": "why"}], "encrypted_content": "gA"}
B = {"id": "rs_2", "encrypted_content": "gB"}
SEALED_A, SEALED_B = {"type": "reasoning", **A}, {"type": "reasoning", "summary": [], **B}

CASES = [
    (
        "roles",
        [{"role": r, "content": "x"} for r in ("system", "developer", "user")],
        [said(r, "x") for r in ("system", "developer", "user")],
    ),
    ("nothing said", [{"role": "user", "content": ""}, {"role": "assistant", "content": None}], []),
    (
        "an answer",
        [{"role": "assistant", "content": "x", "_phase": "commentary"}],
        [{**said("assistant", "x", "output_text"), "phase": "commentary"}],
    ),
    (
        "pictures",
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "see"},
                    PICTURE,
                    {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
                ],
            }
        ],
        [
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "see"}, SHOWN, {**SHOWN, "detail": "low"}],
            }
        ],
    ),
    (
        "refusals",
        [
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
            {"role": "assistant", "content": None, "refusal": "no"},
        ],
        [{"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}] * 2,
    ),
    (
        "calls",
        [
            {"role": "assistant", "content": "on it", "tool_calls": [called(), called("c2")]},
            result("1"),
            result("2", "c2"),
        ],
        [said("assistant", "on it", "output_text"), item(), item("c2"), output("1"), output("2", "c2")],
    ),
    (
        "a result in parts",
        [
            {"role": "assistant", "content": None, "tool_calls": [called()]},
            result([{"type": "text", "text": "1"}, {"type": "text", "text": "2"}]),
        ],
        [item(), output("1\n2")],
    ),
    (
        "a result with pictures",
        [
            {"role": "assistant", "content": None, "tool_calls": [called()]},
            result([{"type": "text", "text": "1"}, PICTURE]),
        ],
        [item(), output([{"type": "input_text", "text": "1"}, SHOWN])],
    ),
    (
        "pictures that were moved",
        [
            {"role": "assistant", "content": None, "tool_calls": [called()]},
            result("see below", _moved=[PICTURE]),
            {
                "role": "user",
                "content": [{"type": "text", "text": "from c1", "_moved": True}, {**PICTURE, "_moved": True}],
            },
            {"role": "user", "content": [{**PICTURE, "_moved": True}, {"type": "text", "text": "so?"}]},
        ],
        [item(), output([SHOWN]), said("user", "so?")],
    ),
    (
        "an empty result",
        [{"role": "assistant", "content": None, "tool_calls": [called()]}, result("")],
        [item(), output("")],
    ),
    (
        "a text tool",
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "p", "arguments": '{"input": "*** x"}'},
                        "_custom": True,
                    }
                ],
            },
            result("ok"),
        ],
        [PATCH, output("ok", kind="custom_tool_call_output")],
    ),
    (
        "chat's own text tool",
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "p", "input": "*** x"}}],
            },
            result("ok"),
        ],
        [PATCH, output("ok", kind="custom_tool_call_output")],
    ),
    (
        "sealed before words",
        [{"role": "assistant", "content": "x", "_encrypted": [A, B]}],
        [SEALED_A, SEALED_B, said("assistant", "x", "output_text")],
    ),
    (
        "sealed before calls",
        [
            {
                "role": "assistant",
                "content": "x",
                "tool_calls": [called(_encrypted=[A]), called("c2", _encrypted=[B])],
            }
        ],
        [SEALED_A, said("assistant", "x", "output_text"), item(), SEALED_B, item("c2")],
    ),
    (
        "a thought that is not sealed",
        [{"role": "assistant", "content": "x", "_encrypted": [thought("why")]}],
        [said("assistant", "x", "output_text")],
    ),
]


class ItemsTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(seals.forget)
        self.addCleanup(responses_seals.forget)

    def test_each_message(self):
        for name, messages, expected in CASES:
            with self.subTest(name):
                self.assertEqual(responses_items.items(messages, "e:m"), expected)

    def test_instructions(self):
        system, user = {"role": "system", "content": "s"}, {"role": "user", "content": "u"}
        cases = [
            ([system, user], ("s", [user])),
            ([user, system], ("", [user, system])),
            ([system], ("", [system])),
            (
                [{"role": "developer", "content": "d"}, user],
                ("", [{"role": "developer", "content": "d"}, user]),
            ),
            ([], ("", [])),
        ]
        for messages, expected in cases:
            with self.subTest(messages):
                self.assertEqual(responses_items.instructions(messages), expected)

    def test_a_long_id_is_cut_for_the_call_and_its_result(self):
        for length, same in ((64, True), (65, False)):
            with self.subTest(length=length):
                long = "c" * length
                turn = {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [called(long), called(long + "x")],
                }
                first, other, answered = responses_items.items([turn, result("1", long)], "e:m")
                self.assertEqual(first["call_id"], answered["call_id"])
                self.assertNotEqual(first["call_id"], other["call_id"])
                self.assertLessEqual(len(other["call_id"]), 64)
                self.assertEqual(first["call_id"] == long, same)

    def test_a_part_that_has_no_place(self):
        with self.assertRaises(Problem) as caught:
            responses_items.items([{"role": "user", "content": [{"type": "input_audio"}]}], "e:m")
        self.assertEqual(caught.exception.status, 400)

    def test_what_was_kept_is_put_back_for_its_own_model_only(self):
        responses_seals.note("e:m", A)
        responses_seals.keep("e:m", "c1", [A])
        turn = {"role": "assistant", "content": None, "tool_calls": [called(), called("c2")]}
        self.assertEqual(responses_items.items([turn], "e:m"), [SEALED_A, item(), item("c2")])
        self.assertEqual(responses_items.items([turn], "e:other"), [item(), item("c2")])
        sent_back = {**turn, "_encrypted": [A]}
        self.assertEqual(responses_items.items([sent_back], "e:m"), [SEALED_A, item(), item("c2")])
        self.assertEqual(responses_items.items([sent_back], "e:other"), [item(), item("c2")])
