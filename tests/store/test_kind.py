import unittest
from fnmatch import fnmatch
from pathlib import Path

from metrics.store.kind import Kind
from tests.store.logs import AT


def kind(name: str, partition: str | None) -> Kind:
    return Kind(name, "id", partition, False, None, dict, 1, 1)


# name, partition -> the file of a row, what the disk's refusal calls it, where its counters are
KINDS = [
    ("plain.jsonl", None, "plain.jsonl", "plain.jsonl", "plain.counters"),
    ("rows", "month", "2026-11.jsonl", "rows/2026-11.jsonl", "rows/counters"),
    ("rows", "day", "2026-11-29.jsonl", "rows/2026-11-29.jsonl", "rows/counters"),
]


class Kinds(unittest.TestCase):
    def test_files(self) -> None:
        for name, partition, file, label, counters in KINDS:
            made = kind(name, partition)
            with self.subTest(partition):
                self.assertEqual(made.entry({"at": AT}).file, file)
                self.assertTrue(fnmatch(file, made.pattern))
                self.assertEqual(made.label(file), label)
                self.assertEqual(made.counters(Path("x") / name, Path("x")).path, Path("x") / counters)

    def test_no_kind_takes_the_file_of_another(self) -> None:
        files = [file for _, _, file, _, _ in KINDS]
        for name, partition, own, _, _ in KINDS:
            self.assertEqual([file for file in files if fnmatch(file, kind(name, partition).pattern)], [own])

    def test_a_key_that_is_no_text_is_none(self) -> None:
        for row, key in (({"id": "k"}, "k"), ({"id": 3}, None), ({}, None)):
            self.assertEqual(kind("plain.jsonl", None).entry(row).key, key)
