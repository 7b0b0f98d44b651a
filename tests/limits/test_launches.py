import json
import unittest
from typing import Any

from metrics.limits import cost, launches, ledger
from metrics.store import home
from tests.store.case import HomeCase

TOKEN = "bwl_" + "0a" * 16
OTHER = "bwl_" + "0b" * 16
AT = "2026-11-29T14:22:20.000Z"


def row(call: str | None = "r20261129-142220-0a1b2c3d.1", **more: Any) -> dict[str, Any]:
    conversation = call and call.partition(".")[0]
    said = {
        "at": AT,
        "purpose": "route",
        "model": "kimi",
        "model_id": "e:kimi",
        "status": "ok",
        "cost_status": "computed",
        "cost_usd": 0.25,
        "out": 5,
        "launch": TOKEN,
        "call": call,
        "conversation": conversation,
        "turn": 1,
    }
    return {**dict.fromkeys(ledger.FIELDS), **said, **more}


def told(*rows: dict[str, Any], token: str = TOKEN) -> dict[str, Any]:
    tallies: launches.Tallies = {}
    for one in rows:
        launches.fold(tallies, one)
    return launches.told(token, tallies.get(token))


class Token(unittest.TestCase):
    def test_where_agents_send_it(self) -> None:
        cases: tuple[tuple[dict[str, str], str | None], ...] = (
            ({"authorization": f"Bearer {TOKEN}"}, TOKEN),
            ({"authorization": f"bearer  {TOKEN} "}, TOKEN),
            ({"authorization": TOKEN}, TOKEN),
            ({"x-api-key": TOKEN}, TOKEN),
            ({"x-goog-api-key": TOKEN}, TOKEN),
            ({"x-bench-launch": TOKEN, "authorization": "Bearer bwk_other"}, TOKEN),
            ({"x-bench-launch": TOKEN, "authorization": f"Bearer {OTHER}"}, TOKEN),
            ({"authorization": "Bearer any", "x-api-key": TOKEN}, TOKEN),
            ({"authorization": f"Basic {TOKEN}"}, None),
            ({"authorization": "Bearer bwl_short"}, None),
            ({"authorization": f"Bearer {TOKEN}x"}, None),
            ({"authorization": ""}, None),
            ({"x-api-key": "sk-any"}, None),
            ({}, None),
        )
        for headers, wanted in cases:
            with self.subTest(headers):
                self.assertEqual(launches.token_of(headers), wanted)


