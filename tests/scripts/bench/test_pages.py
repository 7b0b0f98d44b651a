import unittest
from typing import Any

from scripts.bench import pages
from scripts.bench.pages import Timed

PANEL = {"fps": 60.0, "longest_at_work": 12.0}
WEIGHT = {"before": 60.0, "after": 65.0}


def seen(paint: float | None = 300.0, **panel: Any) -> dict[str, Any]:
    return {"pages": {"ask": {"paint": paint, "asked": ["/api/status"]}}, "panel": PANEL | panel}


class Misses(unittest.TestCase):
    def test_what_misses_its_goal_is_named(self) -> None:
        quick, slow = Timed("/api/log", 300.0, 40.0, 10), Timed("/api/models", 90.0, 140.0, 10)
        broken = {"pages": {"usage": {"error": "no answer"}}, "panel": {"error": "it hung"}}
        for name, looked, answers, weight, expected in (
            ("all is well", seen(), [quick], WEIGHT, []),
            ("slow data", seen(), [quick, slow], WEIGHT, ["/api/models answers in 140 ms"]),
            ("late paint", seen(1200.0), [], WEIGHT, ["ask is first painted after 1200.0 ms"]),
            ("no paint", seen(None), [], WEIGHT, ["ask is first painted after None ms"]),
            ("few frames", seen(fps=20.0), [], WEIGHT, ["a panel is written at 20 frames a second"]),
            (
                "a long task",
                seen(longest_at_work=80.0),
                [],
                WEIGHT,
                ["a task of 80 ms while a panel is written"],
            ),
            (
                "it grows",
                seen(),
                [],
                {"before": 60.0, "after": 90.0},
                ["the server grows by 30 MB in an hour"],
            ),
            (
                "broken",
                broken,
                [],
                {},
                ["usage was not drawn: no answer", "a panel was not written: it hung"],
            ),
        ):
            with self.subTest(name):
                self.assertEqual(pages.misses(looked, answers, weight), expected)

    def test_only_what_is_read_is_asked_again(self) -> None:
        self.assertEqual(pages.asked(seen()), {"ask": ["/api/status"]})
        self.assertEqual(
            [path for path in ("/api/seats", "/api/log?limit=8") if pages.readable(path)],
            ["/api/log?limit=8"],
        )


if __name__ == "__main__":
    unittest.main()
