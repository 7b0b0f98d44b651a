import unittest
from typing import Any

from tests.commands.stage import Stage

SPENT = {"day_usd": 0.0012, "month_usd": 1.5, "total_usd": 3.0, "unknown_calls": 0}
MONTH = {
    "whose": "bench",
    "period": "month",
    "limit_usd": 5.0,
    "spent_usd": 1.5,
    "held_usd": 0.0,
    "left_usd": 3.5,
    "renews": "2026-12-01T00:00:00.000Z",
}
TOLD: dict[str, Any] = {
    "ok": True,
    "budgets": {
        "bench": {"unknown_cost": "refuse", "spent": SPENT, "periods": []},
        "key:app": {"unknown_cost": "allow", "spent": SPENT, "periods": [MONTH]},
    },
}


class BudgetCommands(unittest.TestCase):
    def test_show(self) -> None:
        with Stage({"GET /api/budgets": TOLD}) as stage:
            lines = [line.split() for line in stage.bench("budget", "show").out.splitlines()]
        self.assertEqual(lines[2], ["the", "bench", "day", "$0.0012", "none"])
        self.assertEqual(
            lines[5], ["key", "app", "month", "$1.50", "$0.00", "$5.00", "$3.50", "2026-12-01T00:00", "allow"]
        )

    SENT: tuple[tuple[str, dict[str, Any]], ...] = (
        ("5usd/month", {"budget": "5usd/month"}),
        ("none --key app", {"budget": "none", "key": "app"}),
        (
            "--collection core 1usd/day --unknown-cost allow",
            {"budget": "1usd/day", "collection": "core", "unknown_cost": "allow"},
        ),
    )

    def test_set(self) -> None:
        with Stage({"POST /api/budget": TOLD}) as stage:
            for words, sent in self.SENT:
                with self.subTest(words):
                    self.assertEqual(stage.bench("budget", "set", *words.split()).code, 0)
                    self.assertEqual(stage.last.body, sent)
            self.assertEqual(
                stage.bench("budget", "set", "1usd/day", "--key", "a", "--collection", "b").code, 2
            )
            self.assertEqual(stage.bench("budget", "set").code, 2)


if __name__ == "__main__":
    unittest.main()
