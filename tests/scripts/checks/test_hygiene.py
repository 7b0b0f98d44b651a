import unittest

from scripts.checks import hygiene
from tests.scripts.trees import broken, tree

# Put together from pieces, or this file would be found.
BREACHES = [
    ("no path of one machine", "see /wo" + "rk/main"),
    ("no path of one machine", "x = '/ro" + "ot/x'"),
    ("no path of one machine", "/ho" + "me/ann/x"),
    ("no path of one machine", "/Us" + "ers/ann/x"),
    ("no path of one machine", "C:\\Us" + "ers\\ann"),
    ("no path of one machine", "../sha" + "red/spec"),
    ("no address of a package registry", "https://regi" + "stry.npmjs.org/x"),
    ("no address of a package registry", "pip --extra-in" + "dex-url x"),
    ("no secret", "sk" + "-proj-" + "a1B2" * 8),
    ("no secret", "AKIA" + "A1B2" * 4),
    ("no secret", "-----BEGIN RSA PRI" + "VATE KEY-----"),
    ("no leftover of a merge", "<<<" + "<<<< HEAD"),
    ("every text file is UTF-8 with LF line ends", b"caf\xe9"),
    ("every text file is UTF-8 with LF line ends", b"a\r\nb\r\n"),
]
FINE = [
    "~/.local/share/x",
    "examples/home/core.json",
    "work/life",
    "homework/",
    "sk-test-key",
    "http://127.0.0.1/home/",
    "",
]


class TestHygiene(unittest.TestCase):
    def test_each_breach_is_found_at_its_line(self):
        for name, text in BREACHES:
            content = text if isinstance(text, bytes) else f"first\n{text}\n"
            with self.subTest(name, text=text), tree({"docs/a.md": content}) as found:
                problems = broken(hygiene.checks(found))
                self.assertIn(name, problems)
                self.assertIn("docs/a.md" if isinstance(text, bytes) else "docs/a.md:2", problems[name])

    def test_what_is_fine_is_left_alone(self):
        for text in FINE:
            with self.subTest(text), tree({"a.py": text}) as found:
                self.assertEqual(broken(hygiene.checks(found)), {})
