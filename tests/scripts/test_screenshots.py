import io
import re
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

from scripts import screenshots
from scripts.driven import browser

PAGES = (screenshots.ROOT / "tests" / "browser" / "pages.mjs").read_text(encoding="utf-8")


class Screenshots(unittest.TestCase):
    def test_without_a_browser_no_picture_is_taken_and_that_is_no_success(self) -> None:
        said = io.StringIO()
        with mock.patch.object(browser, "missing", lambda: "there is no Node"), redirect_stdout(said):
            self.assertEqual(screenshots.main(["nowhere"]), 1)
        self.assertEqual(said.getvalue(), "there is no Node: no picture was taken.\n")

    def test_a_page_that_failed_and_a_folder_without_pictures_are_failures(self) -> None:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for failed, pictures, expected in ((0, 0, 1), (0, 2, 0), (1, 2, 1)):
            for number in range(pictures):
                (folder / f"{number}.png").touch()
            with (
                self.subTest(failed=failed, pictures=pictures),
                mock.patch.object(browser, "missing", lambda: None),
                mock.patch.object(screenshots, "take", lambda *given, failed=failed: failed),
                redirect_stdout(io.StringIO()),
            ):
                self.assertEqual(screenshots.main([str(folder)]), expected)

    def test_readme_shows_pages_that_there_are_in_pictures_that_are_small(self) -> None:
        readme = (screenshots.ROOT / "README.md").read_text(encoding="utf-8")
        self.assertEqual(
            set(re.findall(r"docs/pictures/(\w+)\.webp", readme)), set(screenshots.SHOWN), "README's pictures"
        )
        for name, picture in screenshots.SHOWN.items():
            with self.subTest(name):
                self.assertRegex(PAGES, rf"\b{picture.split('-')[0]}: \[")
                size = (screenshots.PICTURES / f"{name}.webp").stat().st_size
                self.assertTrue(1000 < size <= screenshots.MOST, size)


if __name__ == "__main__":
    unittest.main()
