import json
import sys
import unittest

from scripts.checks import cases
from scripts.checks.tree import Check

FINE = {"id": "003", "title": "lines that end in CRLF", "played": 2, "wrong": [], "later": []}
WRONG = {**FINE, "id": "004", "played": 1, "wrong": ["[x] gone"]}
LATER = {**FINE, "id": "005", "played": 0, "later": ["keys"]}


def printing(*results, code):
    lines = "\n".join(map(json.dumps, results)) + "\n1 passed, 1 failed"
    return [sys.executable, "-c", f"print({lines!r}); raise SystemExit({code!r})"]


class CasesTest(unittest.TestCase):
    def test_each_case_that_was_played_is_a_check(self):
        fine, wrong = Check("003 lines that end in CRLF"), Check("004 lines that end in CRLF", ("[x] gone",))
        for results, code, told in [
            ([FINE, LATER], 0, [fine]),
            ([FINE, WRONG, LATER], 1, [fine, wrong]),
        ]:
            with self.subTest(code):
                self.assertEqual(cases.checks(None, printing(*results, code=code)), told)

    def test_what_cannot_be_played_fails(self):
        for results, code in [([], 0), ([], "no server"), ([FINE], "it died"), ([LATER], 0)]:
            with self.subTest(code):
                *_, last = cases.checks(None, printing(*results, code=code))
                self.assertEqual(last.name, "the cases can be played")
                self.assertTrue(last.problems)
