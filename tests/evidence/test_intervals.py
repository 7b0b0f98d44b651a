import unittest

from metrics.evidence.intervals import poisson, wilson

# useful, judged, low, high: from published tables of the score interval
CASES = [
    (34, 41, 0.687, 0.915),
    (0, 10, 0.0, 0.2775),
    (10, 10, 0.7225, 1.0),
    (1, 2, 0.0945, 0.9055),
    (50, 100, 0.4038, 0.5962),
    (0, 0, 0.0, 1.0),
]


class Wilson(unittest.TestCase):
    def test_known_values(self) -> None:
        for useful, judged, low, high in CASES:
            with self.subTest(f"{useful} of {judged}"):
                found = wilson(useful, judged)
                self.assertAlmostEqual(found[0], low, delta=0.001)
                self.assertAlmostEqual(found[1], high, delta=0.001)

    def test_it_holds_the_rate_and_narrows(self) -> None:
        width = 2.0
        for judged in (1, 4, 16, 64, 256):
            low, high = wilson(judged // 2, judged)
            self.assertTrue(0 <= low <= judged // 2 / judged <= high <= 1)
            self.assertLess(high - low, width)
            width = high - low


class Poisson(unittest.TestCase):
    def test_known_limits(self) -> None:
        # count, the exact 95 % limits (Garwood 1936), to two places
        cases = ((0, 0.0, 3.69), (1, 0.03, 5.57), (5, 1.62, 11.67), (10, 4.80, 18.39), (100, 81.36, 121.63))
        for count, low, high in cases:
            with self.subTest(count):
                found = poisson(count)
                self.assertAlmostEqual(found[0], low, delta=0.05)
                self.assertAlmostEqual(found[1], high, delta=0.08)
