import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from metrics.records import Problem
from metrics.store import home
from tests.store.case import HomeCase

ROOT = Path(__file__).resolve().parents[2]
USER = Path("/people/ann")

# name, platform, environment, expected
USER_FOLDERS = [
    ("linux", "linux", {}, "/people/ann/.local/share/benchwarmers"),
    ("linux, XDG", "linux", {"XDG_DATA_HOME": "/big"}, "/big/benchwarmers"),
    (
        "linux, a relative XDG counts for nothing",
        "linux",
        {"XDG_DATA_HOME": "big"},
        "/people/ann/.local/share/benchwarmers",
    ),
    ("macOS", "darwin", {}, "/people/ann/Library/Application Support/benchwarmers"),
    ("Windows", "win32", {"LOCALAPPDATA": "/local"}, "/local/benchwarmers"),
    ("Windows, bare", "win32", {}, "/people/ann/AppData/Local/benchwarmers"),
    ("named by the environment", "linux", {"BENCHWARMERS_HOME": "/there"}, "/there"),
]

OWNER = """
import sys
from pathlib import Path
from metrics.store import home
home.use(Path(sys.argv[1]))
with home.own() as owner:
    owner.listening(8122)
    print("owned", flush=True)
    sys.stdin.read()
"""


class Choose(HomeCase):
    def test_without_a_note(self) -> None:
        for name, platform, env, expected in USER_FOLDERS:
            with self.subTest(name):
                chosen = home.choose(None, env, checkout=self.home, platform=platform, user=USER)
                self.assertEqual(chosen.as_posix(), expected)

    def test_the_named_folder_wins(self) -> None:
        self.assertEqual(home.choose(Path("/a"), {"BENCHWARMERS_HOME": "/b"}, self.home), Path("/a"))

    def test_the_checkouts_note(self) -> None:
        note = self.home / ".benchwarmers-home"
        note.write_text("\ufeffmy data\r\n", encoding="utf-8")
        self.assertEqual(home.choose(None, {}, self.home), self.home / "my data")
        self.assertEqual(home.choose(None, {"BENCHWARMERS_HOME": "/b"}, self.home), Path("/b"))
        note.write_text("\n", encoding="utf-8")
        with self.assertRaisesRegex(Problem, "is empty"):
            home.choose(None, {}, self.home)


class Open(HomeCase):
    def test_makes_the_folder_and_copies_what_is_missing(self) -> None:
        examples = self.home / "examples"
        examples.mkdir()
        (examples / "collections.json").write_text('{"core": {}}', encoding="utf-8")
        (examples / "settings.json").write_text("{}", encoding="utf-8")
        there = self.home / "deep" / "data"
        self.assertEqual(home.open_home(there, {}, examples), there)
        self.assertEqual((there / "collections.json").read_text(encoding="utf-8"), '{"core": {}}')
        (there / "collections.json").write_text("mine", encoding="utf-8")
        home.open_home(there, {}, examples)
        self.assertEqual((there / "collections.json").read_text(encoding="utf-8"), "mine")

    @unittest.skipIf(os.name == "nt", "modes")
    def test_modes(self) -> None:
        examples = self.home / "examples"
        examples.mkdir()
        (examples / "collections.json").write_text("{}", encoding="utf-8")
        there = self.home / "data"
        there.mkdir(mode=0o755)
        home.open_home(there, {}, examples)
        self.assertEqual(there.stat().st_mode & 0o777, 0o700)
        self.assertEqual((there / "collections.json").stat().st_mode & 0o777, 0o600)

    @unittest.skipIf(os.name == "nt", "modes")
    def test_a_folder_that_holds_other_things_keeps_its_mode(self) -> None:
        there = self.home / "documents"
        there.mkdir(mode=0o755)
        (there / "letter.txt").write_text("", encoding="utf-8")
        home.use(there)
        self.assertEqual(there.stat().st_mode & 0o777, 0o755)

    def test_a_file_is_no_folder(self) -> None:
        (self.home / "file").write_text("", encoding="utf-8")
        for place in (self.home / "file", self.home / "file" / "below"):
            with self.subTest(place.name), self.assertRaises(Problem):
                home.use(place)

    def test_a_killed_writers_draft_goes_and_a_living_ones_stays(self) -> None:
        (self.home / ".collections.json.draft").write_text("half", encoding="utf-8")
        (self.home / ".settings.json.draft").write_text("half", encoding="utf-8")
        elsewhere = self.home / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / ".models.json.draft").write_text("half", encoding="utf-8")
        lock = home.lock_beside(self.home / "settings.json")
        self.assertTrue(lock.take())
        self.addCleanup(lock.release)
        if os.name != "nt":
            (self.home / "models.json").symlink_to(elsewhere / "models.json")
        home.use(self.home)
        self.assertFalse((self.home / ".collections.json.draft").exists())
        self.assertTrue((self.home / ".settings.json.draft").exists())
        if os.name != "nt":
            self.assertFalse((elsewhere / ".models.json.draft").exists())

    def test_a_visit_changes_nothing(self) -> None:
        draft = self.home / ".models.json.draft"
        draft.write_text("x", encoding="utf-8")
        empty = self.home / "empty"
        empty.mkdir(mode=0o755)
        mode = empty.stat().st_mode
        self.assertEqual(home.visit(self.home), self.home)
        self.assertEqual((home.current(), home.owner(), home.owned()), (self.home, None, False))
        self.assertEqual(home.visit(empty), home.current())
        self.assertEqual((draft.exists(), empty.stat().st_mode, list(empty.iterdir())), (True, mode, []))
        self.assertFalse((home.visit(self.home / "absent")).exists())

    def test_nothing_is_open_before_use(self) -> None:
        script = "from metrics.store import home\nhome.path('x')"
        ran = subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
        )
        self.assertIn("no data folder is open", ran.stderr)


class Own(HomeCase):
    def test_one_owner_at_a_time(self) -> None:
        self.assertIsNone(home.owner())
        with home.own(1) as owner:
            owner.listening(8122)
            self.assertTrue(home.owned())
            self.assertEqual(home.owner(), {"pid": os.getpid(), "port": 8122})
            with self.assertRaisesRegex(Problem, f"process {os.getpid()} on port 8122: stop"), home.own():
                pass
        self.assertFalse(home.owned())
        self.assertIsNone(home.owner())
        with home.own():
            self.assertEqual(json.loads((self.home / "server.lock").read_bytes())["port"], 0)

    def test_what_is_open_is_closed_before_the_folder_is_free(self) -> None:
        seen = []
        with home.own():
            home.on_close(lambda: seen.append(home.owned()))
        self.assertEqual(seen, [True])

    def test_another_process_and_its_death(self) -> None:
        child = subprocess.Popen(
            [sys.executable, "-c", OWNER, str(self.home)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert child.stdout is not None
            self.assertEqual(child.stdout.readline().strip(), "owned")
            with self.assertRaises(Problem) as raised, home.own():
                pass
            self.assertIn(f"process {child.pid} on port 8122", raised.exception.message)
            self.assertEqual(raised.exception.kind, "in_use")
            self.assertFalse(home.writable())
        finally:
            child.kill()
            child.communicate()
        with home.own():
            self.assertTrue(home.writable())
