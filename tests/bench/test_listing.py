from metrics.bench import collections, listing, moves
from metrics.records import Problem
from tests.bench.bench import BY, BenchCase


class ListingTest(BenchCase):
    def setUp(self) -> None:
        super().setUp()
        self.seat_models("m1", "m2")
        moves.change("m1", BY, context=1000, vision=True, tools=True)
        moves.change("m2", BY, vision=True)
        collections.save("core", {"members": ["m1", "m2"], "description": "two", "tags": ["t"]}, BY)

    def test_every_collection_in_every_mode(self) -> None:
        self.assertEqual(
            [(entry["id"], entry["mode"]) for entry in listing.entries()],
            [("bench/core", "all"), ("bench/core:merged", "merged"), ("bench/core:route", "route")],
        )

    def test_what_the_members_can_take_together(self) -> None:
        entry = listing.entries()[0]
        self.assertEqual(
            (entry["members"], entry["description"], entry["tags"]), (["m1", "m2"], "two", ["t"])
        )
        together = entry["together"]
        self.assertEqual((together["context_window"], together["context_unknown"]), (1000, ["m2"]))
        self.assertEqual(together["capabilities"], ["completion", "vision"], "m2 is not known to call tools")
        self.assertEqual(together["connections"], ["box"])

    def test_one_by_any_of_its_names(self) -> None:
        for name, expected in (
            ("core", "bench/core"),
            ("core:all", "bench/core"),
            ("bench/core:merged", "bench/core:merged"),
            ("claude-bench-core-route", "bench/core:route"),
        ):
            with self.subTest(name):
                self.assertEqual(listing.entry(name)["id"], expected)
        with self.assertRaises(Problem):
            listing.entry("typo")
