import unittest
from typing import Any
from unittest import mock

from metrics.bench import collections
from metrics.dashboard import panels as handlers
from metrics.evidence import offloads, panels, routes, shadows, verdicts
from metrics.store import bodies
from tests.bench.bench import BY
from tests.dashboard.api import ApiCase

DAY = "20261129"


class Panels(ApiCase):
    routes = handlers.HANDLERS

    def panel(
        self, n: int, collection: str = "core", answer: str = "One bug: line 3 leaks. Line 9 is fine."
    ) -> str:
        """A recorded panel of one member and an explorer that failed; its id."""
        name, at = f"p{DAY}-1422{n:02d}-00000{n:03d}", f"2026-11-29T14:22:{n:02d}.000Z"
        seats: list[dict[str, Any]] = [
            {
                "call": f"{name}.member1",
                "seat": "member",
                "alias": "alpha",
                "model_id": "box:alpha",
                "status": "ok",
            },
            {
                "call": f"{name}.explorer",
                "seat": "explorer",
                "alias": "beta",
                "model_id": "box:beta",
                "status": "error",
            },
        ]
        panels.record({"panel": name, "at": at, "collection": collection, "task": "review", "seats": seats})
        for seat in seats:
            offloads.record(
                {
                    **seat,
                    "at": at,
                    "panel": name,
                    "collection": collection,
                    "shape": "general",
                    "model": seat["alias"],
                }
            )
        bodies.keep(
            name, {"messages": [{"role": "user", "content": "?"}], "answers": {f"{name}.member1": answer}}
        )
        return name

    def test_log_pages(self) -> None:
        names = [self.panel(n, "core" if n % 2 else "side") for n in range(1, 8)]
        first = self.get("/api/log?limit=3")
        self.assertEqual([row["panel"] for row in first["panels"]], names[:3:-1])
        rest = self.get(f"/api/log?limit=100&before={first['next']}")
        self.assertEqual([row["panel"] for row in rest["panels"]], names[3::-1])
        self.assertIsNone(rest["next"])
        only = self.get("/api/log?collection=side")
        self.assertEqual([row["panel"] for row in only["panels"]], [names[5], names[3], names[1]])

    def test_log_says_what_was_judged(self) -> None:
        name = self.panel(1)
        self.post("/api/verdict", {"call": f"{name}.member1", "useful": True, "note": "right"})
        seats = self.get("/api/log")["panels"][0]["seats"]
        self.assertEqual((seats[0]["verdict"]["useful"], seats[0]["verdict"]["note"]), (True, "right"))
        self.assertIsNone(seats[1]["verdict"])

    def test_log_tells_of_shadow_seats_once(self) -> None:
        self.panel(1)
        self.panel(2)
        for n, collection in enumerate(("core", "side")):
            shadows.record(
                {
                    "at": "2026-11-29T14:22:20.000Z",
                    "shadow_call": f"r{DAY}-142220-0000000{n}.shadow1",
                    "call": f"r{DAY}-142220-0000000{n}.1",
                    "collection": collection,
                    "model": "alpha",
                    "model_id": "box:alpha",
                    "shadow": "beta",
                    "shadow_id": "box:beta",
                    "agreement": "same",
                }
            )
        first = self.get("/api/log?limit=1")
        self.assertEqual([row["collection"] for row in first["shadows"]], ["side"])
        self.assertEqual([tally["same"] for tally in first["agreement"]], [1, 1])
        self.assertNotIn("shadows", self.get(f"/api/log?before={first['next']}"))
        only = self.get("/api/log?collection=core")
        self.assertEqual([row["collection"] for row in only["shadows"] + only["agreement"]], ["core"] * 2)

    def test_conversations(self) -> None:
        name = f"r{DAY}-142220-00000001"
        for turn in (1, 2):
            routes.record(
                {
                    "at": "2026-11-29T14:22:20.000Z",
                    "conversation": name,
                    "turn": turn,
                    "call": f"{name}.1",
                    "sticky": "k",
                    "collection": "core",
                    "model": "alpha",
                    "model_id": "box:alpha",
                    "players": ["box:alpha"],
                    "status": "ok",
                }
            )
        listed = self.get("/api/log")["conversations"]
        self.assertEqual(
            [(one["alias"], one["turn"], one["verdict"]) for one in listed], [("alpha", 2, None)]
        )
        alone = self.get("/api/conversations?limit=1")
        self.assertEqual((alone["conversations"], alone["next"]), (listed, None))
        self.assertEqual(self.get("/api/conversations?collection=side")["conversations"], [])
        self.assertEqual(self.ask("GET", "/api/conversations?before=x")[0], 400)
        with mock.patch.object(verdicts.LOG, "find", side_effect=AssertionError("one look for each turn")):
            turns = self.get(f"/api/conversation/{name}")["turns"]
        self.assertEqual([(turn["turn"], turn["verdict"]) for turn in turns], [(1, None), (2, None)])
        status, reply = self.ask("GET", "/api/conversation/r20261129-142220-0000000f")
        self.assertEqual((status, reply["ok"]), (404, False))

    def test_log_is_filtered(self) -> None:
        names = [self.panel(n, "core" if n % 2 else "side") for n in range(1, 7)]
        self.post("/api/verdict", {"call": f"{names[0]}.member1", "useful": True})
        for query, wanted in (
            ("state=owed", names[:0:-1]),
            ("state=judged", names[:1]),
            ("state=failed", names[::-1]),
            ("state=owed&collection=side", names[5::-2]),
            ("model=beta", names[::-1]),
            ("model=box:alpha&q=REVIEW", names[::-1]),
            ("model=gamma", []),
            (f"q={names[2]}", [names[2]]),
            ("q=review+unheard", []),
        ):
            with self.subTest(query):
                reply = self.get(f"/api/log?limit=10&{query}")
                self.assertEqual([row["panel"] for row in reply["panels"]], wanted)
                self.assertIsNone(reply["next"])
        self.assertEqual(self.ask("GET", "/api/log?state=new")[1]["error"]["param"], "state")

    def test_what_is_owed_is_counted(self) -> None:
        self.assertEqual(self.get("/api/owed"), {"ok": True, "answers": 0, "more": False})
        names = [self.panel(n) for n in range(1, 7)]
        self.post("/api/verdict", {"call": f"{names[2]}.member1", "useful": False})
        self.assertEqual(self.get("/api/owed"), {"ok": True, "answers": 5, "more": False})
        with mock.patch.object(handlers, "SITTING", 3):
            self.assertEqual(self.get("/api/owed"), {"ok": True, "answers": 3, "more": True})

    def test_filtered_pages_join_up_and_look_only_so_far(self) -> None:
        names = [self.panel(n) for n in range(1, 8)]
        self.post("/api/verdict", {"call": f"{names[4]}.member1", "useful": True})
        for look in (handlers.LOOK, 2):
            with self.subTest(look=look), mock.patch.object(handlers, "LOOK", look):
                found, cursor, pages = [], "", 0
                while cursor is not None and pages < 20:
                    reply = self.get(f"/api/log?limit=2&state=owed{cursor and '&before=' + cursor}")
                    found += [row["panel"] for row in reply["panels"]]
                    cursor, pages = reply["next"], pages + 1
                self.assertEqual(found, [name for name in names[::-1] if name != names[4]])

    def test_how_explorers_were_chosen_stands_in_the_panel(self) -> None:
        name = self.panel(1)
        panels.record({**panels.find(name), "decision": {"policy": "rotation/1", "candidates": []}})
        self.assertNotIn("decision", self.get("/api/log")["panels"][0])
        self.assertEqual(self.get(f"/api/panel/{name}")["panel"]["decision"]["policy"], "rotation/1")

    def test_log_refuses_nonsense(self) -> None:
        self.panel(1)
        self.panel(2)
        place = self.get("/api/log?limit=1")["next"]
        refused = ["limit=0", "limit=x", "limit=101"]
        refused += [
            f"before={cursor}"
            for cursor in ("nonsense", "x:5", "../etc:5", f"{place}x", f"{place}{'9' * 20}")
        ]
        for query in refused:
            with self.subTest(query):
                status, reply = self.ask("GET", f"/api/log?{query}")
                self.assertEqual((status, reply["ok"]), (400, False))
                self.assertEqual(reply["error"]["param"], query.partition("=")[0])

    def test_the_log_of_a_collection_that_never_was(self) -> None:
        self.seat_models("alpha")
        collections.save("core", {"members": ["alpha"]}, BY)
        self.assertEqual(self.get("/api/log?collection=core")["panels"], [])
        status, reply = self.ask("GET", "/api/log?collection=nosuch")
        self.assertEqual((status, reply["ok"]), (404, False))
        self.assertIn('no collection "nosuch". There are: core', reply["errors"][0])
        self.panel(1, "gone")
        self.assertEqual(len(self.get("/api/log?collection=gone")["panels"]), 1)

    def test_a_panel_in_full(self) -> None:
        name = self.panel(1)
        call = f"{name}.member1"
        self.post("/api/verdict", {"call": call, "useful": True, "real": ["line 3 leaks"]})
        reply = self.get(f"/api/panel/{name}")
        self.assertEqual(reply["panel"]["panel"], name)
        self.assertEqual(list(reply["body"]["answers"]), [call])
        self.assertEqual(list(reply["verdicts"]), [call])
        claim = reply["claims"][call][0]
        self.assertEqual((claim["quote"], claim["start"], claim["decision"]), ("line 3 leaks", 9, "real"))

    def test_no_such_panel(self) -> None:
        for name in (f"p{DAY}-142201-00000009", "nonsense", "p.."):
            with self.subTest(name):
                status, reply = self.ask("GET", f"/api/panel/{name}")
                self.assertEqual((status, reply["ok"]), (404, False))

    def test_a_panel_without_a_body(self) -> None:
        name = f"p{DAY}-142201-0000abcd"
        panels.record({"panel": name, "at": "2026-11-29T14:22:01.000Z", "collection": "core", "seats": []})
        self.assertIsNone(self.get(f"/api/panel/{name}")["body"])

    def test_verdict_and_undo(self) -> None:
        call = f"{self.panel(1)}.member1"
        given = self.post("/api/verdict", {"call": call, "useful": False, "best": True, "all_bad": False})
        self.assertEqual(
            (given["recorded"], given["verdict"]["useful"], given["verdict"]["best"]), (True, False, True)
        )
        self.assertFalse(self.post("/api/verdict", {"call": call, "useful": False})["recorded"])
        undone = self.post("/api/verdict", {"call": call, "withdrawn": True})
        self.assertEqual((undone["recorded"], undone["verdict"]), (True, None))
        self.assertFalse(self.post("/api/verdict", {"call": call, "withdrawn": True})["recorded"])

    def test_claims_with_places(self) -> None:
        call = f"{self.panel(1)}.member1"
        claims = [
            {"quote": "line 3 leaks", "start": 9, "end": 21, "decision": "real"},
            {"quote": "Line 9 is fine", "start": 23, "end": 37, "decision": "false"},
        ]
        reply = self.post("/api/verdict", {"call": call, "claims": claims})
        self.assertEqual(
            [(one["start"], one["decision"]) for one in reply["claims"]], [(9, "real"), (23, "false")]
        )
        self.assertIsNone(reply["verdict"])
        taken_back = [{**claims[0], "decision": None}]
        reply = self.post("/api/verdict", {"call": call, "useful": True, "claims": taken_back})
        self.assertEqual([one["start"] for one in reply["claims"]], [23])
        self.assertTrue(reply["verdict"]["useful"])

    def test_two_answers_side_by_side(self) -> None:
        one, other = self.panel(1), self.panel(2)
        pair = [f"{one}.member1", f"{other}.member1"]
        for choice, recorded in (("left", True), ("left", False), ("tie", True), (None, True), (None, False)):
            with self.subTest(choice):
                reply = self.post("/api/verdict", {"pair": pair, "choice": choice})
                self.assertEqual(reply["recorded"], recorded)
        for wrong in (pair[:1], [*pair, "x"], "x", [1, 2], [pair[0], pair[0]]):
            self.refused("/api/verdict", {"pair": wrong, "choice": "left"})
        self.refused("/api/verdict", {"pair": pair, "choice": "best"})
        self.refused("/api/verdict", {"pair": [pair[0], "p1.none"], "choice": "left"}, 404)

    def test_nonsense(self) -> None:
        self.refuses_nonsense("/api/verdict")
        call = f"{self.panel(1)}.member1"
        fields: dict[str, list[Any]] = {
            "useful": [1, "yes", []],
            "note": [5, []],
            "real": ["text", [5], [""], {}],
            "false": ["text", [[]]],
            "best": ["x"],
            "all_bad": [1],
            "withdrawn": ["yes", 1],
            "claims": ["x", {}, [5], [{}], [{"quote": 5}], [{"quote": "x", "start": -1, "end": 2}]],
            "colour": ["red"],
        }
        more = [
            {"quote": "x", "start": 5},
            {"quote": "x", "start": 5, "end": 5},
            {"quote": "x", "decision": "maybe"},
        ]
        fields["claims"] += [[{"quote": "good", "decision": "real"}, bad] for bad in more]
        for field, values in fields.items():
            for value in values:
                with self.subTest(field=field, value=value):
                    self.refused("/api/verdict", {"call": call, field: value})
        self.refused("/api/verdict", {"call": call})
        self.refused("/api/verdict", {"call": "p20261129-000000-00000000.member1", "useful": True}, 404)
        reply = self.get(f"/api/panel/{call.partition('.')[0]}")
        self.assertEqual((reply["verdicts"], reply["claims"]), ({}, {}))


if __name__ == "__main__":
    unittest.main()
