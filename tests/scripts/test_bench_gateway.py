import contextlib
import io
import unittest
from unittest import mock

from scripts import bench_gateway
from scripts.bench.product import Target
from scripts.bench.results import Results
from scripts.bench_gateway import Scenario

SCENARIOS = (Scenario("c1", 1, targets=("direct", "ours")), Scenario("c8", 8, targets=("direct", "ours")))
TARGETS = {"direct": Target("direct", 1, "m"), "ours": Target("ours", 2, "m")}


def counted(p50: float, rate: float = 100.0, errors: int = 0) -> dict[str, float]:
    return {
        "ok": rate,
        "errors": errors,
        "rate": rate,
        "p50_ms": p50,
        "p99_ms": p50,
        "mean_ms": p50,
        "seconds": 1.0,
    }


class TestMeasure(unittest.TestCase):
    def test_targets_take_turns_at_being_first(self):
        asked = []

        def visit(job, pid):
            asked.append((job.port, job.connections))
            return counted(1.0)

        with (
            mock.patch.object(bench_gateway.product, "visit", visit),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            results = bench_gateway.measure(SCENARIOS, TARGETS, rounds=2, seconds=0.1)
        self.assertEqual(asked, [(1, 1), (2, 1), (1, 8), (2, 8), (2, 1), (1, 1), (2, 8), (1, 8)])
        self.assertEqual(len(results.rounds["c8"]["ours"]), 2)

    def test_the_table_has_a_line_for_each(self):
        results, said = Results(), io.StringIO()
        for scenario in SCENARIOS:
            results.add(scenario.name, "direct", counted(2.0, 1000.0))
            results.add(scenario.name, "ours", counted(5.0, 250.0) | {"cpu_us": 123.0})
        with contextlib.redirect_stdout(said):
            bench_gateway.table(results, SCENARIOS, "direct")
        lines = said.getvalue().splitlines()
        self.assertEqual(
            lines[3].split(), ["c1", "ours", "5.000", "3.000", "2.5", "250", "0.250", "123", "0"]
        )
        self.assertEqual(len({len(line) for line in lines[1:]}), 1)


class TestGate(unittest.TestCase):
    def test_what_must_hold(self):
        cases = [
            ({"python": "3.11", "overhead": {"errors": 0}}, 0),
            ({"overhead": {"errors": 2}}, 1),
            ({"overhead": {"errors": 0}, "history": {"errors": 0, "ratio": 1.10}}, 0),
            ({"overhead": {"errors": 1}, "history": {"errors": 0, "ratio": 1.2}}, 2),
            ({"route": {"errors": 0, "missed": []}}, 0),
            ({"route": {"errors": 3, "missed": ["far"]}}, 2),
            ({"formats": {"errors": 0, "missed": []}, "memory": {"errors": 0, "missed": []}}, 0),
            (
                {"formats": {"errors": 0, "missed": ["slow"]}, "memory": {"errors": 0, "missed": ["a", "b"]}},
                3,
            ),
        ]
        for report, missed in cases:
            with self.subTest(report):
                self.assertEqual(len(bench_gateway.gate(report)), missed)


class TestWanted(unittest.TestCase):
    def test_what_is_measured(self):
        cases = [
            ([], ["overhead"]),
            (["--history"], ["overhead", "history"]),
            (["--only-history"], ["history"]),
            (["--formats"], ["formats"]),
            (["--route"], ["route"]),
            (["--memory", "--formats", "--gate"], ["formats", "memory"]),
            (["--formats", "--history"], ["history", "formats"]),
        ]
        for argv, wanted in cases:
            with self.subTest(argv):
                self.assertEqual(list(bench_gateway.wanted(bench_gateway.options(argv))), wanted)
