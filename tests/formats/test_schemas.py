import unittest

from metrics.formats import schemas
from metrics.records import Problem


def deep(levels):
    schema = {"type": "STRING"}
    for _ in range(levels):
        schema = {"type": "OBJECT", "properties": {"x": schema}}
    return schema


class SchemaTest(unittest.TestCase):
    CASES = [
        ("types", {"type": "OBJECT"}, {"type": "object"}),
        ("a type that is none", {"type": "TYPE_UNSPECIFIED"}, {}),
        (
            "JSON Schema as it is",
            {"type": ["string", "null"], "const": 5},
            {"type": ["string", "null"], "const": 5},
        ),
        (
            "nested",
            {"type": "ARRAY", "items": {"type": "NUMBER"}, "minItems": "2"},
            {"type": "array", "items": {"type": "number"}, "minItems": 2},
        ),
        (
            "properties called as keywords are",
            {"properties": {"type": {"type": "STRING"}, "any_of": {"type": "BOOLEAN"}, "nullable": {}}},
            {"properties": {"type": {"type": "string"}, "any_of": {"type": "boolean"}, "nullable": {}}},
        ),
        (
            "snake case",
            {"any_of": [{"type": "STRING"}, {"min_length": "1"}], "property_ordering": ["a"]},
            {"anyOf": [{"type": "string"}, {"minLength": 1}]},
        ),
        ("nullable", {"type": "STRING", "nullable": True}, {"type": ["string", "null"]}),
        ("not nullable", {"type": "STRING", "nullable": False}, {"type": "string"}),
        (
            "nullable values",
            {"type": "STRING", "nullable": True, "enum": ["A"]},
            {"type": ["string", "null"], "enum": ["A", None]},
        ),
        ("nullable choice", {"nullable": True, "anyOf": [{}]}, {"anyOf": [{}, {"type": "null"}]}),
        (
            "values in capitals stay",
            {"enum": ["OBJECT"], "default": {"type": "X"}},
            {"enum": ["OBJECT"], "default": {"type": "X"}},
        ),
        (
            "references",
            {"defs": {"A_b": {"type": "INTEGER"}}, "ref": "#/defs/A_b"},
            {"$defs": {"A_b": {"type": "integer"}}, "$ref": "#/defs/A_b"},
        ),
        (
            "nonsense",
            {"properties": 5, "anyOf": "x", "type": 7, "items": []},
            {"properties": 5, "anyOf": "x", "type": 7, "items": []},
        ),
    ]

    def test_from_openapi(self):
        for name, given, wanted in self.CASES:
            with self.subTest(name):
                self.assertEqual(schemas.from_openapi(given, "parameters"), wanted)

    def test_depth(self):
        self.assertEqual(schemas.checked(deep(40), "parameters"), deep(40))
        for value in (deep(5000), [], "x", None):
            with self.subTest(str(type(value))), self.assertRaises(Problem) as caught:
                schemas.checked(value, "parameters")
            self.assertEqual((caught.exception.status, caught.exception.param), (400, "parameters"))
