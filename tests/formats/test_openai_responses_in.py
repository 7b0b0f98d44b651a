import json
import unittest

from tests.formats.responses_asked import CUSTOM, HELLO, NAMESPACE, PICTURE, TOOL, parse, refused

IMAGE = {"type": "image_url", "image_url": {"url": PICTURE}}


def call(call_id, name="look", arguments="{}", **more):
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, **more}


def result(call_id, output="x"):
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def said(*items, **fields):
    """The messages of HELLO and these items, after it."""
    return parse(bench={"reply": "route"}, input=[HELLO, *items], **fields).messages[1:]


def written(call_id, name="look", arguments="{}", **more):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def tool(call_id, content="x"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


class MessagesTest(unittest.TestCase):
    def test_a_string(self):
        self.assertEqual(parse(input="hello").messages, [HELLO])

    def test_instructions_come_first(self):
        messages = parse(instructions="i", input=[{"role": "developer", "content": "d"}, HELLO]).messages
        self.assertEqual(
            [(m["role"], m["content"]) for m in messages],
            [("system", "i"), ("developer", "d"), ("user", "hello")],
        )

    CASES = [
        ("a message without type", {"role": "user", "content": "x"}, {"role": "user", "content": "x"}),
        (
            "an echoed answer, its ids and all",
            {
                "type": "message",
                "id": "msg_1",
                "status": "completed",
                "role": "assistant",
                "content": [
                    {"type": "output_text", "text": "one ", "annotations": [], "logprobs": []},
                    {"type": "output_text", "text": "two", "annotations": []},
                ],
            },
            {"role": "assistant", "content": "one two"},
        ),
        (
            "a refusal",
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
            {"role": "assistant", "content": "no"},
        ),
        (
            "a phase",
            {"role": "assistant", "content": "x", "phase": "commentary"},
            {"role": "assistant", "content": "x", "_phase": "commentary"},
        ),
        ("no parts", {"role": "user", "content": []}, {"role": "user", "content": ""}),
        (
            "one text",
            {"role": "user", "content": [{"type": "input_text", "text": "x"}]},
            {"role": "user", "content": "x"},
        ),
        (
            "several texts",
            {
                "role": "user",
                "content": [{"type": "input_text", "text": "x"}, {"type": "input_text", "text": "y"}],
            },
            {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]},
        ),
        (
            "several instructions",
            {
                "role": "developer",
                "content": [{"type": "input_text", "text": "x"}, {"type": "input_text", "text": "y"}],
            },
            {"role": "developer", "content": "x\n\ny"},
        ),
        (
            "a picture",
            {"role": "user", "content": [{"type": "input_image", "image_url": PICTURE}]},
            {"role": "user", "content": [IMAGE]},
        ),
        (
            "a picture with a detail of its own",
            {
                "role": "user",
                "content": [{"type": "input_image", "image_url": PICTURE, "detail": "original"}],
            },
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": PICTURE, "detail": "high"}}],
            },
        ),
        (
            "a picture with a wrong label",
            {
                "role": "user",
                "content": [{"type": "input_image", "image_url": PICTURE.replace("png", "jpg")}],
            },
            {"role": "user", "content": [IMAGE]},
        ),
    ]

    def test_messages(self):
        for name, item, message in self.CASES:
            with self.subTest(name):
                self.assertEqual(said(item), [message])

    def test_answers_in_a_row_stay_apart(self):
        self.assertEqual(
            len(said({"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"})), 2
        )

    REFUSED = [
        ("an item in words", "x", "input[1] must be an item"),
        ("an unknown role", {"role": "tool", "content": "x"}, "input[1].role"),
        ("a role of another type", {"role": ["user"], "content": "x"}, "input[1].role"),
        ("no content", {"role": "user"}, "input[1].content"),
        ("a number as content", {"role": "user", "content": 5}, "input[1].content"),
        ("a part in words", {"role": "user", "content": ["x"]}, "input[1].content[0]"),
        ("a part without text", {"role": "user", "content": [{"type": "input_text"}]}, "input[1].content[0]"),
        (
            "a file",
            {"role": "user", "content": [{"type": "input_file", "file_id": "f"}]},
            "files are not read",
        ),
        ("sound", {"role": "user", "content": [{"type": "input_audio"}]}, '"input_audio"'),
        (
            "an uploaded picture",
            {"role": "user", "content": [{"type": "input_image", "file_id": "f"}]},
            "no file has an id",
        ),
        (
            "a picture by path",
            {"role": "user", "content": [{"type": "input_image", "image_url": "/x.png"}]},
            "image_url",
        ),
        (
            "a picture in instructions",
            {"role": "system", "content": [{"type": "input_image", "image_url": PICTURE}]},
            "pictures",
        ),
        (
            "a picture by an assistant",
            {"role": "assistant", "content": [{"type": "input_image", "image_url": PICTURE}]},
            "pictures",
        ),
        ("a reference", {"type": "item_reference", "id": "msg_1"}, "nothing is stored"),
        ("a reference without type", {"id": "msg_1"}, "nothing is stored"),
        ("no type at all", {}, "needs a type"),
        ("a type of another type", {"type": 5}, "needs a type"),
        ("a compaction", {"type": "compaction", "encrypted_content": "x"}, "only OpenAI can read it"),
        ("a hosted call", {"type": "web_search_call", "id": "ws_1"}, '"web_search_call"'),
        ("a shell call", {"type": "local_shell_call"}, "runs at OpenAI"),
        ("a call without id", {"type": "function_call", "name": "x", "arguments": "{}"}, "input[1].call_id"),
        ("a call without name", {"type": "function_call", "call_id": "c"}, "input[1].name"),
        ("a call with an object", call("c", arguments={}), "input[1].arguments"),
        ("a result of no call", result("c"), "the call"),
        ("a namespace of another type", call("c", namespace=5), "input[1].namespace"),
    ]

    def test_refused(self):
        for name, item, wanted in self.REFUSED:
            with self.subTest(name):
                self.assertIn(wanted, refused(bench={"reply": "route"}, input=[HELLO, item]))


