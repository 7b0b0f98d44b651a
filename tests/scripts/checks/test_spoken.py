import unittest
from unittest import mock

from scripts.checks import spoken


class TestSpoken(unittest.TestCase):
    def test_the_product_says_what_it_has(self):
        said = spoken.spoken()
        self.assertEqual(said.problem, "")
        self.assertIn("-f", said.commands["ask"])
        self.assertIn("--port", said.commands["serve"])
        self.assertIn("--base", said.commands["endpoint add"])
        self.assertIn("--json", said.everywhere)
        self.assertIn("/v1/chat/completions", said.routes)
        self.assertIn("bodies", said.settings)

    def test_a_product_that_does_not_import_is_a_problem(self):
        with mock.patch.object(spoken.importlib, "import_module", side_effect=ImportError("no cli")):
            self.assertIn("no cli", spoken.spoken().problem)

    def test_options_in_a_help_text(self):
        cases = [
            ("usage: x [-h] [--port PORT] [--no-browser]", ("-h", "--port", "--no-browser")),
            ("  -q, --quiet  only well-known errors - and --quiet again", ("-q", "--quiet")),
        ]
        for text, options in cases:
            with self.subTest(text):
                self.assertEqual(spoken.options_in(text), options)
