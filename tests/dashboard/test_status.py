import os
import time
import unittest
from unittest import mock

from metrics.care import discover
from metrics.dashboard import status
from metrics.limits import ledger
from metrics.version import VERSION
from tests.dashboard.api import ApiCase


class Status(ApiCase):
    routes = status.HANDLERS

    def setUp(self) -> None:
        super().setUp()
        find = mock.patch.object(discover, "found", side_effect=self.found)
        find.start()
        self.addCleanup(find.stop)

    def found(self, own_port: int | None = None) -> list[dict[str, str]]:
        self.asked_with = own_port
        return [{"name": "groq", "what": "key in GROQ_API_KEY", "base": "b", "command": "c"}]

    def test_at_a_glance(self) -> None:
        self.seat_squad("practice-lint", "practice-terse")
        reply = self.get("/api/status")
        self.assertEqual(
            (reply["version"], reply["pid"], reply["home"]), (VERSION, os.getpid(), str(self.folder))
        )
        self.assertEqual((reply["url"], self.asked_with), ("http://127.0.0.1:8122", 8122))
        self.assertEqual(reply["counts"], {"endpoints": 1, "models": 2, "collections": 0})
        self.assertEqual((reply["practice"], reply["exposure"]), (True, "this computer only"))
        self.assertEqual(reply["found"][0]["name"], "groq")
        self.assertEqual((reply["problems"], reply["today"]["calls"]), ([], 0))
        self.assertGreaterEqual(reply["uptime_s"], 0)

    def test_who_can_reach_it(self) -> None:
        token = {"BENCHWARMERS_ADMIN_TOKEN": "a token of some length"}
        for env, said in (
            ({}, "this computer only"),
            ({"BENCHWARMERS_REQUIRE_KEYS": "1"}, "this computer only; callers need a key"),
            (token, "this computer only; the page a login"),
            (
                {"BENCH_BIND": "0.0.0.0", **token},
                "whoever reaches 0.0.0.0; callers need a key; the page a login",
            ),
        ):
            with self.subTest(env):
                self.assertEqual(status.exposure(env), said)

    def test_practice_ends_with_a_real_endpoint(self) -> None:
        self.seat_squad("practice-lint")
        self.seat_models("alpha")
        self.assertFalse(self.get("/api/status")["practice"])

    def test_today(self) -> None:
        ledger.add(
            {
                "at": ledger.stamp(time.time()),
                "model": "m",
                "model_id": "b:m",
                "status": "ok",
                "cost_status": "unknown",
            }
        )
        today = self.get("/api/status")["today"]
        self.assertEqual((today["calls"], today["unknown_calls"]), (1, 1))

    def test_broken_files_are_told_by_name_and_the_rest_works(self) -> None:
        names = ("settings.json", "endpoints.json", "credentials.json", "models.json", "collections.json")
        self.seat_models("alpha")
        for name in names:
            with self.subTest(name):
                before = self.text(name)
                self.write(name, '{"a":\n}')
                reply = self.get("/api/status")
                self.assertEqual(len(reply["problems"]), 1, reply["problems"])
                self.assertIn(f"{name}, line 2", reply["problems"][0])
                self.assertEqual(reply["found"][0]["name"], "groq")
                self.write(name, before or "{}")
        self.assertEqual(self.get("/api/status")["problems"], [])

    def test_all_broken_at_once(self) -> None:
        for name in (
            "settings.json",
            "endpoints.json",
            "credentials.json",
            "models.json",
            "collections.json",
        ):
            self.write(name, "nope")
        reply = self.get("/api/status")
        self.assertEqual(len(reply["problems"]), 5)
        self.assertEqual(reply["counts"], {"endpoints": None, "models": None, "collections": None})

    def test_broken_entries_are_told(self) -> None:
        self.write("collections.json", '{"core": {"members": 5}}')
        self.write("models.json", '{"models": {"alpha": []}}')
        self.write("settings.json", '{"bodies": "nothing", "max_cals": 3}')
        told = " ".join(self.get("/api/status")["problems"])
        self.assertIn("did you mean max_calls?", told)
        for words in ('collections.json: "core"', 'models.json: "alpha"', 'settings.json: "bodies"'):
            self.assertIn(words, told)


if __name__ == "__main__":
    unittest.main()
