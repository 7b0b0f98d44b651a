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
