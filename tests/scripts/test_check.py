import contextlib
import io
import unittest
from unittest import mock

from scripts import check
from scripts.checks.runner import Outcome
from scripts.checks.tree import Check

MODULES = ["tests.store.test_files", "tests.store.test_log", "tests.test_cli", "tests.web.test_log"]


class TestCheck(unittest.TestCase):
    def test_names(self):
        cases = [
            ([], list(check.PARTS), MODULES),
            (["rules"], ["rules"], []),
            (["docs", "rules"], ["rules", "docs"], []),
            (["tests"], [], MODULES),
            (["store"], [], MODULES[:2]),
            (["tests.store"], [], MODULES[:2]),
            (["tests/store/test_log.py"], [], [MODULES[1]]),
            (["store.log"], [], [MODULES[1]]),
            (["log"], [], [MODULES[1], MODULES[3]]),
            (["cli", "sizes"], ["sizes"], ["tests.test_cli"]),
        ]
        for names, static, tests in cases:
            with self.subTest(names):
                self.assertEqual(check.chosen(names, MODULES), (static, tests))

    def test_an_unknown_name_says_what_there_is(self):
        with self.assertRaisesRegex(LookupError, "no part 'stor'.*rules.*tests, store, web"):
            check.chosen(["stor"], MODULES)

    def test_rooms(self):
        self.assertEqual(list(check.by_room(MODULES)), ["tests.store", "tests", "tests.web"])

    def test_a_part_is_a_line_and_its_failures(self):
        total, said = check.Sum(), io.StringIO()
        with contextlib.redirect_stdout(said):
            check._tests(
                "tests.store",
                [Outcome("m", 3, 1, (), 0.5), Outcome("n", 0, 0, (("n.t", "why\nso"),), 0.5)],
                total,
            )
            check._tests("tests.web", [Outcome("m", 2, 0, (), 0.5)], total)
        self.assertEqual((total.passed, total.failed), (5, 1))
        lines = said.getvalue().splitlines()
        self.assertRegex(lines[0], r"^FAIL +tests\.store +3 passed, 1 failed, 1 skipped +1\.0 s$")
        self.assertEqual(lines[2:5], ["  n.t", "    why", "    so"])
        self.assertRegex(lines[-1], r"^ok +tests\.web +2 passed +0\.5 s$")

    def test_ends_with_the_sum(self):
        parts = {
            "rules": lambda tree: [Check("kept"), Check("kept too")],
            "sizes": lambda tree: [Check("kept"), Check("broken", ("a.py is too long",))],
            "docs": lambda tree: [],
        }
        cases = [
            (["rules"], 0, "2 passed, 0 failed"),
            (["rules", "sizes"], 1, "3 passed, 1 failed"),
            (["docs"], 1, "0 passed, 0 failed"),  # nothing ran
        ]
        for names, code, last in cases:
            said = io.StringIO()
            with (
                self.subTest(names),
                mock.patch.object(check, "PARTS", parts),
                contextlib.redirect_stdout(said),
            ):
                self.assertEqual(check.main(names), code)
                self.assertEqual(said.getvalue().splitlines()[-1], last)

    def test_an_unknown_name_is_a_mistake_in_the_line(self):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            self.assertEqual(check.main(["nothing-of-that-name"]), 2)
        self.assertIn("there is no part", errors.getvalue())

    def test_help_does_nothing_else(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), self.assertRaises(SystemExit) as end:
            check.main(["--help", "rules"])
        self.assertEqual(end.exception.code, 0)
        self.assertNotIn("passed,", said.getvalue())
