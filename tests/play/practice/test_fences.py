import unittest

from metrics.play.practice import fences


def parses(text):
    try:
        compile(text, "x", "exec")
    except SyntaxError:
        return False
    return True


class FencesTest(unittest.TestCase):
    CASES = [
        ("none", "x = 1", []),
        ("one", "```python\nx = 1\n```", ["x = 1"]),
        ("tildes", "~~~py\nx = 1\n~~~", ["x = 1"]),
        ("a longer fence holds a shorter one", "````python\ns = '''\n```\n'''\n````", ["s = '''\n```\n'''"]),
        ("two", "```python\na = 1\n```\nand\n```python\nb = 2\n```", ["a = 1", "b = 2"]),
        ("never closed", "```python\nx = 1", ["x = 1"]),
    ]

    def test_bodies(self):
        for name, text, bodies in self.CASES:
            with self.subTest(name):
                self.assertEqual([block.text.strip("\n") for block in fences.blocks(text, parses)], bodies)

    def test_names(self):
        cases = [("File: pricing.py", "pricing.py"), ("**src/a.py**:", "src/a.py"), ("no name", "")]
        for line, name in cases:
            with self.subTest(line):
                self.assertEqual(fences.name_in(line), name)

    def test_prompts_are_taken_off(self):
        self.assertEqual(fences.unprompted(">>> x = 1\n... y\n").strip(), "x = 1\ny")
