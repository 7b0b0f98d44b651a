"""JSON Schema in the words that Gemini takes."""

import json
import unittest

from metrics.client import gemini_schema
from metrics.client.gemini_schema import KEPT, parameters, reduced

NODE = {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}}
STRING = {"type": "string"}

# what was sent, what goes out
CASES = [
    ("as it is", {"type": "object", "properties": {"a": STRING}, "required": ["a"]}, None),
    ("an array of types", {"type": ["string", "null"]}, None),
    ("alternatives", {"anyOf": [STRING, {"type": "null"}]}, None),
    ("one of", {"oneOf": [STRING, {"x-y": 1}]}, {"oneOf": [STRING, {}]}),
    (
        "nobody's keywords",
        {"type": "string", "$schema": "x", "x-hint": 1, "propertyNames": {}, "optional": True},
        STRING,
    ),
    (
        "a map",
        {"type": "object", "additionalProperties": {"type": "string", "x": 1}},
        {"type": "object", "additionalProperties": STRING},
    ),
    ("no more properties", {"type": "object", "additionalProperties": False}, None),
    ("properties named like keywords", {"properties": {"const": STRING, "$ref": STRING, "x": STRING}}, None),
    (
        "a property of anything, and of nothing",
        {"properties": {"a": True, "b": False}},
        {"properties": {"a": {}}},
    ),
    ("const", {"const": "k"}, {"type": "string", "enum": ["k"]}),
    ("const of an object", {"const": {"a": 1}}, {"type": "object"}),
    ("enum of numbers", {"enum": [1, 2]}, {"type": "integer", "enum": [1, 2]}),
    ("enum with null", {"enum": ["a", None]}, {"type": ["string", "null"], "enum": ["a"]}),
    ("enum of booleans", {"type": "boolean", "enum": [True]}, {"type": "boolean"}),
    ("enum that is none", {"type": "string", "enum": "a"}, STRING),
    ("nullable", {"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    (
        "exclusive bounds",
        {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9},
        {"type": "integer", "minimum": 1, "maximum": 8},
    ),
    ("exclusive bounds of fractions", {"type": "number", "exclusiveMinimum": 0}, {"type": "number"}),
    (
        "a bound of 2010",
        {"type": "integer", "exclusiveMinimum": True, "minimum": 3},
        {"type": "integer", "minimum": 3},
    ),
    ("a tuple of 2019", {"items": [STRING, True]}, {"prefixItems": [STRING, {}]}),
    ("a tuple of 2020", {"prefixItems": [STRING], "items": False}, {"prefixItems": [STRING]}),
    (
        "all of one",
        {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": STRING}, "default": "x"},
        {"type": "string", "default": "x"},
    ),
    (
        "all of several",
        {
            "allOf": [
                {"properties": {"a": STRING}, "required": ["a"]},
                {"properties": {"b": STRING}, "required": ["b"]},
            ],
            "type": "object",
        },
        {"type": "object", "properties": {"a": STRING, "b": STRING}, "required": ["a", "b"]},
    ),
    (
        "a reference",
        {"properties": {"p": {"$ref": "#/$defs/a", "description": "d"}}, "$defs": {"a": STRING}},
        {"properties": {"p": {"type": "string", "description": "d"}}},
    ),
    (
        "a reference of 2019",
        {"items": {"$ref": "#/definitions/a~1b%20c"}, "definitions": {"a/b c": STRING}},
        {"items": STRING},
    ),
    ("another document's", {"$ref": "http://h/x.json", "title": "t"}, {"title": "t"}),
    ("none's", {"$ref": "#/$defs/none"}, {}),
    (
        "a circle",
        {"properties": {"node": {"$ref": "#/$defs/node"}}, "$defs": {"node": NODE}},
        {"properties": {"node": {"type": "object", "properties": {"child": {"type": "object"}}}}},
    ),
    (
        "a circle to the root",
        {"type": "object", "properties": {"me": {"$ref": "#"}}},
        {
            "type": "object",
            "properties": {"me": {"type": "object", "properties": {"me": {"type": "object"}}}},
        },
    ),
    ("a circle of nothing", {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, {"type": "object"}),
    ("a circle of all of", {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}, {}),
]


class ReducedTest(unittest.TestCase):
    def test_cases(self):
        for name, sent, expected in CASES:
            with self.subTest(name):
                before = json.dumps(sent)
                self.assertEqual(reduced(sent), sent if expected is None else expected)
                self.assertEqual(json.dumps(sent), before, "the caller's own is left as it is")

    def test_references_that_branch_end(self):
        many = {f"n{i}": {"properties": {k: {"$ref": f"#/$defs/n{i + 1}"} for k in "abc"}} for i in range(30)}
        made = reduced({"$ref": "#/$defs/n0", "$defs": many})
        self.assertLess(len(json.dumps(made)), 100 * gemini_schema.MOST)

    def test_depth_ends(self):
        deep = STRING
        for _ in range(500):
            deep = {"type": "array", "items": deep}
        self.assertLess(json.dumps(reduced(deep)).count("items"), gemini_schema.DEEPEST + 2)

    def test_nothing_but_what_is_kept(self):
        def words(schema):
            for name, inner in schema.items():
                yield name
                for one in inner.values() if name == "properties" else [inner]:
                    for part in one if isinstance(one, list) else [one]:
                        yield from words(part) if isinstance(part, dict) else ()

        for name, sent, _ in CASES:
            with self.subTest(name):
                self.assertLessEqual(set(words(reduced(sent))), KEPT)


class ParametersTest(unittest.TestCase):
    def test_always_an_object_or_nothing(self):
        for sent, expected in [
            (None, None),
            ({}, None),
            ({"type": "object", "properties": {}, "required": [], "additionalProperties": False}, None),
            ({"properties": {"a": STRING}}, {"type": "object", "properties": {"a": STRING}}),
            ({"additionalProperties": True}, {"type": "object", "additionalProperties": True}),
            ({"anyOf": [STRING]}, {"type": "object", "anyOf": [STRING]}),
        ]:
            with self.subTest(sent):
                self.assertEqual(parameters(sent), expected)
