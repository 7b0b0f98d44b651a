import sys
import unittest
import unittest.mock
from pathlib import Path

from metrics.commands import installed, update
from metrics.commands.installed import Place, Way
from metrics.version import VERSION
from tests.commands.stage import bench

WORKS = (sys.executable, "-c", "print('brought')")
BREAKS = (sys.executable, "-c", "import sys; sys.exit(3)")
ABSENT = ("no-such-installer", "upgrade me")


class Update(unittest.TestCase):
    def bench(self, way: Way, *words: str, **more: object):
        place = Place(Path("/there"), Path("/"), False, "/py", {})
        with (
            unittest.mock.patch.object(installed, "place", return_value=place),
            unittest.mock.patch.object(installed, "way", return_value=way),
        ):
            return bench("update", *words, **more)

    def test_check_prints_the_command_alone_and_runs_nothing(self) -> None:
        with unittest.mock.patch.object(update.subprocess, "call", side_effect=AssertionError):
            played = self.bench(Way("pipx", ABSENT, "pipx uninstall it", "first this"), "--check")
        self.assertEqual((played.code, played.out), (0, "no-such-installer 'upgrade me'\n"))
        for words in (
            f"version {VERSION}, installed by pipx: ",
            "first this",
            "start the server anew",
            "pipx uninstall",
        ):
            self.assertIn(words, played.err)

    def test_check_where_there_is_no_command(self) -> None:
        played = self.bench(Way("pyz", (), "remove it", "put the newer file in place", runs=False), "--check")
        self.assertEqual((played.code, played.out), (0, "put the newer file in place\n"))
        document = self.bench(Way("pyz", (), "remove it", "put it", runs=False), "--check", "--json").document
        self.assertEqual((document["command"], document["runs"], document["installed"]), (None, False, "pyz"))

    def test_what_cannot_be_run_from_here(self) -> None:
        played = self.bench(Way("npx", ("npx", "it@latest"), "x", "a start brings it", runs=False), "--json")
        self.assertEqual(played.code, 1)
        self.assertEqual(played.document["error"]["hint"], "a start brings it npx it@latest")

    def test_it_runs_what_it_said(self) -> None:
        for words, code, exited in ((WORKS, 0, 0), (BREAKS, 1, 3)):
            with self.subTest(words):
                with unittest.mock.patch.object(update.subprocess, "call", return_value=exited) as called:
                    played = self.bench(Way("pip", words, "x"), "--yes", "--json")
                self.assertEqual((played.code, played.document["exit"]), (code, exited))
                called.assert_called_once_with(words, stdout=2)

    def test_an_installer_that_is_not_there(self) -> None:
        played = self.bench(Way("pip", ABSENT, "x"), "--yes", "--json")
        self.assertEqual((played.code, played.document["error"]["kind"]), (1, "not_started"))

    def test_a_person_is_asked_and_a_script_has_to_say_yes(self) -> None:
        with unittest.mock.patch.object(update.subprocess, "call", return_value=0) as called:
            self.assertEqual(self.bench(Way("pip", WORKS, "x")).code, 2)
            refused = self.bench(Way("pip", WORKS, "x"), stdin=b"n\n", tty=True)
            self.assertIn("nothing was changed", refused.err)
            self.assertFalse(called.called)
            self.assertEqual(self.bench(Way("pip", WORKS, "x"), stdin=b"y\n", tty=True).code, 0)
            called.assert_called_once_with(WORKS, stdout=None)
