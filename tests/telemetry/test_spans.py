import unittest

from metrics.telemetry.spans import CLIENT, REMEMBERED, SERVER, Spans
from tests.telemetry.rows import AT, EPOCH, news, row

PANEL = {
    "panel": "p1",
    "at": AT,
    "collection": "core",
    "shape": "code",
    "task": "the secret task",
    "seats": [{"status": "ok"}, {"status": "error"}],
    "late": False,
}
TURN = {"conversation": "r1", "turn": 2, "at": AT, "collection": "core", "status": "ok", "seconds": 3.0}


class SpansTest(unittest.TestCase):
    def setUp(self) -> None:
        self.spans = Spans()

    def test_a_call_below_its_panel(self) -> None:
        (call,) = self.spans.of(news("call", row()))
        (panel,) = self.spans.of(news("panel", PANEL))
        self.assertEqual((call.trace, call.parent), (panel.trace, panel.id))
        self.assertEqual((len(panel.trace), len(panel.id), panel.parent), (32, 16, ""))
        self.assertEqual((call.kind, panel.kind), (CLIENT, SERVER))
        self.assertEqual((call.name, panel.name), ("chat gpt-5", "panel core"))
        self.assertEqual((call.start, call.end), (EPOCH - 2, EPOCH))
        self.assertEqual((panel.start, panel.end), (EPOCH, EPOCH + 1))
        self.assertEqual((call.error, panel.error), ("", ""))
        self.assertEqual(call.attributes["gen_ai.usage.input_tokens"], 15)
        self.assertEqual(call.attributes["gen_ai.usage.output_tokens"], 7)
        self.assertEqual(call.attributes["gen_ai.response.finish_reasons"], ["stop"])
        self.assertEqual(call.attributes["bench.cost_usd"], 0.25)
        self.assertEqual((panel.attributes["bench.seats"], panel.attributes["bench.answered"]), (2, 1))
        self.assertNotIn("the secret task", repr(panel))

    def test_a_call_below_its_turn(self) -> None:
        facts = row(panel=None, conversation="r1", turn=2, call="r1.2")
        (call,) = self.spans.of(news("call", facts))
        (turn,) = self.spans.of(news("turn", TURN))
        self.assertEqual((call.trace, call.parent), (turn.trace, turn.id))
        self.assertEqual((turn.name, turn.end - turn.start), ("turn core", 3.0))
        (other,) = self.spans.of(news("turn", TURN | {"turn": 3}))
        self.assertNotEqual(other.trace, turn.trace)

    def test_a_call_by_itself(self) -> None:
        (call,) = self.spans.of(news("call", row(panel=None)))
        self.assertEqual(call.parent, "")

    def test_each_attempt_is_a_span(self) -> None:
        tried = row(status="error") | {"at": EPOCH - 1.5, "seconds": 0.5, "pause": 0.25, "attempt": 1}
        (first,) = self.spans.of(news("attempt", tried | {"error": "overloaded"}))
        (last,) = self.spans.of(news("call", row(attempts=2)))
        self.assertEqual((first.start, first.end, first.error), (EPOCH - 2, EPOCH - 1.5, "overloaded"))
        self.assertEqual((last.start, last.end, last.error), (EPOCH - 1.25, EPOCH, ""))
        self.assertEqual((first.parent, first.trace), (last.parent, last.trace))
        self.assertNotEqual(first.id, last.id)
        self.assertEqual([each.attributes["bench.attempt"] for each in (first, last)], [1, 2])
        self.assertNotIn("gen_ai.usage.output_tokens", first.attributes)

    def test_what_failed_says_so(self) -> None:
        for facts, error in (
            ({"status": "error", "error": "rate_limited"}, "rate_limited"),
            ({"status": "timeout", "error": None}, "timeout"),
            ({"status": "empty"}, ""),
        ):
            with self.subTest(facts):
                (call,) = self.spans.of(news("call", row(**facts)))
                self.assertEqual((call.error, call.attributes.get("error.type")), (error, error or None))
        (panel,) = self.spans.of(news("panel", PANEL | {"seats": []}))
        self.assertEqual(panel.error, "no_seat_answered")

    def test_unknown_is_not_nothing(self) -> None:
        (call,) = self.spans.of(
            news("call", row(cost_usd=None, uncached_in=None, cache_read=None, out=None, seconds=None))
        )
        for name in ("bench.cost_usd", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"):
            self.assertNotIn(name, call.attributes)
        self.assertEqual(call.start, call.end)

    def test_stragglers_and_others_end_no_span(self) -> None:
        self.assertEqual(self.spans.of(news("panel", PANEL | {"late": True})), [])
        self.assertEqual(self.spans.of(news("verdict", {})), [])

    def test_calls_that_never_end_are_forgotten(self) -> None:
        for number in range(REMEMBERED + 5):
            tried = {
                "call": f"c{number}",
                "at": 1.0,
                "seconds": 1.0,
                "pause": 0.0,
                "attempt": 1,
                "error": "x",
            }
            self.spans.of(news("attempt", row() | tried))
        self.assertEqual(len(self.spans._tried), REMEMBERED)


if __name__ == "__main__":
    unittest.main()
