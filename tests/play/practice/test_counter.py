import unittest

from metrics.play.practice.counter import Lines, lines_of, measures, report, report_text
from metrics.play.practice.lint.tree import Module
from metrics.play.practice.parsing import Source

# body of a function, complexity, nesting
SHAPES = [
    ("straight", "return 1", 1, 0),
    ("if, elif, else", "if a:\n    b()\nelif c:\n    d()\nelse:\n    e()", 3, 1),
    ("nested", "for x in y:\n    if x:\n        while z:\n            w()", 4, 3),
    ("and, or", "return a and b and c or d", 4, 0),
    ("a comprehension with a filter", "return [x for x in y if x if z]", 4, 0),
    ("handlers", "try:\n    a()\nexcept B:\n    c()\nexcept D:\n    e()\nfinally:\n    f()", 3, 1),
    ("match", "match a:\n    case 1:\n        b()\n    case _:\n        c()", 3, 1),
    ("a ternary", "return a if b else c", 2, 0),
    ("a function inside counts for itself", "def g():\n    if a:\n        b()\nreturn g", 1, 2),
]
SIZES = [
    ("", Lines(0, 0, 0, 0)),
    ("x = 1", Lines(1, 1, 0, 0)),
    ("# a\n\nx = 1  # b\n", Lines(3, 1, 1, 1)),
    ('x = """\n# no comment\n"""\n# one\n', Lines(4, 3, 1, 0)),
]


class Counting(unittest.TestCase):
    def test_shapes(self):
        for name, body, complexity, nesting in SHAPES:
            with self.subTest(name):
                text = "def f(a):\n" + "\n".join("    " + line for line in body.split("\n"))
                first = measures(Module(Source("a.py", text)))[0]
                self.assertEqual((first.complexity, first.depth), (complexity, nesting))

    def test_sizes(self):
        for text, expected in SIZES:
            with self.subTest(text):
                source = Source("a.py", text)
                self.assertEqual(lines_of(source, Module(source)), expected)

    def test_methods_are_named_by_their_class(self):
        found = measures(Module(Source("a.py", "class A:\n    def f(self):\n        return 1\n")))
        self.assertEqual([(one.name, one.line, one.lines) for one in found], [("A.f", 2, 2)])

    def test_report(self):
        text = "import os\nfrom . import b\n\n" + "\n".join(
            f"def f{n}(a):\n    return a if a else {n}" for n in range(7)
        )
        said = report(Source("a.py", text))
        for part in (
            "**a.py**: 17 lines",
            "7 functions, 0 classes, 2 imports (`.`, `os`)",
            "Longest function: `f0` (line 4)",
        ):
            self.assertIn(part, said)
        self.assertEqual(said.count("| `f"), 5)

    def test_what_does_not_parse(self):
        self.assertIn("does not parse (line 2", report(Source("a.py", "x = 1\ndef f(:\n")))

    def test_text(self):
        said = report_text("a.md", "one two\nthree\n")
        self.assertEqual(
            said, "**a.md**: 3 words, 2 lines, 14 characters. Longest line: 7 characters (line 1)."
        )
        self.assertIn("0 words, 0 lines", report_text("a.md", ""))
