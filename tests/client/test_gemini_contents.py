"""Conversations as Gemini takes them."""

import json
import unittest

from metrics.client import gemini_contents, seals
from metrics.client.gemini_contents import SKIP, Manner, written
from metrics.records import Problem

PLAIN = Manner("e:g", skip=False)
USER = {"role": "user", "content": "hi"}
HI = {"role": "user", "parts": [{"text": "hi"}]}


def call(call_id, name="look", arguments="{}", **more):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def calls(*made, text=None):
    return {"role": "assistant", "content": text, "tool_calls": list(made)}


def result(call_id, content="row"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def called(call_id, name="look", args=None, **more):
    return {"functionCall": {"id": call_id, "name": name, "args": args or {}}, **more}


def response(call_id, output="row", name="look"):
    return {"functionResponse": {"id": call_id, "name": name, "response": {"output": output}}}


def image(url):
    return {"type": "image_url", "image_url": {"url": url}}


def model(*parts):
    return {"role": "model", "parts": list(parts)}


def user(*parts):
    return {"role": "user", "parts": list(parts)}


# name, messages, contents, the texts of systemInstruction
CASES = [
    ("a word", [USER], [HI], []),
    (
        "instructions, wherever they stand",
        [
            {"role": "system", "content": "a"},
            USER,
            {"role": "developer", "content": [{"type": "text", "text": "b"}]},
        ],
        [HI],
        ["a", "b"],
    ),
    ("turns in a row are one", [USER, USER], [user({"text": "hi"}, {"text": "hi"})], []),
    (
        "nothing is no part",
        [USER, {"role": "assistant", "content": ""}, {"role": "user", "content": ""}],
        [HI],
        [],
    ),
    (
        "parts",
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "text", "text": ""},
                    image("data:image/png;base64,AA=="),
                    image("https://h/x.JPG?y=1"),
                    image("https://h/x"),
                ],
            }
        ],
        [
            user(
                {"text": "a"},
                {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
                {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://h/x.JPG?y=1"}},
                {"fileData": {"fileUri": "https://h/x"}},
            )
        ],
        [],
    ),
    (
        "a refusal is what was said",
        [USER, {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}],
        [HI, model({"text": "no"})],
        [],
    ),
    (
        "results in the order of the calls, in one turn",
        [
            USER,
            calls(call("a", arguments='{"x":1}'), call("b", "go"), text="so"),
            result("b", "2"),
            result("a", "1"),
        ],
        [
            HI,
            model({"text": "so"}, called("a", args={"x": 1}), called("b", "go")),
            user(response("a", "1"), response("b", "2", "go")),
        ],
        [],
    ),
    (
        "what follows a result is a turn of its own",
        [USER, calls(call("a")), result("a"), USER, USER],
        [HI, model(called("a")), user(response("a")), user({"text": "hi"}, {"text": "hi"})],
        [],
    ),
    (
        "steps behind one another, with ids that come again",
        [USER, calls(call("a")), result("a", "1"), calls(call("a")), result("a", "2")],
        [HI, model(called("a")), user(response("a", "1")), model(called("a")), user(response("a", "2"))],
        [],
    ),
    (
        "a result with a picture",
        [
            USER,
            calls(call("a")),
            result("a", [{"type": "text", "text": "t"}, image("data:image/png;base64,AA==")]),
        ],
        [
            HI,
            model(called("a")),
            user(response("a", "t"), {"inlineData": {"mimeType": "image/png", "data": "AA=="}}),
        ],
        [],
    ),
    (
        "results that are JSON stay text: a $ref in an object is read as a reference",
        [USER, calls(call("a")), result("a", '{"$ref":"#/x"}')],
        [HI, model(called("a")), user(response("a", '{"$ref":"#/x"}'))],
        [],
    ),
    (
        "a custom call",
        [USER, calls({"id": "a", "type": "custom", "custom": {"name": "look", "input": "x"}}), result("a")],
        [HI, model(called("a", args={"input": "x"})), user(response("a"))],
        [],
    ),
    (
        "arguments that are none",
        [USER, calls(call("a", arguments="{oops"), call("b", arguments=""), call("c", arguments="[1]"))],
        [
            HI,
            model(
                called("a", args={"arguments": "{oops"}), called("b"), called("c", args={"arguments": "[1]"})
            ),
        ],
        [],
    ),
]


class WrittenTest(unittest.TestCase):
    def setUp(self):
        seals.forget()
        self.addCleanup(seals.forget)

    def test_cases(self):
        for name, messages, contents, system in CASES:
            with self.subTest(name):
                before = json.dumps(messages)
                made, parts = written(messages, PLAIN)
                self.assertEqual(made, contents)
                self.assertEqual([part["text"] for part in parts], system)
                self.assertEqual(json.dumps(messages), before)

    def test_a_result_of_no_call(self):
        for messages in ([USER, result("x")], [USER, calls(call("a")), result("a"), result("a")]):
            with self.assertRaises(Problem) as caught:
                written(messages, PLAIN)
            self.assertEqual(caught.exception.status, 400)
            self.assertTrue(caught.exception.param.endswith(".tool_call_id"))

    def test_a_model_without_instructions(self):
        made, system = written([USER, {"role": "system", "content": "be brief"}], PLAIN._replace(fold=True))
        self.assertEqual(made, [user({"text": "be brief"}, {"text": "hi"})])
        self.assertEqual(system, [])

    def test_a_caller_of_this_api_gets_its_objects_back(self):
        asked = [
            USER,
            calls(call("a"), call("b"), call("c")),
            result("a", '{"t":3}'),
            result("b", "x"),
            result("c", '{"$ref":"y"}'),
        ]
        turn = written(asked, PLAIN._replace(native=True))[0][-1]
        self.assertEqual(
            [part["functionResponse"]["response"] for part in turn["parts"]],
            [{"t": 3}, {"output": "x"}, {"output": '{"$ref":"y"}'}],
        )


class SignaturesTest(unittest.TestCase):
    def setUp(self):
        seals.forget()
        self.addCleanup(seals.forget)

    def signatures(self, manner, *made):
        parts = written([USER, calls(*made)], manner)[0][1]["parts"]
        return [part.get("thoughtSignature") for part in parts]

    def test_whose_they_are(self):
        gemini_contents.keep("e:g", "a", "kept")
        own = {"_signature": "own"}
        native = PLAIN._replace(native=True)
        for name, manner, made, expected in [
            ("kept here", PLAIN, [call("a")], ["kept"]),
            ("kept by its caller", native, [call("b", **own)], ["own"]),
            ("kept here and by its caller", native, [call("a", **own)], ["kept"]),
            ("of a caller of another API", PLAIN, [call("b", **own)], [None]),
            ("another model's", PLAIN._replace(model_id="e:other"), [call("a")], [None]),
            (
                "another model's, kept by its caller",
                native._replace(model_id="e:other"),
                [call("a", **own)],
                [None],
            ),
            ("lost", PLAIN._replace(skip=True), [call("b"), call("c")], [SKIP, None]),
            ("parallel", PLAIN._replace(skip=True), [call("a"), call("c")], ["kept", None]),
            ("the second's", PLAIN._replace(skip=True), [call("c"), call("a")], [SKIP, "kept"]),
        ]:
            with self.subTest(name):
                self.assertEqual(self.signatures(manner, *made), expected)
