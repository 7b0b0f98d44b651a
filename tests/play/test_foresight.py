import unittest
from dataclasses import replace
from typing import Any
from unittest import mock

from metrics.limits.speeds import Typical
from metrics.play import foresight
from metrics.records import Price
from tests.play.people import panel, seat

PRICED = Price(input=1.0, output=10.0)  # USD per million tokens
LIMIT: dict[str, Any] = {
    "connection": "e",
    "model_id": None,
    "metric": "requests",
    "window": "day",
    "limit": 50,
    "remaining": 1,
    "reset_at": "2026-11-30T01:00:00.000Z",
}


def told(price=None, usual=None, known=(), size=1000, builtin=False):
    place = seat("a", builtin=builtin)
    place = replace(place, target=replace(place.target, price=price))
    with mock.patch("metrics.limits.ledger.typical", return_value=usual):
        return foresight.seat(place, size, known)


class Cost(unittest.TestCase):
    # price, what is usual -> what it will cost
    CASES = (
        ("read and written", PRICED, Typical(3.0, (100, 400), 9), {"low": 0.002, "high": 0.005}),
        ("nobody knows how long it will be", PRICED, None, None),
        ("nor its price", None, Typical(3.0, (100, 400), 9), None),
        ("sizes that were never said", PRICED, Typical(3.0, None, 2), None),
        ("free is free, however long", Price(input=0.0, output=0.0), None, {"low": 0.0, "high": 0.0}),
        ("half a price", Price(input=1.0), Typical(3.0, (100, 400), 9), None),
    )

    def test_cases(self) -> None:
        for name, price, usual, wanted in self.CASES:
            with self.subTest(name):
                self.assertEqual(told(price, usual)["cost"], wanted)

    def test_a_program_costs_nothing(self) -> None:
        self.assertEqual(told(builtin=True, known=[LIMIT])["cost"], {"low": 0.0, "high": 0.0})
        self.assertIsNone(told(builtin=True, known=[LIMIT])["limit"])

    def test_time(self) -> None:
        self.assertEqual([told()[name] for name in ("typical_s", "typical_n")], [None, 0])
        usual = told(usual=Typical(3.456, None, 2))
        self.assertEqual([usual[name] for name in ("typical_s", "typical_n")], [3.46, 2])


class Limits(unittest.TestCase):
    # what is known of limits -> what is left of the scarcest after this call; None: none is near
    CASES: tuple[tuple[str, list[dict[str, Any]], float | None], ...] = (
        ("the last call of the day", [LIMIT], 0),
        ("none is left", [LIMIT | {"remaining": 0}], -1),
        ("plenty", [LIMIT | {"remaining": 30}], None),
        ("of another connection", [LIMIT | {"connection": "other"}], None),
        ("of another model", [LIMIT | {"model_id": "e:b"}], None),
        ("of this model", [LIMIT | {"model_id": "e:a"}], 0),
        ("tokens", [LIMIT | {"metric": "tokens", "limit": 9000, "remaining": 1500}], 500),
        ("tokens that do not suffice", [LIMIT | {"metric": "tokens", "limit": 900, "remaining": 500}], -500),
        ("calls at once are no quota", [LIMIT | {"metric": "concurrency"}], None),
        ("a refusal without figures", [LIMIT | {"remaining": None, "limit": None}], None),
        ("a wait without a limit", [LIMIT | {"limit": None, "remaining": 0}], -1),
        ("the scarcest of two", [LIMIT | {"remaining": 5}, LIMIT | {"window": "minute"}], 0),
    )

    def test_cases(self) -> None:
        for name, known, after in self.CASES:
            with self.subTest(name):
                limit = told(known=known)["limit"]
                self.assertEqual(None if limit is None else limit["after"], after)


class Whole(unittest.TestCase):
    def test_sums_say_what_they_leave_out(self) -> None:
        rows = [
            {"alias": "a", "typical_s": 3.0, "cost": {"low": 0.01, "high": 0.02}},
            {"alias": "b", "typical_s": 31.0, "cost": {"low": 0.01, "high": 0.02}},
            {"alias": "c", "typical_s": None, "cost": None},
        ]
        told = foresight.whole(panel("a", "b", "c"), rows)
        self.assertEqual(told["cost"], {"low": 0.02, "high": 0.04, "unknown": 1})
        self.assertEqual((told["wait_s"], told["wait_by"]), (31.0, "b"))
        self.assertGreater(told["tokens"], 0)

    def test_nothing_known(self) -> None:
        told = foresight.whole(panel("a"), [{"alias": "a", "typical_s": None, "cost": None}])
        self.assertEqual(told["cost"], {"low": None, "high": None, "unknown": 1})
        self.assertEqual((told["wait_s"], told["wait_by"]), (None, None))


if __name__ == "__main__":
    unittest.main()
