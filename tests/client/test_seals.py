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
        with mock.patch.object(seals, "MOST", 2 * seals.BESIDE + 2):
            seals.keep("m", "1", "a")
            seals.keep("m", "2", "b")
            seals.find("m", "1")
            seals.keep("m", "3", "c")
        self.assertEqual([seals.find("m", call) for call in "123"], ["a", None, "c"])

    def test_all_that_is_kept_has_a_size(self):
        """However it is said: text, or blocks of JSON."""
        for seal in ("x" * 900, {"data": "x" * 900}, ({"a": ["x" * 450]}, {"b": "x" * 450})):
            with self.subTest(seal=str(seal)[:30]), mock.patch.object(seals, "MOST", 5000):
                seals.forget()
                for number in range(20):
                    seals.keep("m", str(number), seal)
                kept = [number for number in range(20) if seals.find("m", str(number))]
                self.assertEqual(kept, [16, 17, 18, 19])

    def test_what_is_kept_again_or_dropped_weighs_nothing(self):
        with mock.patch.object(seals, "MOST", 3 * seals.BESIDE + 100):
            for _ in range(20):
                seals.keep("m", "1", "a")
            seals.forget()
            for call in "123":
                seals.keep("m", call, call)
        self.assertEqual([seals.find("m", call) for call in "123"], ["1", "2", "3"])

    def test_one_that_is_far_too_long_is_not_kept(self):
        seals.keep("m", "1", ["x" * seals.LONGEST])
        self.assertIsNone(seals.find("m", "1"))

    def test_what_is_noted_last_counts(self):
        for fact in ("a", "b", "a"):
            seals.note(seals.OWNER, "digest", fact)
            self.assertEqual(seals.find(seals.OWNER, "digest"), fact)

    def test_two_of_one_name_are_nobodys(self):
        for told, found in (("a", "a"), ("a", "a"), ("b", None), ("a", None), ("b", None)):
            seals.keep("m", "call_0", told)
            self.assertEqual(seals.find("m", "call_0"), found)
