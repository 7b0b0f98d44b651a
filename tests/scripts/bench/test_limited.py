import unittest

from scripts.bench import limited
from scripts.bench.results import Results


def results(**p50):
    found = Results()
    for name, times in p50.items():
        for one in times:
            counted = {"p50_ms": one, "rate": 100.0, "errors": 0}
            found.add("c1", {"direct": limited.DIRECT, "free": limited.FREE}.get(name, name), counted)
    return found


class LimitedTest(unittest.TestCase):
    def results(self, limits, laden):
        found = results(direct=[1.0, 1.0], free=[2.0, 2.0])
        for name, p50 in ((limited.LIMITED, limits), (limited.LADEN, laden)):
            for one in (p50, p50):
                found.add("c1", name, {"p50_ms": one, "rate": 100.0, "errors": 0})
        return found

    def test_ratios_are_of_what_is_added(self):
        found = limited.ratios(self.results(2.1, 3.0))
        self.assertAlmostEqual(found[limited.LIMITED], 1.1)
        self.assertAlmostEqual(found[limited.LADEN], 2.0)

    def test_what_adds_too_much_is_named(self):
        for limits, laden, missed in [
            (2.1, 2.1, []),
            (2.5, 2.1, ["limits add"]),
            (2.5, 9.0, ["limits add", "year"]),
        ]:
            with self.subTest(limits=limits, laden=laden):
                told = limited.report(self.results(limits, laden))["missed"]
                self.assertEqual(len(told), len(missed))
                for sentence, word in zip(told, missed, strict=True):
                    self.assertIn(word, sentence)

    def test_the_table_has_a_row_for_each(self):
        lines = limited.table(self.results(2.1, 2.2))
        for name in limited.TARGETS:
            self.assertTrue(any(name in line for line in lines), name)
        self.assertIn("x1.10", lines[-1])
