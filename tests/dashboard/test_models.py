import time
import unittest
from typing import Any
from unittest import mock

from metrics.bench import collections, endpoints, roster
from metrics.bench.catalog import kept
from metrics.bench.endpoints import Endpoint
from metrics.dashboard import models
from metrics.evidence import reliability, verdicts
from metrics.limits import ledger
from tests.bench.bench import BY
from tests.dashboard.api import ApiCase


class Models(ApiCase):
    routes = models.HANDLERS

    def setUp(self) -> None:
        super().setUp()
        self.seat_models("alpha")

    def listed(self) -> dict[str, Any]:
        return {one["alias"]: one for one in self.get("/api/models")["models"]}

    def test_how_quick(self) -> None:
        self.seat_models("alpha", "beta")
        for seconds in (1.0, 2.0, 9.0):
            row = {
                "at": ledger.stamp(1_796_000_000.0),
                "model_id": "box:alpha",
                "status": "ok",
                "seconds": seconds,
            }
            ledger.add({**row, "first_token_s": 0.5})
        reply = self.get("/api/models/speed?model=alpha")
        self.assertEqual(reply["models"]["alpha"]["whole"]["p50"], 2.0)
        self.assertEqual((list(reply["models"]), reply["looked_at"]), (["alpha"], 3))
        self.assertEqual(sum(reply["course"]["calls"]), 3)
        self.assertIsNone(self.get("/api/models/speed")["course"])
        self.assertEqual(self.ask("GET", "/api/models/speed?model=nobody")[0], 404)

    def test_what_the_catalog_fills_in_is_told(self) -> None:
        endpoints.save(Endpoint("oai", "https://api.openai.com/v1"), BY)
        offer = {"context": 9, "tools": True, "price": {"input": 2}}
        kept.save(kept.MODELS_DEV, {"openai": {"models": {"gpt": offer}}}, 0.0)
        reply = self.post(
            "/api/model/add", {"alias": "new", "endpoint": "oai", "served": "gpt", "tools": False}
        )
        self.assertIn("the catalog tells its context, price", reply["note"])
        told = reply["model"]
        self.assertEqual((told["context"], told["tools"], told["price_source"]), (9, False, "models.dev"))
        self.assertIn("as new; they share one record", self.twin("gpt"))

    def test_a_price_is_taken_back(self) -> None:
        for price in ({"input": 1, "tiers": [{"above": 5, "input": 2}]}, {"plan": "flat"}):
            with self.subTest(price):
                told = self.post("/api/model", {"alias": "alpha", "price": price})["model"]
                self.assertEqual({**told["price"], **price}, told["price"])
                self.assertEqual(
                    self.post("/api/model", {"alias": "alpha", "price": None})["model"]["price"], None
                )

    def twin(self, served: str) -> str:
        note: str = self.post("/api/model/add", {"alias": "twin", "endpoint": "oai", "served": served})[
            "note"
        ]
        return note

    def test_added_as_given(self) -> None:
        form = {
            "alias": "full",
            "endpoint": "box",
            "served": "org/full:free",
            "tools": True,
            "vision": "no",
            "context": 8192,
            "max_output": 512,
            "price": {"input": 0.5, "output": 2},
            "role": "code",
        }
        reply = self.post("/api/model/add", form)
        self.assertEqual(reply["note"], "")
        listed = self.listed()["full"]
        for field, value in {**form, "vision": False}.items():
            if field != "price":
                self.assertEqual(listed[field], value)
        rates = {"input": 0.5, "output": 2, "cache_read": None, "cache_write": None}
        self.assertEqual((listed["price"], listed["price_source"]), (rates, "user"))
        self.assertEqual(
            (listed["model_id"], listed["in_pool"], listed["builtin"]), ("box:org/full:free", True, False)
        )
        state = ("resting_until", "resting_why", "failing", "last_answered_at", "retired", "reasoning")
        self.assertEqual([listed[field] for field in state], [None] * 6)
        self.assertEqual(listed["record"], {"useful": 0, "notUseful": 0, "judged": 0, "range": None})

    def test_a_second_name_for_a_model_is_told(self) -> None:
        reply = self.post("/api/model/add", {"alias": "twin", "endpoint": "box", "served": "alpha"})
        self.assertIn("on the bench as alpha", reply["note"])

    def test_an_alias_in_use(self) -> None:
        form = {"alias": "alpha", "endpoint": "box", "served": "other"}
        self.assertIn('"alpha-box"', self.refused("/api/model/add", form, 409))

    def test_change_and_rename_at_once(self) -> None:
        self.post(
            "/api/model", {"alias": "alpha", "role": "code", "ad_hoc": True, "rename": "omega", "price": None}
        )
        listed = self.listed()
        self.assertEqual((list(listed), listed["omega"]["role"]), (["omega"], "code"))
        self.assertEqual((listed["omega"]["in_pool"], listed["omega"]["price"]), (False, None))

    def test_remove_and_restore(self) -> None:
        collections.save("core", {"members": ["alpha"]}, BY)
        self.assertEqual(self.post("/api/remove", {"alias": "alpha", "reason": "slow"})["left"], ["core"])
        reply = self.get("/api/models")
        self.assertEqual((reply["models"], reply["retired"][0]["retired"]["why"]), ([], "slow"))
        self.assertEqual(self.post("/api/restore", {"alias": "alpha"})["collections"], ["core"])
        self.assertEqual(collections.get("core").members, ("alpha",))

    def test_what_evidence_knows(self) -> None:
        collections.save("core", {"members": ["alpha"]}, BY)
        collections.save("side", {"members": ["alpha"]}, BY)
        counts = {"useful": 2, "notUseful": 1, "judged": 3, "lastAt": "x"}
        until = time.time() + 3600
        with (
            mock.patch.object(verdicts, "record", lambda name, names: {"box:alpha": counts}),
            mock.patch.object(reliability, "cooling", lambda model_id, now: until),
            mock.patch.object(reliability, "resting_why", lambda model_id, now: "rate_limited"),
            mock.patch.object(reliability, "failing", lambda model_id: "3 failures in a row"),
            mock.patch.object(reliability, "last_answered", lambda model_id: 0.0),
        ):
            listed = self.listed()["alpha"]
        self.assertEqual(listed["record"], {"useful": 4, "notUseful": 2, "judged": 6, "range": [0.3, 0.903]})
        self.assertEqual(
            (listed["failing"], listed["last_answered_at"]),
            ("3 failures in a row", "1970-01-01T00:00:00.000Z"),
        )
        self.assertEqual(listed["resting_why"], "rate_limited")
        self.assertRegex(listed["resting_until"], r"^20\d\d-.*Z$")

    def test_the_squad_says_what_it_is(self) -> None:
        self.seat_squad("practice-lint")
        listed = self.listed()["practice-lint"]
        self.assertEqual((listed["builtin"], listed["in_pool"]), (True, False))
        self.assertIn("a program, not a model", listed["description"])
        self.assertIn("built-in", self.refused("/api/remove", {"alias": "practice-lint", "reason": "x"}))

    def test_nonsense(self) -> None:
        self.refuses_nonsense("/api/model/add", "/api/model", "/api/remove", "/api/restore")
        fields: dict[str, list[Any]] = {
            "alias": [5, [], "x", ".x", "a b", "a/b"],
            "endpoint": [5, [], "X"],
            "served": [5, [], "", "a\nb"],
            "tools": ["maybe", 1, []],
            "vision": ["maybe", 0],
            "context": ["8k", True, -1, 1.5, [], 10**12],
            "max_output": [0, "x", 10**7],
            "price": [5, "x", [], {"input": -1}, {"input": "1"}, {"in": 1}, {"input": True}],
            "role": [5, "boss"],
            "colour": ["red"],
        }
        for field, values in fields.items():
            for value in values:
                with self.subTest(field=field, value=value):
                    self.refused(
                        "/api/model/add", {"alias": "new", "endpoint": "box", "served": "s", field: value}
                    )
                    if field not in ("alias", "endpoint", "served"):
                        self.refused("/api/model", {"alias": "alpha", field: value})
        for value in (5, [], "x", "a b", "alpha!"):
            with self.subTest(rename=value):
                self.refused("/api/model", {"alias": "alpha", "rename": value})
        self.refused("/api/remove", {"alias": "alpha", "reason": 5})
        self.assertEqual(list(roster.all()), ["alpha"])

    def test_unknown(self) -> None:
        self.refused("/api/model", {"alias": "nobody", "role": "code"}, 404)
        self.refused("/api/model", {"alias": "nobody", "rename": "new-one"}, 404)
        self.refused("/api/remove", {"alias": "nobody", "reason": ""}, 404)
        self.refused("/api/restore", {"alias": "alpha"}, 404)
        self.assertIn("nothing to change", self.refused("/api/model", {"alias": "alpha"}))


if __name__ == "__main__":
    unittest.main()
