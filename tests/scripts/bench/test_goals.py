import json
import unittest

from scripts.bench import goals
from scripts.bench.goals import ADDED, GOALS, KINDS, MEDIAN, RATIO, Goal
from scripts.bench.results import Results
from scripts.bench.routed import NAMES, NEW, ONGOING, Measured
from tests.scripts.bench.test_routed import measured

LIGHT = {"idle": 30.0, "slow": 61.0, "after": 90.0}


class GoalTest(unittest.TestCase):
    def test_met_and_far(self):
        cases = [
            (Goal("x", "s", "f", RATIO, 7.0), 7.0, True, False),
            (Goal("x", "s", "f", RATIO, 7.0), 7.1, False, False),
            (Goal("x", "s", "f", RATIO, 7.0), 7.0 * goals.FAR + 1, False, True),
            (Goal("x", "s", "f", RATIO, 0.4, least=True), 0.4, True, False),
            (Goal("x", "s", "f", RATIO, 0.4, least=True), 0.1, False, False),
            (Goal("x", "s", "f", RATIO, 0.4, least=True), 0.4 / goals.FAR - 0.01, False, True),
            (Goal("x", "s", "f", ADDED, 1.5), 1e6, False, False),
            (Goal("x", "s", "f", MEDIAN, 1.5), 1e6, False, False),
        ]
        for goal, value, met, far in cases:
            with self.subTest(goal, value=value):
                self.assertEqual((goal.met(value), goal.far(value)), (met, far))

    def test_every_goal_is_of_a_scenario_with_direct_calls(self):
        for goal in GOALS:
            with self.subTest(goal.what):
                self.assertIn("direct", NAMES[goal.scenario].targets)

    def test_values_are_taken_within_a_round(self):
        found = Measured(measured(first=4.0, pace=50.0), LIGHT)
        by_field = {"first_ms": {RATIO: 4.0, ADDED: 6.0, MEDIAN: 8.0}, "pace": {RATIO: 0.5}}
        for goal in GOALS:
            expected = by_field.get(goal.field, {}).get(goal.how)
            if expected:
                with self.subTest(goal.what):
                    self.assertAlmostEqual(goals.reached(goal, found, ONGOING), expected)

    def test_what_nobody_can_tell_is_unknown(self):
        processor = next(goal for goal in GOALS if goal.field == "cpu_us")
        long = next(goal for goal in GOALS if goal.scenario == "2 MB c4")
        for goal, found in (
            (processor, measured()),
            (long, measured()),
            (GOALS[0], measured(ok=0)),
            (GOALS[0], Results()),
        ):
            self.assertIsNone(goals.reached(goal, Measured(found, {}), NEW))


class TableTest(unittest.TestCase):
    def test_a_line_for_each_goal(self):
        lines = list(goals.table(Measured(measured(cpu_us=200.0), LIGHT)))
        self.assertEqual(len(lines), 1 + len(GOALS) + len(goals.WEIGHTS) + 2)
        self.assertEqual(lines.pop(), goals.CAVEAT)
        ends = {line[:12]: line.split()[-1] for line in lines}
        self.assertEqual(ends["1 KB c1: lat"], "met")
        self.assertEqual(ends["1 KB c8: pro"], "missed")
        self.assertEqual(ends["RSS at rest,"], "met")
        self.assertEqual(ends["RSS with 128"], "missed")
        self.assertEqual(ends["errors      "], "met")

    def test_what_was_not_measured_is_unknown(self):
        lines = list(goals.table(Measured(measured(ok=0), {"idle": None})))
        self.assertTrue(all(line.endswith("unknown") for line in lines[1:-2]))


class MissedTest(unittest.TestCase):
    def test_only_ratios_far_off_and_silence_are_told(self):
        cases = [
            ("near", measured(first=20.0, pace=11.0, cpu_us=9e9), 0),
            ("slow", measured(first=7.0 * goals.FAR + 1, pace=50.0), len(KINDS)),
            ("silent", measured(first=4.0, pace=50.0, ok=0), None),
        ]
        for name, results, count in cases:
            with self.subTest(name):
                found = goals.missed(Measured(results, LIGHT))
                if count is None:
                    count = sum(len(scenario.targets) - 1 for scenario in NAMES.values())
                self.assertEqual(len(found), count, found)

    def test_the_report_can_be_written(self):
        told = json.loads(json.dumps(goals.report(Measured(measured(), LIGHT))))
        self.assertEqual((told["errors"], told["missed"]), (0, []))
        self.assertEqual(set(told["goals"]), {goal.what for goal in GOALS})
