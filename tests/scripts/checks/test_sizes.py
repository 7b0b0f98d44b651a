import unittest

from scripts.checks import sizes
from tests.scripts.trees import broken, tree


def function(lines: int, name: str = "f", indent: str = "") -> str:
    """A function of so many lines, the first included."""
    return f"{indent}def {name}():\n" + f"{indent}    pass\n" * (lines - 1)


class TestSizes(unittest.TestCase):
    def test_files(self):
        for path, lines, long in [
            ("a.py", 400, False),
            ("a.py", 401, True),
            ("ui/a.css", 401, True),
            ("a.md", 999, False),
        ]:
            with self.subTest(path, lines=lines), tree({path: "\n" * lines}) as found:
                problems = broken(sizes.checks(found, {}))
                self.assertEqual(
                    [f"{path} has {lines} lines" in text for text in problems.values()], [True] * long
                )

    def test_functions(self):
        cases = [
            (function(60), None),
            (function(61), "a.py:f has 61 lines"),
            ("class C:\n" + function(61, "g", "    "), "a.py:C.g has 61 lines"),
            ("if x:\n" + function(61, "g", "    "), "a.py:g has 61 lines"),
            (
                'def f():\n    """' + "word\n" * 20 + '    """\n' + "    pass\n" * 55,
                None,
            ),  # a docstring is no code
        ]
        for text, says in cases:
            with self.subTest(says), tree({"a.py": text}) as found:
                said = "\n".join(broken(sizes.checks(found, {})).values())
                self.assertIn(says, said) if says else self.assertEqual(said, "")

    def test_the_list(self):
        with tree({"a.py": function(70), "b.py": function(5)}) as found:
            self.assertEqual(broken(sizes.checks(found, {"a.py:f": "a table"})), {})
            needless = broken(sizes.checks(found, {"a.py:f": "a table", "b.py:f": "none", "gone.py": "none"}))
            self.assertEqual(list(needless), ["the list of longer ones holds no more than it must"])
            self.assertEqual(needless.popitem()[1].count("\n"), 1)
