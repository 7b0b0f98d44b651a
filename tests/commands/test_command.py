import argparse
import unittest
from collections.abc import Callable

from metrics.commands.command import Command, argument, count, did_you_mean, positive, yes_or_no
from metrics.commands.failure import Failure

COMMAND = Command(
    "serve tea",
    "Serves tea. With milk.",
    lambda args, console, server: 0,
    (
        argument("who", metavar="WHO"),
        argument("word", nargs="?", metavar="WORD"),
        argument("--sugar", type=int, metavar="N"),
        argument("--pair", nargs=2),
        argument("--hot", one_of="warmth", action="store_true"),
        argument("--cold", one_of="warmth", action="store_true"),
    ),
    ("bench serve tea Ada",),
)


class Parsing(unittest.TestCase):
    def test_options_and_positionals_in_any_order(self) -> None:
        cases: list[tuple[list[str], tuple[object, ...]]] = [
            (["Ada"], ("Ada", None, None, False)),
            (["Ada", "--sugar", "2", "now"], ("Ada", "now", 2, False)),
            (["--hot", "Ada", "--sugar=2", "now"], ("Ada", "now", 2, True)),
            (["--pair", "x", "y", "Ada", "now"], ("Ada", "now", None, False)),
            (["Ada", "- a list\n- of two"], ("Ada", "- a list\n- of two", None, False)),
            (["Ada", "-"], ("Ada", "-", None, False)),
            (["Ada", "--", "--hot"], ("Ada", "--hot", None, False)),
            (["--", "--hot"], ("--hot", None, None, False)),
        ]
        for words, wanted in cases:
            with self.subTest(words):
                got = COMMAND.parse(words, "bench")
                self.assertEqual((got.who, got.word, got.sugar, got.hot), wanted)

    def test_refused(self) -> None:
        cases = [
            ([], "WHO is missing"),
            (["Ada", "--sugr", "1"], "has no option --sugr"),
            (["Ada", "--sugar", "two"], "invalid int value"),
            (["Ada", "--hot", "--cold"], "not allowed with"),
            (["Ada", "now", "then"], "'then' is one argument too many"),
            (["Ada", "--su", "1"], "has no option --su"),
        ]
        for words, sentence in cases:
            with self.subTest(words), self.assertRaises(Failure) as caught:
                COMMAND.parse(words, "bench")
            self.assertTrue(caught.exception.message.startswith("serve tea"))
            self.assertIn(sentence, caught.exception.message)
            self.assertIn("bench serve tea --help", caught.exception.hint)
            self.assertEqual(caught.exception.exit, 2)

    def test_help_begins_with_summary_and_examples(self) -> None:
        text = COMMAND.parser("python3 cli.py").format_help()
        self.assertIn("Serves tea. With milk.\n\nexamples:\n  python3 cli.py serve tea Ada\n", text)
        for word in ("usage: python3 cli.py serve tea", "--sugar N", "WORD", "--url URL"):
            self.assertIn(word, text)


class Words(unittest.TestCase):
    def test_did_you_mean(self) -> None:
        for word, wanted in (
            ("aks", "did you mean ask? "),
            ("zzz", ""),
            ("", ""),
            ("log", "did you mean log? "),
        ):
            with self.subTest(word):
                self.assertEqual(did_you_mean(word, ["ask", "log"]), wanted)

    def test_types(self) -> None:
        cases: list[tuple[Callable[[str], object], dict[str, object], list[str]]] = [
            (
                count,
                {"1": 1, "128k": 128_000, "1M": 1_000_000, "128,000": 128_000, "8_192": 8192},
                ["0", "-1", "", "k", "1.5", "1e3", "²"],
            ),
            (positive, {"1": 1.0, "0.5": 0.5}, ["0", "-1", "nan", "inf", "", "soon"]),
            (yes_or_no, {"yes": True, "No": False, "on": True, "false": False}, ["", "maybe", "1"]),
        ]
        for type_, good, bad in cases:
            for text, wanted in good.items():
                with self.subTest(type_=type_.__name__, text=text):
                    self.assertEqual(type_(text), wanted)
            for text in bad:
                with (
                    self.subTest(type_=type_.__name__, text=text),
                    self.assertRaises(argparse.ArgumentTypeError),
                ):
                    type_(text)


if __name__ == "__main__":
    unittest.main()
