"""The frame of the checks in a browser, without one."""

import io
import os
import sys
import unittest
from contextlib import redirect_stdout
from unittest import mock

from scripts.driven import browser
from tests.browser import __main__ as frame


def said(ci: str, *words: str) -> tuple[int, str]:
    """(exit status, what was printed) where there is no Chromium."""
    out = io.StringIO()
    with (
        mock.patch.object(browser, "missing", lambda: "no Chromium is installed"),
        mock.patch.dict(os.environ, {"CI": ci}),
        mock.patch.object(sys, "argv", ["tests.browser", *words]),
        redirect_stdout(out),
    ):
        return frame.main(), out.getvalue()


class Frame(unittest.TestCase):
    def test_no_browser_is_said_and_a_failure_where_one_is_promised(self) -> None:
        for ci, status, word in (("", 0, "SKIPPED"), ("true", 1, "FAILED")):
            with self.subTest(ci=ci):
                found, text = said(ci)
                self.assertEqual(found, status)
                self.assertTrue(text.startswith(f"{word}: no Chromium is installed."), text)
                self.assertTrue(text.endswith("\n0 passed, 0 failed\n"), text)  # .ci/run counts nothing then

    def test_every_part_of_every_script_is_run_once_the_long_ones_first(self) -> None:
        dealt = frame.dealt(frame.scripts())
        self.assertEqual(len(set(dealt)), len(dealt))
        self.assertEqual({name for name, _ in dealt}, set(frame.scripts()))
        for name, parts in frame.PARTS.items():
            wanted = {f"{part}/{parts}" for part in range(parts)}
            self.assertEqual({part for script, part in dealt if script == name}, wanted)
        long = [name in frame.PARTS for name, _ in dealt]
        self.assertEqual(long, sorted(long, reverse=True))

    def test_what_is_guarded_and_dealt_out_is_there(self) -> None:
        self.assertLessEqual({*frame.GUARDED, *frame.PARTS}, set(frame.scripts()))


if __name__ == "__main__":
    unittest.main()
