import unittest
from unittest import mock

from metrics.client import seals


class SealsTest(unittest.TestCase):
    def setUp(self):
        seals.forget()
        self.addCleanup(seals.forget)

    def test_a_seal_is_its_models_alone(self):
        seals.keep("e:a", "call_1", {"signature": "s"})
        self.assertEqual(seals.find("e:a", "call_1"), {"signature": "s"})
        self.assertIsNone(seals.find("e:b", "call_1"))
        self.assertIsNone(seals.find("e:a", "call_2"))

    def test_the_least_used_go_first(self):
        with mock.patch.object(seals, "MOST", 2):
            seals.keep("m", "1", "a")
            seals.keep("m", "2", "b")
            seals.find("m", "1")
            seals.keep("m", "3", "c")
        self.assertEqual([seals.find("m", call) for call in "123"], ["a", None, "c"])
