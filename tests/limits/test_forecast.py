import unittest
from typing import Any

from metrics.limits import forecast
from metrics.store.stamps import epoch

NOON = epoch("2026-11-29T12:00:00Z")
DAY = (NOON - 43_200, NOON + 43_200)


class Forecast(unittest.TestCase):
    def test_when_it_is_said(self) -> None:
        # name, metric, limit, used, (begin, end), what is said
        cases: tuple[tuple[str, str, float, float, tuple[float | None, float | None], Any], ...] = (
            ("enough until midnight", "requests", 1000, 400, DAY, (800, None)),
            ("empty at six", "requests", 600, 400, DAY, (800, "2026-11-29T18:00:00.000Z")),
            ("money", "usd", 20, 5, DAY, (10, None)),
            ("used up: nothing to foretell", "requests", 400, 400, DAY, None),
            ("hardly anything was used", "requests", 1000, 4, DAY, None),
            ("hardly any money was", "usd", 20, 0.3, DAY, None),
            ("hardly any time has passed", "requests", 1000, 400, (NOON - 1700, NOON + 84_700), None),
            ("a tenth of a month is needed", "usd", 20, 5, (NOON - 86_400, NOON + 29 * 86_400), None),
            ("not on the clock", "requests", 1000, 400, (None, NOON + 60), None),
            ("nobody knows its end", "requests", 1000, 400, (NOON - 43_200, None), None),
        )
        for name, metric, limit, used, (begin, end), wanted in cases:
            with self.subTest(name):
                told = forecast.ahead(metric, limit, used, begin, end, NOON)
                self.assertEqual(told and (told["by_reset"], told["empty_at"]), wanted)

    def test_when_a_window_began(self) -> None:
        cases = {
            ("calendar", "month", 0.0): epoch("2026-11-01"),
            ("fixed", "day", 86_400.0): epoch("2026-11-29"),
            ("pacific", "day", 86_400.0): epoch("2026-11-29T08:00:00Z"),
            ("fixed", "minute", 60.0): None,
            ("rolling", "day", 86_400.0): None,
            ("bucket", "day", 86_400.0): None,
        }
        for (kind, window, seconds), begin in cases.items():
            with self.subTest(kind=kind, window=window):
                self.assertEqual(forecast.begun(kind, window, seconds, NOON), begin)


if __name__ == "__main__":
    unittest.main()