class CallsTest(unittest.TestCase):
    CASES = [
        (
            "a call and its result",
            [call("c1", arguments='{"a":1}', id="fc_1", status="completed"), result("c1")],
            [
                {"role": "assistant", "content": None, "tool_calls": [written("c1", arguments='{"a":1}')]},
                tool("c1"),
            ],
        ),
        (
            "several calls before several results, in another order",
            [
                {"role": "assistant", "content": "I look."},
                call("c1"),
                call("c2"),
                result("c2", "y"),
                result("c1"),
            ],
            [
                {"role": "assistant", "content": "I look.", "tool_calls": [written("c1"), written("c2")]},
                tool("c1"),
                tool("c2", "y"),
            ],
        ),
        (
            "call by call",
            [call("c1"), result("c1"), call("c2"), result("c2")],
            [
                {"role": "assistant", "content": None, "tool_calls": [written("c1")]},
                tool("c1"),
                {"role": "assistant", "content": None, "tool_calls": [written("c2")]},
                tool("c2"),
            ],
        ),
        (
            "a result behind what a user said",
            [call("c1"), call("c2"), result("c1"), HELLO, result("c2", "late")],
            [
                {"role": "assistant", "content": None, "tool_calls": [written("c1"), written("c2")]},
                tool("c1"),
                tool("c2", "late"),
                HELLO,
            ],
        ),
        (
            "words behind a call",
            [call("c1"), {"role": "assistant", "content": "done"}, result("c1")],
            [{"role": "assistant", "content": "done", "tool_calls": [written("c1")]}, tool("c1")],
        ),
        (
            "one id in two turns",
            [call("c"), result("c", "one"), call("c"), result("c", "two")],
            [
                {"role": "assistant", "content": None, "tool_calls": [written("c")]},
                tool("c", "one"),
                {"role": "assistant", "content": None, "tool_calls": [written("c")]},
                tool("c", "two"),
            ],
        ),
        (
            "no arguments",
            [call("c1", arguments=""), result("c1", "")],
            [{"role": "assistant", "content": None, "tool_calls": [written("c1")]}, tool("c1", "")],
        ),
    ]

    def test_calls(self):
        for name, items, messages in self.CASES:
            with self.subTest(name):
                self.assertEqual(said(*items), messages)

    def test_pictures_of_a_tool_are_shown_by_the_user(self):
        """Chat has no pictures in results; they come behind all results, which must stand together."""
        seen = [{"type": "input_text", "text": "a cat"}, {"type": "input_image", "image_url": PICTURE}]
        bare = [{"type": "input_image", "image_url": PICTURE}]
        _, one, two, three, shown, last = said(
            call("c1"), call("c2"), call("c3"), result("c1", seen), result("c2", bare), result("c3"), HELLO
        )
        self.assertEqual([m["role"] for m in (one, two, three, shown)], ["tool"] * 3 + ["user"])
        self.assertTrue(one["content"].startswith("a cat\n"))
        self.assertTrue(two["content"])
        self.assertEqual(three["content"], "x")
        self.assertEqual([part["type"] for part in shown["content"]], ["text", "image_url"] * 2)
        self.assertIn("c1", shown["content"][0]["text"])
        self.assertEqual((shown["content"][1], last), ({**IMAGE, "_moved": True}, HELLO))
        # For members that take pictures in results, they are there too.
        self.assertEqual(one["_moved"], [{"type": "text", "text": "a cat"}, IMAGE])
        self.assertEqual((two["_moved"], "_moved" in three), ([IMAGE], False))

    def test_a_custom_call_is_a_function_of_one_string(self):
        custom = {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": 'a "b"\né'}
        output = {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"}
        assistant, told = said(custom, output, tools=[CUSTOM])
        made = assistant["tool_calls"][0]
        self.assertEqual(json.loads(made["function"]["arguments"]), {"input": 'a "b"\né'})
        self.assertEqual((made["_custom"], told), (True, tool("c1", "done")))

    def test_a_call_in_a_namespace_has_the_members_name(self):
        asked = call("c1", namespace="mcp__a")
        for name, tools in (("declared", [TOOL, NAMESPACE]), ("no longer declared", [])):
            with self.subTest(name):
                made = said(asked, result("c1"), tools=tools)[0]["tool_calls"][0]
                self.assertEqual(made["function"]["name"], "mcp__a__look")
                self.assertEqual(made["_namespace"], {"namespace": "mcp__a", "name": "look"})

    def test_sealed_reasoning_goes_with_what_the_assistant_does_next(self):
        one, two = (
            {"type": "reasoning", "id": f"rs_{n}", "summary": [{"text": "s"}], "encrypted_content": f"e{n}"}
            for n in "12"
        )
        spoken = {"type": "reasoning", "id": "rs_3", "summary": [{"type": "summary_text", "text": "s"}]}
        first, _, second = said(
            one, call("c1"), two, call("c2"), result("c1"), spoken, {"role": "assistant", "content": "x"}
        )
        sealed = [[{key: item[key] for key in ("id", "summary", "encrypted_content")}] for item in (one, two)]
        calls = first["tool_calls"]
        self.assertEqual([first["_encrypted"], calls[1]["_encrypted"]], sealed)
        self.assertNotIn("_encrypted", calls[0])
        self.assertEqual(second, {"role": "assistant", "content": "x"})

    def test_two_results_of_one_call_are_refused(self):
        self.assertIn(
            "one result for each",
            refused(bench={"reply": "route"}, input=[HELLO, call("c"), result("c"), result("c")]),
        )

    def test_a_panel_takes_no_calls(self):
        self.assertIn(":route", refused(input=[HELLO, call("c"), result("c")]))
