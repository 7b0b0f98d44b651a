import unittest

from metrics.bench import scope
from metrics.bench.keys import Key
from metrics.bench.scope import Scope
from metrics.formats import content
from metrics.records import Problem, Request
from metrics.web.table import Call

BODY = {
    "on": True,
    "off": False,
    "null": None,
    "n": 5,
    "x": 0.5,
    "list": ["a"],
    "object": {"a": 1},
    "word": "w",
}


class FieldsTest(unittest.TestCase):
    GOOD = [
        ("flag", lambda: content.flag(BODY, "on"), True),
        ("absent flag", lambda: content.flag(BODY, "nothing"), False),
        ("null flag", lambda: content.flag(BODY, "null"), False),
        ("number", lambda: content.number(BODY, "x", 0, 1), 0.5),
        ("whole as number", lambda: content.number(BODY, "n", 0, 9), 5),
        ("absent number", lambda: content.number(BODY, "null", 0, 1), None),
        ("whole", lambda: content.whole(BODY, "n", 1), 5),
        ("strings", lambda: content.strings(BODY, "list"), ("a",)),
        ("no strings", lambda: content.strings(BODY, "null"), ()),
        ("member", lambda: content.member(BODY, "object"), {"a": 1}),
        ("no member", lambda: content.member(BODY, "null"), {}),
    ]

    def test_read(self):
        for name, read, expected in self.GOOD:
            with self.subTest(name):
                self.assertEqual(read(), expected)

    BAD = [
        ("a number is no flag", lambda: content.flag(BODY, "n")),
        ("a flag is no number", lambda: content.number(BODY, "on", 0, 9)),
        ("a flag is no whole number", lambda: content.whole(BODY, "on", 0)),
        ("out of range", lambda: content.number(BODY, "n", 0, 1)),
        ("too small", lambda: content.whole(BODY, "n", 6)),
        ("a fraction", lambda: content.whole(BODY, "x", 0)),
        ("a word", lambda: content.number(BODY, "word", 0, 1)),
        ("a word is no list", lambda: content.strings(BODY, "word")),
        ("an object is no list", lambda: content.strings(BODY, "object")),
        ("a list is no object", lambda: content.member(BODY, "list")),
    ]

    def test_refused(self):
        for name, read in self.BAD:
            with self.subTest(name), self.assertRaises(Problem) as caught:
                read()
            self.assertEqual(caught.exception.status, 400)

    def test_what_a_panel_leaves_out(self):
        fields = {"a": None, "b": 0, "c": False, "d": {}, "e": {"type": "text"}, "f": 1, "g": "x"}
        self.assertEqual(content.unused(fields), ("f", "g"))

    def test_what_only_route_mode_takes(self):
        user = {"role": "user", "content": "x"}
        call = {"role": "assistant", "tool_calls": [{}]}
        tool = {"role": "tool", "content": "x"}
        for messages, tools in (([user], [{}]), ([user, call], []), ([user, tool], [])):
            with self.subTest(messages=messages), self.assertRaises(Problem):
                content.for_panel(Request("core", "core", "all", messages, tools=tools))
        fine = Request("core", "core", "all", [user])
        self.assertIs(content.for_panel(fine), fine)


class AskerTest(unittest.TestCase):
    TOKEN = "bwl_" + "0" * 32
    # headers -> depth and launch
    SAID = [
        ({}, 0, None),
        ({"x-bench-depth": "2", "x-bench-launch": TOKEN}, 2, TOKEN),
        ({"x-bench-depth": "no", "authorization": f"Bearer {TOKEN}"}, 0, TOKEN),
        ({"x-bench-depth": "-1", "x-api-key": "bwl_short"}, 0, None),
    ]

    def asked(self, key: Key | None = None, **headers: str) -> Request:
        call = Call("POST", "/", headers)
        call.key = key
        return Request("core", "core", "all", [], **content.asker(call))

    def test_what_the_headers_say(self):
        for headers, depth, launch in self.SAID:
            with self.subTest(headers):
                told = self.asked(**headers)
                self.assertEqual(
                    (told.key, told.depth, told.launch, told.models), ("local", depth, launch, None)
                )

    def test_a_key_names_and_bounds_the_asker(self):
        with scope.of(Scope("ci", models=())):
            told = self.asked(Key("ci", ""))
        self.assertEqual((told.key, told.models), ("ci", frozenset()))
