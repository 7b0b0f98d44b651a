import io
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

from scripts import bench_pages
from scripts.driven import browser


class BenchPages(unittest.TestCase):
    def test_without_a_browser_nothing_is_measured_and_that_is_no_success(self) -> None:
        said = io.StringIO()
        with mock.patch.object(browser, "missing", lambda: "no Chromium is installed"), redirect_stdout(said):
            self.assertEqual(bench_pages.main([]), 1)
        self.assertEqual(said.getvalue(), "no Chromium is installed. Nothing was measured.\n")

    def test_a_large_house_unless_told_otherwise(self) -> None:
        usual = bench_pages.options([])
        self.assertEqual((usual.calls, usual.panels, usual.models), (1_000_000, 100_000, 300))
        self.assertEqual(bench_pages.options(["--home", "x"]).home, Path("x"))

    def test_what_was_not_drawn_is_printed_as_it_is(self) -> None:
        page = {"paint": 210.0, "drawn": 400.0, "bytes": 90_000}
        said = io.StringIO()
        with redirect_stdout(said):
            bench_pages.drawn(
                {"pages": {"ask": page, "usage": {"error": "late"}}, "panel": {"error": "hung"}}
            )
        for words in ("first paint    210 ms", "usage                    late", "a panel of eight: hung"):
            self.assertIn(words, said.getvalue())


if __name__ == "__main__":
    unittest.main()
