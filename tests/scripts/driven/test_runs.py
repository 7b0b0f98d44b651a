import os
import signal
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

from scripts.driven import runs
from scripts.driven.agents import AGENTS, Row
from scripts.driven.brain import Brain
from scripts.driven.jobs import JOBS

STAND_IN = """\
import os, sys
sys.stdout.write(sys.stdin.read() + "|" + os.environ["HOME"])
sys.stderr.write('noise\\n{"calls": 3}\\n')
sys.exit(4)
"""


def stand_in(folder: Path, code: str) -> Row:
    """A row whose program is a script that does `code`."""
    program = folder / "stand-in"
    program.write_text(f"#!{sys.executable}\n{code}", encoding="utf-8")
    program.chmod(0o755)
    return replace(AGENTS["opencode-anthropic"], binary="stand-in")


@unittest.skipIf(os.name == "nt", "the stand-in for an agent is a script")
class Running(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        self.root = self.folder / "root"
        self.root.mkdir()

    def test_what_an_agent_leaves(self) -> None:
        row = stand_in(self.folder, STAND_IN)
        with Brain() as brain:
            brain.asked.append({"old": True})
            errand = runs.prepared(row, JOBS["chat"], self.root, "http://x", "core")
            left = runs.do(row, errand, self.folder, "core", brain)
        self.assertEqual((left.code, left.asked, left.used), (4, (), None))
        self.assertEqual(left.out, f"ECHO pong-{left.token}|{self.root / 'home'}")
        self.assertIn(left.token, (left.work / "input.txt").read_text(encoding="utf-8"))
        self.assertTrue((self.root / "home/.config/opencode/opencode.json").exists())

    def test_one_that_does_not_end_is_ended(self) -> None:
        row = stand_in(self.folder, "import signal\nwhile True: signal.pause()")
        with Brain() as brain, mock.patch.object(runs, "PATIENCE", 0.2):
            errand = runs.prepared(row, JOBS["chat"], self.root, "http://x", "core")
            left = runs.do(row, errand, self.folder, "core", brain)
        self.assertIsNone(left.code)

    def test_what_it_left_running_is_ended_and_nothing_else(self) -> None:
        wait = [sys.executable, "-c", "import signal; signal.pause()"]
        mine, other = (
            subprocess.Popen(wait, env={**os.environ, "HOME": str(self.folder / name)})
            for name in ("home", "home-of-another")
        )
        try:
            runs.end_stragglers(self.folder / "home")
            if Path("/proc/self/environ").exists():
                self.assertEqual(mine.wait(10), -signal.SIGTERM)
            self.assertIsNone(other.poll())
        finally:
            for process in (mine, other):
                process.kill()
                process.wait()

    def test_its_environment_is_made_from_nothing(self) -> None:
        with mock.patch.dict(os.environ, {"ANTHROPIC_API_KEY": "x", "HTTP_PROXY": "x"}):
            for name, row in AGENTS.items():
                with self.subTest(name):
                    env = runs.environment(row, self.root, self.folder)
                    self.assertFalse({"ANTHROPIC_API_KEY", "HTTP_PROXY"} & set(env))
                    self.assertEqual(env["HOME"], str(self.root))
                    self.assertEqual("HTTPS_PROXY" in env, row.proxies)

    def test_who_is_launched_is_launched(self) -> None:
        errand = runs.prepared(AGENTS["codex"], JOBS["image"], self.root, "http://x", "core")
        words = runs.command(AGENTS["codex"], errand, "http://x", "core")
        self.assertEqual(words[2:8], ["--url", "http://x", "--json", "launch", "codex", "--collection"])
        self.assertEqual(words[9:11], ["--", "exec"])
        self.assertTrue((errand.work / "pic.png").read_bytes().startswith(b"\x89PNG"))

    def test_what_launch_said_last(self) -> None:
        for err, wanted in (
            ('a\n{"calls": 2}\n', {"calls": 2}),
            ('{"calls": 1}\n{"calls": 2}\nafter', {"calls": 2}),
            ("nothing", {}),
            ("{broken", {}),
            ("", {}),
        ):
            with self.subTest(err):
                self.assertEqual(runs.last_line(err), wanted)


if __name__ == "__main__":
    unittest.main()
