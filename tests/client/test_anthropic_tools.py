import unittest

from metrics.client import anthropic_tools as tools
from metrics.client import declared

MARK = {"type": "ephemeral"}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def function(name, **fields):
    return {"type": "function", "function": {"name": name, **fields}}


class ToolsTest(unittest.TestCase):
    WRITTEN = [
        ("bare", function("f"), {"name": "f", "input_schema": {"type": "object", "properties": {}}}),
        (
            "whole",
            function("f", description="d", parameters=SCHEMA, strict=True),
            {"name": "f", "description": "d", "input_schema": SCHEMA, "strict": True},
        ),
        ("not strict", function("f", parameters=SCHEMA, strict=False), {"name": "f", "input_schema": SCHEMA}),
        (
            "a schema without a type",
            function("f", parameters={"properties": {}}),
            {"name": "f", "input_schema": {"type": "object", "properties": {}}},
        ),
        (
            "a cache mark",
            {**function("f", parameters=SCHEMA), "_cache": MARK},
            {"name": "f", "input_schema": SCHEMA, "cache_control": MARK},
        ),
        (
            "custom",
            {"type": "custom", "custom": {"name": "patch", "description": "d", "format": {"type": "text"}}},
            {"name": "patch", "description": "d", "input_schema": declared.TEXT},
        ),
        (
            "one that a format made of a custom tool",
            {**function("patch", parameters=SCHEMA), "_custom": {"type": "text"}},
            {"name": "patch", "input_schema": SCHEMA},
        ),
    ]

    def test_written(self):
        for name, tool, made in self.WRITTEN:
            with self.subTest(name):
                self.assertEqual(tools.written([tool], None), [made])

    def test_its_own_callers_tools_are_as_they_came(self):
        own = {
            "name": "f",
            "input_schema": {},
            "eager_input_streaming": True,
            "cache_control": MARK,
            "type": None,
        }
        sent = {name: value for name, value in own.items() if value is not None}
        self.assertEqual(tools.written([function("f", description="x")], [own, {"name": "g"}]), [sent])
        self.assertEqual(tools.written([function("h")], [own])[0]["name"], "h")

    CHOICES = [
        (None, None, {}),
        ("auto", None, {"type": "auto"}),
        ("required", True, {"type": "any"}),
        ("none", False, {"type": "none"}),
        (function("f"), None, {"type": "tool", "name": "f"}),
        ({"type": "custom", "custom": {"name": "p"}}, None, {"type": "tool", "name": "p"}),
        (None, False, {"type": "auto", "disable_parallel_tool_use": True}),
        ("required", False, {"type": "any", "disable_parallel_tool_use": True}),
        (function("f"), False, {"type": "tool", "name": "f", "disable_parallel_tool_use": True}),
        ({"type": "allowed_tools", "mode": "required", "tools": [function("f")]}, None, {"type": "any"}),
    ]

    def test_choice(self):
        for wish, parallel, told in self.CHOICES:
            with self.subTest(wish=wish, parallel=parallel):
                self.assertEqual(tools.choice(declared.choice(wish, []), parallel), told)

    CLOSED = [
        ({"type": "string"}, {"type": "string"}),
        (
            {"type": "object", "properties": {"a": {"type": "object", "additionalProperties": True}}},
            {
                "type": "object",
                "properties": {"a": {"type": "object", "additionalProperties": False}},
                "additionalProperties": False,
            },
        ),
        ({"oneOf": [{"type": "null"}]}, {"anyOf": [{"type": "null"}]}),
        (
            {"type": "integer", "minimum": 1, "maximum": 9, "description": "d"},
            {"type": "integer", "description": "d\n\n{minimum: 1, maximum: 9}"},
        ),
        (
            {"type": "array", "items": {"type": "string", "pattern": "a"}, "minItems": 1},
            {"type": "array", "items": {"type": "string", "description": "{pattern: a}"}, "minItems": 1},
        ),
        (
            {"properties": {"minimum": {"type": "integer"}}},
            {"properties": {"minimum": {"type": "integer"}}, "additionalProperties": False},
        ),
        ({"enum": [{"minimum": 1}]}, {"enum": [{"minimum": 1}]}),
        (True, True),
    ]

    def test_closed(self):
        for schema, made in self.CLOSED:
            with self.subTest(schema=schema):
                self.assertEqual(tools.closed(schema), made)
