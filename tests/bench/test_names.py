from unittest import mock

from metrics.bench import collections, names
from metrics.bench.collections import Collection
from metrics.records import Problem
from tests.bench.bench import BenchCase

BENCH = {
    "core": Collection("core", ("a",), reply="all"),
    "my-route": Collection("my-route", ("a",), reply="route"),
}


class NamesTest(BenchCase):
    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(collections, "all", lambda: BENCH))
        self.enterContext(mock.patch.object(collections, "get", BENCH.__getitem__))
        self.enterContext(mock.patch.object(collections, "menu", lambda: "Collections: core, my-route."))

    RESOLVED = [
        ("bench/core", None, ("core", "all")),
        ("core", None, ("core", "all")),
        (" core ", None, ("core", "all")),
        ("core:latest", None, ("core", "all")),
        ("bench/core:latest", "merged", ("core", "merged")),
        ("bench/core:merged", None, ("core", "merged")),
        ("core:route", "route", ("core", "route")),
        ("core", "route", ("core", "route")),
        ("bench/my-route", None, ("my-route", "route")),
        ("claude-bench-core-merged", None, ("core", "merged")),
        ("claude-bench-my-route-route", None, ("my-route", "route")),
        ("claude-bench-my-route-all", None, ("my-route", "all")),
    ]

    def test_resolved(self):
        for model, reply, expected in self.RESOLVED:
            with self.subTest(model=model, reply=reply):
                self.assertEqual(names.resolve(model, reply), expected)

    REFUSED = [
        (None, None, 400),
        ("", None, 400),
        ("  ", None, 400),
        (5, None, 400),
        (["core"], None, 400),
        ("typo", None, 404),
        ("bench/", None, 404),
        ("bench/core:best", None, 404),
        ("bench/core:route:all", None, 404),
        ("claude-bench-core", None, 404),
        ("claude-bench-typo-all", None, 404),
        ("core:all", "merged", 400),
        ("claude-bench-core-all", "merged", 400),
    ]

    def test_refused_and_told_what_there_is(self):
        for model, reply, status in self.REFUSED:
            with self.subTest(model=model, reply=reply):
                with self.assertRaises(Problem) as caught:
                    names.resolve(model, reply)
                self.assertEqual(caught.exception.status, status)
                self.assertRegex(caught.exception.message, "core|merged")


class BrokenEntry(BenchCase):
    def test_an_entry_that_is_none_is_named(self):
        self.write("collections.json", '{"core": 3}')
        for model in ("core", "bench/core", "core:merged"):
            with self.subTest(model), self.assertRaises(Problem) as caught:
                names.resolve(model)
            self.assertEqual((caught.exception.status, caught.exception.kind), (503, "config"))
            self.assertIn('collections.json: "core": must be an object', caught.exception.message)

    def test_it_is_told_beside_what_there_is(self):
        self.write("collections.json", '{"core": 3}')
        with self.assertRaises(Problem) as caught:
            names.resolve("typo")
        self.assertEqual(caught.exception.status, 404)
        self.assertIn('There are none. Not usable: collections.json: "core"', caught.exception.message)
