import json
from typing import Any

from metrics.evidence import reliability
from metrics.limits import cost, ledger
from metrics.store import home, stamps
from tests.store.case import HomeCase

NOW = stamps.epoch("2026-11-29T14:22:20.000Z")


class Ledger(HomeCase):
    def add(self, at: float = NOW, units: int | None = None, priced: str = "computed", **more: Any) -> None:
        ledger.add(
            {
                "at": ledger.stamp(at),
                "model_id": "x:y",
                "status": "ok",
                "cost_usd": cost.usd(units),
                "cost_status": priced,
            }
            | more
        )

    def test_a_row_has_all_fields_in_their_order(self) -> None:
        ledger.add({"status": "ok", "at": ledger.stamp(NOW), "extra": 1})
        home.close()
        line = (self.home / "ledger" / "2026-11.jsonl").read_bytes().splitlines()[1]
        self.assertEqual(list(json.loads(line)), [*ledger.FIELDS, "extra"])
        self.assertEqual(ledger.FIELDS[:4], ["at", "purpose", "model", "model_id"])
        self.assertEqual(len(ledger.FIELDS), 37)

    def test_totals_are_exact_and_of_one_day(self) -> None:
        for _ in range(1000):
            self.add(units=100_000_000_001)  # 0.1 USD and a bit
        self.add(priced="unknown")
        self.add(priced="none")
        self.add(NOW - 86_400, units=5)
        expected = {"day": "2026-11-29", "calls": 1002, "known_usd": 100.000000001, "unknown_calls": 1}
        self.assertEqual(ledger.totals(NOW), expected)
        home.close()
        self.assertEqual(ledger.totals(NOW), expected)
        self.assertEqual(ledger.totals(NOW - 86_400)["known_usd"], 5e-12)
        self.assertEqual(ledger.totals(NOW + 86_400)["calls"], 0)

    def test_what_is_no_moment_counts_nowhere(self) -> None:
        self.add(NOW)
        for at in ("2026-11-29", "2026-11-31T00:00:00.000Z", "2026-11-zz"):
            ledger.add({"at": at, "status": "ok", "cost_usd": 0.5, "cost_status": "computed"})
        self.assertEqual(ledger.totals(NOW)["calls"], 2)
        days = ledger.LOG.counted(lambda state: {sums["day"] for sums in state["spend"].values()})
        self.assertEqual(days, {"2026-11-29"})

    def test_days_are_bounded(self) -> None:
        for day in range(ledger.DAYS + 5):
            self.add(NOW + day * 86_400)
        self.assertEqual(ledger.LOG.counted(lambda state: len(state["days"])), ledger.DAYS)
        self.assertEqual(ledger.totals(NOW)["calls"], 0)

    def test_what_rows_tell_of_a_model_outlives_a_restart(self) -> None:
        self.add(NOW)
        for second in (1, 2, 3):
            self.add(NOW + second, model_id="bad:one", status="error", error="unreachable")
        self.add(NOW + 4, model_id="busy:one", status="error", error="rate_limited", retry_after=7.5)
        for _ in range(2):
            self.assertEqual(reliability.last_answered("x:y"), NOW)
            self.assertIn("unreachable", reliability.failing("bad:one") or "")
            self.assertEqual(reliability.cooling("busy:one", NOW + 5), NOW + 11.5)
            home.close()
        (self.home / "ledger" / "counters").unlink()
        self.assertIn("unreachable", reliability.failing("bad:one") or "")

    def test_recent_and_retain(self) -> None:
        self.add(NOW - 100 * 86_400)
        self.add(NOW)
        self.assertEqual([row["at"] for row in ledger.recent(1)[0]], [ledger.stamp(NOW)])
        self.assertEqual(ledger.retain(stamps.months_before(NOW, 1)), 1)
        self.assertEqual(len(ledger.recent(5)[0]), 1)
