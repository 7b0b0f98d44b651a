import base64
import csv
import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock
import zipfile
from email import message_from_bytes
from pathlib import Path

from metrics.version import VERSION
from scripts import package

STEM = f"benchwarmers-{VERSION}"
# A little application in place of ours: what the entry points run must not depend on what it does.
LITTLE = (
    "import sys\nimport metrics.version\ndef main(program):\n    print(program, sys.argv[1:], __name__)\n"
)


class SlowWheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.path = cls.folder / package.build_wheel(str(cls.folder))
        with zipfile.ZipFile(cls.path) as wheel:
            cls.entries = {entry.filename: wheel.read(entry) for entry in wheel.infolist()}
            cls.dates = {entry.date_time for entry in wheel.infolist()}

    def test_holds_what_the_application_needs_and_no_more(self):
        names = set(self.entries)
        self.assertEqual(self.path.name, f"{STEM}-py3-none-any.whl")
        for name in (
            "__init__.py",
            "__main__.py",
            "cli.py",
            "serve.py",
            "metrics/version.py",
            "README.md",
            "LICENSE",
            "NOTICE",
        ):
            self.assertIn(f"benchwarmers/{name}", names)
        tops = {name.split("/")[1] for name in names if name.startswith("benchwarmers/")}
        self.assertFalse(tops & {"scripts", "tests", "docs", ".ci", "pyproject.toml"})
        self.assertFalse([name for name in names if "__pycache__" in name or name.endswith(".pyc")])
        self.assertEqual({name.split("/")[0] for name in names}, {"benchwarmers", f"{STEM}.dist-info"})

    def test_record_lists_every_entry_with_its_digest(self):
        record = f"{STEM}.dist-info/RECORD"
        rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(self.entries[record].decode()))}
        self.assertEqual(set(rows), set(self.entries))
        self.assertEqual(rows.pop(record), ["", ""])
        for name, (digest, size) in rows.items():
            expected = (
                base64.urlsafe_b64encode(hashlib.sha256(self.entries[name]).digest()).rstrip(b"=").decode()
            )
            self.assertEqual((digest, size), (f"sha256={expected}", str(len(self.entries[name]))))

    def test_metadata(self):
        told = message_from_bytes(self.entries[f"{STEM}.dist-info/METADATA"])
        expected = {
            "Name": "benchwarmers",
            "Version": VERSION,
            "Requires-Python": ">=3.11",
            "License-Expression": "MIT",
        }
        self.assertEqual({name: told[name] for name in expected}, expected)
        self.assertIsNone(told["Requires-Dist"])
        self.assertTrue(told.get_payload().startswith("# Benchwarmers"))
        scripts = self.entries[f"{STEM}.dist-info/entry_points.txt"].decode().split()
        self.assertIn("benchwarmers:bench", scripts)

    def test_metadata_alone_is_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            name = package.prepare_metadata_for_build_wheel(folder)
            alone = Path(folder, name, "METADATA").read_bytes()
        self.assertEqual(alone, self.entries[f"{name}/METADATA"])

    def test_dates_are_fixed(self):
        self.assertEqual(len(self.dates), 1)

    def test_every_way_in_runs_the_folder_under_one_name(self):
        with tempfile.TemporaryDirectory() as folder:
            inside = Path(folder, "benchwarmers")
            (inside / "metrics").mkdir(parents=True)
            for name in ("__init__.py", "__main__.py"):
                (inside / name).write_bytes(self.entries[f"benchwarmers/{name}"])
            (inside / "metrics" / "version.py").touch()
            (inside / "cli.py").write_text(LITTLE, encoding="utf-8")
            cases = [
                (["-c", "import benchwarmers; benchwarmers.bench()"], "bench"),
                (["-c", "import benchwarmers; benchwarmers.benchwarmers()"], "benchwarmers"),
                (["-m", "benchwarmers"], "benchwarmers"),
                ([str(inside)], "benchwarmers"),
            ]
            for words, program in cases:
                with self.subTest(words):
                    line = [sys.executable, *words, "ask"]
                    done = subprocess.run(line, cwd=folder, capture_output=True, encoding="utf-8", timeout=60)
                    self.assertEqual(done.stdout.strip(), f"{program} ['ask'] cli", done.stderr)


class SlowSourceArchive(unittest.TestCase):
    def test_holds_what_checks_and_builds_need(self):
        with tempfile.TemporaryDirectory() as folder:
            name = package.build_sdist(folder)
            with tarfile.open(Path(folder, name)) as archive:
                names = archive.getnames()
        self.assertEqual(name, f"{STEM}.tar.gz")
        for path in (
            "PKG-INFO",
            "pyproject.toml",
            "scripts/package.py",
            "scripts/check.py",
            ".ci/run",
            "tests/__init__.py",
        ):
            self.assertIn(f"{STEM}/{path}", names)
        self.assertFalse([path for path in names if "__pycache__" in path or ".git/" in path])


class TestBuilding(unittest.TestCase):
    def test_the_same_tree_gives_the_same_bytes(self):
        self.enterContext(little_house(self))
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            for build in (package.build_wheel, package.build_sdist):
                with self.subTest(build.__name__):
                    name = build(one)
                    self.assertEqual(build(two), name)
                    self.assertEqual(Path(one, name).read_bytes(), Path(two, name).read_bytes())

    def test_a_time_can_be_given(self):
        for given, seconds in [({}, package.EPOCH), ({"SOURCE_DATE_EPOCH": "1800000000"}, 1_800_000_000)]:
            with self.subTest(given), unittest.mock.patch.dict("os.environ", given):
                self.assertEqual(package.moment(), seconds)

    def test_nothing_has_to_be_installed_to_build(self):
        self.assertEqual(package.get_requires_for_build_wheel(), [])
        self.assertEqual(package.get_requires_for_build_sdist(), [])


def little_house(test: unittest.TestCase):
    """The packages of a small tree that nobody works on meanwhile."""
    folder = Path(test.enterContext(tempfile.TemporaryDirectory()))
    for name in (
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "NOTICE",
        "metrics/version.py",
        "scripts/folder/__init__.py",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((package.ROOT / name).read_bytes())
    return unittest.mock.patch.object(package, "ROOT", folder)
