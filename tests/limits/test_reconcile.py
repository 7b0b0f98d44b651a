import unittest
from typing import Any

from metrics.limits import cost, reconcile
from metrics.records import Problem

USD = cost.UNITS


def row(call: str = "c1", usd: float | None = 1.0, **more: Any) -> dict[str, Any]:
    said = {"at": "2026-11-29T14:22:20.000Z", "call": call, "served": "gpt", "model": "mine", "cost_usd": usd}
    return said | {"cost_status": "unknown" if usd is None else "computed", "request_id": f"r-{call}"} | more


def compared(text: str, *rows: dict[str, Any], tolerance: int = 0) -> dict[str, Any]:
    return reconcile.compare(reconcile.invoice(reconcile.rows_of(text, "x")), rows, tolerance)


def whys(found: dict[str, Any]) -> dict[str, str]:
    return {one["key"]: one["why"] for one in found["differ"]}


class Figures(unittest.TestCase):
    def test_when_two_figures_agree(self) -> None:
        # the invoice's figure, ours, tolerance in units, whether they agree
        cases: tuple[tuple[str, float, int, bool], ...] = (
            ("1", 1.0, 0, True),
            ("0.0123", 0.0123, 0, True),
            ("0.0123", 0.01234999, 0, True),
            ("0.0123", 0.01235, 0, True),
            ("0.0123", 0.012350001, 0, False),
            ("0.0123", 0.012249999, 0, False),
            ("0.01230", 0.01234, 0, False),
            ("0.01230", 0.01234, USD // 10_000, True),
            ("$1,234.50", 1234.5, 0, True),
            ("1.23e-5", 0.0000123, 0, True),
            ("0.000000000001", 0.000000000001, 0, True),
            ("0.000000000001", 0.000000000002, 0, False),
            ("-0.5", -0.5, 0, True),
            ("0", 0.0, 0, True),
        )
        for billed, ours, tolerance, agrees in cases:
            with self.subTest(billed=billed, ours=ours, tolerance=tolerance):
                text = f'id,cost\nc1,"{billed}"\n'
                found = compared(text, row(usd=ours), tolerance=tolerance)
                self.assertEqual((found["agree"], len(found["differ"])), (1, 0) if agrees else (0, 1))

    def test_json_keeps_the_digits_of_the_file(self) -> None:
        found = compared('{"id": "c1", "cost": 0.0123}', row(usd=0.01234))
        self.assertEqual(found["agree"], 1)
        self.assertEqual(compared('{"id": "c1", "cost": 0.01230}', row(usd=0.01234))["agree"], 0)


class ById(unittest.TestCase):
    TEXT = "Request ID,Total Cost\nc1,1.00\nr-c2,2.00\ngone,3.00\nc4,4.00\nzero,0\n"

    def test_what_differs(self) -> None:
        rows = [row("c1"), row("c2", 2.5), row("c4", None), row("c5", 9.0)]
        found = compared(self.TEXT, *rows)
        expected = {"gone": "not in the ledger", "r-c2": "differs", "c4": "unknown here"}
        self.assertEqual((found["by"], found["agree"], whys(found)), ("request", 2, expected))
        by_key = {one["key"]: one for one in found["differ"]}
        self.assertEqual((by_key["c4"]["ledger_usd"], by_key["c4"]["unknown_calls"]), (None, 1))
        self.assertEqual((by_key["r-c2"]["billed_usd"], by_key["r-c2"]["ledger_usd"]), (2.0, 2.5))
        totals = {"billed_usd": 10.0, "ledger_usd": 3.5, "difference_usd": 6.5}
        self.assertEqual(found["totals"], totals)

    def test_a_request_in_two_lines_adds_up(self) -> None:
        self.assertEqual(compared("id,cost\nc1,0.25\nc1,0.75\n", row())["agree"], 1)


class ByDay(unittest.TestCase):
    TEXT = "date,model,cost\n2026-11-28,gpt,1.00\n2026-11-29T00:00:00Z,gpt,3.00\n2026-11-30,gpt,5.00\n"

    def test_sums_of_a_day_and_a_model(self) -> None:
        rows = [
            row(at="2026-11-28T23:59:59.999Z"),
            row(),
            row(usd=2.0),
            row(usd=7.0, served="other"),
            row(usd=7.0, at="2026-12-01T00:00:00.000Z"),
            row(usd=4.0, at="2026-11-30T05:00:00.000Z"),
            row(usd=None, at="2026-11-30T06:00:00.000Z"),
        ]
        found = compared(self.TEXT, *rows)
        self.assertEqual((found["by"], found["agree"]), ("day and model", 2))
        self.assertEqual(whys(found), {"2026-11-30 gpt": "unknown here"})
        self.assertEqual(found["differ"][0]["ledger_usd"], 4.0)

    def test_a_day_that_was_not_billed(self) -> None:
        text = "date,model,cost\n2026-11-28,gpt,1.00\n2026-11-30,gpt,0\n"
        self.assertEqual(whys(compared(text, row()))["2026-11-29 gpt"], "not billed")

    def test_by_our_alias_too(self) -> None:
        self.assertEqual(compared("day,model,cost\n2026-11-29,mine,1.00\n", row())["agree"], 1)

    def test_the_dearest_comes_first(self) -> None:
        found = compared(self.TEXT, row(usd=0.5))
        self.assertEqual([one["billed_usd"] for one in found["differ"]], [5.0, 3.0, 1.0])


class Files(unittest.TestCase):
    def test_what_cannot_be_read(self) -> None:
        cases = (
            ("", "no line with a cost"),
            ("id,cost\n", "no line with a cost"),
            ("id,cost\nc1,\n", "line 1 has no cost"),
            ("id,cost\nc1,much\n", "line 1 has no cost"),
            ("id,cost\nc1,nan\n", "line 1 has no cost"),
            ("id,cost\nc1,1e99\n", "line 1 has no cost"),
            ("name,cost\nc1,1\n", "neither a request id"),
            ("date,cost\n2026-11-29,1\n", "neither a request id"),
            ("date,model,cost\nyesterday,gpt,1\n", "neither a request id"),
            ("id,date,model,cost\nc1,,,1\n,2026-11-29,gpt,1\n", "split the file"),
            ('{"id": "c1", "cost": 1}\n{', "line 2: not a JSON object"),
            ("[1]\n", "line 1: not a JSON object"),
            ('id,cost\n"c1,1' + "x" * 200_000, "neither JSON lines nor CSV"),
        )
        for text, why in cases:
            with self.subTest(text[:40]), self.assertRaisesRegex(Problem, why) as caught:
                reconcile.invoice(reconcile.rows_of(text, "x"))
            self.assertEqual(caught.exception.status, 400)
