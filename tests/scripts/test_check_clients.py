import contextlib
import io
import json
import os
import re
import tempfile
import unittest
import unittest.mock
from collections import Counter
from pathlib import Path

from scripts import check_clients

WORKS = "print('PASS lib 1.0: one'); print('1 passed, 0 failed')"
FAILS = "import sys; print('PASS lib 1.0: one'); print('FAIL lib 1.0: two: why: no'); sys.exit(1)"
BREAKS = "import no_such_library_at_all"
HALF = "import sys; print('PASS lib 1.0: one'); sys.exit(3)"


class Pins(unittest.TestCase):
    def test_everything_is_pinned_to_one_version(self):
        for path in (check_clients.CLIENTS / "requirements").glob("*.txt"):
            for line in path.read_text(encoding="utf-8").splitlines():
                with self.subTest(path.name, line=line):
                    self.assertRegex(line, r"^[\w-]+(\[[\w,]+\])?==\d[\w.]*$")
        package = json.loads((check_clients.CLIENTS / "js" / "package.json").read_text(encoding="utf-8"))
        for name, version in package["dependencies"].items():
            with self.subTest(name):
                self.assertRegex(version, r"^\d+\.\d+\.\d+$")

    def test_every_environment_has_its_pins(self):
        homes = {home for homes in check_clients.HOMES.values() for home in homes} | {"main"}
        stems = {path.stem for path in (check_clients.CLIENTS / "requirements").glob("*.txt")}
        self.assertEqual(homes - {"js"}, stems)
        self.assertLessEqual(set(check_clients.HOMES), set(check_clients.scripts()))

    def test_every_library_that_node_scripts_ask_for_is_pinned(self):
        pinned = json.loads((check_clients.CLIENTS / "js" / "package.json").read_text(encoding="utf-8"))
        for script in (check_clients.CLIENTS / "js").glob("*.mjs"):
            asked = re.findall(r'from "([^".:]+)"', script.read_text(encoding="utf-8"))
            with self.subTest(script.name):
                self.assertLessEqual(set(asked), set(pinned["dependencies"]))


class Runs(unittest.TestCase):
    def run_on(self, script: str, problem: str = "") -> tuple[Counter[tuple[str, str]], str]:
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said):
            Path(folder, "run_it.py").write_text(script, encoding="utf-8")
            with (
                unittest.mock.patch.object(check_clients, "CLIENTS", Path(folder)),
                unittest.mock.patch.object(check_clients, "node", lambda home: problem),
            ):
                counts = check_clients.check_in(Path(folder, "js"), ["it"])
        return counts, said.getvalue()

    def test_counts_what_scripts_say(self):
        one = {("PASS", "lib 1.0"): 1}
        for script, counted, shown in (
            (WORKS, one, "PASS lib 1.0: one\n"),
            (FAILS, {**one, ("FAIL", "lib 1.0"): 1}, "FAIL lib 1.0: two: why: no\n"),
            (BREAKS, {("FAIL", "it in js"): 1}, "no_such_library_at_all"),
            (HALF, {**one, ("FAIL", "it in js"): 1}, "ended with 3"),
        ):
            with self.subTest(script):
                counts, said = self.run_on(script)
                self.assertEqual(counts, counted)
                self.assertIn(shown, said)
                self.assertNotIn("1 passed", said)

    def test_what_cannot_be_installed_is_a_failure(self):
        counts, said = self.run_on(WORKS, "no network")
        self.assertEqual(counts, {("FAIL", "the libraries of js"): 1})
        self.assertIn("no network", said)

    def test_libraries_find_no_settings_of_this_machine(self):
        told = {
            "OPENAI_API_KEY": "x",
            "OPENAI_BASE_URL": "x",
            "OLLAMA_HOST": "x",
            "https_proxy": "x",
            "PATH": "p",
        }
        with unittest.mock.patch.dict(os.environ, told, clear=True):
            self.assertEqual(
                set(check_clients.environment(Path("home"))),
                {"PATH", "PYTHONIOENCODING", "PYTHONPYCACHEPREFIX"},
            )
