import sys
import unittest
from collections.abc import Callable
from unittest import mock

from metrics.commands import serve
from tests.commands.stage import Played, bench


class Serving(unittest.TestCase):
    def test_the_main_of_that_name_gets_the_words(self) -> None:
        for word in serve.MAINS:
            for outcome, code in ((None, 0), (0, 0), (1, 1)):
                with self.subTest(word=word, outcome=outcome), mock.patch("importlib.import_module") as load:
                    load.return_value.main.return_value = outcome
                    self.assertEqual(bench(word, "--port", "0").code, code)
                    load.assert_called_once_with(word)
                    load.return_value.main.assert_called_once_with(["--port", "0"])


class Json(unittest.TestCase):
    """Under --json there is one document, whatever becomes of the server."""

    def played(self, main: Callable[[list[str]], int], *argv: str) -> Played:
        with mock.patch("importlib.import_module") as load:
            load.return_value.main = main
            return bench(*argv)

    def test_the_real_mains(self) -> None:
        cases = [
            (["serve", "--port", "abc", "--json"], 2, "usage", "invalid int value: 'abc'"),
            (["gateway", "--bogus", "--json"], 2, "usage", "--bogus"),
            (["--json", "serve", "--port", "99999999"], 1, "not_started", "not a port"),
        ]
        for line, code, kind, words in cases:
            with self.subTest(" ".join(line)):
                if kind == "not_started":
                    played = self.played(refusing, *line)
                else:
                    played = bench(*line)
                error = played.document["error"]
                self.assertEqual((played.code, played.err, error["kind"]), (code, "", kind))
                self.assertIn(words, error["message"])

    def test_help_and_version(self) -> None:
        for line in (["serve", "--help", "--json"], ["--json", "gateway", "-h"], ["help", "serve", "--json"]):
            with self.subTest(" ".join(line)):
                played = bench(*line)
                self.assertEqual(played.code, 0)
                self.assertIn("--port", played.document["help"])
        self.assertEqual(list(bench("serve", "--version", "--json").document), ["version"])

    def test_a_server_that_starts(self) -> None:
        def main(words: list[str]) -> int:
            print("Benchwarmers is at http://127.0.0.1:1", flush=True)
            return 0

        played = self.played(main, "serve", "--json")
        started = {"ok": True, "started": "Benchwarmers is at http://127.0.0.1:1"}
        self.assertEqual((played.code, played.document), (0, started))


def refusing(words: list[str]) -> int:
    print("noise", file=sys.stderr)
    print("99999999 is not a port", file=sys.stderr)
    return 1


if __name__ == "__main__":
    unittest.main()
