import ast
import os
import unittest
from pathlib import Path

from metrics.store import holdings
from tests.store.case import HomeCase

METRICS = Path(holdings.__file__).resolve().parents[1]

NAMES = [
    ("bodies/2026-11-29.jsonl", "bodies"),
    ("bodies/2026-11-29.index", "bodies"),
    ("panels/counters", "panels"),
    ("verdicts.jsonl", "verdicts"),
    ("verdicts.counters", "verdicts"),
    ("claims.index", "verdicts"),
    ("credentials.json", "secrets"),
    ("credentials.json.lock", "running"),
    (".models.json.draft", "running"),
    ("bodies/.2026-11-29.jsonl.draft", "running"),
    ("underway.json", "running"),
    ("catalog/models.dev.json", "catalog"),
    ("before-restore-2026/panels/2026-11.jsonl", "set aside"),
    ("notes.txt", "other"),
    ("notes/panels/a.jsonl", "other"),
]


def declared() -> list[str]:
    """The name of every file and log that a module of the application keeps."""
    found = []
    for path in METRICS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called in ("JsonFile", "JsonLog") and node.args and isinstance(node.args[0], ast.Constant):
                parted = any(word.arg == "partition" for word in node.keywords)
                found.append(f"{node.args[0].value}/2026-11.jsonl" if parted else str(node.args[0].value))
    return found


class Kinds(unittest.TestCase):
    def test_which_kind_a_file_is(self) -> None:
        for name, kind in NAMES:
            with self.subTest(name):
                self.assertEqual(holdings.kind_of(name), kind)

    def test_every_file_that_the_program_keeps_has_a_kind(self) -> None:
        names = declared()
        self.assertGreater(len(names), 20)
        self.assertEqual([name for name in names if holdings.kind_of(name) == "other"], [])


class Look(HomeCase):
    def put(self, name: str, content: str = "x", at: float | None = None) -> None:
        path = self.home / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
        if at is not None:
            os.utime(path, (at, at))

    def test_files_bytes_and_since_when(self) -> None:
        self.put("bodies/2026-11-28.jsonl", "12345")
        self.put("bodies/2026-11-28.index", "12")
        self.put("bodies/2026-11-30.jsonl", "123")
        self.put("verdicts.jsonl", "1", at=1_700_000_000)
        self.put("mine.txt", "1234")
        held = {each.kind: each for each in holdings.look(self.home)}
        self.assertEqual([*held], [*(kind.name for kind in holdings.KINDS), "other"])
        bodies = held["bodies"]
        self.assertEqual(
            (bodies.files, bodies.bytes, bodies.oldest, bodies.newest), (3, 10, "2026-11-28", "2026-11-30")
        )
        self.assertEqual(held["verdicts"].oldest, "2023-11-14")
        self.assertEqual((held["other"].files, held["other"].bytes), (1, 4))
        self.assertEqual((held["ledger"].files, held["ledger"].oldest), (0, ""))

    def test_a_folder_in_a_circle_ends(self) -> None:
        (self.home / "panels").mkdir()
        (self.home / "panels" / "again").symlink_to(self.home)
        self.put("panels/2026-11.jsonl")
        self.assertLess(len(list(holdings.sizes(self.home))), 10)

    def test_free(self) -> None:
        self.assertGreater(holdings.free(self.home) or 0, 0)
        self.assertIsNone(holdings.free(self.home / "absent"))

    def test_what_killed_writers_left(self) -> None:
        for name in (".models.json.draft", "bodies/2026-10-01.index", "bodies/2026-11-28.index", "x.draft"):
            self.put(name, "1", at=1000.0)
        self.put("bodies/2026-11-28.jsonl", at=1000.0)
        self.put("bodies/.2026-11-28.jsonl.draft")  # somebody is at work
        found = holdings.leftovers(self.home, before=2000.0)
        self.assertEqual(found, [(".models.json.draft", 1), ("bodies/2026-10-01.index", 1)])
        holdings.remove(self.home, [name for name, _ in found])
        self.assertEqual(holdings.leftovers(self.home, before=2000.0), [])
