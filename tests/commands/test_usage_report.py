import json
import unittest
from typing import Any

from metrics.commands import usage_report
from metrics.commands.output import Console
from metrics.commands.server import Server
from tests.commands.stage import Keyboard, Reply, Screen, Stage

TOKEN = "bwl_" + "0" * 32
TOKENS = {
    "uncached_in": 12345,
    "cache_read": 0,
    "cache_write": 0,
    "out": 345,
    "reasoning": 0,
    "estimated_calls": 0,
    "unmetered_calls": 0,
}
USED: dict[str, Any] = {
    "launch": TOKEN,
    "turns": 4,
    "calls": 5,
    "failovers": 1,
    "tokens": TOKENS,
    "cost": {"known_usd": 0.0123, "unknown_calls": 0},
    "models": [{"alias": "gpt", "calls": 1, "call": "r1.1"}, {"alias": "kimi", "calls": 4, "call": "r1.4"}],
}


class Lines(unittest.TestCase):
    def test_in_words(self) -> None:
        dark = {"known_usd": None, "unknown_calls": 5}
        partly = {"known_usd": 0.5, "unknown_calls": 1}
        every = {**TOKENS, "cache_read": 1000, "cache_write": 20, "reasoning": 40}
        guessed = {**TOKENS, "estimated_calls": 2, "unmetered_calls": 1}
        mute = [{"alias": "kimi", "calls": 1, "call": None}]
        cases: tuple[tuple[dict[str, Any], str], ...] = (
            (USED, "turns   4 (5 calls, 1 failover)"),
            (USED, "tokens  in 12,345, out 345"),
            (USED, "cost    $0.0123"),
            (USED, "models  gpt 1, kimi 4"),
            (USED, "\njudge it: bench verdict r1.4 --useful   (or --not-useful)"),
            ({**USED, "cost": dark}, "cost    unknown"),
            ({**USED, "cost": partly}, "cost    $0.50 known, 1 call of unknown cost"),
            ({**USED, "cost": {"known_usd": 0.0, "unknown_calls": 0}}, "cost    $0"),
            (
                {**USED, "tokens": every},
                "in 12,345, read from the cache 1,000, written to the cache 20, out 345 (reasoning 40)",
            ),
            (
                {**USED, "tokens": guessed},
                "tokens  in 12,345, out 345, 2 calls estimated, 1 call uncounted",
            ),
            ({**USED, "models": mute}, "models  kimi 1"),
            ({**USED, "calls": 0}, "this launch asked the server nothing"),
            ({}, "this launch used is not known: it sent your own key"),
            ({"error": {"message": "gone"}}, "what this launch used is not known: gone"),
        )
        for used, wanted in cases:
            with self.subTest(wanted):
                self.assertIn(wanted, "\n".join(usage_report.lines(used)))
        self.assertNotIn("judge", "\n".join(usage_report.lines({**USED, "models": mute})))

    def test_an_unknown_cost_is_never_a_figure(self) -> None:
        for dark in (1, 5):
            said = usage_report.cost({"cost": {"known_usd": None, "unknown_calls": dark}})
            self.assertEqual(said, "unknown")


class Show(unittest.TestCase):
    def shown(self, reply: Any, apart: bool = True, as_json: bool = False) -> tuple[str, str]:
        out, err = Screen(), Screen()
        with Stage({"GET /bench/launch": reply}) as stage:
            console = Console("bench", {}, Keyboard(), out, err, as_json=as_json)
            usage_report.show(TOKEN, apart, console, Server(stage.url))
            if apart:
                self.assertEqual(stage.last.path, f"/bench/launch?token={TOKEN}")
        return out.getvalue(), err.getvalue()

    def test_stdout_is_the_agents(self) -> None:
        out, err = self.shown(USED)
        self.assertEqual(out, "")
        self.assertIn("turns   4", err)

    def test_json_is_one_line_on_stderr(self) -> None:
        out, err = self.shown(USED, as_json=True)
        self.assertEqual((out, json.loads(err)), ("", USED))
        self.assertEqual(json.loads(self.shown({}, apart=False, as_json=True)[1]), {"launch": None})

    def test_a_server_that_cannot_tell_fails_nothing(self) -> None:
        out, err = self.shown(Reply({"error": {"message": "broken", "type": "internal"}}, 500))
        self.assertEqual(out, "")
        self.assertIn("not known: broken", err)


if __name__ == "__main__":
    unittest.main()
