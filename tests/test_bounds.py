import unittest

from metrics import bounds


def deep(levels, leaf=0):
    for level in range(levels):
        leaf = [leaf] if level % 2 else {"a": leaf}
    return leaf


class BoundsTest(unittest.TestCase):
    def test_depth(self):
        for name, value, expected in (
            ("no levels", "x", True),
            ("the most", deep(bounds.DEEPEST - 1), True),
            ("one more", deep(bounds.DEEPEST + 1), False),
            ("beyond Python's own", deep(5000), False),
            ("wide", [[0]] * 5000, True),
        ):
            with self.subTest(name):
                self.assertIs(bounds.shallow(value), expected)

    def test_numbers(self):
        self.assertEqual([bounds.finite(text) for text in ("1.5", "-1e300")], [1.5, -1e300])
        for text in ("1e999", "-1e999"):
            with self.subTest(text), self.assertRaises(ValueError):
                bounds.finite(text)
