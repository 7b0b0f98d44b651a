import json
import unittest

from metrics.limits import spend
from metrics.limits.spend import BENCH, told

USD = 10**12


def row(at, usd, key="app", collection="core", status="computed", held=None):
    return {"at": at, "cost_usd": usd, "cost_status": status, "key": key, "collection": collection,
            "held_usd": held}  # fmt: skip


ROWS = [
    row("2026-10-31T23:59:59.999Z", 1.0),
    row("2026-11-01T00:00:00.000Z", 0.1),
    row("2026-11-29T00:00:00.000Z", 0.01, collection="other"),
    row("2026-11-29T10:00:00.000Z", 0.002, key="else"),
    row("2026-11-29T11:00:00.000Z", None, status="unknown", held=0.5),
    row("2026-11-29T12:00:00.000Z", None, status="unknown"),
    row("2026-11-29T13:00:00.000Z", None, status="none", held=7.0),
    row("2026-11-28T23:00:00.000Z", 0.0003),  # late: of a day that is over
]


class SpendTest(unittest.TestCase):
    def setUp(self):
        self.spend = {}
        for each in ROWS:
            spend.fold(self.spend, each)

    # subject, now, (day, month, total, unknown) in USD
    CASES = [
        (BENCH, "2026-11-29T20:00:00Z", (0.512, 0.6123, 1.6123, 2)),
        ("key:app", "2026-11-29T20:00:00Z", (0.51, 0.6103, 1.6103, 2)),
        ("key:else", "2026-11-29T20:00:00Z", (0.002, 0.002, 0.002, 0)),
        ("collection:core", "2026-11-29T20:00:00Z", (0.502, 0.6023, 1.6023, 2)),
        ("collection:core", "2026-11-30T00:00:00Z", (0, 0.6023, 1.6023, 2)),
        ("collection:core", "2026-12-01T00:00:00Z", (0, 0, 1.6023, 2)),
        ("key:nobody", "2026-11-29T20:00:00Z", (0, 0, 0, 0)),
    ]

    def test_sums_are_exact_by_period(self):
        for subject, now, (day, month, total, unknown) in self.CASES:
            with self.subTest(subject, now=now):
                got = told(self.spend, subject, now)
                # A late row of a past day counts in the month that it is in.
                wanted = {"day": day, "month": month, "total": total}
                self.assertEqual({name: got[name] for name in wanted},
                                 {name: round(usd * USD) for name, usd in wanted.items()})  # fmt: skip
                self.assertEqual(got["unknown"], unknown)

    def test_it_tells_when_the_last_call_was(self):
        self.assertEqual(told(self.spend, "key:app", "")["at"], "2026-11-29T13:00:00.000Z")
        self.assertIsNone(told(self.spend, "key:nobody", "")["at"])

    def test_it_stays_small(self):
        size = len(json.dumps(self.spend))
        for day in range(1, 31):
            for hour in range(24):
                spend.fold(self.spend, row(f"2026-12-{day:02}T{hour:02}:00:00.000Z", 0.000001))
        self.assertLess(len(json.dumps(self.spend)), size * 1.2)


if __name__ == "__main__":
    unittest.main()
