import os
import unittest
from unittest import mock

from scripts.driven import browser


class Missing(unittest.TestCase):
    def test_what_is_not_there_is_named(self) -> None:
        for there, expected in (
            ({"chromium", "node", "npm"}, None),
            ({"google-chrome", "node", "npm"}, None),
            ({"node", "npm"}, "no Chromium is installed"),
            ({"chromium", "npm"}, "there is no Node"),
            ({"chromium", "node"}, "there is no npm"),
        ):
            which = mock.patch("shutil.which", lambda name, there=there: name if name in there else None)
            with self.subTest(there=there), which, mock.patch.dict(os.environ, {"CHROMIUM": ""}):
                self.assertEqual(browser.missing(), expected)

    def test_another_browser_can_be_named(self) -> None:
        with mock.patch.dict(os.environ, {"CHROMIUM": "/opt/browser"}):
            self.assertEqual(browser.chromium(), "/opt/browser")

    def test_where_checks_are_promised(self) -> None:
        for said, expected in (("true", True), ("1", True), ("", False), ("false", False)):
            with mock.patch.dict(os.environ, {"CI": said}):
                self.assertEqual(browser.promised(), expected)


if __name__ == "__main__":
    unittest.main()
