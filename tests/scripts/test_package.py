import base64
import contextlib
import csv
import hashlib
import io
import os
import re
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
from scripts.packages import documents, manifest

STEM = f"benchwarmers-{VERSION}"
# A little application in place of ours: what the entry points run must not depend on what it does.
LITTLE = (
    "import sys\nimport metrics.version\ndef main(program):\n    print(program, sys.argv[1:], __name__)\n"
)
NEEDED = (
    "__init__.py",
    "__main__.py",
    "cli.py",
    "serve.py",
    "metrics/version.py",
    "metrics/bench/catalog/snapshot.json",
    "ui/index.html",
    "ui/fonts",
    "examples/home/collections.json",
    "docs/CLI.md",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "NOTICE",
)
NOT_NEEDED = {
    "scripts",
    "tests",
    ".ci",
    "pyproject.toml",
    "AGENTS.md",
    "deploy",
    "Dockerfile",
    "package.json",
}


class SlowPackages(unittest.TestCase):
    """All packages of this tree, built once."""

    @classmethod
    def setUpClass(cls):
        cls.out = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.house = manifest.ROOT
        copied(list(manifest.files(manifest.SOURCES)), cls.out / "tree")  # which nobody edits meanwhile
        cls.enterClassContext(unittest.mock.patch.object(manifest, "ROOT", cls.out / "tree"))
        cls.wheel = cls.out / package.build_wheel(str(cls.out))
        with zipfile.ZipFile(cls.wheel) as packed:
            cls.entries = {entry.filename: packed.read(entry) for entry in packed.infolist()}
        with zipfile.ZipFile(cls.out / package.build_pyz(str(cls.out))) as packed:
            cls.onefile = {entry.filename: packed.read(entry) for entry in packed.infolist()}
        cls.npm = untarred(cls.out / package.build_npm(str(cls.out)), "package/")
        cls.sdist = untarred(cls.out / package.build_sdist(str(cls.out)), f"{STEM}/")
        cls.context = untarred(cls.out / package.build_container(str(cls.out)), "")

    def test_every_package_holds_the_same_folder(self):
        folder = below("benchwarmers/", self.entries)
        self.assertEqual(below("benchwarmers/", self.onefile), folder)
        self.assertEqual(below("benchwarmers/", self.npm), folder)
        self.assertEqual(folder, below("benchwarmers/", manifest.folder()))

    def test_the_folder_holds_what_the_application_needs_and_no_more(self):
        names = set(below("benchwarmers/", self.entries))
        for name in NEEDED:
            with self.subTest(name):
                self.assertTrue([each for each in names if each == name or each.startswith(f"{name}/")])
        self.assertFalse({name.split("/")[0] for name in names} & NOT_NEEDED)
        self.assertFalse([name for name in names if re.search(r"__pycache__|\.py[co]$|pictures/", name)])
        hidden = {part for name in names for part in name.split("/") if part.startswith(".")}
        self.assertLessEqual(hidden, {".claude-plugin", ".cursor-plugin", ".mcp.json"})  # as agents want them
        self.assertEqual({name.split("/")[0] for name in self.entries}, {"benchwarmers", f"{STEM}.dist-info"})

    def test_sizes(self):
        self.assertLess(self.wheel.stat().st_size, 2_000_000)

    def test_no_link_in_a_shipped_document_leads_out(self):
        for name, held in (("wheel", self.entries), ("npm", self.npm), ("pyz", self.onefile)):
            folders = {str(parent) for path in held for parent in Path(path).parents}
            for path in [path for path in held if path.endswith(".md")]:
                with self.subTest(name, path=path):
                    told = held[path].decode()
                    self.assertEqual(documents.astray(told, path, {*held, *folders}), [])
        told = self.entries[f"{STEM}.dist-info/METADATA"].decode()
        self.assertEqual(documents.astray(told, "METADATA", set()), [])

    def test_versions_agree(self):
        self.assertRegex(VERSION, r"^\d+\.\d+\.\d+$")
        newest = re.search(r"^## (?:\[)?(\d+\.\d+\.\d+)", self.sdist["CHANGELOG.md"].decode(), re.MULTILINE)
        self.assertEqual(newest[1], VERSION)
        self.assertIn(f'"version": "{VERSION}"', self.npm["package.json"].decode())
        self.assertEqual(message_from_bytes(self.sdist["PKG-INFO"])["Version"], VERSION)
        plugins = [path for path in self.sdist if path.startswith("plugin/") and path.endswith("plugin.json")]
        for path in plugins:
            said = re.search(r'"version":\s*"([^"]+)"', self.sdist[path].decode())
            self.assertIn(said and said[1], (None, VERSION), path)

    def test_record_lists_every_entry_with_its_digest(self):
        record = f"{STEM}.dist-info/RECORD"
        rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(self.entries[record].decode()))}
        self.assertEqual(set(rows), set(self.entries))
        self.assertEqual(rows.pop(record), ["", ""])
        for name, (digest, size) in rows.items():
            expected = base64.urlsafe_b64encode(hashlib.sha256(self.entries[name]).digest()).rstrip(b"=")
            self.assertEqual((digest, size), (f"sha256={expected.decode()}", str(len(self.entries[name]))))

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
        scripts = self.entries[f"{STEM}.dist-info/entry_points.txt"].decode()
        self.assertEqual(
            scripts,
            "[console_scripts]\nbench = benchwarmers:bench\nbenchwarmers = benchwarmers:benchwarmers\n",
        )
        self.assertIn(f"{STEM}.dist-info/licenses/LICENSE", self.entries)

    def test_metadata_alone_is_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            name = package.prepare_metadata_for_build_wheel(folder)
            alone = Path(folder, name, "METADATA").read_bytes()
        self.assertEqual(alone, self.entries[f"{name}/METADATA"])

    def test_the_source_archive_holds_all_that_is_kept(self):
        for path in ("PKG-INFO", "pyproject.toml", "scripts/package.py", ".ci/run", "tests/__init__.py"):
            self.assertIn(path, self.sdist)
        git = subprocess.run(["git", "ls-files"], cwd=self.house, capture_output=True, encoding="utf-8")
        if git.returncode == 0 and "scripts/package.py" in git.stdout.split():
            there = {path for path in git.stdout.splitlines() if (self.house / path).is_file()}
            self.assertEqual(sorted(there - set(self.sdist)), [])
        self.assertFalse([path for path in self.sdist if re.search(r"__pycache__|^\.git/", path)])

    def test_the_context_builds_the_same_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            for path, content in self.context.items():
                Path(folder, path).parent.mkdir(parents=True, exist_ok=True)
                Path(folder, path).write_bytes(content)
            line = [sys.executable, "scripts/package.py", "folder", "--out", "built"]
            done = subprocess.run(line, cwd=folder, capture_output=True, encoding="utf-8", timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            built = {
                path.relative_to(f"{folder}/built").as_posix(): path.read_bytes()
                for path in Path(folder, "built").rglob("*")
                if path.is_file()
            }
        self.assertEqual(
            built, {path: self.entries[path] for path in self.entries if ".dist-info" not in path}
        )
        self.assertFalse([path for path in self.context if path.startswith(("tests/", ".git"))])

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


class SlowReproducible(unittest.TestCase):
    def test_the_same_tree_gives_the_same_bytes(self):
        """Wherever and whenever it is built, and whatever its files' dates and modes are."""
        with tempfile.TemporaryDirectory() as folder:
            built, tree = [], list(manifest.files(manifest.SOURCES))
            for name, (seed, zone, mask, at) in {
                "one": ("1", "UTC", 0o022, 1_700_000_000),
                "two": ("2", "Asia/Tokyo", 0o077, 1_800_000_000),
            }.items():
                root = Path(folder, name, "tree")
                copied(tree, root, at, mask)
                env = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C"}
                env.pop("SOURCE_DATE_EPOCH", None)
                line = [
                    sys.executable,
                    str(root / "scripts" / "package.py"),
                    "--out",
                    str(root.parent / "out"),
                ]
                subprocess.run(line, env=env, check=True, capture_output=True, timeout=120, umask=mask)
                built.append({path.name: digest(path) for path in (root.parent / "out").iterdir()})
        self.assertEqual(len(built[0]), len(package.PACKAGES))
        self.assertEqual(built[0], built[1])


class TestBuilding(unittest.TestCase):
    def test_dates_modes_and_names_are_fixed(self):
        with little_house() as folder:
            (folder / "metrics" / "version.py").chmod(0o600)
            with zipfile.ZipFile(folder / package.build_wheel(str(folder))) as packed:
                listed = packed.infolist()
            self.assertEqual({entry.date_time for entry in listed}, {(2026, 1, 1, 0, 0, 0)})
            self.assertEqual({entry.external_attr >> 16 for entry in listed}, {0o100644})
            with tarfile.open(folder / package.build_sdist(str(folder))) as packed:
                listed = packed.getmembers()
            self.assertEqual(
                {(entry.mtime, entry.uid, entry.uname) for entry in listed}, {(manifest.EPOCH, 0, "")}
            )
            self.assertEqual([entry.name for entry in listed], sorted(entry.name for entry in listed))

    def test_a_time_can_be_given(self):
        for given, seconds in [({}, manifest.EPOCH), ({"SOURCE_DATE_EPOCH": "1800000000"}, 1_800_000_000)]:
            with self.subTest(given), unittest.mock.patch.dict("os.environ", given):
                self.assertEqual(manifest.moment(), seconds)

    def test_nothing_has_to_be_installed_to_build(self):
        self.assertEqual(package.get_requires_for_build_wheel(), [])
        self.assertEqual(package.get_requires_for_build_sdist(), [])

    def test_a_build_that_breaks_leaves_what_was_there(self):
        with little_house() as folder:
            name = package.build_npm(str(folder))
            before = (folder / name).read_bytes()
            with unittest.mock.patch.object(tarfile.TarFile, "addfile", side_effect=OSError("full")):
                with self.assertRaises(OSError):
                    package.build_npm(str(folder))
            self.assertEqual((folder / name).read_bytes(), before)
            self.assertEqual([path.name for path in folder.glob(".*.draft")], [])

    def test_the_line(self):
        with little_house() as folder:
            cases = [
                (["wheel", "pyz"], 0, {f"{STEM}-py3-none-any.whl", "bench.pyz"}),
                (["folder"], 0, {"benchwarmers"}),
            ]
            for kinds, code, made in cases:
                with self.subTest(kinds), contextlib.redirect_stdout(io.StringIO()) as said:
                    out = folder / "-".join(kinds)
                    self.assertEqual(package.main([*kinds, "--out", str(out)]), code)
                    self.assertEqual({path.name for path in out.iterdir()}, made)
                    self.assertEqual(len(said.getvalue().splitlines()), len(kinds))
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(package.main(["folder", "--out", str(folder / "folder")]), 1)
                self.assertIn("is there already", said.getvalue())
                with self.assertRaises(SystemExit):
                    package.main(["egg"])
            self.assertIn("there are: wheel, sdist", said.getvalue())


def untarred(path: Path, top: str) -> dict[str, bytes]:
    with tarfile.open(path) as packed:
        return {name.removeprefix(top): packed.extractfile(name).read() for name in packed.getnames()}


def below(top: str, entries: dict[str, bytes]) -> dict[str, bytes]:
    return {path.removeprefix(top): content for path, content in entries.items() if path.startswith(top)}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def copied(tree: list[tuple[str, bytes]], root: Path, at: int = 1_700_000_000, mask: int = 0o022) -> None:
    """A copy of the tree, every file dated `at`, made in an order of its own."""
    for path, content in tree if mask == 0o077 else reversed(tree):
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(0o777 & ~mask)
        os.utime(target, (at, at))


@contextlib.contextmanager
def little_house():
    """The packages of a small tree that nobody works on meanwhile; its folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = [*manifest.files(["pyproject.toml", "README.md", "LICENSE", "NOTICE", "metrics/version.py"])]
        kept += manifest.files([manifest.ENTRY, "scripts/npm", "scripts/onefile"])
        for path, content in kept:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        with unittest.mock.patch.object(manifest, "ROOT", folder):
            yield folder
