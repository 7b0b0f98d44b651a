import json
import random
import unittest
from collections import Counter
from typing import Any

from metrics.play import route_policy
from metrics.play.route_policy import counts, merit, order

FOUR = ["aa", "bb", "cc", "dd"]
# cc seems best, bb is hardly known, aa is usual and dd is poor; dd answered longest ago.
KNOWN: dict[str, dict[str, Any]] = {
    "record": {"aa": [6, 6, 6, 6], "cc": [9.6, 6, 12, 8], "dd": [1, 6, 1, 6]},
    "last": {"aa": 400.0, "bb": 300.0, "cc": 200.0, "dd": 100.0},
    "useful": {"aa": 3, "cc": 5, "dd": 1},
}
ALL = (order, counts)


def rows(aliases: list[str] = FOUR, **more: Any) -> list[dict[str, Any]]:
    """Of each of them a row with what is KNOWN, and `more` by field; `rests` are the times until which."""
    known = {**KNOWN, **more}
    known["rests"] = {alias: {"until": until} for alias, until in known.get("rests", {}).items()}
    return [
        {"alias": alias, **{field: of[alias] for field, of in known.items() if alias in of}}
        for alias in aliases
    ]


def bare(**known: Any) -> list[dict[str, Any]]:
    """Of each of FOUR a row with nothing but this."""
    return rows(**{"record": {}, "last": {}, "useful": {}, **known})


class Merit(unittest.TestCase):
    def test_golden(self) -> None:
        cases = [
            ("nothing known", 0.5, (0, 0, 0, 0), 0.5, 0.223607, 0.0),
            ("usual", 0.5, (6, 6, 6, 6), 0.5, 0.150756, 6.0),
            ("six of six, drawn to the usual", 0.5, (12, 6, 12, 6), 0.8, 0.120605, 6.0),
            ("other kinds count less", 0.5, (0, 0, 12, 6), 0.736842, 0.150157, 3.6),
            ("none of six", 0.5, (0, 6, 0, 6), 0.2, 0.120605, 6.0),
            ("never believed in full", 0.9, (60, 30, 60, 30), 0.98, 0.023664, 30.0),
        ]
        for name, level, record, rate, doubt, n in cases:
            with self.subTest(name):
                found = merit(level, record)
                self.assertEqual((found["rate"], found["doubt"], found["n"]), (rate, doubt, n))
                self.assertAlmostEqual(found["value"], rate + doubt, 5)

    def test_more_of_the_same_leaves_less_doubt(self) -> None:
        doubts = [merit(0.5, (n, n, n, n))["doubt"] for n in range(20)]
        self.assertEqual(doubts, sorted(doubts, reverse=True))


class Order(unittest.TestCase):
    def test_golden(self) -> None:
        found = order(0.5, rows(), 7)
        self.assertEqual(found["order"], ["cc", "bb", "aa", "dd"])
        self.assertEqual(found["ranked"], found["order"])
        self.assertEqual([found["why"][alias]["how"] for alias in found["order"]], ["leader", *["next"] * 3])
        shares = {
            "aa": 0.05 * 1 / 100,
            "bb": 0.05 * 8 / 100,
            "cc": 0.95 + 0.05 * 27 / 100,
            "dd": 0.05 * 64 / 100,
        }
        for alias, share in shares.items():
            self.assertAlmostEqual(found["prob"][alias], share, 9)

    def test_a_turn_comes_first_and_the_others_stay_in_order(self) -> None:
        drawn = next(found for seed in range(999) if (found := order(0.5, rows(), seed))["order"][0] == "dd")
        self.assertEqual(drawn["order"], ["dd", "cc", "bb", "aa"])
        self.assertEqual(drawn["ranked"], ["cc", "bb", "aa", "dd"])
        self.assertEqual(drawn["why"]["dd"]["how"], "turn")
        self.assertEqual(drawn["why"]["cc"]["how"], "next")

    def test_nothing_is_known(self) -> None:
        self.assertEqual(order(0.5, bare(), 7)["ranked"], FOUR)

    def test_ties(self) -> None:
        cases: list[tuple[str, dict[str, Any], str]] = [
            ("as listed", {}, "aa"),
            ("findings", {"findings": {"cc": 2, "bb": 1}, "paid": {"bb": True}}, "cc"),
            ("then what is paid", {"findings": {"dd": 0}, "paid": {"dd": True}}, "dd"),
        ]
        for name, facts, first in cases:
            with self.subTest(name):
                self.assertEqual(order(0.5, bare(**facts), 7)["ranked"][0], first)
        better = bare(record={"aa": [2, 1, 2, 1]}, findings={"bb": 9})
        self.assertEqual(order(0.5, better, 7)["ranked"][0], "aa")


class Counts(unittest.TestCase):
    def test_most_useful_and_one_in_four_the_stalest(self) -> None:
        found = counts(0.5, rows(), 7)
        self.assertEqual(found["ranked"], ["cc", "aa", "dd", "bb"])
        self.assertEqual(found["prob"], {"aa": 0.0, "bb": 0.0, "cc": 0.75, "dd": 0.25})
        self.assertEqual(found["why"]["cc"]["useful"], 5)

    def test_the_stalest_leads_anyway(self) -> None:
        found = counts(0.5, rows(last={"aa": 9.0, "bb": 8.0, "dd": 7.0}), 7)
        self.assertEqual(found["prob"]["cc"], 1.0)


