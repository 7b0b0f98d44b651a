import unittest

import cli
from metrics.commands import help
from metrics.commands.failure import EXITS, Failure


class Help(unittest.TestCase):
    def test_the_overview_names_every_command_and_topic(self) -> None:
        text = help.overview("bench", cli.COMMANDS)
        for word in (*cli.COMMANDS, *help.TOPICS, "serve", "gateway", "version"):
            with self.subTest(word):
                self.assertIn(word, text)

    def test_about(self) -> None:
        cases = [
            ([], "commands:"),
            (["ask"], "usage: bench ask"),
            (["endpoint"], "endpoint add"),
            (["agents"], "--json"),
        ]
        for words, wanted in cases:
            with self.subTest(words):
                self.assertIn(wanted, help.about("bench", words, cli.COMMANDS))
        with self.assertRaises(Failure) as caught:
            help.about("bench", ["colections"], cli.COMMANDS)
        self.assertIn("did you mean collections?", caught.exception.hint)

    def test_every_exit_code_is_explained(self) -> None:
        for code in (0, 1, *EXITS.values(), 141):
            with self.subTest(code):
                self.assertIn(f"{code:>5}  ", help.TOPICS["exit-codes"])

    def test_no_such_command(self) -> None:
        cases = [
            (["modle"], "did you mean model?"),
            (["endpoint", "remove"], "endpoint rm"),
            (["collection"], "collection save"),
            (["--strict"], "after its name"),
        ]
        for words, hint in cases:
            with self.subTest(words):
                failure = help.no_such(words, cli.COMMANDS)
                self.assertEqual(failure.exit, 2)
                self.assertIn(hint, failure.hint)


if __name__ == "__main__":
    unittest.main()
