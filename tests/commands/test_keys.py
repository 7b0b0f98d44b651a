import argparse
import unittest
from unittest import mock

from metrics.commands import keys
from metrics.commands.failure import Failure
from metrics.commands.output import Console
from tests.commands.stage import Keyboard, Screen

KEY = "made-up-" + "key-1234"
FAR, NEAR = "https://api.example.com/v1", "http://127.0.0.1:11434/v1"


def asked(stdin: str = "", tty: bool = False, base: str = FAR, **options: object) -> str | None:
    console = Console(
        "bench",
        {"MY_KEY": f" {KEY}\n", "EMPTY": " "},
        Keyboard(stdin.encode(), tty),
        Screen(tty),
        Screen(tty),
    )
    args = argparse.Namespace(**{"key_env": None, "key_stdin": False, **options})
    return keys.key(args, console, "far", base)


class Keys(unittest.TestCase):
    def test_where_a_key_comes_from(self) -> None:
        cases = [
            ("a pipe", asked(f"{KEY}\n", key_stdin=True), KEY),
            ("a pipe from Windows", asked(f"\ufeff{KEY}\r\n", key_stdin=True), KEY),
            ("an empty pipe", asked("", key_stdin=True), ""),
            ("a variable", asked(key_env="MY_KEY"), KEY),
            ("nowhere", asked(), None),
            ("a pipe that nobody pointed at", asked(KEY), None),
        ]
        for name, got, wanted in cases:
            with self.subTest(name):
                self.assertEqual(got, wanted)

    def test_a_person_is_asked_where_a_key_is_likely(self) -> None:
        for base, typed, asks, stdin in (
            (FAR, KEY, True, False),
            (FAR, "", True, False),
            (NEAR, "", False, False),
            (NEAR, KEY, True, True),
        ):
            with (
                self.subTest(base=base, typed=typed),
                mock.patch("getpass.getpass", return_value=typed) as prompt,
            ):
                self.assertEqual(asked(tty=True, base=base, key_stdin=stdin), typed if asks else None)
                self.assertEqual(prompt.called, asks)

    def test_what_no_key_can_be(self) -> None:
        cases = [f"{KEY}\n{KEY}", "two words", "clé", "a\x07b"]
        for text in cases:
            with self.subTest(text), self.assertRaises(Failure) as caught:
                asked(text, key_stdin=True)
            self.assertNotIn(text, caught.exception.message)
        for name in ("UNSET", "EMPTY"):
            with self.subTest(name), self.assertRaises(Failure) as caught:
                asked(key_env=name)
            self.assertIn(f"{name} is not set", caught.exception.message)


if __name__ == "__main__":
    unittest.main()
