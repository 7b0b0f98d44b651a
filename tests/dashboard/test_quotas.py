import unittest

from metrics.bench import endpoints, moves
from metrics.bench.endpoints import Endpoint
from metrics.bench.roster import Model
from metrics.dashboard import quotas
from metrics.evidence import reliability
from tests.dashboard.api import ApiCase


class Quotas(ApiCase):
    routes = quotas.HANDLERS

    def setUp(self) -> None:
        super().setUp()
        endpoints.save(Endpoint("groq", "http://127.0.0.1:9/v1"), "test")
        moves.add(Model("kimi", "groq", "kimi-k2"), "test")

    def test_set_show_and_take_away(self) -> None:
        saved = self.post(
            "/api/connection-limits", {"connection": "groq", "limits": {"rpm": 20, "tpd": 100_000}}
        )
        self.assertEqual((saved["of"], saved["limits"]), ("connections", {"rpm": 20, "tpd": 100_000}))
        self.post("/api/connection-limits", {"connection": "kimi", "limits": {"concurrency": 2}})
        shown = {(one["model"], one["metric"]): one for one in self.get("/api/quotas")["quotas"]}
        self.assertEqual(set(shown), {(None, "requests"), (None, "tokens"), ("kimi", "concurrency")})
        self.assertEqual(shown[None, "requests"]["remaining"], 20)
        self.assertEqual(shown["kimi", "concurrency"]["window"], "at-once")
        self.post("/api/connection-limits", {"connection": "groq", "limits": {"rpm": None, "tpd": None}})
        self.assertEqual(len(self.get("/api/quotas")["quotas"]), 1)

    def test_who_rests(self) -> None:
        import time

        now = time.time()
        reliability.note("groq:kimi-k2", "error", now, "rate_limited", 40.0)
        (one,) = self.get("/api/quotas")["resting"]
        self.assertEqual((one["model"], one["connection"], one["why"]), ("kimi", "groq", "rate_limited"))

    def test_connections_as_they_stand(self) -> None:
        self.post("/api/connection-limits", {"connection": "groq", "limits": {"rpm": 20}})
        (one,) = self.get("/api/quotas")["connections"]
        self.assertEqual(
            (one["connection"], one["state"], one["models"], one["in_use"], one["waiting"]),
            ("groq", "free", ["kimi"], 0, 0),
        )
        self.assertEqual(len(one["refused"]["hours"]), 24)

    def test_rest_and_wake(self) -> None:
        for name, of in (("kimi", "model"), ("groq", "connection")):
            with self.subTest(name):
                reply = self.post("/api/rest", {"name": name, "for": "2h"})
                self.assertEqual((reply["of"], self.state()), (of, "resting"))
                (resting,) = self.get("/api/quotas")["resting"]
                self.assertEqual((resting["why"], resting["until"]), ("asked", reply["until"]))
                self.assertEqual(self.post("/api/wake", {"name": name})["of"], of)
                self.assertEqual((self.state(), self.get("/api/quotas")["resting"]), ("free", []))

    def state(self) -> str:
        (one,) = self.get("/api/quotas")["connections"]
        return str(one["state"])

    def test_a_model_is_not_woken_out_of_a_connection_that_rests(self) -> None:
        self.post("/api/rest", {"name": "groq", "for": "1d"})
        self.assertIn("wake groq", self.refused("/api/wake", {"name": "kimi"}, 409))

    def test_a_probe_that_finds_nobody_says_so(self) -> None:
        reply = self.post("/api/probe", {"name": "groq"})
        self.assertEqual((reply["model"], reply["reached"], reply["error"]), ("kimi", False, "unreachable"))

    def test_who_cannot_be_probed(self) -> None:
        endpoints.save(Endpoint("bare", "http://127.0.0.1:9/v1"), "test")
        self.assertIn("no model", self.refused("/api/probe", {"name": "bare"}))
        self.seat_squad("rookie")
        self.assertIn("inside this server", self.refused("/api/probe", {"name": "rookie"}))

    def test_spans(self) -> None:
        for said in ("", "1", "1w", "31d", "0m", "-1h", 5, "1.5h"):
            with self.subTest(said):
                self.assertIn("30d", self.refused("/api/rest", {"name": "groq", "for": said}))

    def test_nonsense_in_acts(self) -> None:
        self.refuses_nonsense("/api/rest", "/api/wake", "/api/probe")
        self.assertIn("nobody", self.refused("/api/wake", {"name": "nobody"}, 404))

    def test_nonsense(self) -> None:
        for body, status, words in (
            ({"limits": {"rpm": 1}}, 400, "connection"),
            ({"connection": "groq"}, 400, "limits"),
            ({"connection": "groq", "limits": []}, 400, "limits"),
            ({"connection": "groq", "limits": {"rpm": "many"}}, 400, "rpm"),
            ({"connection": "groq", "limits": {"rpm": 1}, "more": 1}, 400, "more"),
            ({"connection": "nobody", "limits": {"rpm": 1}}, 404, "nobody"),
        ):
            with self.subTest(body=body):
                self.assertIn(words, self.refused("/api/connection-limits", body, status))

    def test_a_broken_file_is_told(self) -> None:
        self.write("limits.json", '{"connections": {"groq": {"rpm": 0}}}')
        self.assertIn("groq", self.get("/api/quotas")["problems"][0])


if __name__ == "__main__":
    unittest.main()
