import contextlib
import copy
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from metrics.limits import ledger
from metrics.store import openlog
from scripts import traffic

CALLS = 2000


class Traffic(unittest.TestCase):
    def test_a_small_month_agrees_with_the_plain_loop(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(openlog, "REST", openlog.REST))
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(traffic.run(folder / "home", CALLS, goal=30.0), 0, said.getvalue())
        questions = sum(map(len, traffic.ROUTES.values())) * len(traffic.SPANS)
        self.assertEqual(said.getvalue().count(" ms, again"), questions)

    def test_rows_are_those_of_a_ledger(self):
        rows = list(traffic.traffic(CALLS))
        self.assertEqual(len(rows), CALLS)
        self.assertLessEqual(set(rows[0]), set(ledger.FIELDS))
        self.assertEqual(rows, sorted(rows, key=lambda row: row["at"]))
        self.assertEqual(len({row["key"] for row in rows}), 12)
        self.assertEqual(len({row["model"] for row in rows}), 40)
        self.assertEqual({row["cost_status"] for row in rows}, {"computed", "unknown", "none"})

    def test_a_difference_is_seen(self):
        tokens = dict.fromkeys(traffic.KINDS, 3)
        fields = ("calls", "errors", "priced_calls", "unknown_calls", "estimated_calls")
        right = {"name": "a", **dict.fromkeys(fields, 2), "known_usd": 0.5, "tokens": tokens}
        cell = copy.deepcopy({field: value for field, value in right.items() if field != "name"})
        self.assertEqual(traffic.differences([right], {"a": cell}), [])
        for field in cell:
            with self.subTest(field):
                wrong = {**cell, field: {} if field == "tokens" else 7}
                self.assertIn(field, traffic.differences([right], {"a": wrong})[0])
        self.assertIn("only one", traffic.differences([right], {})[0])
        self.assertIn("only one", traffic.differences([], {"a": cell})[0])

    def test_what_the_plain_loop_counts(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "ledger").mkdir()
        rows = list(traffic.traffic(50))
        lines = [json.dumps(row) for row in ({"$schema_version": 1}, *rows)]
        (folder / "ledger" / "2026-11.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        since = rows[20]["at"][:19] + "Z"
        counted = traffic.recount(folder, [("key", since), ("day", "")])
        self.assertEqual(sum(cell["calls"] for cell in counted["key", since].values()), 30)
        self.assertEqual(sum(cell["calls"] for cell in counted["day", ""].values()), 50)
