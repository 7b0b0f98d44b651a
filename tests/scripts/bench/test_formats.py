import unittest

from scripts.bench import formats
from scripts.bench.forms import CHAT, FORMS
from scripts.bench.product import Target
from scripts.bench.results import Results


def measured(slow="", times=1.0):
    """Results in which chat adds 2 ms, and the format `slow` so many times that; the machine varies."""
    results = Results()
    for way in formats.WAYS:
        for connections in formats.BURSTS:
            for machine in (1.0, 9.0, 1.5):
                for name in (formats.DIRECT, *(form.name for form in FORMS)):
                    added = 0.0 if name == formats.DIRECT else 2.0 * (times if name == slow else 1.0)
                    counted = {"p50_ms": machine * (0.1 + added), "rate": 100.0, "errors": 0}
                    results.add(way.scenario(connections), name, counted)
    return results


class FormatsTest(unittest.TestCase):
    def test_all_formats_and_the_provider_are_asked_alike(self):
        for way in formats.WAYS:
            asked = formats.jobs(way, 8, Target("direct", 1, "mock-1"), 2)
            self.assertEqual(list(asked), [formats.DIRECT, *(form.name for form in FORMS)])
            self.assertEqual([job.port for job in asked.values()], [1] + [2] * len(FORMS))
            self.assertEqual({job.connections for job in asked.values()}, {8})

    def test_scenarios_have_names_of_their_own(self):
        names = [way.scenario(connections) for way in formats.WAYS for connections in formats.BURSTS]
        self.assertEqual(len(set(names)), len(names))
        self.assertIn("route streamed c1", names)

    def test_what_a_format_adds_is_compared_with_chat_in_the_same_round(self):
        results = measured("gemini", 1.2)
        for scenario in results.rounds:
            self.assertAlmostEqual(formats.excess(results, scenario, "gemini"), 1.2)
            self.assertAlmostEqual(formats.excess(results, scenario, CHAT), 1.0)
        self.assertEqual(formats.slow(results), [])
        missed = formats.slow(measured("gemini", 1.5))
        self.assertEqual(len(missed), len(formats.WAYS))
        self.assertTrue(all("gemini" in sentence and "x1.50" in sentence for sentence in missed))

    def test_the_table_has_a_line_for_each(self):
        lines = list(formats.table(measured("gemini", 1.5)))
        self.assertEqual(len(lines), 1 + len(formats.WAYS) * (1 + len(FORMS)))
        self.assertEqual(len({len(line) for line in lines}), 1)
        gemini = next(line for line in lines if "gemini" in line).split()
        self.assertEqual(gemini, ["panel", "gemini", "4.650", "4.500", "1.50", "100", "1.00", "0"])

    def test_the_report_has_what_was_missed(self):
        told = formats.report(measured("responses", 2.0))
        self.assertEqual((told["errors"], len(told["missed"])), (0, len(formats.WAYS)))
