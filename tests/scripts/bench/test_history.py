import json
import tempfile
import unittest
from itertools import islice
from pathlib import Path

from metrics.evidence import offloads, panels
from metrics.limits import ledger
from metrics.store import bodies, home
from metrics.store.log import close_all
from scripts.bench import history

NOW = 1_795_964_183.0  # 2026-11-29
PANEL = "p20261129-145623-5eec7de7"
AT = "2026-11-29T14:56:23.000Z"


class TestCopies(unittest.TestCase):
    def test_rows_are_like_the_pattern_with_other_ids_and_times(self):
        line = json.dumps({"at": AT, "panel": PANEL, "seats": [{"call": f"{PANEL}.member1"}], "spent": 3})
        rows = [json.loads(text) for _, text in history.copies(line, 12, NOW)]
        self.assertEqual(len({row["panel"] for row in rows}), 12)
        self.assertEqual(sorted(row["at"] for row in rows), [row["at"] for row in rows])
        for row in rows:
            self.assertEqual(row["seats"][0]["call"], f"{row['panel']}.member1")
            self.assertEqual(panels.month(row["panel"]), row["at"][:7])
            self.assertEqual(row["spent"], 3)

    def test_times_are_those_of_the_rows(self):
        line = json.dumps({"at": AT, "panel": PANEL})
        for at, text in islice(history.copies(line, 500, NOW), 100):
            self.assertEqual(json.loads(text)["at"], at)


class TestFill(unittest.TestCase):
    def test_the_store_finds_and_counts_what_was_written(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()), "home")
        self.addCleanup(close_all)
        home.use(folder)
        with home.own():
            ledger.add(
                {"at": AT, "panel": PANEL, "model_id": "mock:m", "status": "ok", "cost_status": "free"}
            )
            panels.record({"panel": PANEL, "at": AT, "collection": "one", "seats": []})
            offloads.record({"call": f"{PANEL}.member1", "panel": PANEL, "at": AT, "collection": "one"})
            bodies.keep(PANEL, {"answers": {f"{PANEL}.member1": "yes"}})
            close_all()
        history.fill(folder, 300, 60, NOW)
        home.use(folder)
        with home.own():
            self.assertEqual(panels.find(PANEL)["collection"], "one")
            rows, _ = panels.recent(100)
            self.assertEqual(len(rows), 61)
            for row in rows[::10]:
                self.assertEqual(panels.find(row["panel"]), row)
            young = [row["panel"] for row in rows if bodies.read(row["panel"])]
            self.assertEqual(young, [row["panel"] for row in rows[: len(young)]])
            self.assertTrue(3 < len(young) < 10)  # of a month, not of the year
            call = f"{young[-1]}.member1"
            self.assertEqual(bodies.read(young[-1]), {"answers": {call: "yes"}})
            self.assertEqual(len(ledger.recent(1000)[0]), 301)
            close_all()
