import random
import unittest
from datetime import UTC, datetime

from metrics.store import stamps

MOMENTS = [
    (0.0, "1970-01-01T00:00:00.000Z"),
    (1_796_048_540.123, "2026-11-30T14:22:20.123Z"),
    (1_796_048_540.9999, "2026-11-30T14:22:20.999Z"),
]


class Stamps(unittest.TestCase):
    def test_how_long_a_wait_is(self) -> None:
        for seconds, words in (
            (0.2, "1 s"),
            (40, "40 s"),
            (119, "119 s"),
            (120, "2 min"),
            (3552, "59 min"),
            (7200, "2 h"),
            (12_000, "3 h 20 min"),
            (172_800, "2 days"),
        ):
            with self.subTest(seconds=seconds):
                self.assertEqual(stamps.lasting(seconds), words)

    def test_there_and_back(self) -> None:
        for moment, text in MOMENTS:
            with self.subTest(text):
                self.assertEqual(stamps.stamp(moment), text)
                self.assertAlmostEqual(stamps.epoch(text), moment, delta=0.001)

    def test_it_is_as_datetime_writes_it(self) -> None:
        draw = random.Random(3)
        for _ in range(2000):
            moment = draw.choice((draw.uniform(0, 4e9), 1_796_048_540 + draw.choice((-1, 1)) * draw.random()))
            for each in (moment, round(moment, draw.randrange(7)), int(moment) + 0.9999996):
                wanted = datetime.fromtimestamp(each, UTC).isoformat(timespec="milliseconds")[:23] + "Z"
                self.assertEqual(stamps.stamp(each), wanted)

    def test_a_date_alone_is_its_midnight(self) -> None:
        self.assertEqual(stamps.epoch("1970-01-02"), 86_400.0)

    def test_what_is_no_moment(self) -> None:
        for text in ("", "yesterday", "2026-13-01", "2026-11-30T25:00:00Z"):
            with self.subTest(text), self.assertRaises(ValueError):
                stamps.epoch(text)

    def test_month_and_day(self) -> None:
        self.assertEqual(stamps.part("2026-11-30T14:22:20.123Z", "month"), "2026-11")
        self.assertEqual(stamps.part("2026-11-30T14:22:20.123Z", "day"), "2026-11-30")
        for text in ("", "2026", "2026-00-01", "2026-11-00", "2026-11-32", "2026-11-301", "../../etc", None):
            with self.subTest(text), self.assertRaises(ValueError):
                stamps.part(text, "day")
        for text in ("", "2026", "2026-00-01", "2026-113", "../../etc", None):
            with self.subTest(text), self.assertRaises(ValueError):
                stamps.part(text, "month")

    def test_months_before(self) -> None:
        now = stamps.epoch("2026-02-15")
        for months, expected in ((0, "2026-02"), (1, "2026-01"), (2, "2025-12"), (26, "2023-12")):
            with self.subTest(months):
                self.assertEqual(stamps.months_before(now, months), expected)