class Both(unittest.TestCase):
    def test_probabilities_are_a_distribution_that_the_draws_follow(self) -> None:
        for policy in ALL:
            for name, known in (("all", rows()), ("one rests", rows(rests={"cc": 9.0}))):
                with self.subTest(policy=policy.__name__, name=name):
                    prob = policy(0.5, known, 1)["prob"]
                    self.assertAlmostEqual(sum(prob.values()), 1.0, 9)
                    firsts = Counter(policy(0.5, known, seed)["order"][0] for seed in range(8000))
                    for alias, share in prob.items():
                        spread = (share * (1 - share) / 8000) ** 0.5
                        self.assertLessEqual(abs(firsts[alias] / 8000 - share), 4 * spread, alias)

    def test_everybody_is_asked_once(self) -> None:
        draw = random.Random(5)
        for seed in range(200):
            some = draw.sample(FOUR, draw.randrange(5))
            rests = dict.fromkeys(draw.sample(FOUR, draw.randrange(5)), 5.0)
            for policy in ALL:
                found = policy(0.5, rows(some, rests=rests), seed)
                self.assertEqual(sorted(found["order"]), sorted(some))
                self.assertEqual(set(found["prob"]), set(some))

    def test_who_rests_is_never_first_and_last_of_all(self) -> None:
        rests = {"cc": 900.0, "aa": None, "bb": 600.0}
        for policy in ALL:
            for seed in range(100):
                with self.subTest(policy=policy.__name__, seed=seed):
                    found = policy(0.5, rows(rests=rests), seed)
                    self.assertEqual(found["order"], ["dd", "bb", "cc", "aa"])
                    self.assertEqual(found["prob"]["dd"], 1.0)
                    self.assertEqual(found["why"]["aa"]["how"], "rests")

    def test_when_all_rest_the_soonest_back_is_first(self) -> None:
        rests = {"aa": None, "bb": 50.0, "cc": 70.0, "dd": 60.0}
        for policy in ALL:
            found = policy(0.5, rows(rests=rests), 3)
            self.assertEqual(found["order"], ["bb", "dd", "cc", "aa"])
            self.assertEqual((found["prob"]["bb"], found["why"]["bb"]["how"]), (1.0, "rests"))

    def test_pure(self) -> None:
        for policy in ALL:
            known, before = rows(), random.getstate()
            first = policy(0.5, known, 11)
            self.assertEqual(policy(0.5, json.loads(json.dumps(known)), 11), first)
            self.assertEqual((known, random.getstate()), (rows(), before))
            self.assertEqual(json.loads(json.dumps(first)), first)

    def test_one_and_none(self) -> None:
        for policy in ALL:
            self.assertEqual(policy(0.5, rows(["aa"]), 1)["prob"], {"aa": 1.0})
            self.assertEqual(policy(0.5, [], 1)["order"], [])

    def test_of_last_answers_only_the_order_counts(self) -> None:
        later = rows(last={alias: 2 * last + 7 for alias, last in KNOWN["last"].items()})
        other = rows(last={alias: -last for alias, last in KNOWN["last"].items()})
        for policy in ALL:
            self.assertEqual(policy(0.5, later, 3), policy(0.5, rows(), 3))
            self.assertNotEqual(policy(0.5, other, 3)["prob"], policy(0.5, rows(), 3)["prob"])

    def test_names(self) -> None:
        named = [(name, recorded) for name, (recorded, _, _) in route_policy.POLICIES.items()]
        self.assertEqual(named, [("record", "record/1"), ("counts", "counts/1")])


class Learning(unittest.TestCase):
    def test_it_finds_who_is_best_and_sees_when_that_changes(self) -> None:
        """Two hundred judged conversations with known odds, then the best one breaks."""
        draw, odds = random.Random(2), {"aa": 0.4, "bb": 0.7, "cc": 0.5, "dd": 0.3}
        judged: dict[str, list[float]] = {alias: [0.0, 0.0] for alias in odds}
        shares = []
        for turn in range(400):
            if turn % 200 == 0:
                firsts: Counter[str] = Counter()
            if turn == 200:
                odds["bb"] = 0.05
            for sums in judged.values():  # a half-life of 60 conversations
                sums[0], sums[1] = sums[0] * 0.9885, sums[1] * 0.9885
            record = {alias: [good / 0.5, n, good / 0.5, n] for alias, (good, n) in judged.items()}
            first = order(0.5, bare(record=record), turn)["order"][0]
            judged[first][0] += draw.random() < odds[first]
            judged[first][1] += 1
            firsts[first] += 1
            if turn % 200 == 199:
                shares.append(firsts)
        self.assertGreater(shares[0]["bb"], 110)
        self.assertLess(shares[1]["bb"], 60)
        self.assertEqual(shares[1].most_common(1)[0][0], "cc")


if __name__ == "__main__":
    unittest.main()
