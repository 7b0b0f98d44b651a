import unittest

from metrics.client import declared
from metrics.client.declared import Choice

LEFT_OUT = ["tool_choice left out (there is no such choice)"]


def function(name, **fields):
    return {"type": "function", "function": {"name": name, **fields}}


CUSTOM = {"type": "custom", "custom": {"name": "p"}}
PLAN = {"mode": "required", "tools": [function("g"), CUSTOM]}


class DeclaredTest(unittest.TestCase):
    def test_names(self):
        for tool, name in (
            (function("f"), "f"),
            (CUSTOM, "p"),
            ({"function": {"name": ["f"]}}, ""),
            ({"function": "f"}, ""),
            ({"custom": None}, ""),
            ("f", ""),
            (None, ""),
        ):
            with self.subTest(tool=tool):
                self.assertEqual(declared.name(tool), name)

    CHOICES = [
        (None, Choice()),
        ("auto", Choice("auto")),
        ("required", Choice("required")),
        ("none", Choice("none")),
        (function("f"), Choice("required", ("f",))),
        (CUSTOM, Choice("required", ("p",))),
        ({"type": "allowed_tools", "allowed_tools": PLAN}, Choice("required", ("g", "p"), listed=True)),
        ({"type": "allowed_tools", **PLAN}, Choice("required", ("g", "p"), listed=True)),
        ({"type": "allowed_tools", "tools": [CUSTOM, 5]}, Choice("auto", ("p",), listed=True)),
    ]

    def test_choice(self):
        for value, choice in self.CHOICES:
            changed = []
            with self.subTest(value=value):
                self.assertEqual((declared.choice(value, changed), changed), (choice, []))

    def test_a_choice_that_nobody_can_follow_is_named(self):
        for value in (
            *("cosmic", "", 5, 1.5, True, [], ["auto"], {}, {"type": "function"}, {"function": {"name": {}}}),
            {"type": "allowed_tools", "allowed_tools": {"tools": 1.5}},
            {"type": "allowed_tools", "mode": [], "tools": []},
        ):
            changed = []
            with self.subTest(value=value):
                self.assertEqual((declared.choice(value, changed), changed), (Choice(), LEFT_OUT))

    def test_shows(self):
        for choice, shown in (
            (Choice(), ["f", "g"]),
            (Choice("required", ("f",)), ["f", "g"]),
            (Choice("auto", ("g",), listed=True), ["g"]),
            (Choice("auto", (), listed=True), []),
        ):
            with self.subTest(choice):
                tools = [function("f"), function("g")]
                self.assertEqual([declared.name(tool) for tool in tools if choice.shows(tool)], shown)
