import unittest
from dataclasses import replace

from metrics.client import room
from tests.client.arrivals import TARGET

# asked, the most the model writes, whether it reasons, what is sent, the first word of why
CASES = [
    (100, None, False, 100, ""),
    (100, 1000, False, 100, ""),
    (2000, 1000, False, 1000, "cut"),
    (1000, 1000, True, 1000, ""),
    (100, None, True, 100 + room.LEAST, "raised"),
    (100, 1000, True, 1000, "raised"),
    (50_000, None, True, 50_000 + room.MOST, "raised"),
    ("many", None, True, "many", ""),
]


class BudgetTest(unittest.TestCase):
    def test_cases(self):
        for asked, most, reasons, sent, why in CASES:
            with self.subTest(asked=asked, most=most, reasons=reasons):
                found, words = room.budget(asked, replace(TARGET, max_output=most), reasons)
                self.assertEqual((found, words.partition(" ")[0]), (sent, why))
