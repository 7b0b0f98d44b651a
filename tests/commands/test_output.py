import unittest

import cli
from metrics.commands.failure import Failure, told, usage
from metrics.commands.output import Console
from metrics.records import Problem
from tests.commands.stage import Keyboard, Screen


def console(tty: bool = False, program: str = "bench", **env: str) -> Console:
    return Console(program, env, Keyboard(tty=tty), Screen(tty), Screen(tty))


class Colour(unittest.TestCase):
    def test_when(self) -> None:
        cases = [
            ("a terminal", True, {"TERM": "xterm"}, False, True),
            ("a pipe", False, {"TERM": "xterm"}, False, False),
            ("NO_COLOR", True, {"TERM": "xterm", "NO_COLOR": "1"}, False, False),
            ("NO_COLOR empty", True, {"TERM": "xterm", "NO_COLOR": ""}, False, True),
            ("dumb", True, {"TERM": "dumb"}, False, False),
            ("forced", False, {"FORCE_COLOR": "1"}, False, True),
            ("forced off", False, {"CLICOLOR_FORCE": "0"}, False, False),
            (
                "NO_COLOR beats FORCE_COLOR",
                True,
                {"TERM": "xterm", "FORCE_COLOR": "1", "NO_COLOR": "1"},
                False,
                False,
            ),
            ("--no-color beats all", True, {"TERM": "xterm", "FORCE_COLOR": "1"}, True, False),
        ]
        for name, tty, env, off, wanted in cases:
            with self.subTest(name):
                screen = console(tty, **env)
                screen.no_color = off
                self.assertEqual(screen.colourful(screen.stderr), wanted)


class Failing(unittest.TestCase):
    def test_words_and_codes(self) -> None:
        cases = [
            (usage("wrong", "do this"), 2),
            (Failure(503, "x", kind="no_server"), 3),
            (Failure(401, "x"), 4),
            (Failure(403, "x"), 4),
            (Failure(500, "x"), 1),
            (Failure(400, "x"), 1),
            (told(Problem(404, "x")), 1),
        ]
        for failure, code in cases:
            with self.subTest(failure.kind):
                screen = console()
                self.assertEqual(screen.fail(failure), code)
                self.assertEqual(screen.stdout.getvalue(), "")  # type: ignore[attr-defined]
                self.assertEqual(screen.stderr.getvalue(), f"error: {failure.message}\n{failure.hint}\n")  # type: ignore[attr-defined]
                self.assertTrue(failure.hint)

    def test_a_hint_is_not_said_twice(self) -> None:
        screen = console()
        screen.fail(Failure(400, "in use; `bench log` says by whom", hint="bench log"))
        self.assertEqual(screen.stderr.getvalue(), "error: in use; `bench log` says by whom\n")  # type: ignore[attr-defined]

    def test_every_command_is_one_of_ours(self) -> None:
        for name in cli.COMMANDS:
            with self.subTest(name):
                spelled = console(program="python3 cli.py").spelled(f"see: bench {name} --help")
                self.assertEqual(spelled, f"see: python3 cli.py {name} --help")

    def test_our_commands_are_spelled_as_the_user_types_them(self) -> None:
        cases = [
            ("start one: bench serve", "start one: python3 cli.py serve"),
            ("`bench model role a general`", "`python3 cli.py model role a general`"),
            ("the bench is empty", "the bench is empty"),
            ("bench status-like", "python3 cli.py status-like"),
        ]
        for text, wanted in cases:
            with self.subTest(text):
                self.assertEqual(console(program="python3 cli.py").spelled(text), wanted)
                self.assertEqual(console().spelled(text), text)


if __name__ == "__main__":
    unittest.main()
