import unittest

from metrics.play import ids


class IdsTest(unittest.TestCase):
    def test_forms(self):
        panel = ids.panel(1_796_000_000, "0a1b2c3d")
        self.assertRegex(panel, r"^p\d{8}-\d{6}-[0-9a-f]{8}$")
        self.assertEqual(panel, "p20261130-005320-0a1b2c3d")
        self.assertEqual(ids.member(panel, 2), f"{panel}.member2")
        self.assertEqual(ids.explorer(panel, 1), f"{panel}.explorer")
        self.assertEqual(ids.explorer(panel, 2), f"{panel}.explorer2")
        self.assertEqual(ids.merger(panel), f"{panel}.merger")
