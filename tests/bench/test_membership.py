import copy
import json
import unittest
from typing import Any

from metrics.bench import membership
from tests.bench.bench import BenchCase

SHELVES: dict[str, Any] = {
    "core": {"members": ["a1", "b1", "c1"], "merger": "b1"},
    "side": {"members": ["b1"]},
    "judged": {"members": ["a1"], "merger": "b1"},
    "other": {"members": ["a1"]},
    "odd": {"members": "b1"},
    "odder": 5,
}


class Membership(BenchCase):
    def setUp(self) -> None:
        super().setUp()
        self.shelves = copy.deepcopy(SHELVES)

    def test_sizes_and_places(self) -> None:
        self.write("collections.json", json.dumps(SHELVES))
        sizes = {"core": 3, "side": 1, "judged": 1, "other": 1, "odd": 0, "odder": 0}
        self.assertEqual(membership.sizes(), sizes)
        self.assertEqual(membership.places("b1"), ["core", "side", "judged"])
        self.assertEqual(membership.places("z1"), [])

    def test_rename(self) -> None:
        membership.rename(self.shelves, "b1", "new")
        self.assertEqual(self.shelves["core"], {"members": ["a1", "new", "c1"], "merger": "new"})
        self.assertEqual((self.shelves["odd"], self.shelves["odder"]), ({"members": "b1"}, 5))

    def test_leave_and_come_back(self) -> None:
        was = membership.leave(self.shelves, "b1")
        self.assertEqual(
            was,
            [
                {"name": "core", "at": 1, "merger": True},
                {"name": "side", "at": 0, "merger": False},
                {"name": "judged", "at": None, "merger": True},
            ],
        )
        self.assertEqual(self.shelves["core"], {"members": ["a1", "c1"]})
        self.assertEqual(self.shelves["side"], {"members": []})
        back = membership.come_back(self.shelves, "b1", was, lambda size: True)
        self.assertEqual((self.shelves, back), (SHELVES, ["core", "side"]))

    def test_come_back_to_what_has_changed(self) -> None:
        was = [
            {"name": "core", "at": 9, "merger": True},
            {"name": "gone", "at": 0, "merger": False},
            5,
            {"name": []},
        ]
        cases: list[tuple[Any, Any]] = [
            ({"members": ["x1"]}, {"members": ["x1", "b1"], "merger": "b1"}),
            ({"members": ["x1", "b1"]}, {"members": ["x1", "b1"], "merger": "b1"}),
            ({"members": ["x1"], "merger": "x1"}, {"members": ["x1", "b1"], "merger": "x1"}),
            ({"members": ["x1", "y1"]}, {"members": ["x1", "y1"], "merger": "b1"}),
        ]
        for before, after in cases:
            with self.subTest(before=before):
                shelves = {"core": copy.deepcopy(before)}
                membership.come_back(shelves, "b1", was, lambda size: size <= 2)
                self.assertEqual(shelves["core"], after)


if __name__ == "__main__":
    unittest.main()
