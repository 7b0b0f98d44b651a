import shutil
import sys
import unittest
from unittest import mock

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

    @unittest.skipUnless(shutil.which("node"), "takes Node")
    def test_scripts_of_the_page(self):
        cases = [
            ('import a from "./b.js";\nexport const c = await a();\n', None),
            ("export const c = (;\n", "ui/a.js: Unexpected"),
            ("if (", "ui/a.js: Unexpected"),
        ]
        for text, says in cases:
            with self.subTest(text), tree({"ui/a.js": text}) as found:
                said = "\n".join(broken(compiling.checks(found)).values())
                self.assertIn(says, said) if says else self.assertEqual(said, "")

    def test_without_node_the_page_is_left_out(self):
        with tree({"ui/a.js": "("}) as found, mock.patch.object(shutil, "which", return_value=None):
            self.assertEqual(
                [check.name for check in compiling.checks(found)], ["every Python file compiles"]
            )

    def test_a_node_that_does_not_work_is_a_problem(self):
        with tree({"ui/a.js": "1"}) as found:
            self.assertIn("could not parse", str(broken(compiling.checks(found, node=sys.executable))))
