import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from scripts.driven import install

PACKAGE = "@openai/codex"


def lay_down(home: Path, version: str) -> None:
    folder = home / "node_modules" / PACKAGE
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"version": version}), encoding="utf-8")


class Installing(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_every_version_is_exact(self) -> None:
        for package, version in install.pinned().items():
            with self.subTest(package):
                self.assertRegex(version, r"^\d+\.\d+\.\d+$")

    def test_what_is_there_is_not_installed_again(self) -> None:
        home = install.place(self.folder, PACKAGE)
        with mock.patch.object(install, "done", side_effect=AssertionError("installed")):
            lay_down(home, install.pinned()[PACKAGE])
            self.assertEqual(install.install(self.folder, PACKAGE), "")
            (home / "venv/lib/python3/site-packages/aider_chat-0.86.2.dist-info").mkdir(parents=True)
            self.assertTrue(install.there(home, "aider-chat"))

    def test_another_version_is_replaced(self) -> None:
        home = install.place(self.folder, PACKAGE)
        lay_down(home, "0.0.1")

        def npm(*words: object) -> str:
            asked = json.loads((home / "package.json").read_text(encoding="utf-8"))
            lay_down(home, asked["dependencies"][PACKAGE])
            return ""

        with mock.patch.object(install.shutil, "which", return_value="npm"):
            with mock.patch.object(install, "done", side_effect=npm) as ran:
                self.assertEqual(install.install(self.folder, PACKAGE), "")
        self.assertEqual(ran.call_count, 1)

    def test_what_goes_wrong_is_said(self) -> None:
        with mock.patch.object(install.shutil, "which", return_value=None):
            self.assertIn("there is no npm", install.install(self.folder, PACKAGE))
        with mock.patch.object(install.shutil, "which", return_value="npm"):
            with mock.patch.object(install, "done", return_value="no network"):
                self.assertEqual(install.install(self.folder, PACKAGE), "no network")
            with mock.patch.object(install, "done", return_value=""):
                self.assertEqual(install.install(self.folder, PACKAGE), "npm did not install it")

    def test_places(self) -> None:
        self.assertEqual(install.place(Path("d"), PACKAGE), Path("d", "openai-codex"))
        self.assertTrue(install.by_npm(PACKAGE))
        self.assertFalse(install.by_npm("aider-chat"))


if __name__ == "__main__":
    unittest.main()
