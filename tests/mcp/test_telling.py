"""The tools that only tell, and what a key is told."""

import unittest

from metrics.bench import keys
from metrics.evidence import offloads, routes, verdicts
from metrics.limits import ledger
from tests.mcp.stage import McpCase, a_key
from tests.play.house import BY
from tests.provider import text


class TellingTest(McpCase):
    def setUp(self):
        super().setUp()
        for alias in ("one", "two"):
            self.provider.script(alias, text(f"said {alias}"))
        self.seat("core", "one", "two", explorers=1, description="for reviews", tags=["code"])
        self.add("three")

    def test_collections(self):
        self.seat("other", "two")
        told = self.tool("list_collections")["collections"]
        self.assertEqual([one["name"] for one in told], ["core", "other"])
        core = told[0]
        self.assertEqual((core["members"], core["description"]), (["one", "two"], "for reviews"))
        self.assertEqual(core["modes"], ["all", "merged"])
        scoped = self.tool("list_collections", key=a_key(collections=("other",), modes=("merged",)))
        self.assertEqual([one["name"] for one in scoped["collections"]], ["other"])
        self.assertEqual(scoped["collections"][0]["modes"], ["merged"])
        self.assertIn('"x" is not a field', self.fails("list_collections", {"x": 1}))

    def test_why_a_seat_sat(self):
        told = self.asked()
        by = {seat["seat"]: seat["call"] for seat in told["seats"]}
        member = self.tool("why", {"call": by["member"]})
        self.assertEqual((member["seat"], member["how"], member["status"]), ("member", "member", "ok"))
        self.assertIn("members always sit", member["why"])
        explorer = self.tool("why", {"call": by["explorer"]})
        self.assertEqual((explorer["alias"], explorer["candidates"]), ("three", ["three"]))
        self.assertIn("Who could have been chosen: three.", explorer["why"])
        verdicts.give(by["member"], useful=True, note="good")
        self.assertEqual(self.tool("why", {"call": by["member"]})["verdict"]["note"], "good")

    def test_why_somebody_played_a_turn(self):
        call = "r20261130-120000-0a1b2c3d.1"
        offload = {"at": "2026-11-30T12:00:00.000Z", "call": call, "panel": None, "collection": "core"}
        offloads.record({**offload, "shape": "code", "model": "one", "model_id": "fake:one", "status": "ok"})
        turn = {"conversation": call[:-2], "call": call, "at": offload["at"], "turn": 1, "model": "one"}
        known = {"sticky": "s", "model_id": "fake:one", "status": "ok", "collection": "core", "seconds": 2.0}
        candidates = [{"alias": "one"}, {"alias": "two"}]
        decision = {"policy": "record", "candidates": candidates, "why": {"one": {"p": 1}}}
        routes.LOG.submit({**turn, **known, "decision": decision, "failed_over": []})
        told = self.tool("why", {"call": call})
        self.assertEqual((told["turn"], told["policy"], told["decided"]), (1, "record", {"p": 1}))
        self.assertEqual(told["candidates"], ["one", "two"])

    def test_why_of_what_is_not_there_or_not_for_them(self):
        self.assertIn("you asked no call", self.fails("why", {"call": "p20261130-120000-0a1b2c3d.member1"}))
        self.assertIn("you asked no call", self.fails("why", {"call": "nonsense"}))
        call = self.asked()["seats"][0]["call"]
        self.assertIn("you asked no call", self.fails("why", {"call": call}, key=a_key("other")))
        self.assertIn("does not open", self.fails("why", {"call": call}, key=a_key(collections=("x",))))

    def test_a_rate_comes_with_its_interval(self):
        seats = self.asked()["seats"]
        verdicts.give(seats[0]["call"], useful=True)
        told = {one["alias"]: one for one in self.tool("record", {"collection": "core"})["models"]}
        one = told["one"]
        self.assertEqual((one["useful"], one["judged"], one["rate"]), (1, 1, 1.0))
        low, high = one["interval"]
        self.assertTrue(0 < low < 0.5 and high == 1.0, one)
        self.assertEqual(self.tool("record", {"collection": "core", "task": "vision"})["models"], [])
        self.assertIn("no collection", self.fails("record", {"collection": "none"}))
        narrow = self.tool("record", {"collection": "core"}, key=a_key(models=("two",)))
        self.assertEqual(narrow["models"], [])

    def test_usage(self):
        row = {"at": "2026-11-30T12:00:00.000Z", "model": "one", "collection": "core", "status": "ok"}
        ledger.add({**row, "key": "ci", "cost_usd": 0.5, "cost_status": "computed", "out": 3})
        ledger.add({**row, "key": "local", "cost_status": "unknown", "out": 3})
        told = self.tool("usage")
        self.assertEqual((told["by"], told["total"]["calls"]), ("model", 2))
        self.assertEqual((told["total"]["known_usd"], told["total"]["unknown_calls"]), (0.5, 1))
        self.assertEqual(self.tool("usage", {"by": "collection"})["rows"][0]["name"], "core")
        own = self.tool("usage", {}, key=a_key("ci"))
        self.assertEqual((own["total"]["calls"], own["total"]["known_usd"]), (1, 0.5))
        self.assertEqual([one["name"] for one in own["rows"]], ["ci"])
        other = self.tool("usage", {}, key=a_key("new"))
        self.assertEqual((other["total"]["calls"], other["rows"]), (0, []))
        self.assertEqual(self.tool("usage", {"by": "day"})["by"], "day")
        keys.create("ci", {}, BY)
        mine = self.tool("usage")
        self.assertEqual((mine["by"], mine["total"]["calls"], mine["total"]["known_usd"]), ("key", 1, None))
        for arguments, key in (
            ({"by": "model"}, None),
            ({"by": "key"}, None),
            ({"by": "model"}, a_key()),
            ({"since": "soon"}, None),
        ):
            with self.subTest(arguments):
                self.assertTrue(self.fails("usage", arguments, key=key))


if __name__ == "__main__":
    unittest.main()
