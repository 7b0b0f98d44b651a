import json
import unittest

from metrics.formats.lines import as_line, unbroken

CASES = [
    "",
    "plain",
    "é",
    "\x85",
    "\u2028\u2029",
    "a\u2028b\x85c\r\n",
    "\u2030",
    "👩‍🚀",
    "x\ud800\u2028",
    "Â…",
]


class LineTest(unittest.TestCase):
    def test_it_is_one_line_and_means_the_same(self):
        for text in CASES:
            with self.subTest(text=text):
                written = as_line({"a": text})
                self.assertEqual(json.loads(written), {"a": text})
                self.assertEqual(len(written.decode("utf-8").splitlines()), 1)

    def test_what_others_wrote(self):
        written = json.dumps(CASES, ensure_ascii=False).encode("utf-8", "replace")
        self.assertEqual(json.loads(unbroken(written)), json.loads(written))
        self.assertEqual(len(unbroken(written).decode("utf-8").splitlines()), 1)
