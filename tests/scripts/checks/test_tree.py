import unittest

from tests.scripts.trees import tree


class TestTree(unittest.TestCase):
    def test_reads_our_texts_and_no_more(self):
        files = {
            "a.py": "x = 1\n",
            ".ci/run": "true\n",
            "ui/app.js": "",
            "ui/font.woff2": b"\xff\xfe",
            ".venv/b.py": "",
            "build/c.py": "",
            "metrics/__pycache__/d.py": "",
            "node_modules/e.js": "",
            "x.egg-info/f.txt": "",
            ".git": "gitdir: elsewhere\n",
            ".benchwarmers-home": "",
        }
        with tree(files) as found:
            self.assertEqual(list(found.files), [".ci/run", "a.py", "ui/app.js"])

    def test_names_modules_as_they_are_imported(self):
        with tree({"metrics/store/files.py": "", "metrics/store/__init__.py": "", "cli.py": ""}) as found:
            names = [module.name for module in found.modules.values()]
        self.assertEqual(names, ["cli", "metrics.store", "metrics.store.files"])

    def test_a_module_that_does_not_parse_has_no_nodes(self):
        with tree({"a.py": "def (:\n", "b.py": b"\xff\xff"}) as found:
            for module in found.modules.values():
                self.assertIsNone(module.syntax)
                self.assertEqual(module.by_kind, {})
            self.assertIsNone(found.files["b.py"].text)

    def test_below(self):
        with tree({"metrics/a.py": "", "suite/b.py": "", "c.py": ""}) as found:
            self.assertEqual(
                [module.path for module in found.below("metrics/", "c.py")], ["c.py", "metrics/a.py"]
            )
