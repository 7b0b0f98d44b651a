import unittest
from typing import Any

from metrics.limits import quota, refused
from metrics.records import Limited, Problem, Stated
from metrics.store.stamps import epoch, stamp
from tests.limits.test_gate import CHAT, NOW, Gate
from tests.limits.test_gate import refused as problem

AT = epoch("2026-11-29T14:22:20.000Z")


def row(at: float, cause: str = "window", **more: Any) -> dict[str, Any]:
    return {"at": stamp(at), "refused": cause, "status": 429, "stated": [], **more}


class Rows(unittest.TestCase):
    def test_what_is_noted_of_a_refusal(self) -> None:
        day = Stated("requests", "day", limit=50, remaining=0)
        cases: tuple[tuple[str, Problem, dict[str, Any]], ...] = (
            ("not for want of room", Problem(400, "no"), {}),
            ("too much to do", Problem(503, "no", limited=Limited("overload", AT)), {}),
            (
                "a day's calls",
                Problem(429, "secret words", limited=Limited("exhausted", AT, stated=(day,))),
                {
                    "refused": "exhausted",
                    "status": 429,
                    "stated": [["requests", "day", 50]],
                    "again": AT,
                },
            ),
            (
                "nobody knows until when",
                Problem(429, "no", limited=Limited("concurrency")),
                {"refused": "concurrency", "status": 429, "stated": []},
            ),
        )
        for name, said, wanted in cases:
            with self.subTest(name):
                self.assertEqual(refused.row_of(said), wanted)


class Told(unittest.TestCase):
    def told(self, *rows: dict[str, Any], now: float = AT) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for one in rows:
            refused.fold(kept, one)
        return refused.told([("", kept)], now)

    def test_by_the_hour_of_a_day_back(self) -> None:
        told = self.told(row(AT - 86_400), row(AT - 7200), row(AT - 3600), row(AT - 3600), row(AT))
        self.assertEqual(told["hours"], [0] * 21 + [1, 2, 1])
        self.assertEqual(told["since"], "2026-11-28T15:00:00.000Z")

    def test_of_several_scopes_together(self) -> None:
        kept: list[tuple[str, dict[str, Any]]] = [("", {}), ("groq:m", {})]
        refused.fold(kept[0][1], row(AT - 60))
        refused.fold(kept[1][1], row(AT, "concurrency"))
        told = refused.told(kept, AT)
        self.assertEqual(told["hours"][-1], 2)
        self.assertEqual((told["last"]["cause"], told["last"]["model_id"]), ("concurrency", "groq:m"))

    def test_nothing(self) -> None:
        told = self.told()
        self.assertEqual((sum(told["hours"]), len(told["hours"]), told["last"]), (0, 24, None))

    def test_what_is_kept_is_bounded(self) -> None:
        kept: dict[str, Any] = {}
        for hour in range(200):
            refused.fold(kept, row(AT + 3600 * hour))
        self.assertEqual(len(kept["hours"]), refused.HOURS)


class Kept(Gate):
    def test_a_refusal_is_kept_over_a_restart_without_its_words(self) -> None:
        with self.entry() as entry:
            entry.ask(0)
            entry.refused(problem("window", NOW + 60))
        self.restart()
        told = refused.told(quota.refusals("groq"), self.now)
        self.assertEqual((told["hours"][-1], told["last"]["model_id"]), (1, CHAT.model_id))
        self.assertEqual((told["last"]["cause"], told["last"]["until"]), ("window", stamp(NOW + 60)))


if __name__ == "__main__":
    unittest.main()
