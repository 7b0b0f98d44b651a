import ast
import os
import stat
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from scripts.packages import archives, manifest, onefile

CLI = """\
import sys
from pathlib import Path
def main(program):
    print(program, sys.argv[1:], Path(__file__).parent)
"""
OUTPUT = '"""Quoting."""\nimport shlex\nquoted = shlex.quote\n'


class TestOldPythons(unittest.TestCase):
    def test_what_says_that_a_python_is_too_old_can_be_read_by_it(self):
        root = manifest.ROOT
        for path in (onefile.MAIN, "serve.py", "cli.py", "metrics/__init__.py"):
            with self.subTest(path):
                ast.parse((root / path).read_text(encoding="utf-8"), feature_version=(3, 8))
        first = (root / "metrics" / "__init__.py").read_text(encoding="utf-8")
        with (
            mock.patch.object(sys, "version_info", (3, 10, 1)),
            self.assertRaisesRegex(ImportError, "3.11 or newer"),
        ):
            exec(first, {})


@unittest.skipIf(os.name == "nt", "modes are POSIX's")
class SlowOneFile(unittest.TestCase):
    """bench.pyz with a little application inside."""

    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.archive = self.root / "my bench.pyz"
        self.cache = self.root / "cache" / "benchwarmers"
        self.build()

    def build(self, more: str = ""):
        (_, main), *_ = manifest.files([onefile.MAIN])
        archives.zip(
            self.archive,
            {
                "__main__.py": main,
                "benchwarmers/cli.py": (CLI + more).encode(),
                "benchwarmers/metrics/commands/output.py": OUTPUT.encode(),
                "evil.py": b"",
            },
            program=True,
        )

    def run_it(self, *words: str, **env: str) -> tuple[int, str, str]:
        env = {**os.environ, "XDG_CACHE_HOME": str(self.root / "cache"), "TMPDIR": str(self.root), **env}
        line = [sys.executable, str(self.archive), *words]
        done = subprocess.run(line, env=env, cwd=self.root, capture_output=True, encoding="utf-8", timeout=60)
        return done.returncode, done.stdout.strip(), done.stderr

    def unpacked(self) -> list[Path]:
        return sorted(self.cache.iterdir()) if self.cache.exists() else []

    def test_it_is_unpacked_once_and_is_the_users_alone(self):
        for _ in range(2):
            code, said, err = self.run_it("ask", "a b")
            [folder] = self.unpacked()
            self.assertEqual(
                (code, said), (0, f"python3 'my bench.pyz' ['ask', 'a b'] {folder / 'benchwarmers'}"), err
            )
        for place in (self.cache, folder):
            self.assertEqual(stat.S_IMODE(place.stat().st_mode), 0o700)
        self.assertEqual([path.name for path in folder.iterdir()], ["benchwarmers"])

    def test_another_version_gets_a_folder_of_its_own(self):
        self.run_it()
        self.build("# newer\n")
        self.run_it()
        self.assertEqual(len(self.unpacked()), 2)
        old = min(self.unpacked(), key=lambda path: path.stat().st_mtime)
        os.utime(old, (0, 0))
        self.build("# newest\n")
        self.run_it()
        self.assertEqual(len(self.unpacked()), 2)  # what nobody started for a month is gone
        self.assertNotIn(old, self.unpacked())

    def test_what_was_lost_is_made_again(self):
        self.run_it()
        [folder] = self.unpacked()
        (folder / "benchwarmers" / "cli.py").unlink()
        code, said, err = self.run_it()
        self.assertEqual(code, 0, err)
        self.assertEqual(self.unpacked(), [folder])

    def test_a_cache_that_is_not_ours_alone_is_not_trusted(self):
        self.run_it()
        [folder] = self.unpacked()
        (folder / "benchwarmers" / "cli.py").write_text("raise SystemExit(66)", encoding="utf-8")
        for place in (self.cache, folder):
            with self.subTest(place.name):
                place.chmod(0o777)
                code, said, err = self.run_it()
                self.assertEqual(code, 0, err)
                self.assertIn(str(self.root / "benchwarmers-"), said)
                self.assertEqual(list(self.root.glob("benchwarmers-*")), [])  # removed at the end
                place.chmod(0o700)

    def test_no_cache_at_all(self):
        (self.root / "cache").write_text("a file", encoding="utf-8")
        code, said, err = self.run_it()
        self.assertEqual(code, 0, err)
        self.assertIn(str(self.root / "benchwarmers-"), said)

    def test_many_first_starts_at_once(self):
        env = {**os.environ, "XDG_CACHE_HOME": str(self.root / "cache")}
        started = [
            subprocess.Popen([sys.executable, str(self.archive)], env=env, stderr=subprocess.PIPE, stdout=-3)
            for _ in range(4)
        ]
        for process in started:
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
        self.assertEqual(len(self.unpacked()), 1)

    def test_it_can_be_run_by_its_name(self):
        self.assertEqual(stat.S_IMODE(self.archive.stat().st_mode), 0o755)
        self.assertTrue(self.archive.read_bytes().startswith(b"#!/usr/bin/env python3\n"))
        with zipfile.ZipFile(self.archive) as packed:
            self.assertIsNone(packed.testzip())
