import unittest
from datetime import UTC, datetime

from metrics.client import midnights


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


# a moment, and the Pacific day that holds it, all in UTC
PACIFIC = [
    ("winter", "2026-11-29T14:00", "2026-11-29T08:00", "2026-11-30T08:00"),
    ("winter, still yesterday there", "2026-11-29T07:59", "2026-11-28T08:00", "2026-11-29T08:00"),
    ("summer", "2026-07-01T12:00", "2026-07-01T07:00", "2026-07-02T07:00"),
    ("the day they are put forward", "2026-03-08T12:00", "2026-03-08T08:00", "2026-03-09T07:00"),
    ("before that, at night", "2026-03-08T09:59", "2026-03-08T08:00", "2026-03-09T07:00"),
    ("the day they are put back", "2026-11-01T12:00", "2026-11-01T07:00", "2026-11-02T08:00"),
    ("in the hour that is there twice", "2026-11-01T09:30", "2026-11-01T07:00", "2026-11-02T08:00"),
    ("another year", "2027-03-14T20:00", "2027-03-14T08:00", "2027-03-15T07:00"),
    ("a year's last evening there", "2027-01-01T05:00", "2026-12-31T08:00", "2027-01-01T08:00"),
]


class MidnightsTest(unittest.TestCase):
    def test_pacific_days(self):
        for name, now, begin, end in PACIFIC:
            with self.subTest(name):
                self.assertEqual(midnights.pacific_day(at(now)), (at(begin), at(end)))

    def test_pacific_days_follow_each_other_without_a_gap(self):
        begin, end = midnights.pacific_day(at("2025-12-31T12:00"))
        for _ in range(800):
            self.assertIn((end - begin) / 3600, (23, 24, 25))
            begin, before = end, end
            begin, end = midnights.pacific_day(begin)
            self.assertEqual(begin, before)
            self.assertEqual(midnights.pacific_day(end - 0.001)[1], end)

    def test_utc(self):
        for now, begin, end in (
            ("2026-02-28T23:59", "2026-02-01T00:00", "2026-03-01T00:00"),
            ("2026-12-01T00:00", "2026-12-01T00:00", "2027-01-01T00:00"),
            ("2028-02-29T12:00", "2028-02-01T00:00", "2028-03-01T00:00"),
        ):
            with self.subTest(now):
                self.assertEqual(midnights.utc_month(at(now)), (at(begin), at(end)))


if __name__ == "__main__":
    unittest.main()
