import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from tests.commands.stage import Played, Stage

ROW = {"at": "2026-11-29T14:22:20.000Z", "endpoint": "oai", "served": "gpt", "cost_status": "computed"}


class Cost(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "ledger").mkdir()
        self.ledger("2026-11", ROW | {"call": "c1", "cost_usd": 1.0}, ROW | {"call": "c2", "cost_usd": 2.0})
        self.ledger("2026-10", ROW | {"call": "c0", "cost_usd": 9.0, "at": "2026-10-01T00:00:00.000Z"})
        (self.folder / "ledger" / "counters").write_text("{}", encoding="utf-8")

    def ledger(self, month: str, *rows: dict[str, Any]) -> None:
        text = "".join(json.dumps(row) + "\n" for row in ({"version": 1}, *rows))
        (self.folder / "ledger" / f"{month}.jsonl").write_text(text + '{"torn', encoding="utf-8")

    def cost(self, text: str | bytes, *words: str, home: Path | None = None) -> Played:
        file = self.folder / "invoice.csv"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        with Stage({"GET /api/status": {"ok": True, "home": str(home or self.folder)}}) as stage:
            return stage.bench("cost", "--reconcile", str(file), *words)

    def test_all_agree(self) -> None:
        played = self.cost("id,cost\nc0,9.00\nc1,1.00\nc2,2.00\n")
        self.assertEqual((played.code, played.out), (0, ""))
        self.assertIn("by request: 3 agree, 0 differ", played.err)

    def test_what_differs(self) -> None:
        played = self.cost("date,model,cost\n2026-11-29,gpt,3.50\n")
        self.assertEqual(played.code, 1)
        self.assertRegex(played.out, r"2026-11-29 gpt +\$3.50 +\$3.00 +2 +0 +differs")
        self.assertIn("billed $3.50, in the ledger $3.00", played.err)

    def test_json_tells_all(self) -> None:
        played = self.cost("id,cost\nc1,1.00\ngone,5\n", "--json")
        self.assertEqual((played.code, played.document["differ"][0]["why"]), (1, "not in the ledger"))

    def test_options(self) -> None:
        text = "date,model,cost\n2026-11-29,gpt,3.01\n"
        self.assertEqual(self.cost(text, "--tolerance", "0.01").code, 0)
        self.assertEqual(self.cost(text, "--endpoint", "other").code, 1)
        self.assertEqual(self.cost(text, "--tolerance", "0.01", "--home", str(self.folder)).code, 0)
        self.assertEqual(self.cost(text, "--tolerance", "little").code, 2)

    def test_what_cannot_be_done(self) -> None:
        for text, words in (
            (b"", "no line with a cost"),
            (b"\xef\xbb\xbfid,cost\nx,y\n", "line 1 has no cost"),
        ):
            with self.subTest(text):
                played = self.cost(text)
                self.assertEqual(played.code, 1)
                self.assertIn(words, played.err)
        self.assertIn("no ledger in", self.cost("id,cost\nc1,1\n", home=self.folder / "elsewhere").err)
        with Stage({}) as stage:
            self.assertEqual(stage.bench("cost", "--reconcile", str(self.folder / "none.csv")).code, 2)
            self.assertEqual(stage.bench("cost").code, 2)
