import unittest

from metrics.play.practice.paranoid import NETS, suspicions
from metrics.play.practice.parsing import Source

# What each net catches, and what it lets through.
CASES = [
    ("mutable default?", "def f(a=[]): pass", "def f(a=None): pass"),
    ("broad except?", "try: f()\nexcept Exception: pass", "try: f()\nexcept OSError: pass"),
    ("dynamic code?", "eval(x)", "evaluate(x)"),
    ("secret?", "API_KEY = 'abc'", "API_KEY = environ['KEY']"),
    (
        "no timeout?",
        "import requests\nrequests.get(u)",
        "import requests\nrequests.get(u, timeout=3)\nd.get('a')",
    ),
    ("odd comparison?", "x == 0.1", "x == 1"),
    ("division by zero?", "a / b", "a / 2\n'%s' % b"),
    ("concurrency?", "Thread(target=f)", "thread(f)"),
    ("file trouble?", "open(p)", "open(p, 'rb')\nopen(p, encoding='utf-8')"),
    ("bad input?", "int(x)", "int('3')\nstr(x)"),
    ("endless?", "while x: f()", "for x in y: f()"),
    ("shared state?", "CACHE = {}", "def f():\n    cache = {}"),
    ("missing item?", "x[0]", "x[0] = 1\nx[1:2]\ny: dict[str, int]\ndef f(a: list[int]) -> set[int]: pass"),
    ("clock?", "import time\ntime.time()", "import time\ntime.monotonic()"),
    ("randomness?", "import random\nrandom.random()", "import secrets\nsecrets.token_hex()"),
    ("inexact money?", "x = price * 3", "x = width * 3"),
    ("assert?", "assert x", "check(x)"),
    ("magic number?", "f(37)", "LIMIT = 37\nf(limit=37)\nf(0, 1, 100)"),
    ("unfinished?", "x = 1  # TODO: more", "x = 1  # done"),
]


def kinds(text: str) -> set[str]:
    return {finding.kind for finding in suspicions(Source("a.py", text))}


class Nets(unittest.TestCase):
    def test_each_net(self):
        for kind, caught, let_through in CASES:
            with self.subTest(kind):
                self.assertIn(kind, kinds(caught))
                self.assertNotIn(kind, kinds(let_through))

    def test_no_net_is_untested(self):
        self.assertEqual({net.kind for net in NETS} - {kind for kind, _, _ in CASES}, set())

    def test_heaviest_first_and_once_a_line(self):
        found = suspicions(Source("a.py", "f(37) + f(38)\neval(x)\n"))
        self.assertEqual(
            [(one.line, one.kind) for one in found], [(2, "dynamic code?"), (1, "magic number?")]
        )

    def test_what_does_not_parse_is_still_suspected(self):
        found = suspicions(Source("a.py", "# FIXME\ndef f(:\n"))
        self.assertEqual([(one.line, one.kind) for one in found], [(2, "syntax?"), (1, "unfinished?")])

    def test_a_diff(self):
        source = Source("a.py", "f(37)\nf(38)\n", first=10, changed=frozenset({11}), whole=False)
        self.assertEqual([one.line for one in suspicions(source)], [11])
