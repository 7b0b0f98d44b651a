from metrics.bench import moves
from metrics.dashboard import usage
from metrics.limits import cost, ledger
from tests.bench.bench import BY
from tests.dashboard.api import ApiCase

NOW = 1_795_962_140.0


class Usage(ApiCase):
    routes = usage.HANDLERS

    def setUp(self) -> None:
        super().setUp()
        self.seat_models("alpha", "beta")
        for alias, units in (("alpha", 5), ("alpha", 10**12), ("beta", None)):
            known = "unknown" if units is None else "computed"
            self.add(model=alias, cost_usd=cost.usd(units), cost_status=known)

    def add(self, **more: object) -> None:
        said = {"at": ledger.stamp(NOW), "status": "ok", "key": "local", "out": 5}
        ledger.add(said | more)

    def test_by_model_in_the_order_of_money(self) -> None:
        reply = self.get("/api/usage")
        self.assertEqual([one["name"] for one in reply["rows"]], ["alpha", "beta"])
        self.assertEqual(reply["rows"][0]["known_usd"], 1.000000000005)
        self.assertEqual((reply["rows"][1]["known_usd"], reply["rows"][1]["unknown_calls"]), (None, 1))
        self.assertEqual((reply["total"]["calls"], reply["total"]["tokens"]["out"]), (3, 15))
        self.assertTrue(reply["complete"])

    def test_a_renamed_model_is_one(self) -> None:
        moves.rename("alpha", "omega", BY)
        self.add(model="omega", cost_usd=0.0, cost_status="free")
        rows = self.get("/api/usage?by=model")["rows"]
        self.assertEqual([(one["name"], one["calls"]) for one in rows], [("omega", 3), ("beta", 1)])

    def test_since(self) -> None:
        self.assertEqual(self.get("/api/usage?by=key&since=2027-01-01")["total"]["calls"], 0)
        self.assertEqual(self.get("/api/usage?by=day&since=2026-11-01")["rows"][0]["name"], "2026-11-29")

    def test_what_cannot_be_asked(self) -> None:
        for query, param in (("by=tokens", "by"), ("since=soon", "since")):
            with self.subTest(query):
                status, reply = self.ask("GET", f"/api/usage?{query}")
                self.assertEqual((status, reply["error"]["param"]), (400, param))
