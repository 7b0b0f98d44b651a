import argparse
import json
import unittest
from datetime import UTC, datetime, timedelta
from typing import Any

from metrics.commands import quota
from metrics.limits import caps
from tests.commands.stage import Stage


def ahead(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


def limit(**more: Any) -> dict[str, Any]:
    usual = {"connection": "groq", "model": None, "model_id": None, "metric": "requests", "window": "minute"}
    figures = {"limit": 30, "used": 12, "remaining": 18, "reset_at": ahead(41.5), "source": "set"}
    return {
        **usual,
        "kind": "rolling",
        **figures,
        "observed_at": ahead(-300),
        "age_s": 300.0,
        "why": None,
        **more,
    }


def told_now() -> dict[str, Any]:
    return {
        "ok": True,
        "quotas": [
            limit(),
            limit(model="kimi", metric="usd", window="day", limit=2.5, used=0.25, remaining=2.25),
            limit(
                model="glm",
                window="retry-after",
                limit=None,
                used=None,
                remaining=0,
                source="error",
                why="its provider said that a limit is used up",
            ),
            limit(
                connection="other", metric="concurrency", window="at-once", reset_at=None, observed_at=None
            ),
        ],
        "resting": [{"model": "glm", "connection": "groq", "until": ahead(61.5), "why": "rate_limited"}],
        "problems": [],
    }


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


class Quota(unittest.TestCase):
    def test_the_table(self) -> None:
        with Stage({"GET /api/quotas": told_now()}) as stage:
            played = stage.bench("quota")
        rows = [cells(line) for line in played.out.splitlines()[2:]]
        first = ["groq", "all", "requests a minute", "30", "12", "18", "in 41 s", "set", "5 min ago"]
        self.assertEqual(rows[0], first)
        self.assertEqual(rows[1][1:6], ["kimi", "USD a day", "2.5", "0.25", "2.25"])
        self.assertEqual(rows[2][1:6], ["glm", "its provider said that a limit is used up", "-", "-", "0"])
        self.assertEqual(rows[3][2:], ["calls at once", "30", "12", "18", "-", "set", "-"])
        self.assertIn("glm rests: rate_limited, another 1 min", played.err)

    def test_only_one(self) -> None:
        with Stage({"GET /api/quotas": told_now()}) as stage:
            told = json.loads(stage.bench("quota", "kimi", "--json").out)
        self.assertEqual([one["model"] for one in told["quotas"]], ["kimi"])
        self.assertEqual(told["resting"], [])

    def test_nothing_is_known(self) -> None:
        with Stage({"GET /api/quotas": {"ok": True, "quotas": [], "resting": [], "problems": []}}) as stage:
            played = stage.bench("quota")
        self.assertEqual(played.out, "")
        self.assertIn("bench limit set", played.err)

    def test_what_is_not_there_has_no_limits_and_says_so(self) -> None:
        there = {
            "GET /api/quotas": told_now(),
            "GET /api/endpoints": {"ok": True, "endpoints": [{"name": "idle", "connection": "idle"}]},
            "GET /api/models": {"ok": True, "models": [{"alias": "kimi"}, {"alias": "quiet"}]},
        }
        for name, code, words in (
            ("idle", 0, "bench limit set idle"),
            ("quiet", 0, "no limit is known"),
            ("quite", 1, "did you mean quiet?"),
            ("", 1, "neither a connection nor a model"),
        ):
            with self.subTest(name), Stage(there) as stage:
                played = stage.bench("quota", name)
                self.assertEqual((played.code, played.out), (code, ""))
                self.assertIn(words, played.err)


class Set(unittest.TestCase):
    def test_set(self) -> None:
        reply = {"ok": True, "connection": "groq", "of": "connections", "limits": {"rpm": 20, "tpd": 100_000}}
        with Stage({"POST /api/connection-limits": reply}) as stage:
            played = stage.bench("limit", "set", "groq", "rpm=20,tpd=100k", "usd_day=2.5", "concurrency=none")
            limits = {"rpm": 20, "tpd": 100_000, "usd_day": 2.5, "concurrency": None}
            self.assertEqual(stage.last.body, {"connection": "groq", "limits": limits})
        self.assertEqual(played.out, "groq: 20 requests a minute, 100,000 tokens a day\n")

    def test_one_is_not_many(self) -> None:
        cases = [
            ("rpm", 1, "1 request a minute"),
            ("itpm", 1, "1 input token a minute"),
            ("concurrency", 1, "1 call at once"),
            ("usd_day", 1, "1 USD a day"),
            ("tpd", 1_000, "1,000 tokens a day"),
        ]
        for word, value, said in cases:
            with self.subTest(word):
                self.assertEqual(quota.counted(word, value), said)

    def test_what_is_no_limit(self) -> None:
        for word in ("rpm", "rmp=5", "rpm=0", "rpm=-1", "rpm=1.5", "rpm=many", "rpm=inf", "=5"):
            with self.subTest(word), Stage({}) as stage:
                played = stage.bench("limit", "set", "groq", word)
                self.assertEqual(played.code, 2)
                self.assertIn(word.partition("=")[0], played.err)

    def test_the_words_are_the_servers(self) -> None:
        self.assertEqual(list(quota.WORDS), list(caps.WORDS))

    def test_a_near_miss_is_named(self) -> None:
        with self.assertRaises(argparse.ArgumentTypeError) as caught:
            quota.limit("rpmm=5")
        self.assertIn("did you mean rpm", str(caught.exception))


class Acts(unittest.TestCase):
    def test_rest_and_wake(self) -> None:
        with Stage(
            {"POST /api/rest": {"ok": True, "until": ahead(3601.5)}, "POST /api/wake": {"ok": True}}
        ) as stage:
            played = stage.bench("rest", "groq", "--for", "60m")
            self.assertEqual(
                (played.code, played.out),
                (0, "groq rests: nothing goes out to it. It is back in 1 h.\n"),
            )
            self.assertEqual(stage.bench("wake", "groq").out, "groq is awake: the next call will tell.\n")

    def test_a_probe(self) -> None:
        answered = {"ok": True, "model": "kimi", "reached": True, "seconds": 0.42}
        silent = {"ok": True, "model": "kimi", "reached": False, "status": "error", "error": "rate_limited"}
        for reply, status, words in (
            (answered, 0, "kimi answers, in 0.4 s."),
            ({**silent, "message": "free quota used up"}, 1, "kimi does not answer: free quota used up"),
        ):
            with self.subTest(words), Stage({"POST /api/probe": reply}) as stage:
                played = stage.bench("probe", "groq")
                self.assertEqual(played.code, status)
                self.assertIn(words, played.out + played.err)

    def test_what_will_be_used_up(self) -> None:
        told = limit(window="day", forecast={"by_reset": 40, "empty_at": ahead(7201.5)})
        with Stage({"GET /api/quotas": {**told_now(), "quotas": [told]}}) as stage:
            self.assertIn("at this pace its requests a day are used up in 2 h", stage.bench("quota").err)


if __name__ == "__main__":
    unittest.main()
