"""The ledger's sums are the provider's own: after many calls at once, with failures, cuts and retries, every
token that a provider counted is in the ledger once, at its price, and every question of `bench usage` agrees.
A server that is killed loses at most what it had not written yet, and says what was under way."""

import contextlib
import random
import signal
import tempfile
import threading
import time
import unittest
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from metrics.limits.usage import KINDS
from tests.provider import CUT, Provider, chunk, error, garbage, gated, reset, stream, text
from tests.running import Running
from tests.test_chaos import rows

FAILS = 0.25
LOAD = 400  # requests until the kill
LATEST = 0.5  # seconds before a kill that may be missing; 0.1 where nobody else needs the processor
# name -> what it costs in USD per million tokens (None: nobody says)
PRICES = {
    "m-priced": {"input": 1.25, "output": 10, "cache_read": 0.125},
    "m-half": {"input": 0.3, "output": 0.7},  # what is read from its cache has no price
    "m-free": {"input": 0, "output": 0, "cache_read": 0},
    "m-dark": None,
}
FAULTS = {
    "broken": error(500, "boom"),
    "busy": error(503, "busy", headers={"Retry-After": "0"}),
    "bad": error(400, "invalid schema for function look"),
    "reset": reset(),
    "garbage": garbage(),
    "error in a 200": stream({"error": {"message": "no", "code": 500}}),
    "cut early": stream(chunk({"role": "assistant"}), CUT, done=False),
    "cut": stream(chunk({"content": "half"}), CUT, done=False),
}


class Members:
    """The members' side: what each counted, by its own books."""

    def __init__(self):
        self.tokens = defaultdict(Counter)
        self.units = Counter()
        self.answered, self.unpriced = Counter(), Counter()
        self.received = Counter()
        self._lock = threading.Lock()
        self._draw = random.Random(20)
        self._used = set()

    def __call__(self, request):
        model = request.json["model"]
        with self._lock:
            kept = request.connection in self._used
            self._used.add(request.connection)
            fault = self._draw.choice(list(FAULTS)) if self._draw.random() < FAILS else None
            # On a kept connection that says nothing, the same request comes again: that is one attempt.
            self.received[model] += not (fault == "reset" and kept)
            return FAULTS[fault] if fault else self._answer(model)

    def _answer(self, model):
        cached, fresh = self._draw.choice((0, 0, 64, 4096)), self._draw.randrange(1, 100_000)
        out, thought = self._draw.randrange(2, 9000), self._draw.choice((0, 0, 1))
        self.answered[model] += 1
        self.tokens[model].update(uncached_in=fresh, cache_read=cached, out=out, reasoning=thought)
        self._charge(model, {"input": fresh, "cache_read": cached, "output": out})
        usage = {
            "prompt_tokens": fresh + cached,
            "completion_tokens": out,
            "total_tokens": fresh + cached + out,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": thought},
        }
        return text("said", usage=usage)

    def _charge(self, model, used):
        prices = PRICES[model]
        if prices is None or any(count and kind not in prices for kind, count in used.items()):
            self.unpriced[model] += 1
        else:
            thousandths = {kind: round(prices.get(kind, 0) * 1000) for kind in used}
            self.units[model] += sum(count * thousandths[kind] * 1000 for kind, count in used.items())


class Sums:
    panels = 0

    @classmethod
    def setUpClass(cls):
        cls.members = Members()
        with Running() as bench, Provider() as provider:
            provider.script("*", cls.members)
            bench.seat("all", provider.base, *PRICES)
            for alias, price in PRICES.items():
                if price:
                    bench.save("/api/model", alias=alias, price=price)

            def ask(number):
                asked = {
                    "model": "bench/all",
                    "messages": [{"role": "user", "content": f"question {number}"}],
                }
                bench.post("/v1/chat/completions", asked)

            with ThreadPoolExecutor(16) as callers:
                list(callers.map(ask, range(cls.panels)))
            questions = ("model", "collection", "key", "purpose", "day", "endpoint")
            cls.told = {by: bench.get(f"/api/usage?by={by}")[1] for by in questions}
            bench.stop()
            cls.rows = rows(bench.home, "ledger")

    def test_every_call_has_its_row(self):
        self.assertEqual(len(self.rows), self.panels * len(PRICES))
        attempts = Counter()
        for row in self.rows:
            attempts[row["model"]] += row["attempts"]
        self.assertEqual(attempts, self.members.received)

    def test_every_token_is_counted_once(self):
        for model in PRICES:
            with self.subTest(model):
                counted = Counter(dict.fromkeys(KINDS, 0))
                for row in self.rows:
                    if row["model"] == model and row["usage_raw"]:
                        counted.update({kind: row[kind] or 0 for kind in KINDS})
                self.assertEqual(+counted, +self.members.tokens[model])
                ok = sum(row["status"] == "ok" for row in self.rows if row["model"] == model)
                self.assertEqual(ok, self.members.answered[model])

    def test_every_unit_of_cost_is_counted_once(self):
        for model in PRICES:
            with self.subTest(model):
                answered = [row for row in self.rows if row["model"] == model and row["usage_raw"]]
                units = sum(
                    round(row["cost_usd"] * 10**12) for row in answered if row["cost_usd"] is not None
                )
                self.assertEqual(units, self.members.units[model])
                dark = sum(row["cost_status"] == "unknown" for row in answered)
                self.assertEqual(dark, self.members.unpriced[model])

    def test_a_cut_answer_is_estimated_and_marked(self):
        for row in self.rows:
            if row["status"] == "cut":
                self.assertTrue(row["estimated"] and row["out"])
            elif not row["usage_raw"]:
                self.assertIsNone(row["out"])

    def test_every_question_agrees_with_the_rows(self):
        for by, told in self.told.items():
            counts, tokens, units = Counter(), defaultdict(Counter), Counter()
            for row in self.rows:
                name = row["at"][:10] if by == "day" else row[by]
                counts[name] += 1
                tokens[name].update({kind: row[kind] or 0 for kind in KINDS})
                units[name] += round((row["cost_usd"] or 0) * 10**12)
            for one in told["rows"]:
                with self.subTest(by, name=one["name"]):
                    self.assertEqual(one["calls"], counts.pop(one["name"]))
                    self.assertEqual(one["tokens"], tokens[one["name"]])
                    self.assertEqual(round((one["known_usd"] or 0) * 10**12), units[one["name"]])
            self.assertFalse(counts)
            self.assertEqual(told["total"]["calls"], len(self.rows))


