import csv
import io
import time
import unittest
from dataclasses import replace

from metrics.bench import moves, roster
from metrics.dashboard import usage
from metrics.evidence import offloads, verdicts
from metrics.limits import cost, ledger
from metrics.store import stamps
from metrics.web.table import Call, Table
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

    def test_over_time(self) -> None:
        reply = self.get("/api/usage/series?by=model&since=2026-11-01&until=2026-11-30")
        self.assertEqual((reply["step_s"], len(reply["at"]), reply["at"][0][:10]), (86_400, 29, "2026-11-01"))
        self.assertEqual(
            [(one["name"], one["calls"][-1]) for one in reply["names"]], [("alpha", 2), ("beta", 1)]
        )
        self.assertEqual(reply["names"][1]["usd"][-1], None)
        self.assertEqual((reply["total"]["calls"], reply["before"], reply["complete"]), (3, None, True))
        for span in ("24h", "7d", "30d", "90d", "month", "year"):
            with self.subTest(span):
                self.assertLessEqual(len(self.get(f"/api/usage/series?span={span}")["at"]), 400)

    def test_what_came_of_it(self) -> None:
        reply = self.get("/api/usage/worth?since=2026-11-01&until=2026-11-30")
        self.assertEqual([one["name"] for one in reply["models"]], ["alpha", "beta"])
        self.assertEqual((reply["models"][0]["each_useful"], reply["models"][0]["judged"]), (None, 0))
        self.assertEqual((reply["unpriced"], reply["cached"]["share"]), (["beta"], None))

    def test_a_price_is_wanted_only_where_tokens_were_counted(self) -> None:
        self.add(model="alpha", cost_usd=None, cost_status="unknown", out=None, status="error")
        reply = self.get("/api/usage/worth?since=2026-11-01&until=2026-11-30")
        self.assertEqual((reply["total"]["unknown_calls"], reply["unpriced"]), (2, ["beta"]))
        self.add(model="alpha", cost_usd=None, cost_status="unknown")
        reply = self.get("/api/usage/worth?since=2026-11-01&until=2026-11-30")
        self.assertEqual(sorted(reply["unpriced"]), ["alpha", "beta"])

    def test_as_a_file(self) -> None:
        self.add(model="=cmd()", cost_usd=None, cost_status="none")
        call = Call("GET", "/api/usage/csv?by=model&since=2026-11-01&until=2026-11-30")
        route, _ = Table(self.routes).find("GET", "/api/usage/csv")
        response = route.handler(call)
        headers = dict(response.headers)
        self.assertEqual(headers["Content-Type"], "text/csv; charset=utf-8")
        self.assertIn("usage-by-model-2026-11-01.csv", headers["Content-Disposition"])
        assert isinstance(response.body, bytes)
        lines = list(csv.DictReader(io.StringIO(response.body.decode())))
        self.assertEqual([line["model"] for line in lines], ["'=cmd()", "alpha", "beta"])
        self.assertEqual((lines[1]["known_usd"], lines[2]["known_usd"]), ("1.000000000005", ""))

    def test_what_stretch_cannot_be_asked(self) -> None:
        for query, param in (
            ("span=3d", "span"),
            ("by=day", "by"),
            ("until=2026-11-01", "until"),
            ("since=2026-11-02&until=2026-11-01", "until"),
            ("since=2026-11-02&until=soon", "until"),
        ):
            for path in ("series", "csv"):
                with self.subTest(query, path=path):
                    status, reply = self.ask("GET", f"/api/usage/{path}?{query}")
                    self.assertEqual((status, reply["error"]["param"]), (400, param))


class Worth(ApiCase):
    routes = usage.HANDLERS

    def test_verdicts_and_claims_make_it(self) -> None:
        self.seat_models("alpha")
        now = time.time()
        day = stamps.stamp(now)[:10].replace("-", "")
        for number in range(4):
            call = f"p{day}-120000-0000000{number}.member1"
            row = {
                "call": call,
                "panel": call[:-8],
                "collection": "core",
                "shape": "general",
                "seat": "member",
            }
            offloads.record(
                {**row, "at": stamps.stamp(now), "model": "alpha", "model_id": "box:alpha", "status": "ok"}
            )
            said = {"status": "ok", "model": "alpha", "cost_usd": 0.02, "cost_status": "computed"}
            ledger.add({"at": ledger.stamp(now), "call": call, "out": 5, **said})
            real = ["a", "b"] if number == 0 else None
            verdicts.give(call, useful=number < 2, real=real, false=["c"] if number == 3 else None)
        reply = self.get("/api/usage/worth?span=30d")
        (one,), once = reply["models"], reply["over_all"]
        self.assertEqual((one["useful"], one["judged"], one["real"], one["false"]), (2, 4, 2, 1))
        # Another alias of the same model shares what it was judged, which is judged no more for it.
        moves.add(replace(roster.get("alpha"), alias="again"), BY)
        ledger.add({"at": ledger.stamp(now), "call": "x", "out": 5, **said, "model": "again"})
        reply = self.get("/api/usage/worth?span=30d")
        self.assertEqual([each["judged"] for each in reply["models"]], [4, 4])
        self.assertEqual(
            {**reply["over_all"], "each_useful": 0, "each_real": 0},
            {**once, "each_useful": 0, "each_real": 0},
        )
        self.assertAlmostEqual(reply["over_all"]["each_useful"]["usd"], 0.04)
        self.assertEqual(moves.retire("again", "", BY).alias, "again")
        self.assertEqual(self.get("/api/usage/worth?span=30d")["over_all"], reply["over_all"])
        one = reply["models"][0]
        self.assertAlmostEqual(one["each_useful"]["usd"], 0.04)
        self.assertAlmostEqual(one["each_real"]["usd"], 0.04)
        verdicts.withdraw(call)
        verdicts.give(call.replace("3.member", "0.member"), real=["a"])
        one = self.get("/api/usage/worth?span=30d")["models"][0]
        self.assertEqual((one["useful"], one["judged"], one["real"], one["looked_at"]), (2, 3, 1, 3))


if __name__ == "__main__":
    unittest.main()
