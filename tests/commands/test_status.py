import unittest
from typing import Any

from metrics.commands import status
from tests.commands.stage import Stage

STATUS: dict[str, Any] = {
    "ok": True,
    "version": "0.1.0",
    "url": "http://127.0.0.1:8122",
    "home": "somewhere",
    "pid": 7,
    "uptime_s": 7300,
    "practice": True,
    "exposure": "this computer only",
    "counts": {"endpoints": 1, "models": 3, "collections": 1},
    "today": {"calls": 12, "known_usd": 0.0123, "unknown_calls": 3},
    "problems": ["collections.json line 3: no comma"],
    "found": [
        {
            "name": "openai",
            "what": "key in OPENAI_API_KEY",
            "base": "x",
            "command": "bench endpoint add openai …",
        }
    ],
}


class Status(unittest.TestCase):
    def test_for_people(self) -> None:
        with Stage({"GET /api/status": STATUS}) as stage:
            text = stage.bench("status").out
            for words in (
                "http://127.0.0.1:8122  version 0.1.0, pid 7, up 2 h",
                "home     somewhere",
                "1 endpoint, 3 models, 1 collection; the practice squad (programs, not models) may explore",
                "12 calls, $0.0123 known, 3 of unknown cost",
                "problem  collections.json line 3: no comma",
                "found    openai: key in OPENAI_API_KEY\n           bench endpoint add openai …",
            ):
                with self.subTest(words):
                    self.assertIn(words, text)
            self.assertIn(
                "  python3 cli.py endpoint add", stage.bench("status", program="python3 cli.py").out
            )
            self.assertEqual(stage.bench("status", "--json").document, STATUS)

    def test_unknown_cost_is_never_nothing(self) -> None:
        cases = [
            ({"calls": 0, "known_usd": 0, "unknown_calls": 0}, "0 calls"),
            ({"calls": 2, "known_usd": 0, "unknown_calls": 2}, "2 calls, 2 of unknown cost"),
            ({"calls": 2, "known_usd": 0, "unknown_calls": 0}, "2 calls, $0 known"),
            ({}, "0 calls"),
        ]
        for today, wanted in cases:
            with self.subTest(wanted):
                self.assertEqual(status.spent(today), wanted)

    def test_where_telemetry_goes(self) -> None:
        sent = {"otlp": ["http://c:4318"], "prometheus": True, "sent": 1200, "dropped": 2, "rejected": 1}
        for telemetry, wanted in (
            (None, ""),
            ({"otlp": [], "prometheus": True}, "Prometheus at /metrics"),
            (sent, "http://c:4318, Prometheus at /metrics; 1,200 spans sent, 3 lost"),
            (
                {"otlp": ["http://c:4318"], "trouble": "it answered 401"},
                "http://c:4318; 0 spans sent, 0 lost; it answered 401",
            ),
        ):
            with self.subTest(wanted):
                self.assertEqual(status.told(telemetry), wanted)


if __name__ == "__main__":
    unittest.main()
