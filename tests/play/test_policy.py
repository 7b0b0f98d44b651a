import unittest
from collections import Counter

from metrics.play import policy


def choose(last, k=1, seed=1, waits=None):
    return policy.seat({"last": last, "waits": waits or {}}, {"candidates": list(last), "k": k}, seed)


class RotationTest(unittest.TestCase):
    CASES = [
        ("nobody to seat", {}, 1, []),
        ("no chair", {"a": 1.0}, 0, []),
        ("the stalest sits", {"a": 30.0, "b": 10.0, "c": 20.0}, 1, ["b"]),
        ("two chairs, stalest first", {"a": 30.0, "b": 10.0, "c": 20.0}, 2, ["b", "c"]),
        ("never seated goes first", {"a": 1.0, "b": None}, 1, ["b"]),
        ("a microsecond decides", {"a": 1.000001, "b": 1.000002}, 1, ["a"]),
        ("more chairs than candidates", {"a": 1.0}, 5, ["a"]),
    ]

    def test_order(self):
        for name, last, k, expected in self.CASES:
            with self.subTest(name):
                self.assertEqual(choose(last, k)["seats"], expected)

    def test_ties_are_drawn_evenly_and_their_probability_told(self):
        last = {"a": None, "b": None, "c": None, "d": 5.0}
        drawn = Counter(choose(last, seed=seed)["seats"][0] for seed in range(3000))
        self.assertEqual(set(drawn), {"a", "b", "c"})
        self.assertTrue(all(900 < count < 1100 for count in drawn.values()), drawn)
        decided = choose(last)
        self.assertAlmostEqual(decided["prob"][decided["seats"][0]], 1 / 3)

    def test_within_a_day_every_model_gets_its_turn(self):
        """An earlier implementation kept dates, not times: within a day the same two of seven sat (fault
        7)."""
        last = dict.fromkeys("abcdefg")
        seated = Counter()
        for turn in range(28):
            for alias in choose(last, k=2, seed=turn)["seats"]:
                last[alias] = 1_796_000_000 + turn
                seated[alias] += 1
        self.assertLessEqual(max(seated.values()) - min(seated.values()), 2, seated)

    def test_same_seed_same_seats_whatever_the_order_of_candidates(self):
        state = {"last": dict.fromkeys("abcdef"), "waits": {}}
        for seed in range(50):
            forward = policy.seat(state, {"candidates": list("abcdef"), "k": 3}, seed)
            backward = policy.seat(state, {"candidates": list("fedcba"), "k": 3}, seed)
            self.assertEqual(forward, backward)

    def test_nothing_given_is_changed(self):
        state, ctx = {"last": {"a": 1.0, "b": 2.0}, "waits": {"a": 3}}, {"candidates": ["a", "b"], "k": 1}
        choice = policy.seat(state, ctx, 1)
        self.assertEqual(
            (state, ctx),
            ({"last": {"a": 1.0, "b": 2.0}, "waits": {"a": 3}}, {"candidates": ["a", "b"], "k": 1}),
        )
        self.assertEqual(choice["why"]["a"]["waited"], 3)