class SlowSumsTest(Sums, unittest.TestCase):
    panels = 25


class SlowSums(Sums, unittest.TestCase):
    """10,000 calls."""

    panels = 2500


class SlowKilled(unittest.TestCase):
    def test_what_was_under_way_is_counted_as_interrupted(self):
        gate = threading.Event()
        self.addCleanup(gate.set)
        home = Path(self.enterContext(tempfile.TemporaryDirectory())) / "home"
        with Running(home) as bench, Provider() as provider:
            provider.script("m-a", text("said"))
            provider.script("m-b", gated(("some ", "more"), (threading.Event(), gate)))
            bench.seat("all", provider.base, "m-a", "m-b")
            body = {"model": "bench/all", "messages": [{"role": "user", "content": "x"}]}
            asked = threading.Thread(target=self.ask, args=(bench, body))
            asked.start()
            self.wait_for(bench, "underway.json", "m-b")
            self.wait_for(bench, "ledger/*.jsonl", "m-a")
            bench.stop(signal.SIGKILL)
            asked.join()
        for _ in range(2):  # the second start has nothing left to tell
            with Running(home) as bench:
                told = {one["name"]: one for one in bench.get("/api/usage?by=model")[1]["rows"]}
                self.assertEqual((told["m-a"]["calls"], told["m-a"]["interrupted"]), (1, 0))
                lost = told["m-b"]
                self.assertEqual((lost["calls"], lost["interrupted"], lost["errors"]), (1, 1, 0))
                self.assertEqual((lost["known_usd"], lost["unmetered_calls"]), (None, 1))
        kept = [row for row in rows(home, "ledger") if row["model"] == "m-b"]
        told = [(row["error"], row["out"], row["cost_usd"]) for row in kept]
        self.assertEqual(told, [("interrupted", None, None)])

    def test_a_kill_under_load_loses_the_last_moment_at_most(self):
        home = Path(self.enterContext(tempfile.TemporaryDirectory())) / "home"
        received, replied, enough = [], [], threading.Event()

        def answer(request):
            received.append(time.monotonic())
            if len(received) == LOAD:
                enough.set()
            return text("said")

        def ask(bench):
            while not enough.is_set() or len(received) < LOAD + 50:
                status, reply = bench.post("/v1/chat/completions", body)
                replied.extend((time.monotonic(), seat["call"]) for seat in reply["bench"]["seats"])

        def asking(bench):
            with contextlib.suppress(OSError, ValueError):  # it was killed under our hands
                ask(bench)

        body = {"model": "bench/all", "messages": [{"role": "user", "content": "x"}]}
        with Running(home) as bench, Provider() as provider:
            provider.script("*", answer)
            bench.seat("all", provider.base, "m-a", "m-b")
            callers = [threading.Thread(target=asking, args=(bench,)) for _ in range(8)]
            for caller in callers:
                caller.start()
            enough.wait(60)
            threading.Event().wait(3 * LATEST)  # so that some calls have been over for long enough
            bench.stop(signal.SIGKILL)
            killed = time.monotonic()
            for caller in callers:
                caller.join()
        with Running(home) as bench:
            total = bench.get("/api/usage")[1]["total"]
        kept = [row["call"] for row in rows(home, "ledger")]
        self.assertEqual((len(set(kept)), total["calls"]), (len(kept), len(kept)), "a call is there twice")
        settled = {call for at, call in replied if at < killed - LATEST}
        self.assertTrue(settled)
        self.assertEqual(settled - set(kept), set())
        self.assertGreaterEqual(len(kept), sum(at < killed - LATEST for at in received))

    def ask(self, bench, body):
        try:
            bench.post("/v1/chat/completions", body)
        except OSError:
            pass  # it was killed under our hands

    def wait_for(self, bench, pattern, word):
        """Until a file of the data folder holds `word`: the writer gathers for a moment."""
        pause = threading.Event()
        for _ in range(500):
            if any(word in path.read_text("utf-8") for path in bench.home.glob(pattern)):
                return
            pause.wait(0.02)
        self.fail(f"{word} never came to {pattern}")


if __name__ == "__main__":
    unittest.main()
