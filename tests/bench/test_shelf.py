import unittest
from typing import Any

from metrics.bench.shelf import Shelf
from metrics.records import Problem
from metrics.store.files import JsonFile
from tests.bench.bench import BenchCase


def whole(name: str, raw: Any) -> int:
    if not isinstance(raw, int):
        raise Problem(400, "must be a whole number")
    return raw


class Shelves(BenchCase):
    def test_a_broken_entry_is_set_aside(self) -> None:
        shelf = Shelf(JsonFile("things.json"), whole)
        self.write("things.json", '{"one": 1, "two": "2"}')
        self.assertEqual(shelf.good(), {"one": 1})
        self.assertEqual(shelf.bad(), {"two": 'things.json: "two": must be a whole number'})
        problem = shelf.broken("two")
        assert problem is not None
        self.assertEqual((problem.status, problem.kind, problem.retryable), (503, "config", False))
        self.assertIsNone(shelf.broken("one"))
        self.assertIsNone(shelf.broken("three"))

    def test_a_section(self) -> None:
        shelf = Shelf(JsonFile("things.json"), whole, "numbers")
        for text, good, bad in (
            ("{}", {}, {}),
            ('{"other": 5}', {}, {}),
            ('{"numbers": {"one": 1}}', {"one": 1}, {}),
            ('{"numbers": [1]}', {}, {"numbers": 'things.json: "numbers" must be an object'}),
        ):
            with self.subTest(text):
                self.write("things.json", text)
                self.assertEqual((shelf.good(), shelf.bad()), (good, bad))

    def test_entries_are_parsed_once_for_each_version_of_the_file(self) -> None:
        parsed: list[str] = []
        file = Held({"one": 1})
        shelf: Shelf[int] = Shelf(file, lambda name, raw: parsed.append(name) or raw)
        shelf.good(), shelf.bad(), shelf.good()
        self.assertEqual(parsed, ["one"])
        file.value = {"one": 1, "two": 2}
        self.assertEqual((shelf.good(), parsed), ({"one": 1, "two": 2}, ["one", "one", "two"]))

    def test_a_file_that_does_not_parse(self) -> None:
        self.write("things.json", "{")
        shelf = Shelf(JsonFile("things.json"), whole)
        self.assertRaises(Problem, shelf.good)
        self.assertRaises(Problem, shelf.bad)


class Held(JsonFile):
    """A file whose content is said here."""

    def __init__(self, value: dict[str, Any]) -> None:
        super().__init__("held.json")
        self.value = value

    def read(self) -> dict[str, Any]:
        return self.value


if __name__ == "__main__":
    unittest.main()
