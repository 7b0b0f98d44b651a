import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from scripts.packages import manifest, npm

NODE = shutil.which("node")
LAUNCH = manifest.ROOT / "scripts" / "npm" / "lib" / "launch.js"

# What each command says its version is, and which is then taken.
CHOICES = [
    ("the first that is new enough", "linux", {}, {"python3": [3, 9], "python3.12": [3, 12]}, ["python3.12"]),
    ("python3 before others", "linux", {}, {"python3": [3, 11], "python3.13": [3, 13]}, ["python3"]),
    ("a newer major", "linux", {}, {"python": [4, 0]}, ["python"]),
    ("Windows' launcher", "win32", {}, {"py -3": [3, 12], "python": [3, 13]}, ["py", "-3"]),
    ("Windows without it", "win32", {}, {"python": [3, 11]}, ["python"]),
    (
        "the one named",
        "linux",
        {"BENCHWARMERS_PYTHON": "mine"},
        {"python3": [3, 12], "mine": [3, 11]},
        ["mine"],
    ),
    ("no other than the one named", "linux", {"BENCHWARMERS_PYTHON": "mine"}, {"python3": [3, 12]}, None),
    ("too old alone", "linux", {}, {"python3": [3, 10]}, None),
    ("none", "win32", {}, {}, None),
]
ASK = """
const launch = require(process.argv[1]);
const rows = JSON.parse(process.argv[2]);
const told = rows.map(([name, platform, env, found]) => {
  const { words, seen } = launch.find(platform, env, (line) => found[line.join(" ")] || null);
  return { words, said: words ? "" : launch.absent(env, seen) };
});
console.log(JSON.stringify(told));
"""
# A stand-in for the application: says what it was given, then waits for a signal or ends.
PROGRAM = """
import os, signal, sys, time
def stop(number, frame):
    print("told", number, flush=True)
    sys.exit(7)
signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)
print(PROGRAM, sys.argv[1:], os.getcwd() in sys.path, flush=True)
if sys.argv[1:] == ["die"]:
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[1:] == ["wait"]:
    signal.pause()
sys.exit(int(sys.argv[1]))
"""


class TestPackageJson(unittest.TestCase):
    def test_it_names_both_commands_and_needs_nothing(self):
        told = json.loads(npm.package_json())
        self.assertEqual(told["bin"], {"bench": "bin/bench.js", "benchwarmers": "bin/benchwarmers.js"})
        self.assertEqual(told["engines"], {"node": ">=18"})
        self.assertFalse([name for name in told if "ependencies" in name or name == "scripts"])


@unittest.skipUnless(NODE, "there is no Node here")
class TestChoosing(unittest.TestCase):
    def test_the_python_that_is_taken(self):
        line = [NODE, "-e", ASK, str(LAUNCH), json.dumps(CHOICES)]
        done = subprocess.run(line, capture_output=True, encoding="utf-8", timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        for (name, _, _, found, expected), told in zip(CHOICES, json.loads(done.stdout), strict=True):
            with self.subTest(name):
                self.assertEqual(told["words"], expected)
                if expected is None:
                    self.assertIn("Python 3.11 or newer", told["said"])
                    self.assertIn("BENCHWARMERS_PYTHON", told["said"])
                    old = [version for version in found.values() if version < [3, 11]]
                    self.assertTrue(not old or "python3 is 3.10" in told["said"], told["said"])


@unittest.skipUnless(NODE, "there is no Node here")
@unittest.skipIf(os.name == "nt", "signals are POSIX's")
class SlowLaunching(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        for path, content in manifest.files([npm.LAUNCHER]):
            target = cls.folder / Path(path).relative_to(npm.LAUNCHER)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        (cls.folder / "benchwarmers").mkdir()
        (cls.folder / "benchwarmers" / "__main__.py").write_text(PROGRAM, encoding="utf-8")

    def start(self, command: str, *words: str, **env: str) -> "subprocess.Popen[str]":
        line = [NODE, str(self.folder / "bin" / f"{command}.js"), *words]
        env = {**os.environ, "BENCHWARMERS_PYTHON": sys.executable, **env}
        return subprocess.Popen(
            line,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
        )

    def test_arguments_and_exit_codes_pass(self):
        for command, words, code in [("bench", ["0"], 0), ("benchwarmers", ["5", "a b", "-q", ""], 5)]:
            with self.subTest(words), self.start(command, *words) as process:
                out, err = process.communicate(timeout=60)
                self.assertEqual(out.strip(), f"{command} {words} False", err)
                self.assertEqual(process.returncode, code)

    def test_signals_pass_and_its_end_is_ours(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number), self.start("bench", "wait") as process:
                self.assertIn("wait", process.stdout.readline())
                process.send_signal(number)
                out, _ = process.communicate(timeout=60)
                self.assertEqual(out.strip(), f"told {int(number)}")
                self.assertEqual(process.returncode, 7)

    def test_a_program_that_a_signal_ends(self):
        with self.start("bench", "die") as process:
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, -signal.SIGKILL)

    def test_no_python(self):
        with self.start("bench", "0", BENCHWARMERS_PYTHON="") as process:
            process.communicate(timeout=60)
        with self.start("bench", "0", BENCHWARMERS_PYTHON=str(self.folder / "nothing")) as process:
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (1, ""))
            self.assertIn("is no Python 3.11 or newer", err)
