"""What of the evidence a key's scope opens."""

import unittest

from metrics.bench import collections, scope
from metrics.bench.scope import Scope
from metrics.evidence import inscope, offloads, verdicts
from metrics.records import Problem
from tests.bench.bench import BY, BenchCase

CALL = "p20261130-120000-0a1b2c3d.member1"
ROW = {"call": CALL, "at": "2026-11-30T12:00:00Z", "panel": CALL[:25], "collection": "core", "shape": "code"}


class ScopeTest(BenchCase):
    def setUp(self):
        super().setUp()
        self.seat_models("one", "two")
        collections.save("core", {"members": ["one", "two"]}, BY)
        offloads.record({**ROW, "model": "one", "model_id": "box:one", "seat": "member", "status": "ok"})
        verdicts.give(CALL, useful=True)

    def test_calls(self):
        cases = (
            ("no scope", scope.OPEN, True),
            ("its collection", Scope("k", collections=("core",)), True),
            ("its model", Scope("k", models=("one",)), True),
            ("another collection", Scope("k", collections=("other",)), False),
            ("another model", Scope("k", models=("two",)), False),
        )
        for name, its, allowed in cases:
            with self.subTest(name), scope.of(its):
                if allowed:
                    inscope.check([CALL])
                else:
                    self.assertRaises(Problem, inscope.check, [CALL])
                inscope.check(["nonsense", None, 5, ""])

    def test_the_record(self):
        self.assertEqual(inscope.record("core")["one"]["useful"], 1)
        with scope.of(Scope("k", models=("two",))):
            self.assertEqual(inscope.record("core"), {})


if __name__ == "__main__":
    unittest.main()
