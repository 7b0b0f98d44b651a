import json
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

from metrics.commands import installed
from metrics.commands.installed import Place

WHEEL = "lib/python3.12/site-packages/benchwarmers"


UVX = "cache/uv/archive-v0/x1"
PIP = ("/py", "-m", "pip", "install", "--upgrade")


def ways(root: Path) -> list[tuple[str, tuple[str, ...], dict[str, object], tuple[str, ...]]]:
    """(its name, the application's folder and the environment, what else is known, the command)"""
    return [
        ("git", ("checkout",), {}, ("git", "-C", str(root / "checkout"), "pull", "--ff-only")),
        ("source", ("archive",), {}, ()),
        ("uv tool", (f"tool/{WHEEL}", "tool"), {}, ("uv", "tool", "upgrade", "benchwarmers")),
        ("pipx", (f"venvs/pipx/{WHEEL}", "venvs/pipx"), {}, ("pipx", "upgrade", "benchwarmers")),
        (
            "uvx",
            (f"{UVX}/{WHEEL}", UVX),
            {},
            ("uvx", "benchwarmers@latest"),
        ),
        (
            "uvx",
            (f"{UVX}/{WHEEL}", UVX),
            {"origin": "/x.whl"},
            ("uvx", "--from", "/x.whl", "benchwarmers"),
        ),
        ("pip", (f"venv/{WHEEL}", "venv"), {}, (*PIP, "benchwarmers")),
        ("pip", (f"venv/{WHEEL}", "venv"), {"origin": "/dist/x.whl"}, (*PIP, "/dist/x.whl")),
        (
            "uv pip",
            (f"venv/{WHEEL}", "venv"),
            {"installer": "uv"},
            ("uv", "pip", "install", "--python", "/py", "--upgrade", "benchwarmers"),
        ),
        *by_npm(root),
        ("npx", ("_npx/1a/node_modules/benchwarmers/benchwarmers",), {}, ("npx", "benchwarmers@latest")),
        (
            "pipx run",
            (f"cache/pipx/1/{WHEEL}", "cache/pipx/1"),
            {},
            ("pipx", "run", "--no-cache", "benchwarmers"),
        ),
        ("pyz", ("cache/ab/benchwarmers",), {"archive": root / "bench.pyz"}, ()),
        (
            "container",
            ("app/benchwarmers",),
            {"env": {"BENCHWARMERS_INSTALL": "container"}},
            ("docker", "compose", "up", "--detach", "--build"),
        ),
    ]


def by_npm(root: Path) -> list[tuple[str, tuple[str, ...], dict[str, object], tuple[str, ...]]]:
    return [
        (
            "npm",
            ("global/lib/node_modules/benchwarmers/benchwarmers",),
            {},
            ("npm", "install", "--global", "--prefix", str(root / "global"), "benchwarmers@latest"),
        ),
        (
            "npm",
            ("Roaming/npm/node_modules/benchwarmers/benchwarmers",),
            {},
            (
                "npm",
                "install",
                "--global",
                "--prefix",
                str(root / "Roaming" / "npm"),
                "benchwarmers@latest",
            ),
        ),
        (
            "npm",
            ("project/node_modules/benchwarmers/benchwarmers",),
            {},
            ("npm", "install", "--prefix", str(root / "project"), "benchwarmers@latest"),
        ),
    ]


class Ways(unittest.TestCase):
    """Each way by what it leaves on the disk; what they leave was looked at after real installations."""

    def setUp(self) -> None:
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()

    def put(self, *names: str) -> None:
        for name in names:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).touch()

    def way(self, folder: str, prefix: str = "", **more: object) -> installed.Way:
        here = Place(self.root / folder, self.root / prefix, True, "/py", {})
        return installed.way(replace(here, **more))

    def test_every_way(self) -> None:
        wheel = f"tool/{WHEEL}"
        self.put(f"{wheel}/__init__.py", f"venv/{WHEEL}/__init__.py", "checkout/.git/HEAD", "archive/cli.py")
        self.put(f"{UVX}/{WHEEL}/__init__.py", f"venvs/pipx/{WHEEL}/__init__.py")
        self.put(
            "tool/uv-receipt.toml",
            "venvs/pipx/pipx_metadata.json",
            "cache/pipx/1/pipx_metadata.json",
            "project/package.json",
        )
        for name, places, more, words in ways(self.root):
            with self.subTest(name, more=more):
                way = self.way(*places, **more)
                self.assertEqual((way.name, way.words), (name, words))
                self.assertTrue(way.remove)
                self.assertTrue(way.words or way.first)  # there is always something to do
                self.assertFalse(way.runs and not way.words)

    def test_what_was_installed_from_a_file_says_so(self) -> None:
        self.put(f"venv/{WHEEL}/__init__.py")
        way = self.way(f"venv/{WHEEL}", "venv", origin="/dist/x.whl")
        self.assertIn("/dist/x.whl", way.first)

    def test_whose_a_command_is(self) -> None:
        self.put("venv/bin/bench", "other/bin/bench", "g/lib/node_modules/benchwarmers/bin/bench.js", "bin/x")
        (self.root / "bin" / "bench").symlink_to(self.root / "venv" / "bin" / "bench")
        (self.root / "bin" / "npm-bench").symlink_to(
            self.root / "g" / "lib" / "node_modules" / "benchwarmers" / "bin" / "bench.js"
        )
        wheel = Place(self.root / "venv" / WHEEL, self.root / "venv", True, "/py", {})
        npm = replace(
            wheel,
            folder=self.root / "g/lib/node_modules/benchwarmers/benchwarmers",
            prefix=self.root / "other",
        )
        for here, script, ours in [
            (wheel, "venv/bin/bench", True),
            (wheel, "bin/bench", True),
            (wheel, "other/bin/bench", False),
            (npm, "bin/npm-bench", True),
            (npm, "other/bin/bench", False),
        ]:
            with self.subTest(script):
                self.assertEqual(installed.owns(here, self.root / script), ours)

    def test_origins(self) -> None:
        for url, expected in [
            ("file:///home%20of/x.whl", "/home of/x.whl"),
            ("https://example.org/x.whl", "https://example.org/x.whl"),
        ]:
            self.assertEqual(installed.origin(json.dumps({"url": url})), expected)
        for broken in ("", "{}", "[]", "nonsense", '{"url"'):
            self.assertEqual(installed.origin(broken), "")

    def test_this_one(self) -> None:
        here = installed.place({})
        self.assertEqual(here.folder, Path(__file__).resolve().parents[2])
        self.assertEqual((here.python, here.archive), (sys.executable, None))
        self.assertIn(installed.way(here).name, ("git", "source"))
