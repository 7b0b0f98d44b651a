import unittest
from typing import Any

from metrics.dashboard import why
from metrics.evidence import panels, routes
from tests.dashboard.api import ApiCase

PANEL, CONVERSATION = "p20261129-142201-00000001", "r20261129-142201-00000001"
CANDIDATES = [
    {"alias": "x1", "model_id": "e:x1", "wait": 3, "last": 100.0},
    {"alias": "x2", "model_id": "e:x2", "wait": 0, "last": 200.0},
]
DECISION: dict[str, Any] = {
    "policy": "rotation/1",
    "seed": 7,
    "k": 1,
    "candidates": CANDIDATES,
    "seats": [{"alias": "x1", "model_id": "e:x1", "how": "rotation", "p": 1, "waited": 3}],
}


class Why(ApiCase):
    routes = why.HANDLERS

    def panel(self, decision: Any = DECISION) -> None:
        at = "2026-11-29T14:22:01.000Z"
        panels.record({"panel": PANEL, "at": at, "collection": "core", "seats": [], "decision": decision})

    def test_decided_again(self) -> None:
        self.panel()
        told = self.get(f"/api/panel/decide?panel={PANEL}")
        self.assertEqual([seat["alias"] for seat in told["after"]], ["x1"])
        told = self.get(f"/api/panel/decide?panel={PANEL}&without=x1")
        self.assertEqual([seat["alias"] for seat in told["after"]], ["x2"])
        told = self.get(f"/api/panel/decide?panel={PANEL}&today=1")
        self.assertEqual(sorted(told["gone"]), ["x1", "x2"], "nobody of then is on this bench")

    def test_what_cannot_be_decided(self) -> None:
        for target, status in (
            ("/api/panel/decide", 404),
            (f"/api/panel/decide?panel={PANEL[:-1]}9", 404),
            (f"/api/panel/decide?panel={PANEL}&without=nobody", 400),
        ):
            with self.subTest(target):
                self.panel()
                self.assertEqual(self.ask("GET", target)[0], status)
        self.panel(None)
        self.assertEqual(self.ask("GET", f"/api/panel/decide?panel={PANEL}")[0], 409)

    def test_a_conversation_is_ended(self) -> None:
        routes.begin("k", 1_796_000_000.0, CONVERSATION, "e:a")
        row = {"conversation": CONVERSATION, "turn": 1, "sticky": "k", "model_id": "e:a", "players": ["e:a"]}
        routes.record({**row, "at": "2026-11-29T14:22:01.000Z", "status": "ok", "seconds": 1.0})
        self.assertTrue(self.post("/api/conversation/end", {"conversation": CONVERSATION})["ended"])
        self.assertFalse(self.post("/api/conversation/end", {"conversation": CONVERSATION})["ended"])
        self.refused("/api/conversation/end", {"conversation": "r20261129-142201-0000ffff"}, 404)
        self.refuses_nonsense("/api/conversation/end")


if __name__ == "__main__":
    unittest.main()
