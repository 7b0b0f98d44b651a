import json
from unittest import mock

from metrics.bench import moves
from metrics.evidence import offloads, reliability, verdicts
from metrics.limits import ledger
from metrics.play import ranking, route_policy
from metrics.records import Problem
from metrics.store import files, home, stamps
from tests.play.house import BY, NOW, House, request


class RankingCase(House):
    def setUp(self):
        super().setUp()
        ledger.LOG.open()  # outcomes are kept among its counters, in this test's own folder
        self.seat("core", "ma", "mb", "mc")
        self.calls = 0

    def judge(self, alias, *useful, collection="core", shape="general"):
        for said in useful:
            self.calls += 1
            call = f"r{stamps.stamp(NOW)[:10].replace('-', '')}-120000-0a1b2c3d.{self.calls}"
            subject = {"collection": collection, "shape": shape, "model": alias, "model_id": f"fake:{alias}"}
            offloads.record(
                {"at": stamps.stamp(NOW), "call": call, "seat": "member", "status": "ok", **subject}
            )
            verdicts.give(call, said, now=NOW)

    def order(self, seed=7, now=NOW, **asked):
        return ranking.order(request(reply="route", **asked), now, seed)

    def ranked(self, **asked):
        return self.order(**asked).decision["ranked"]


class Order(RankingCase):
    def test_by_the_record(self):
        self.assertEqual(self.ranked(), ["ma", "mb", "mc"])
        self.judge("ma", False, False)
        self.judge("mc", True, True, True)
        self.assertEqual(self.ranked(), ["mc", "mb", "ma"])
        ranked = self.order()
        self.assertEqual([target.alias for target in ranked.members], ranked.decision["order"])
        self.assertEqual((ranked.shape, ranked.skipped), ("general", ()))

    def test_another_collections_record_is_not_this_ones(self):
        self.seat("other", "ma", "mb")
        self.judge("mb", True, True, collection="other")
        self.assertEqual(self.ranked(), ["ma", "mb", "mc"])
        self.assertEqual(self.ranked(collection="other"), ["mb", "ma"])

    def test_other_kinds_of_task_count_less_but_count(self):
        self.judge("mb", True, True, True, shape="prose")
        self.assertEqual(self.ranked()[0], "mb")
        self.judge("mc", True, True, True)
        self.assertEqual(self.ranked()[0], "mc")

    def test_a_renamed_model_keeps_its_record(self):
        self.judge("mb", True, True)
        moves.rename("mb", "best", BY)
        self.assertEqual(self.ranked(), ["best", "ma", "mc"])

    def test_who_rests_stands_last(self):
        self.judge("mb", True, True)
        reliability.note("fake:mb", "error", NOW, "rate_limited", 30.0)
        self.assertEqual([target.alias for target in self.order().members], ["ma", "mc", "mb"])
        self.assertEqual(self.ranked(now=NOW + 31)[0], "mb")

    def test_counts(self):
        self.settings(route_policy="counts")
        self.judge("ma", True, True, False, False, False, False)
        self.judge("mb", True)
        self.assertEqual(self.ranked(), ["ma", "mb", "mc"])
        decision = self.order().decision
        self.assertEqual(decision["policy"], "counts/1")
        self.assertEqual([one["useful"] for one in decision["candidates"]], [2, 1, 0])

    def test_within_a_moment_a_verdict_and_a_setting_show_at_once(self):
        with files.moment():
            self.assertEqual(self.ranked(), ["ma", "mb", "mc"])
            self.judge("mc", True)
            self.assertEqual(self.ranked()[0], "mc")
            self.settings(route_policy="counts")
            decision = self.order().decision
            self.assertEqual((decision["policy"], decision["record_rev"]), ("counts/1", 1))

    def test_nobody_and_nowhere(self):
        for status, asked in ((404, {"collection": "none"}), (400, {"tools": [{"type": "function"}]})):
            with self.subTest(status), self.assertRaises(Problem) as caught:
                self.order(**asked)
            self.assertEqual(caught.exception.status, status)

    def test_it_reads_no_log(self):
        self.judge("mb", True, True)
        self.order()
        with mock.patch.multiple(verdicts.LOG, find=None, find_all=None, recent=None):
            self.assertEqual(self.ranked()[0], "mb")


class Again(RankingCase):
    def test_a_decision_can_be_made_again_from_its_record(self):
        self.judge("ma", False)
        self.judge("mb", True, True)
        reliability.note("fake:mc", "error", NOW, "rate_limited", 30.0)
        for policy in route_policy.POLICIES:
            self.settings(route_policy=policy)
            for seed in range(60):
                decision = self.order(seed).decision
                kept = json.loads(json.dumps(decision))
                self.assertEqual(kept, decision)
                made = ranking.again(kept)
                self.assertEqual((made["order"], made["why"]), (decision["order"], decision["why"]))

    def test_the_same_seed_decides_the_same_also_after_a_restart(self):
        self.judge("mb", True, False, True)
        before = [self.order(seed).decision for seed in range(30)]
        home.close()
        self.assertEqual([self.order(seed).decision for seed in range(30)], before)

    def test_without_one_of_them(self):
        self.judge("mb", True, True)
        decision = self.order().decision
        left = [one for one in decision["candidates"] if one["alias"] != "mb"]
        self.assertEqual(ranking.again({**decision, "candidates": left})["ranked"], ["ma", "mc"])

    def test_a_policy_of_another_version(self):
        with self.assertRaises(KeyError):
            ranking.again({**self.order().decision, "policy": "record/9"})

    def test_what_is_recorded(self):
        self.add("blind", vision=False, ad_hoc=True)
        self.seat("core", "ma", "blind")
        decision = self.order().decision
        self.assertEqual(decision["excluded"][0]["alias"], "blind")
        self.assertEqual(decision["opt"], route_policy.OPTIONS)
        self.assertEqual(set(decision["why"]), {"ma"})
        self.assertEqual(decision["why"]["ma"]["p"], 1.0)
        self.assertEqual(decision["record_rev"], verdicts.revision())
