import unittest

from metrics.bench import endpoints
from metrics.bench.endpoints import Endpoint
from metrics.evidence import reliability
from metrics.limits import gate, ledger
from metrics.play import probe
from metrics.play.calls import Clocks
from metrics.records import Limited, Problem
from tests.bench.bench import BenchCase
from tests.provider import Provider, chunk, error, stream, text

NOW = 1_796_000_000.0


class Probe(BenchCase):
    def setUp(self) -> None:
        super().setUp()
        self.provider = self.enterContext(Provider())
        endpoints.save(Endpoint("box", self.provider.base), "test")
        self.seat_models("alpha")
        reliability.note("box:alpha", "error", NOW - 5, "rate_limited", 3600.0)
        self.clocks = Clocks(lambda: 0.0, lambda: NOW, lambda seconds: None)

    def test_one_that_answers_is_awake_again(self) -> None:
        connection = gate.connection("box", NOW)
        connection.scope("box:alpha", NOW).refuse(Limited("window", NOW + 3600), NOW)
        self.provider.script("alpha", text("ready"))
        answer, reached = probe.ask("alpha", "test", self.clocks)
        self.assertEqual((answer.status, answer.text, reached), ("ok", "ready", True))
        self.assertIsNone(reliability.cooling("box:alpha", NOW))
        rows, _ = ledger.recent(5)
        self.assertEqual(
            [(row["purpose"], row["model"], row["panel"]) for row in rows], [("probe", "alpha", None)]
        )
        (asked,) = self.provider.requests
        self.assertEqual(asked.json["max_tokens"], probe.ROOM)

    def test_one_that_refuses_goes_on_resting(self) -> None:
        self.provider.script("alpha", error(429, "used up", headers={"Retry-After": "600"}))
        answer, reached = probe.ask("alpha", "test", self.clocks)
        self.assertEqual((answer.status, answer.error, reached), ("error", "rate_limited", False))
        self.assertEqual(len(self.provider.requests), 1)
        self.assertGreater(reliability.cooling("box:alpha", NOW) or 0, NOW + 500)

    def test_thinking_that_found_no_end_is_an_answer(self) -> None:
        self.provider.script("alpha", stream(chunk({"reasoning_content": "Hm."}), chunk({}, "length")))
        _, reached = probe.ask("alpha", "test", self.clocks)
        self.assertTrue(reached)
        self.assertIsNone(reliability.cooling("box:alpha", NOW))

    def test_what_a_user_let_rest_is_not_asked(self) -> None:
        gate.connection("box", NOW).rest("", NOW + 60, NOW)
        answer, reached = probe.ask("alpha", "test", self.clocks)
        self.assertEqual((answer.error, reached, self.provider.requests), ("paced", False, []))
        self.assertIn("somebody let it rest", answer.message or "")

    def test_nobody(self) -> None:
        with self.assertRaises(Problem):
            probe.ask("nobody", "test", self.clocks)


if __name__ == "__main__":
    unittest.main()
