import json
import re
import unittest

from metrics.formats.openai_responses_tools import CustomInput, Declared, Toolbox, declared
from metrics.records import EXTENSIONS, Problem

FIT = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def function(name, **more):
    return {"type": "function", "name": name, **more}


def space(name, *tools):
    return {
        "type": "namespace",
        "name": name,
        "tools": [function(tool) if isinstance(tool, str) else tool for tool in tools],
    }


def flat(*tools):
    return [tool["function"]["name"] for tool in Toolbox(list(tools)).tools]


class NamesTest(unittest.TestCase):
    CASES = [
        ("plain", [function("a"), function("b")], ["a", "b"]),
        ("in a namespace", [space("ns", "a", "b")], ["ns__a", "ns__b"]),
        (
            "one name in two namespaces",
            [space("x", "look"), space("y", "look"), function("look")],
            ["x__look", "y__look", "look"],
        ),
        ("plain names are kept", [space("x", "look"), function("x__look")], ["x__look_2", "x__look"]),
        (
            "three alike",
            [space("x", "y__z"), space("x__y", "z"), function("x__y__z_2")],
            ["x__y__z", "x__y__z_3", "x__y__z_2"],
        ),
        ("letters that providers refuse", [space("mcp.a b", "é/x")], ["mcp_a_b____x"]),
    ]

    def test_names_are_of_one_list(self):
        for name, tools, names in self.CASES:
            with self.subTest(name):
                self.assertEqual(flat(*tools), names)

    def test_the_way_back_is_in_the_tools(self):
        for name, tools, names in self.CASES:
            with self.subTest(name):
                known = declared(Toolbox(tools).tools)
                wanted = []
                for tool in tools:
                    inner = tool.get("tools") or [tool]
                    within = tool["name"] if tool["type"] == "namespace" else None
                    wanted += [(each["name"], within) for each in inner]
                found = [known.get(name) or Declared(name) for name in names]
                self.assertEqual([(each.name, each.namespace) for each in found], wanted)

    def test_long_names_are_cut_and_stay_apart(self):
        names = flat(
            space("n" * 60, "a" * 40, "a" * 39 + "b"), space("n" * 60, "a" * 40 + "c"), function("x" * 64)
        )
        self.assertEqual(len(set(names)), 4)
        for name in names:
            self.assertTrue(FIT.fullmatch(name), name)
        self.assertEqual(
            names,
            flat(
                space("n" * 60, "a" * 40, "a" * 39 + "b"), space("n" * 60, "a" * 40 + "c"), function("x" * 64)
            ),
        )

    def test_a_function_is_put_in_chats_place(self):
        tool = function("f", description="d", parameters={"type": "object"}, strict=None, defer_loading=True)
        self.assertEqual(
            Toolbox([tool]).tools,
            [
                {
                    "type": "function",
                    "function": {"name": "f", "description": "d", "parameters": {"type": "object"}},
                }
            ],
        )

    def test_a_custom_tool_takes_one_string_and_is_told_its_grammar(self):
        form = {"type": "grammar", "syntax": "lark", "definition": "start: /x/"}
        made = Toolbox([{"type": "custom", "name": "patch", "format": form}]).tools[0]
        schema = made["function"]["parameters"]
        self.assertEqual((schema["required"], list(schema["properties"])), (["input"], ["input"]))
        self.assertIn("lark grammar:\nstart: /x/", schema["properties"]["input"]["description"])
        self.assertEqual(
            (made["_custom"], declared([made])), (form, {"patch": Declared("patch", None, True)})
        )

    def test_marks_are_extensions(self):
        """Dialects leave out just these before a tool leaves the house."""
        for tool in Toolbox([space("n", "a"), {"type": "custom", "name": "c"}]).tools:
            self.assertEqual({key for key in tool if key.startswith("_")} - set(EXTENSIONS), set())


