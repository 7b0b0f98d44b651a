import os
import unittest
import unittest.mock

from metrics.commands import selfcheck, starting
from metrics.commands.failure import Failure
from tests.commands.stage import Reply, Stage, bench


class SlowSelfcheck(unittest.TestCase):
    def test_this_program_passes(self) -> None:
        env = {**os.environ, "BENCH_PORT": "nonsense", "BENCHWARMERS_HOME": "/nowhere"}
        played = bench("selfcheck", "--json", env=env)
        self.assertEqual((played.code, played.document["failed"]), (0, 0), played.out)
        self.assertEqual(played.document["passed"], len(played.document["steps"]))
        self.assertGreater(played.document["passed"], 15)

    def test_one_that_does_not_start_says_why(self) -> None:
        broken = [starting.sys.executable, "-c", "print('no room'); raise SystemExit(1)"]
        with unittest.mock.patch.object(starting, "program", return_value=broken):
            played = bench("selfcheck", env=dict(os.environ))
        self.assertEqual(played.code, 1)
        self.assertIn("FAIL  a server starts on a free port: it ended: no room", played.out)
        self.assertEqual(played.out.splitlines()[-1], "0 passed, 1 failed")


class Steps(unittest.TestCase):
    """Each step can fail: against a server that answers nonsense none of them passes."""

    def test_nonsense_passes_nothing(self) -> None:
        told: list[tuple[str, str, str]] = []
        steps = selfcheck.Steps(lambda *row: told.append(row))
        answers = {f"POST {path}": Reply({"x": 1}) for path, _, _ in selfcheck.FORMATS.values()}
        with Stage({**answers, "GET /owed": {"a": 1}, "GET /health": {"name": "benchwarmers"}}) as stage:
            selfcheck.used(steps, selfcheck.Server(stage.url, patience=10.0))
        self.assertEqual([name for mark, name, _ in told if mark == "ok"], [])
        self.assertEqual(steps.failed, len(told))
        self.assertTrue(all(why for _, _, why in told))

    def test_what_goes_wrong_is_the_steps(self) -> None:
        steps = selfcheck.Steps(lambda *row: None)
        for trouble in (Failure(503, "nobody"), KeyError("choices"), ValueError("x"), AssertionError("said")):
            with self.subTest(trouble):
                self.assertIsNone(steps.step("x", unittest.mock.Mock(side_effect=trouble)))
        self.assertEqual(steps.failed, 4)
        self.assertEqual(steps.step("y", lambda: 5), 5)

    def test_the_environment_is_a_newcomers(self) -> None:
        kept = selfcheck.environment(
            {"BENCH_PORT": "1", "XAI_API_KEY": "x", "PYTHONPATH": "/", "PATH": "/bin"}
        )
        self.assertEqual({name for name in kept if not name.startswith("PYTHON")}, {"PATH"})