class Counting(unittest.TestCase):
    def test_turns_and_failovers(self) -> None:
        one, two = "r20261129-142220-0a1b2c3d", "r20261129-142221-0a1b2c3e"
        limited = {"status": "error", "error": "rate_limited", "cost_status": "none", "out": None}
        cases: tuple[tuple[str, list[dict[str, Any]], tuple[int, int, int]], ...] = (
            ("nothing", [], (0, 0, 0)),
            ("a turn", [row(f"{one}.1")], (1, 1, 0)),
            ("two turns of one model", [row(f"{one}.1"), row(f"{one}.1", turn=2)], (2, 2, 0)),
            ("a failover", [row(f"{one}.1", **limited), row(f"{one}.2")], (1, 2, 1)),
            ("two failovers", [row(f"{one}.{at}", turn=3) for at in (1, 2, 3)], (1, 3, 2)),
            (
                "conversations side by side",
                [row(f"{one}.1", **limited), row(f"{two}.1"), row(f"{one}.2"), row(f"{two}.1", turn=2)],
                (3, 4, 1),
            ),
            (
                "turns of one conversation that overlap",
                [row(f"{one}.1", turn=turn) for turn in (2, 1, 3, 1)],
                (3, 4, 1),
            ),
            ("a shadow is no turn", [row(f"{one}.1"), row(f"{one}.1", purpose="shadow")], (1, 2, 0)),
            (
                "a panel is one turn",
                [row("p1.member1", purpose="panel", panel="p1", conversation=None) for _ in "ab"],
                (1, 2, 0),
            ),
            ("somebody else's", [row(launch=OTHER), row(launch=None)], (0, 0, 0)),
        )
        for what, rows, wanted in cases:
            with self.subTest(what):
                seen = told(*rows)
                self.assertEqual((seen["turns"], seen["calls"], seen["failovers"]), wanted)

    def test_an_unknown_cost_is_never_nothing(self) -> None:
        dark = {"cost_usd": None, "cost_status": "unknown"}
        cases: tuple[tuple[list[dict[str, Any]], dict[str, Any]], ...] = (
            ([row(), row()], {"known_usd": 0.5, "unknown_calls": 0}),
            ([row(**dark)], {"known_usd": None, "unknown_calls": 1}),
            ([row(), row(**dark)], {"known_usd": 0.25, "unknown_calls": 1}),
            ([row(cost_usd=0.0, cost_status="free")], {"known_usd": 0.0, "unknown_calls": 0}),
            ([], {"known_usd": 0.0, "unknown_calls": 0}),
        )
        for rows, wanted in cases:
            with self.subTest(wanted):
                self.assertEqual(told(*rows)["cost"], wanted)

    def test_tokens_by_kind(self) -> None:
        whole = row(uncached_in=100, cache_read=50, cache_write=20, out=9, reasoning=4)
        guessed = row(uncached_in=7, out=1, estimated=True)
        failed = row(out=None, cost_status="none", status="error")
        silent = row(out=None, cost_status="unknown", cost_usd=None)
        wanted = {"uncached_in": 107, "cache_read": 50, "cache_write": 20, "out": 10, "reasoning": 4}
        wanted |= {"estimated_calls": 1, "unmetered_calls": 1}
        self.assertEqual(told(whole, guessed, failed, silent)["tokens"], wanted)

    def test_what_can_be_judged_is_the_latest_answer_of_each_model(self) -> None:
        first, second = "r20261129-142220-0a1b2c3d.1", "r20261129-142220-0a1b2c3d.2"
        seen = told(row(first), row(second), row(second, model="bad", status="error"))["models"]
        wanted = [{"alias": "kimi", "calls": 2, "call": second}, {"alias": "bad", "calls": 1, "call": None}]
        self.assertEqual(seen, wanted)

    def test_it_stays_small(self) -> None:
        tallies: launches.Tallies = {}
        for number in range(launches.KEPT + 5):
            launches.fold(tallies, row(launch=f"bwl_{number:032x}"))
            launches.fold(tallies, row(launch=TOKEN, call=f"r{number}.1", model=f"m{number}"))
            launches.fold(tallies, row(launch=TOKEN, call="r.1", turn=number))
        self.assertEqual(len(tallies), launches.KEPT)
        self.assertIn(TOKEN, tallies)
        self.assertNotIn(f"bwl_{0:032x}", tallies)
        tally = tallies[TOKEN]
        self.assertEqual((len(tally["talks"]), len(tally["models"])), (launches.TALKS, launches.MODELS))
        self.assertEqual((tally["turns"], tally["failovers"]), (2 * (launches.KEPT + 5), 0))
        self.assertTrue(all(len(turns) <= launches.TALKS for turns in tally["talks"].values()))
        self.assertEqual(json.loads(json.dumps(tallies)), tallies)


class Kept(HomeCase):
    def test_a_restart_forgets_nothing(self) -> None:
        for _ in range(3):
            ledger.add(row(cost_usd=cost.usd(100_000_000_001)))
        for _ in range(2):
            seen = ledger.launched(TOKEN)
            self.assertEqual((seen["calls"], seen["cost"]["known_usd"]), (3, 0.300000000003))
            self.assertEqual((seen["since"], seen["until"]), (AT, AT))
            self.assertEqual(ledger.launched(OTHER)["calls"], 0)
            home.close()


if __name__ == "__main__":
    unittest.main()
