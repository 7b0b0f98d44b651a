import unittest

from metrics.bench import changes
from tests.bench.bench import BY, BenchCase


class Changes(BenchCase):
    def test_a_note(self) -> None:
        changes.note(BY, "endpoint box", "removed", {"base": "x"}, None)
        row = changes.recent(5)[0][0]
        self.assertRegex(row.pop("at"), r"^20\d\d-\d\d-\d\dT.*Z$")
        expected = {"by": BY, "what": "endpoint box", "field": "removed", "old": {"base": "x"}, "new": None}
        self.assertEqual(row, expected)

    def test_only_what_differs_is_noted(self) -> None:
        changes.differences(
            BY, "collection core", {"a": 1, "b": 2, "gone": 3}, {"a": 1, "b": 5, "new": [4], "null": None}
        )
        noted = [(row["field"], row["old"], row["new"]) for row in changes.recent(9)[0]]
        self.assertEqual(noted, [("new", None, [4]), ("gone", 3, None), ("b", 2, 5)])

    def test_nothing_differs(self) -> None:
        changes.differences(BY, "collection core", {"a": 1}, {"a": 1})
        self.assertEqual(changes.recent(9), ([], None))

    def test_pages(self) -> None:
        for n in range(5):
            changes.note(BY, "settings", "deadline", n, n + 1)
        first, cursor = changes.recent(3)
        rest, end = changes.recent(3, cursor)
        self.assertEqual([row["old"] for row in first + rest], [4, 3, 2, 1, 0])
        self.assertIsNone(end)


if __name__ == "__main__":
    unittest.main()