class ChoiceTest(unittest.TestCase):
    TOOLS = [function("a"), function("b"), space("n", "a"), {"type": "custom", "name": "c"}]
    CASES = [
        (None, None),
        ("none", "none"),
        ("auto", "auto"),
        ("required", "required"),
        (function("b"), {"type": "function", "function": {"name": "b"}}),
        (function("a", namespace="n"), {"type": "function", "function": {"name": "n__a"}}),
        ({"type": "custom", "name": "c"}, {"type": "function", "function": {"name": "c"}}),
    ]

    def test_choices(self):
        for choice, chosen in self.CASES:
            with self.subTest(choice):
                self.assertEqual(Toolbox(self.TOOLS).choice(choice), chosen)

    def test_allowed_tools_are_the_only_ones_given(self):
        box = Toolbox(self.TOOLS)
        allowed = [function("b"), {"type": "custom", "name": "c"}]
        self.assertEqual(
            box.choice({"type": "allowed_tools", "mode": "required", "tools": allowed}), "required"
        )
        self.assertEqual([tool["function"]["name"] for tool in box.tools], ["b", "c"])

    REFUSED = [
        ("any", "must be an object or one of"),
        (["auto"], "must be an object or one of"),
        ({"type": "function"}, "tool_choice.name"),
        (function("x"), "does not declare"),
        (function("a", namespace=["n"]), "tool_choice.namespace"),
        ({"type": "web_search_preview"}, "runs at OpenAI"),
        ({"type": "mcp", "server_label": "x"}, '"mcp"'),
        ({}, "must be the kind of it"),
        ({"type": "allowed_tools", "tools": [{"type": "mcp"}]}, "tool_choice.tools[0]"),
        ({"type": "allowed_tools", "mode": "none", "tools": []}, "mode"),
        ({"type": "allowed_tools", "tools": "a"}, "tool_choice.tools"),
    ]

    def test_refused(self):
        for choice, said in self.REFUSED:
            with self.subTest(choice), self.assertRaises(Problem) as caught:
                Toolbox(self.TOOLS).choice(choice)
            self.assertIn(said, f"{caught.exception.message} {caught.exception.param}")


def in_pieces(pieces):
    reading = CustomInput()
    return "".join(map(reading.take, pieces)) + reading.rest()


class CustomInputTest(unittest.TestCase):
    TEXTS = (
        "",
        "plain",
        'a\n"b"\\ \t/ é \x00',
        "\\u0041 \\n as they stand",
        "*** Begin Patch\n+x\n",
        "👩‍🚀\ud83d\ud83d\ude00x\udc00\ud83d",
    )

    def test_cut_anywhere(self):
        for text in self.TEXTS:
            for ascii_only in (True, False):
                for opening in ('{"input": ', '\n {\t"input"\n:'):
                    written = opening + json.dumps(text, ensure_ascii=ascii_only) + "}"
                    wanted = json.loads(written)["input"]
                    for cut in range(len(written) + 1):
                        with self.subTest(written=written, cut=cut):
                            self.assertEqual(in_pieces([written[:cut], written[cut:]]), wanted)
                    self.assertEqual(in_pieces(written), wanted)

    def test_it_is_said_as_it_comes(self):
        reading = CustomInput()
        pieces = ('{"inp', 'ut":"a', "\\", "n", "\\ud83d", "\\ude00", "b", '"}')
        self.assertEqual([reading.take(piece) for piece in pieces], ["", "a", "", "\n", "", "😀", "b", ""])

    def test_much_at_once(self):
        text = '"\\é😀\n' * 3000
        self.assertEqual(in_pieces([json.dumps({"input": text})]), text)

    UNUSUAL = [
        ("raw text", "raw text"),
        ("", ""),
        ("{}", ""),
        ('"text"', "text"),
        ('{"reason":"r","input":"x"}', "x"),
        ('{"patch":"x"}', "x"),
        ('{"input":5}', '{"input":5}'),
        ("[1]", "[1]"),
        ('{"input":"C:\\dir\\n"}', "C:\\dir\n"),
        ('{"input":"\\u12zz"}', "\\u12zz"),
        ('{"input":"cut', "cut"),
        ('{"input":"cut \\u12', "cut \\u12"),
        ("x" * 1000, "x" * 1000),
    ]

    def test_what_models_write_instead(self):
        for written, text in self.UNUSUAL:
            with self.subTest(written[:40]):
                self.assertEqual(in_pieces(written), text)
                self.assertEqual(in_pieces([written]), text)
