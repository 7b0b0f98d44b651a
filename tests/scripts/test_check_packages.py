import contextlib
import io
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from scripts import check_packages, package
from scripts.check_packages import Stage, Way

PROGRAM = "import sys\nsys.exit(1)\n"


def broken(stage: Stage) -> None:
    raise RuntimeError("no such package")


def nothing(stage: Stage) -> None:
    pass


def failing(stage: Stage) -> tuple[list[object], list[object]]:
    words: list[object] = [sys.executable, "-c", PROGRAM]
    return words, words


class CheckPackages(unittest.TestCase):
    def setUp(self) -> None:
        self.top = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def stage(self, name: str = "stage") -> Stage:
        (self.top / name / "home").mkdir(parents=True)
        return Stage(self.top, self.top / name / "home", self.top / name / "there", sys.executable)

    def tried(self, way: Way, stage: Stage) -> tuple[tuple[int, int], str]:
        with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
            counts = check_packages.tried(way, stage)
        return counts, said.getvalue()

    def test_what_cannot_be_installed_fails(self) -> None:
        counts, said = self.tried(Way("x", "x", broken, failing, nothing), self.stage())
        self.assertEqual(counts, (0, 1))
        self.assertIn("no such package", said)

    def test_an_installation_that_does_nothing_passes_nothing_that_matters(self) -> None:
        counts, said = self.tried(Way("x", "x", nothing, failing, nothing), self.stage())
        failed = [line[6:] for line in said.splitlines() if line.startswith("FAIL")]
        for name in ("it serves and says where", "bench --version", "its own self-check passes (0 steps)"):
            self.assertIn(name, failed)
        self.assertIn("bench update knows how it was installed", failed)
        self.assertIn("only the data folder is left in its user's home", failed)  # there is not even that

    def test_what_is_left_behind(self) -> None:
        stage = self.stage()
        for name in (
            f"{check_packages.DATA}/models.json",
            ".npm/x/y",
            ".cache/uv/z",
            ".cache/benchwarmers/1/a.py",
        ):
            (stage.home / name).parent.mkdir(parents=True, exist_ok=True)
            (stage.home / name).touch()
        self.assertEqual(
            check_packages.remaining(stage.home), {check_packages.DATA, ".cache/benchwarmers/1/a.py"}
        )
        (stage.there / "bin").mkdir(parents=True)
        (stage.there / "bin" / "bench").touch()
        _, said = self.tried(Way("x", "x", nothing, failing, nothing), stage)
        self.assertIn("FAIL  nothing is left where it was installed\n['bin/bench']", said)

    def test_ways_by_name(self) -> None:
        names = [way.name for way in check_packages.WAYS]
        self.assertEqual([way.name for way in check_packages.chosen("")], names)
        self.assertEqual([way.name for way in check_packages.chosen("pyz, pip")], ["pip", "pyz"])
        with self.assertRaisesRegex(LookupError, "there are: pip, sdist"):
            check_packages.chosen("conda")
        for asked in ("uvx", "npm", "pip", "pyz"):  # what has to be shown
            self.assertIn(asked, names)

    def test_a_missing_tool_is_passed_over_but_where_it_has_to_be_there(self) -> None:
        def built(words: list[str]) -> int:
            Path(words[1]).mkdir()
            (Path(words[1]) / "x.whl").touch()
            return 0

        for env, code, last in (({}, 0, "1 passed, 0 failed"), ({"CI": "true"}, 1, "1 passed, 1 failed")):
            with (
                self.subTest(env),
                unittest.mock.patch.object(package, "main", built),
                unittest.mock.patch.dict("os.environ", env, clear=not env),
                contextlib.redirect_stdout(io.StringIO()) as said,
            ):
                self.assertEqual(check_packages.main(["--ways", "npm"], lambda name: None), code)
            self.assertIn("SKIPPED: npm is not here", said.getvalue())
            self.assertEqual(said.getvalue().splitlines()[-1], last)

    def test_its_user_has_this_python_and_nothing_of_ours(self) -> None:
        with unittest.mock.patch.dict("os.environ", {"BENCH_PORT": "1", "PATH": "/bin"}):
            env = check_packages.environment(self.top, "/opt/py/bin/python3")
        self.assertEqual((env["HOME"], env["PATH"]), (str(self.top), "/opt/py/bin:/bin"))
        self.assertNotIn("BENCH_PORT", env)
