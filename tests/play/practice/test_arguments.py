import unittest

from metrics.play.practice.arguments import build, hints

# a property's name and schema, what the user says, the value
VALUES = [
    ("const", "x", {"const": 7}, "", 7),
    ("enum as said", "unit", {"enum": ["a", "b"]}, "use B", "b"),
    ("enum, first", "unit", {"enum": ["a", "b"]}, "", "a"),
    ("default", "x", {"type": "string", "default": "d"}, "", "d"),
    ("example", "x", {"type": "string", "examples": ["e"]}, "", "e"),
    ("a file said", "file_path", {"type": "string", "default": "d"}, "read src/a.py please", "src/a.py"),
    ("a file, unsaid", "filePath", {"type": "string"}, "", "README.md"),
    ("a folder", "directory", {"type": "string"}, "", "."),
    ("a quote", "query", {"type": "string"}, 'find "def f"', "def f"),
    ("an address", "url", {"type": "string"}, "see http://x.test/a", "http://x.test/a"),
    ("a place", "city", {"type": "string"}, "weather in New York today", "New York"),
    ("a command is harmless", "command", {"type": "string"}, "", "ls"),
    ("a number said", "limit", {"type": "integer"}, "the first 20", 20),
    ("a number out of bounds", "limit", {"type": "integer", "maximum": 10}, "the first 20", 1),
    ("a minimum", "n", {"type": "integer", "minimum": 3}, "", 3),
    ("above", "n", {"type": "number", "exclusiveMinimum": 3}, "", 4),
    ("a multiple", "n", {"type": "integer", "minimum": 3, "multipleOf": 5}, "", 5),
    ("below", "n", {"type": "integer", "maximum": -2}, "", -2),
    ("boolean", "x", {"type": "boolean"}, "", False),
    ("null", "x", {"type": "null"}, "", None),
    ("nullable", "x", {"type": ["null", "boolean"]}, "", False),
    ("a list of files", "paths", {"type": "array", "items": {"type": "string"}}, "a.py", ["a.py"]),
    ("at least two", "xs", {"type": "array", "items": {"type": "integer"}, "minItems": 2}, "", [1, 1]),
    (
        "nested",
        "x",
        {"type": "object", "properties": {"y": {"type": "boolean"}}, "required": ["y"]},
        "",
        {"y": False},
    ),
    ("the first that is not null", "x", {"anyOf": [{"type": "null"}, {"type": "boolean"}]}, "", False),
    (
        "all of",
        "x",
        {"allOf": [{"type": "object"}, {"properties": {"y": {"const": 1}}, "required": ["y"]}]},
        "",
        {"y": 1},
    ),
    ("a reference", "x", {"$ref": "#/$defs/flag"}, "", False),
    ("a lost reference", "x", {"$ref": "#/$defs/none"}, "", "x"),
    ("a date", "x", {"type": "string", "format": "date"}, "", "2025-01-31"),
    ("long enough", "x", {"type": "string", "minLength": 4}, "", "xxxx"),
    ("short enough", "name", {"type": "string", "maxLength": 2}, "", "na"),
    ("no schema", "x", True, "", "x"),
]


class Arguments(unittest.TestCase):
    def test_values(self):
        for name, key, schema, said, expected in VALUES:
            with self.subTest(name):
                whole = {
                    "type": "object",
                    "properties": {key: schema},
                    "required": [key],
                    "$defs": {"flag": {"type": "boolean"}},
                }
                self.assertEqual(build(whole, hints(said, [])), {key: expected})

    def test_optional_ones_are_left_out_but_for_files(self):
        schema = {"properties": {"path": {"type": "string"}, "n": {"type": "integer"}}}
        self.assertEqual(build(schema, hints("", [])), {})
        self.assertEqual(build(schema, hints("a.py", [])), {"path": "a.py"})

    def test_files_that_tools_found(self):
        schema = {"properties": {"path": {"type": "string"}}, "required": ["path"]}
        self.assertEqual(build(schema, hints("read one", ["total 2\nsrc/b.py\nc.py"])), {"path": "src/b.py"})
        self.assertEqual(build(schema, hints("read a.py", ["src/b.py"])), {"path": "a.py"})

    def test_circles_and_nonsense_end(self):
        circle = {"allOf": [{"$ref": "#"}, {"properties": {"x": {"$ref": "#"}}, "required": ["x"]}]}
        for schema in (
            circle,
            {"$ref": "#"},
            {"anyOf": []},
            {"type": 3},
            {"required": 3},
            {"properties": [1]},
            {},
        ):
            with self.subTest(schema):
                self.assertIsInstance(build(schema, hints("", [])), dict)
