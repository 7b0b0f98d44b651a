import csv
import io
import unittest
from typing import Any

from metrics.commands import used
from tests.commands.stage import Stage

KINDS = {"uncached_in": 1_234_567, "cache_read": 8, "cache_write": 9, "out": 10, "reasoning": 4}


def counts(name: str | None, known: float | None = 1.5, **more: Any) -> dict[str, Any]:
    usual = dict.fromkeys(used.COUNTS, 0) | {"calls": 7, "priced_calls": 7}
    return {"name": name, **usual, "known_usd": known, "tokens": KINDS, **more}


def told(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    total = counts("", unknown_calls=sum(one["unknown_calls"] for one in rows))
    return {
        "ok": True,
        "by": "model",
        "since": "2026-11-22T14:00:00Z",
        "total": total,
        "rows": list(rows),
    } | more


def at(reply: dict[str, Any]) -> Stage:
    return Stage({"GET /api/usage": reply})


class Usage(unittest.TestCase):
    def test_a_table_with_its_total(self) -> None:
        rows = (counts("kimi"), counts(None, None, unknown_calls=3, estimated_calls=2, interrupted=1))
        with at(told(*rows)) as stage:
            played = stage.bench("usage", "--since", "7d", "--by", "model")
            self.assertIn("since=7d", stage.last.path)
        lines = played.out.splitlines()
        self.assertEqual((played.code, len(lines)), (0, 5))
        self.assertIn("1,234,567", lines[2])
        self.assertIn("$1.50", lines[2])
        self.assertRegex(lines[3], r"\(none\).* unknown .*2 estimated, 1 interrupted")
        self.assertRegex(lines[4], r"total.*≥ \$1.50")
        self.assertIn("since 2026-11-22T14:00:00Z", played.err)
        self.assertIn("3 calls of unknown cost", played.err)

    def test_a_call_without_tokens_is_not_for_want_of_a_price(self) -> None:
        reply = told(counts("kimi", unknown_calls=1, unmetered_calls=1))
        reply["total"]["unmetered_calls"] = 1
        with at(reply) as stage:
            self.assertIn("1 call of unknown cost: tokens not counted, or no price", stage.bench("usage").err)

    def test_one_row_is_its_own_total(self) -> None:
        with at(told(counts("kimi"))) as stage:
            self.assertEqual(len(stage.bench("usage").out.splitlines()), 3)

    def test_nothing_was_asked(self) -> None:
        with at(told(since=None)) as stage:
            played = stage.bench("usage")
        self.assertEqual((played.code, played.out), (0, ""))
        self.assertIn("nothing was asked", played.err)

    def test_a_ledger_that_is_counted_again(self) -> None:
        with at(told(counts("kimi"), complete=False)) as stage:
            self.assertIn("not all of it yet", stage.bench("usage").err)

    def test_json_is_the_answer(self) -> None:
        answer = told(counts("kimi"))
        with at(answer) as stage:
            self.assertEqual(stage.bench("usage", "--json").document["rows"], answer["rows"])

    def test_csv_has_all_digits(self) -> None:
        with at(told(counts("a,b", 5e-12), counts(None, None))) as stage:
            played = stage.bench("usage", "--csv")
        rows = list(csv.DictReader(io.StringIO(played.out)))
        self.assertEqual([row["model"] for row in rows], ["a,b", ""])
        self.assertEqual([row["known_usd"] for row in rows], ["0.000000000005", ""])
        self.assertEqual(rows[0]["uncached_in"], "1234567")

    def test_what_cannot_be_asked(self) -> None:
        with at(told()) as stage:
            played = stage.bench("usage", "--by", "colour")
        self.assertEqual(played.code, 2)
        self.assertIn("--by", played.err)
