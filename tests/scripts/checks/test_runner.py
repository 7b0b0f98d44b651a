import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from scripts.checks import runner

MODULES = {
    "passing": "class T(unittest.TestCase):\n    def test_a(self):\n        pass\n",
    "failing": (
        "class T(unittest.TestCase):\n    def test_a(self):\n"
        "        print('a word')\n        self.fail('because')\n"
    ),
    "unreadable": "class T(\n",
    "dying": "class T(unittest.TestCase):\n    def test_a(self):\n        os._exit(7)\n",
    "hanging": "class T(unittest.TestCase):\n    def test_a(self):\n        threading.Event().wait()\n",
    "lingering": "threading.Thread(target=threading.Event().wait).start()\n",
    "empty": "",
    "homely": (
        "class T(unittest.TestCase):\n    def test_a(self):\n"
        "        self.assertNotIn('GROQ_API_KEY', os.environ)\n"
        "        self.assertNotIn('BENCHWARMERS_HOME', os.environ)\n"
        "        self.assertIn('bench-test-', os.path.expanduser('~'))\n"
    ),
}
HEAD = "import os, threading, unittest\n"
SURROUNDINGS = {"GROQ_API_KEY": "x", "BENCHWARMERS_HOME": "/nowhere"}


class SlowRunner(unittest.TestCase):
    """Each module by itself, and all of them once more as a room, where one takes the next ones down."""

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        for tests in (Path(folder, "tests"), Path(folder, "tests", "room")):
            tests.mkdir()
            (tests / "__init__.py").touch()
            for name, text in MODULES.items():
                (tests / f"test_{name}.py").write_text(HEAD + text, encoding="utf-8")
        cls.modules = runner.discover(Path(folder))
        with mock.patch.dict(os.environ, SURROUNDINGS), mock.patch.object(runner, "GRACE", 20.0):
            with runner.Run(Path(folder), cls.modules, workers=4, seconds=2.5, quick=False) as run:
                cls.outcomes = {module: run.outcome(module) for module in cls.modules}

    def test_discovers_in_order(self):
        expected = [f"tests.{place}test_{name}" for place in ("", "room.") for name in MODULES]
        self.assertEqual(self.modules, sorted(expected))

    def test_batches(self):
        store = [f"tests.store.test_{n}" for n in range(runner.BATCH + 2)]
        top = ["tests.test_a", "tests.test_b", "tests.test_c"]
        found = runner.batches(["tests.web.deep.test_x", *top, *store], {"tests.test_b"}, store[:1])
        self.assertEqual(found[0], ["tests.test_b"])
        self.assertEqual(found[1], store[: runner.BATCH])
        self.assertEqual(
            sorted(found[2:]),
            sorted([["tests.test_a", "tests.test_c"], ["tests.web.deep.test_x"], store[runner.BATCH :]]),
        )

    def test_who_serves(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in [("a", "import tests.running\n"), ("b", "import tests.provider\n")]:
                place = Path(folder, "tests", f"test_{name}.py")
                place.parent.mkdir(exist_ok=True)
                place.write_text(text, encoding="utf-8")
            modules = ["tests.test_a", "tests.test_b"]
            self.assertEqual(runner.serving(Path(folder), modules), {"tests.test_a"})
            self.assertEqual(runner.asking(Path(folder), modules), {"tests.test_b"})

    def test_outcomes(self):
        cases = [
            ("passing", 1, []),
            ("failing", 0, ["because", "a word"]),
            ("unreadable", 0, ["SyntaxError"]),
            ("dying", 0, ["exit 7"]),
            ("hanging", 0, ["test_a", "wait", "threading.py"]),
            ("lingering", 0, []),
            ("empty", 0, []),
            ("homely", 1, []),
        ]
        for name, passed, says, place in (
            (*case, place) for case in cases for place in ("tests", "tests.room")
        ):
            with self.subTest(name, place=place):
                outcome = self.outcomes[f"{place}.test_{name}"]
                self.assertEqual(
                    (outcome.passed, len(outcome.failures)), (passed, bool(says)), outcome.failures
                )
                for words in says:
                    self.assertIn(words, outcome.failures[0][1] + outcome.failures[0][0])

    def test_what_is_compiled_is_kept_for_the_run(self):
        for said, kept in [({}, None), ({"PYTHONDONTWRITEBYTECODE": "1"}, "/compiled")]:
            with self.subTest(said), mock.patch.dict(os.environ, said):
                if not said:
                    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
                    os.environ.pop("PYTHONPYCACHEPREFIX", None)
                env = runner.environment(True, "/compiled")
                self.assertEqual(env.get("PYTHONPYCACHEPREFIX"), kept)
                self.assertNotIn("PYTHONDONTWRITEBYTECODE", env)

    def test_a_death_names_the_test(self):
        self.assertIn("test_a", self.outcomes["tests.test_dying"].failures[0][0])

    def test_a_report_that_broke_off(self):
        started = '{"start": "a"}\n{"passed": "a"}\n{"start": "b"}\n{"fai'
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "report").write_text(started, encoding="utf-8")
            Path(folder, "said").write_text("x" * 20_000, encoding="utf-8")
            outcome = runner.read("tests.test_x", Path(folder), -9)
        self.assertEqual(outcome.passed, 1)
        self.assertEqual(outcome.failures[0][0], "b")
        self.assertIn("characters left out", outcome.failures[0][1])
