"""Who explores, seen through the gateway: on a bench of its own, because the pool is everybody's."""

import unittest

from tests.provider import Provider, error
from tests.running import Running


def ask(model, **more):
    return {"model": model, "messages": [{"role": "user", "content": "hello"}], **more}


class SlowExplorerTest(unittest.TestCase):
    def setUp(self):
        self.bench = self.enterContext(Running())
        self.provider = self.enterContext(Provider())

    def seats(self, name, **more):
        status, reply = self.bench.post("/v1/chat/completions", ask(name, **more))
        self.assertEqual(status, 200, reply)
        return [(seat["seat"], seat["alias"]) for seat in reply["bench"]["seats"]]

    def test_explorers_take_turns_within_a_day(self):
        """Everybody in the pool gets a seat before anybody gets a second one (fault 7)."""
        pool = ["x1", "x2", "x3", "x4"]
        self.bench.seat("cc", self.provider.base, "mm", explorers=1)
        self.bench.seat("pp", self.provider.base, *pool)
        turns = [self.seats("cc")[1][1] for _ in range(12)]
        for start in (0, 4, 8):
            self.assertEqual(sorted(turns[start : start + 4]), pool)
        self.assertEqual(turns[:4], turns[4:8])

    def test_a_guest_takes_the_explorers_chair(self):
        self.bench.seat("cc", self.provider.base, "mm", explorers=1)
        self.assertEqual(
            self.seats("cc", **{"with": ["practice-counter"]})[1:], [("explorer", "practice-counter")]
        )

    def test_a_model_that_keeps_failing_or_rests_explores_no_more(self):
        self.provider.script("bad", error(401, "no"))
        self.provider.script("limited", error(429, "later", headers={"Retry-After": "3600"}))
        self.bench.seat("cc", self.provider.base, "mm", explorers=2)
        self.bench.seat("pp", self.provider.base, "bad", "limited", "good")
        for _ in range(8):
            seated = self.seats("cc")
        self.assertEqual(seated[1:], [("explorer", "good")])
        _, reply = self.bench.post("/v1/chat/completions", ask("cc"))
        skipped = {skip["alias"]: skip["why"] for skip in reply["bench"]["skipped"]}
        self.assertIn("failing", skipped["bad"])
        self.assertIn("rests", skipped["limited"])

    def test_the_practice_squad_leaves_the_pool_for_real_models(self):
        squad = ["practice-counter"]
        self.assertEqual([alias for seat, alias in self.seats("core") if seat == "explorer"], squad)
        self.bench.seat("cc", self.provider.base, "mm")
        self.assertEqual([alias for seat, alias in self.seats("core") if seat == "explorer"], ["mm"])

    def test_programs_do_not_merge(self):
        status, reply = self.bench.post("/v1/chat/completions", ask("core:merged"))
        self.assertEqual(status, 200)
        self.assertIn("program", reply["bench"]["note"])
