import json
import tempfile
import unittest
from pathlib import Path

from tests.commands.stage import Played, bench

ROW = {"at": "2026-11-29T14:22:20.000Z", "model_id": "e:m", "cost_usd": 0.5}


class LedgerMerge(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, calls in (("one", ("a", "b")), ("two", ("b", "c"))):
            place = self.folder / name / "ledger"
            place.mkdir(parents=True)
            rows = "".join(json.dumps({**ROW, "call": call}) + "\n" for call in calls)
            (place / "2026-11.jsonl").write_text(rows, "utf-8")
            (place / "counters").write_text("{}", "utf-8")

    def merge(self, *words: object) -> Played:
        return bench("ledger", "merge", *map(str, words))

    def test_folders_and_files(self) -> None:
        one, two = self.folder / "one", self.folder / "two"
        for sources in ((one, two), (one / "ledger", two / "ledger" / "2026-11.jsonl"), (one, one, two)):
            with self.subTest(sources):
                played = self.merge(*sources, "-o", self.folder / "out", "--replace", "--json")
                self.assertEqual(played.code, 0, played.out)
                said = played.document
                self.assertEqual((said["rows"], said["duplicates"], said["files"]), (3, 1, 2))
        self.assertEqual(said["months"], {"2026-11": 3})

    def test_for_people(self) -> None:
        played = self.merge(self.folder / "one", self.folder / "two", "-o", self.folder / "out")
        self.assertRegex(played.out, r"2026-11\s+3")
        self.assertIn("3 calls of 2 files in", played.err)
        self.assertIn("1 duplicate left out", played.err)

    def test_refusals(self) -> None:
        one = self.folder / "one"
        file = self.folder / "file"
        file.write_text("", "utf-8")
        (self.folder / "prose.jsonl").write_text("no row\n", "utf-8")
        self.merge(one, "-o", self.folder / "out")
        for words, said in (
            ((self.folder / "none", "-o", self.folder / "new"), "no ledger in"),
            ((one, "-o", file), "is a file"),
            ((one, "-o", one / "ledger"), "in use"),
            ((one, "-o", self.folder / "two" / "ledger"), "in use"),
            ((one, "-o", self.folder / "out"), "has files already"),
            ((one,), "--out|-o"),
            ((self.folder / "prose.jsonl", "-o", self.folder / "new"), "no line of these files is a call"),
        ):
            with self.subTest(said):
                played = self.merge(*words)
                self.assertEqual(played.code, 2)
                self.assertRegex(played.err, said)


if __name__ == "__main__":
    unittest.main()
