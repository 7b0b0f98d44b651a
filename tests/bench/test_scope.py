import threading
import unittest

from metrics.bench import collections, listing, moves, names, scope
from metrics.bench.scope import Scope
from metrics.records import Problem
from tests.bench.bench import BY, BenchCase


class ScopeTest(BenchCase):
    def setUp(self):
        super().setUp()
        self.seat_models("aa", "bb")
        for name, reply in (("one", "all"), ("two", "route")):
            collections.save(name, {"members": ["aa", "bb"], "reply": reply}, BY)

    # scope, what is listed under it
    LISTED = [
        (Scope(), ["one", "one:merged", "one:route", "two", "two:merged", "two:route"]),
        (Scope("k", collections=("two",)), ["two", "two:merged", "two:route"]),
        (Scope("k", collections=()), []),
        (Scope("k", modes=("all",)), ["one"]),
        (Scope("k", ("one",), None, ("route", "merged")), ["one:merged", "one:route"]),
    ]

    def test_lists_hold_what_is_in_scope(self):
        for asked, ids in self.LISTED:
            with self.subTest(asked), scope.of(asked):
                self.assertEqual([one["id"].removeprefix("bench/") for one in listing.entries()], ids)

    def test_members_outside_are_not_shown(self):
        with scope.of(Scope("k", models=("bb",))):
            self.assertEqual(listing.entry("one")["members"], ["bb"])

    # scope, model, status (None: it is resolved)
    RESOLVED = [
        (Scope("k", ("one",)), "bench/one", None),
        (Scope("k", ("one",)), "two", 403),
        (Scope("k", ("one",)), "none-such", 403),
        (Scope("k"), "none-such", 404),
        (Scope("k", modes=("all",)), "one", None),
        (Scope("k", modes=("all",)), "one:route", 403),
        (Scope("k", modes=("all",)), "two", 403),
        (Scope("k", modes=("all",)), "claude-bench-one-route", 403),
    ]

    def test_names_are_resolved_in_scope(self):
        for asked, model, status in self.RESOLVED:
            with self.subTest(asked, model=model), scope.of(asked):
                try:
                    names.resolve(model)
                    got = None
                except Problem as problem:
                    got = problem.status
                self.assertEqual(got, status)

    def test_a_menu_names_nothing_outside(self):
        with scope.of(Scope("k", ("one",))):
            self.assertNotIn("two", collections.menu())
        self.assertIn("two", collections.menu())

    def test_a_renamed_model_stays_in_scope(self):
        asked = Scope("k", models=("aa",))
        moves.rename("aa", "cc", BY)
        self.assertEqual(asked.aliases(), frozenset({"cc"}))
        with scope.of(asked):
            scope.check_models(("cc",))
            with self.assertRaises(Problem) as caught:
                scope.check_models(("bb",))
        self.assertEqual((caught.exception.status, "aa" in caught.exception.message), (403, True))

    def test_a_scope_is_this_threads_and_ends(self):
        seen = []
        with scope.of(Scope("k", ("one",))):
            other = threading.Thread(target=lambda: seen.append(scope.current()))
            other.start()
            other.join()
            self.assertEqual(scope.current().key, "k")
        self.assertEqual((seen, scope.current()), ([scope.OPEN], scope.OPEN))


if __name__ == "__main__":
    unittest.main()
