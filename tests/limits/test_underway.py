import json
from typing import Any

from metrics.limits import ledger, underway, usage
from metrics.limits.underway import FILE
from metrics.store import home, stamps
from tests.store.case import HomeCase

NOW = stamps.epoch("2026-11-29T14:22:20.000Z")


def row(call: str, at: float = NOW) -> dict[str, Any]:
    lost = {"status": "error", "error": underway.INTERRUPTED, "cost_status": "unknown"}
    return {"at": ledger.stamp(at), "call": call, "model": "kimi", **lost}


class Underway(HomeCase):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(underway._underway.calls.clear)

    def begin(self, call: str) -> object:
        return underway.begin(lambda: row(call))

    def listed(self) -> list[str]:
        underway._underway.drain()
        return [one["call"] for one in json.loads((self.home / FILE).read_text(encoding="utf-8"))]

    def killed(self, *calls: str) -> None:
        """What a killed server leaves: its file, and no memory of it."""
        for call in calls:
            self.begin(call)
        self.assertEqual(self.listed(), list(calls))
        underway._underway.calls.clear()
        ledger.LOG.flush()

    def test_the_file_holds_what_is_under_way(self) -> None:
        tokens = [self.begin(call) for call in ("a", "b", "c")]
        self.assertEqual(self.listed(), ["a", "b", "c"])
        underway.end(tokens[1])
        self.assertEqual(self.listed(), ["a", "c"])
        underway.end(None)
        underway.end(tokens[1])

    def test_killed_calls_are_recorded_once(self) -> None:
        self.killed("a", "b")
        self.assertEqual((underway.recover(NOW), underway.recover(NOW)), (2, 0))
        total = ledger.used("model")["total"]
        self.assertEqual((total["calls"], total["interrupted"], total["unknown_calls"]), (2, 2, 2))
        self.assertEqual((total["known_usd"], total["unmetered_calls"], total["errors"]), (None, 2, 0))
        self.assertEqual({one["call"] for one in ledger.recent(5)[0]}, {"a", "b"})

    def test_one_that_reached_the_ledger_is_not_counted_again(self) -> None:
        ledger.add({"at": ledger.stamp(NOW), "call": "a", "status": "ok", "cost_status": "free"})
        self.killed("a", "b")
        self.assertEqual(underway.recover(NOW), 1)
        self.assertEqual([one["call"] for one in ledger.recent(5)[0]], ["b", "a"])

    def test_the_row_of_a_call_is_on_disk_before_it_leaves_the_file(self) -> None:
        token = self.begin("a")
        self.listed()
        ledger.add({"at": ledger.stamp(NOW), "call": "a", "status": "ok"})
        underway.end(token)
        self.assertEqual(self.listed(), [])
        self.assertIn(b'"call":"a"', (self.home / "ledger" / "2026-11.jsonl").read_bytes())

    def test_an_end_in_order_leaves_no_file(self) -> None:
        token = self.begin("a")
        self.listed()
        underway.end(token)
        home.close()
        self.assertFalse((self.home / FILE).exists())

    def test_what_outlives_the_server_is_recorded_by_the_next(self) -> None:
        self.begin("a")
        home.close()
        underway._underway.calls.clear()
        self.assertEqual(underway.recover(NOW), 1)

    def test_a_bent_file_is_nothing(self) -> None:
        for content in ("", "{", "5", "[5, null]", '{"call": "a"}'):
            with self.subTest(content):
                (self.home / FILE).write_text(content, encoding="utf-8")
                self.assertEqual(underway.recover(NOW), 0)
        (self.home / FILE).write_text('[{"call": "a", "at": 5}]', encoding="utf-8")
        self.assertEqual(underway.recover(NOW), 1)
        self.assertEqual(ledger.recent(1)[0][0]["at"], ledger.stamp(NOW))

    def test_the_words_are_those_that_usage_counts(self) -> None:
        self.assertEqual(underway.INTERRUPTED, usage.INTERRUPTED)
