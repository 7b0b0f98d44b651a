import json
import time
import unittest

from metrics.bench import collections, keys
from metrics.dashboard import keys as pages
from metrics.limits import budgets, ledger
from metrics.store.stamps import stamp
from tests.bench.bench import BY
from tests.dashboard.api import ApiCase


class Keys(ApiCase):
    routes = pages.HANDLERS

    def setUp(self) -> None:
        super().setUp()
        self.seat_models("aa", "bb")
        collections.save("core", {"members": ["aa", "bb"]}, BY)
        budgets._held.clear()

    def make(self, name: str = "app", **limits: object) -> str:
        key: str = self.post("/api/key/create", {"name": name, **limits})["key"]
        return key

    def test_a_key_is_in_one_reply(self) -> None:
        key = self.make(collections=["core"], rpm=5, budget="5usd/month")
        reply = self.get("/api/keys")
        self.assertNotIn(key, json.dumps(reply))
        shown = reply["keys"][0]
        self.assertEqual((shown["name"], shown["prefix"]), ("app", f"{key[:8]}…"))
        self.assertEqual((shown["collections"], shown["models"], shown["rpm"]), (["core"], None, 5))
        self.assertEqual((shown["enabled"], shown["expired"], shown["last_used"]), (True, False, None))
        self.assertEqual(shown["budgets"][0]["left_usd"], 5)
        self.assertEqual(self.get("/api/keys?name=app")["keys"], [shown])

    def test_what_it_used(self) -> None:
        key, now = self.make(), time.time()
        at = stamp(now - 100)
        ledger.add({"at": at, "key": "app", "collection": "core", "cost_usd": 0.5, "cost_status": "computed"})
        ledger.add({"at": at, "key": "app", "collection": "core", "cost_status": "unknown"})
        shown = self.get("/api/keys")["keys"][0]
        self.assertEqual((shown["spent"]["total_usd"], shown["spent"]["unknown_calls"]), (0.5, 1))
        self.assertEqual(shown["last_used"], at)
        keys.usable(keys.all()["app"], now)
        self.assertEqual(self.get("/api/keys")["keys"][0]["last_used"], stamp(now))
        self.assertIsNotNone(keys.find(key))

    def test_its_life(self) -> None:
        first = self.make()
        second = self.post("/api/key/rotate", {"name": "app"})["key"]
        self.assertNotEqual(first, second)
        self.assertFalse(self.post("/api/key/disable", {"name": "app"})["about"]["enabled"])
        self.assertTrue(self.post("/api/key/enable", {"name": "app"})["about"]["enabled"])
        self.assertEqual(self.post("/api/key", {"name": "app", "rpm": 9})["about"]["rpm"], 9)
        self.assertEqual(self.post("/api/key/revoke", {"name": "app"})["revoked"], "app")
        self.assertEqual(self.get("/api/keys")["keys"], [])

    def test_nonsense(self) -> None:
        self.make()
        self.refuses_nonsense("/api/key/create")
        for target, body, status in (
            ("/api/key/create", {"name": "app"}, 409),
            ("/api/key/create", {"name": "x1", "collections": ["nope"]}, 400),
            ("/api/key/rotate", {"name": "nobody"}, 404),
            ("/api/key/revoke", {}, 400),
            ("/api/key", {"name": "app", "sha256": "0" * 64}, 400),
            ("/api/budget", {}, 400),
            ("/api/budget", {"budget": "5usd/week"}, 400),
            ("/api/budget", {"key": "app", "collection": "core", "budget": "5usd/day"}, 400),
            ("/api/budget", {"key": "nobody", "budget": "5usd/day"}, 404),
            ("/api/budget", {"collection": "nope", "budget": "5usd/day"}, 404),
        ):
            with self.subTest(target, body=body):
                self.refused(target, body, status)
        self.assertEqual(self.ask("GET", "/api/keys?name=nobody")[0], 404)

    def effective(self, model: str, name: str = "app") -> tuple[int, bool, str]:
        reply = self.get(f"/api/key/effective?name={name}&model={model}")
        return reply["status"], reply["allowed"], reply["why"]

    def test_what_would_happen(self) -> None:
        self.make(
            collections=["core"], models=["bb"], modes=["all"], budget="5usd/month", unknown_cost="allow"
        )
        self.make("strict", budget="5usd/month")
        self.make("poor", budget="0usd/day", unknown_cost="allow")
        self.make("off")
        self.post("/api/key/disable", {"name": "off"})
        self.make("old")
        self.post("/api/key", {"name": "old", "expires": "2020-01-01"})
        self.make("out", models=[])
        for name, model, status, said in (
            ("app", "core", 200, "would be asked"),
            ("app", "core:route", 403, "modes"),
            ("app", "other", 403, "collections"),
            ("strict", "core", 402, "no known price"),
            ("strict", "nope", 404, "no collection"),
            ("poor", "core", 200, "would be asked"),
            ("off", "core", 401, "disabled"),
            ("old", "core", 401, "expired"),
            ("out", "core", 403, "not among the models"),
        ):
            with self.subTest(name, model=model):
                got = self.effective(model, name)
                self.assertEqual(got[:2], (status, status == 200), got)
                self.assertIn(said, got[2])
        members = self.get("/api/key/effective?name=app&model=core")["members"]
        self.assertEqual(
            [(one["alias"], one["why"] is None) for one in members], [("aa", False), ("bb", True)]
        )
        self.assertEqual(self.ask("GET", "/api/key/effective?name=app")[0], 400)

    def test_budgets(self) -> None:
        self.make()
        self.post("/api/budget", {"budget": "5usd/day"})
        self.post("/api/budget", {"budget": {"month": 2}, "collection": "core", "unknown_cost": "allow"})
        reply = self.post("/api/budget", {"budget": "1usd/total", "key": "app"})
        told = reply["budgets"]
        self.assertEqual(list(told), ["bench", "collection:core", "key:app"])
        self.assertEqual([one["periods"][0]["limit_usd"] for one in told.values()], [5, 2, 1])
        self.assertEqual(told["collection:core"]["unknown_cost"], "allow")
        self.post("/api/budget", {"budget": None, "key": "app"})
        self.post("/api/budget", {"budget": "none"})
        self.post("/api/budget", {"budget": None, "collection": "core"})
        told = self.get("/api/budgets")["budgets"]
        self.assertEqual((list(told), told["bench"]["periods"]), (["bench"], []))


if __name__ == "__main__":
    unittest.main()
