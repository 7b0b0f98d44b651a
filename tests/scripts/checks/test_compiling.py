import unittest

from scripts.checks import compiling
from tests.scripts.trees import broken, tree


class TestCompiling(unittest.TestCase):
    def test_files(self):
        cases = [
            ("x = 1\n", None),
            ("x = (\n", "a.py:1"),
            ("\nreturn 1\n", "a.py:2"),  # parses, and still does not compile
            ("x = '\\d'\n", "a.py:1"),  # a warning today is an error tomorrow
            (b"x = '\xff'\n", "a.py:"),
        ]
        for text, says in cases:
            with self.subTest(text), tree({"a.py": text}) as found:
                said = "\n".join(broken(compiling.checks(found)).values())
                self.assertIn(says, said) if says else self.assertEqual(said, "")
