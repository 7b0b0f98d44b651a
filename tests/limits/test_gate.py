import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

from metrics.bench import endpoints, moves
from metrics.bench.endpoints import Endpoint
from metrics.bench.roster import Model
from metrics.limits import caps, gate, ledger, quota
from metrics.limits.pacing import Verdict
from metrics.records import Limited, Problem, Stated, Target, Usage
from metrics.store import home
from metrics.store.stamps import stamp

NOW = 1_796_000_000.0
CHAT = Target("aa", "groq:m", "groq", "groq", "m", "http://127.0.0.1:9/v1")
OTHER = Target("bb", "groq:n", "groq", "groq", "n", "http://127.0.0.1:9/v1")


def refused(cause, until=None, scope="model", stated=(), status=429):
    return Problem(status, "no", kind="rate_limited", limited=Limited(cause, until, scope, stated))


class Gate(unittest.TestCase):
    """A bench with the endpoint "groq" and two models on it, in a folder of its own; time stands still until
    it is told to go on."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        home.use(self.folder)
        self.addCleanup(home.close)
        self.now = NOW
        endpoints.save(Endpoint("groq", "http://127.0.0.1:9/v1"), "test")
        for target in (CHAT, OTHER):
            moves.add(Model(target.alias, "groq", target.served), "test")

    def limit(self, name="groq", **limits):
        caps.save(name, limits, "test", stamp(self.now))

    def entry(self, target=CHAT, size=(100, 50)):
        return gate.Entry(target, lambda: size, lambda: self.now)

    def go(self, target=CHAT, patience=0.0, size=(100, 50)):
        """The verdict on a call that is over at once."""
        with self.entry(target, size) as entry:
            return entry.ask(patience)

    def words(self, times, target=CHAT):
        return [self.go(target).word for _ in range(times)]

    def restart(self):
        home.close()
        home.use(self.folder)


class GateTest(Gate):
    def test_without_limits_everything_goes(self):
        self.assertEqual(set(self.words(200)), {"go"})

    def test_a_limit_of_the_connection_counts_all_its_models_one_of_a_model_only_its_own(self):
        self.limit(rpm=3)
        self.assertEqual(
            [self.go(target).word for target in (CHAT, OTHER, CHAT, OTHER)], ["go"] * 3 + ["refuse"]
        )
        self.limit(rpm=None)
        self.limit("aa", rpm=3)
        self.assertEqual((self.words(2), self.words(2, OTHER)), (["go", "refuse"], ["go", "go"]))

    def test_calls_from_before_a_limit_was_set_count(self):
        self.words(5)
        self.now += 30
        self.limit(rpm=5)
        verdict = self.go(patience=10)
        self.assertEqual((verdict.word, verdict.why), ("refuse", "5 requests a minute"))
        self.assertAlmostEqual(verdict.seconds, 30, delta=1)
        self.assertEqual(self.go(patience=31).word, "wait")
        self.now += 31
        self.assertEqual(self.go().word, "go")

    def test_a_wait_keeps_its_place(self):
        self.limit(rpm=1)
        self.go()
        first, second = self.entry(), self.entry()
        with first, second:
            self.assertEqual([one.ask(1000).word for one in (first, second)], ["wait", "wait"])
            self.assertAlmostEqual(second.ask(1000).seconds - first.ask(1000).seconds, 60, delta=1)
            self.now += 61
            self.assertEqual([one.ask(1000).word for one in (second, first)], ["wait", "go"])
        self.now += 61
        self.assertEqual(self.go().word, "go", "who has left the line is not waited for")

    def test_tokens_are_reserved_and_settled(self):
        self.limit(tpm=1000)
        with self.entry(size=(600, 100)) as entry:
            self.assertEqual(entry.ask(0).word, "go")
            self.assertEqual(self.go(size=(600, 100)).word, "refuse")
        entry.settle(Usage(uncached_in=100, out=20), 0)
        self.assertEqual(self.go(size=(600, 100)).word, "go")

    def test_what_needs_more_than_a_window_holds_gets_one_of_its_own(self):
        self.limit(tpm=1000)
        self.assertEqual(self.go(size=(9000, 50)).word, "go")
        self.assertEqual(self.go(size=(1, 1)).word, "refuse")

    def test_money(self):
        self.limit(usd_day=0.01)
        with self.entry() as entry:
            self.assertEqual(entry.ask(0).word, "go")
        entry.settle(Usage(uncached_in=1, out=1), 10**10)
        verdict = self.go()
        self.assertEqual((verdict.word, verdict.why), ("refuse", "0.01 USD a day"))

    def test_a_call_is_over_once_it_is_settled_or_refused(self):
        self.limit(concurrency=1)
        for over in (
            lambda entry: entry.settle(Usage(uncached_in=1, out=1), 0),
            lambda entry: entry.refused(Problem(502, "no")),
            lambda entry: entry.refused(refused("window")),
            lambda entry: entry.__exit__(None, None, None),
        ):
            first, second = self.entry(), self.entry()
            self.assertEqual([one.ask(1000).word for one in (first, second)], ["go", "wait"])
            over(first)
            over(first)
            self.assertEqual(second.ask(0).word, "go")
            over(second)
            self.assertEqual(self.go().word, "go", "nobody runs, and nobody waits")

    def test_at_once(self):
        self.limit(concurrency=2)
        first, second = self.entry(), self.entry()
        with second:
            with first:
                self.assertEqual([one.ask(0).word for one in (first, second)], ["go", "go"])
                self.assertNotEqual(self.go().word, "go")
            self.assertEqual(self.go().word, "go")

    def test_no_overshoot_however_many_ask_at_once(self):
        for limits, most in (({"rpm": 20}, 20), ({"concurrency": 7}, 7), ({"tpm": 2250, "rpd": 1000}, 15)):
            with self.subTest(limits):
                self.setUp()
                self.limit(**limits)
                start, hold, counted = threading.Barrier(128), threading.Event(), []

                def call(start=start, hold=hold, counted=counted):
                    start.wait()
                    for _ in range(5):
                        with self.entry(size=(100, 50)) as entry:
                            if entry.ask(0).word == "go":
                                counted.append(1)
                                hold.wait(20)
                                return

                threads = [threading.Thread(target=call) for _ in range(128)]
                for thread in threads:
                    thread.start()
                for thread in threads[most:]:
                    thread.join(0.01)
                hold.set()
                for thread in threads:
                    thread.join()
                if "concurrency" in limits:
                    self.assertGreaterEqual(len(counted), most)
                else:
                    self.assertEqual(len(counted), most)
                self.doCleanups()

    def test_what_headers_state_is_kept_to(self):
        headers = {"x-ratelimit-limit-requests": "10", "x-ratelimit-remaining-requests": "2"}
        headers["x-ratelimit-reset-requests"] = "40"
        with self.entry() as entry:
            entry.ask(0)
            entry.heard(headers)
        self.assertEqual(self.words(3), ["go", "go", "refuse"])
        self.assertEqual(self.go(OTHER).word, "go", "limits are a model's where nothing else is known")
        self.assertIn("no requests are left", self.go().why)
        self.now += 40.1
        self.assertEqual(self.go().word, "go")

    REFUSALS = [
        ("a window, until its reset", refused("window", NOW + 42), 42, "refuse"),
        ("a window that is nearly over", refused("window", NOW + 9), 9, "wait"),
        ("at once", refused("concurrency", NOW + 1), 1, "wait"),
        ("no credit: nothing to wait for", refused("exhausted"), 60, "refuse"),
        ("a credit of next month is looked for again", refused("exhausted", NOW + 1e6), 3600, "refuse"),
        ("overload that says how long", refused("overload", NOW + 7), 7, "wait"),
        ("overload that does not", refused("overload"), 0, "go"),
        ("too large for the window", refused("too_large"), 0, "go"),
        ("something else", Problem(400, "no"), 0, "go"),
    ]

    def test_gone_credit_is_said_as_its_provider_says_it(self):
        for cause, status, code, again in [
            ("exhausted", 402, "insufficient_quota", False),
            ("window", 429, "rate_limit_exceeded", True),
        ]:
            with self.subTest(cause):
                problem = gate.refusal(CHAT, Verdict("refuse", 60.0, NOW + 60, "because", cause))
                self.assertEqual((problem.status, problem.code, problem.retryable), (status, code, again))
                self.assertEqual((problem.kind, problem.retry_after), ("paced", 60.0))

    def test_a_refusal_holds_the_others_back(self):
        for name, problem, seconds, word in self.REFUSALS:
            with self.subTest(name):
                self.setUp()
                with self.entry() as entry:
                    entry.ask(0)
                    entry.refused(problem)
                verdict = self.go(patience=1e9)
                self.assertEqual((verdict.word, round(verdict.seconds)), (word, seconds))
                self.assertEqual(self.go(OTHER).word, "go")
                self.now += seconds
                self.assertEqual(self.go().word, "go")
                self.doCleanups()

    def test_a_refusal_can_be_about_the_whole_connection(self):
        with self.entry() as entry:
            entry.ask(0)
            entry.refused(refused("window", NOW + 42, "connection"))
        self.assertEqual(self.go(OTHER).word, "refuse")

    def test_too_many_at_once_lowers_what_runs_at_once_and_it_recovers(self):
        entries = [self.entry() for _ in range(4)]
        for entry in entries:
            self.assertEqual(entry.__enter__().ask(0).word, "go")
        entries[0].refused(refused("concurrency", NOW + 1))
        for entry in entries:
            entry.__exit__(None, None, None)
        self.now += 2
        with self.entry() as one, self.entry() as two, self.entry() as three, self.entry() as four:
            self.assertEqual([each.ask(0).word for each in (one, two, three)], ["go"] * 3)
            self.assertNotEqual(four.ask(0).word, "go")
            self.now += 301
            one.heard({})
            self.assertEqual(four.ask(0).word, "go")

    def test_one_call_alone_is_not_too_many(self):
        with self.entry() as entry:
            entry.ask(0)
            entry.refused(refused("concurrency", NOW + 1))
        self.now += 2
        with self.entry() as one, self.entry() as two:
            self.assertEqual([each.ask(0).word for each in (one, two)], ["go", "go"])

    def test_a_window_that_nobody_names_is_learned_from_one_incident(self):
        self.words(7)
        with self.entry() as entry:
            entry.ask(0)
            entry.refused(refused("window"))
        self.now += 62
        with self.entry() as entry:
            entry.ask(0)
            entry.heard({})
        self.now += 61
        self.assertEqual(self.words(8), ["go"] * 7 + ["refuse"])
        self.now += 30_000
        self.assertEqual(self.words(8), ["go"] * 8, "what was learned is not for ever")

    def test_the_most_trusted_source_decides(self):
        stated = (Stated("requests", "minute", 2, 0),)
        with self.entry() as entry:
            entry.ask(0)
            entry.refused(refused("window", NOW + 1, stated=stated))
        self.now += 61
        self.assertEqual(self.words(3), ["go", "go", "refuse"])
        with self.entry() as entry:
            entry.heard({"x-ratelimit-limit-requests-minute": "4"})
        self.assertEqual(self.words(3), ["go", "go", "refuse"])
        self.limit("aa", rpm=5)
        self.assertEqual(self.words(2), ["go", "refuse"])

    def test_a_restart_forgets_nothing(self):
        self.limit(rpm=4, rpmo=100)
        for _ in range(3):
            row = {"at": stamp(self.now), "connection": "groq", "model_id": CHAT.model_id, "attempts": 1}
            ledger.add({**row, "model": "aa", "status": "ok", "uncached_in": 10, "out": 5})
        with self.entry(OTHER) as entry:
            entry.refused(refused("window", NOW + 500))
        self.restart()
        self.now += 5
        self.assertEqual(self.words(2), ["go", "refuse"])
        self.assertAlmostEqual(self.go(OTHER).seconds, 495, delta=1)

    def test_a_ledger_that_is_still_being_counted_is_taken_in_when_it_is(self):
        self.limit(rpmo=10)
        row = {"at": stamp(NOW - 5000), "connection": "groq", "model_id": CHAT.model_id, "attempts": 9}
        ledger.add(row)
        with (
            mock.patch.object(type(ledger.LOG), "ready", False),
            mock.patch.object(ledger, "recently_sent", lambda name: {}),
        ):
            self.assertEqual(self.go().word, "go")
        ledger.add({**row, "at": stamp(NOW), "attempts": 1})
        self.assertEqual(self.go().word, "refuse")

    def test_our_own_refusals_are_nobodys_statement(self):
        """Fault 19: a limit of the user's own, taken away, leaves nothing behind."""
        self.limit(rpd=1)
        self.assertEqual(self.words(2), ["go", "refuse"])
        problem = gate.refusal(CHAT, self.go())
        self.assertEqual((problem.status, problem.kind), (429, "paced"))
        self.assertIn("not sent, paced by the bench (1 request a day)", problem.message)
        self.assertAlmostEqual(problem.retry_after, 86_400, delta=1)
        self.limit(rpd=None)
        self.assertEqual(self.go().word, "go")
        self.assertEqual(quota.connections(), [])

    def test_a_broken_file_is_named(self):
        self.limit(rpm=1)
        (self.folder / "limits.json").write_text("{", encoding="utf-8")
        self.now += 1
        with self.assertRaises(Problem) as caught:
            self.go()
        self.assertIn("limits.json", caught.exception.message)

    def test_a_wait_in_words(self):
        for seconds, words in (
            (0.2, "1 s"),
            (61, "61 s"),
            (600, "10 minutes"),
            (10_000, "3 hours"),
            (2e5, "2 days"),
        ):
            self.assertEqual(gate.spoken(seconds), words)


if __name__ == "__main__":
    unittest.main()
