"""Calls that their limits leave no room for: who waits, who is passed over, and what is written of it."""

import time
import unittest
from unittest import mock

from metrics.bench import roster
from metrics.client.chat import Conversation
from metrics.client.transport import Hangup
from metrics.events import Tick, gather
from metrics.evidence import reliability
from metrics.limits import caps, ledger, tokens
from metrics.play import calls, routing
from metrics.play.calls import Clocks, Filing
from metrics.records import Problem, Seat
from metrics.store.stamps import stamp
from tests.play.house import House, request
from tests.provider import error, text

ASKED = [{"role": "user", "content": "hello there"}]


class PacedTest(House):
    def setUp(self):
        super().setUp()
        self.slept = 0.0
        self.clocks = Clocks(lambda: time.monotonic() + self.slept, self.now, self.sleep)

    def now(self):
        return time.time() + self.slept

    def sleep(self, seconds):
        self.slept += seconds

    def limit(self, name="fake", **limits):
        caps.save(name, limits, "test", stamp(self.now()))

    def place(self, alias="mm", deadline=30.0, quiet=None, patience=None):
        """(answer, events) of one call."""
        if alias not in roster.all():
            self.add(alias)
        seat = Seat("p20261129-142645-0a1b2c3d.member1", "member", roster.target(alias))
        play = calls.place(
            seat,
            Conversation(ASKED),
            {},
            Filing("panel", collection="core"),
            deadline=deadline,
            hangup=Hangup(),
            clocks=self.clocks,
            quiet=quiet,
            patience=patience,
        )
        events = []
        while True:
            try:
                events.append(next(play))
            except StopIteration as end:
                return end.value, events

    def row(self):
        return ledger.recent(1)[0][0]

    def test_a_wait_that_fits_is_waited_for(self):
        self.provider.script("mm", text("one"))
        self.limit(rpm=1)
        self.assertEqual(self.place()[0].status, "ok")
        answer, events = self.place(deadline=90.0, quiet=1.0)
        self.assertEqual((answer.status, answer.attempts), ("ok", 1))
        self.assertAlmostEqual(self.slept, 60.5, delta=0.7)
        self.assertGreater(sum(isinstance(event, Tick) for event in events), 50, "its caller hears of it")

    def test_one_that_does_not_is_refused_without_being_sent(self):
        self.provider.script("mm", text("one"))
        self.limit(rpm=1)
        self.place()
        answer, _ = self.place(deadline=30.0)
        self.assertEqual(
            (answer.status, answer.error, answer.http_status, answer.attempts), ("error", "paced", 429, 0)
        )
        self.assertAlmostEqual(answer.retry_after, 60, delta=1)
        self.assertIn("not sent, paced by the bench (1 request a minute)", answer.message)
        self.assertEqual(len(self.provider.of("mm")), 1)
        self.assertEqual(self.slept, 0.0, "at once")
        row = self.row()
        self.assertEqual(
            (row["status"], row["error"], row["attempts"], row["cost_status"]), ("error", "paced", 0, "none")
        )
        health = reliability.health("fake:mm", self.now())
        self.assertEqual((health.until, health.failing), (None, None), "it says nothing of the model")

    def test_who_is_less_patient_than_its_deadline(self):
        self.provider.script("mm", text("one"))
        self.limit(rpm=1)
        self.place()
        self.assertEqual(self.place(deadline=300.0, patience=5.0)[0].error, "paced")

    def test_a_providers_wait_is_kept_to_by_everybody(self):
        self.provider.script("mm", error(429, "slow", headers={"Retry-After": "45"}), text("ok"))
        self.assertEqual(self.place()[0].error, "rate_limited")
        answer, _ = self.place(deadline=300.0)
        self.assertEqual((answer.error, len(self.provider.of("mm"))), ("paced", 1))
        self.assertAlmostEqual(answer.retry_after, 45, delta=1)
        self.sleep(40.0)
        self.assertEqual(self.place(deadline=30.0)[0].status, "ok")
        self.assertAlmostEqual(self.slept, 45, delta=0.5)

    def test_after_a_providers_refusal_ours_adds_nothing(self):
        self.provider.script("mm", error(429, "slow", headers={"Retry-After": "2"}), text("ok"))
        self.limit(rpm=1)
        answer, _ = self.place(deadline=30.0)
        self.assertEqual((answer.error, answer.attempts), ("rate_limited", 1))

    def test_headers_of_an_answer_are_limits(self):
        headers = {"x-ratelimit-limit-requests": "9", "x-ratelimit-remaining-requests": "0"}
        headers["x-ratelimit-reset-requests"] = "70"
        self.provider.script("mm", text("one", headers=headers))
        self.assertEqual(self.place()[0].status, "ok")
        answer, _ = self.place()
        self.assertEqual(answer.error, "paced")
        self.assertAlmostEqual(answer.retry_after, 70, delta=1)

    def test_no_credit_is_not_asked_again_at_once(self):
        self.provider.script("mm", error(402, "Insufficient credits"))
        self.assertEqual(self.place()[0].error, "payment")
        answer, _ = self.place(deadline=3600.0)
        self.assertEqual((answer.error, self.slept, len(self.provider.of("mm"))), ("paced", 0.0, 1))

    def test_route_mode_goes_on_to_the_next_member_at_once(self):
        for alias in ("aa", "bb"):
            self.provider.script(alias, text(f"I am {alias}"))
        self.seat("core", "aa", "bb")
        self.limit("aa", rpd=1)
        self.limit("bb", rpd=9)
        said = [self.turn(seed) for seed in range(6)]
        self.assertEqual(len(self.provider.of("aa")), 1)
        over = [one for one in said if one.get("failed_over")]
        self.assertTrue(over)
        for one in over:
            self.assertEqual((one["alias"], one["failed_over"][0]["error"]), ("bb", "paced"))
        self.assertLess(self.slept, 1.0)

    def test_when_nobody_has_room_the_caller_hears_when_somebody_has(self):
        for alias, limits in (("aa", {"rpd": 1}), ("bb", {"rph": 1})):
            self.provider.script(alias, text("fine"))
            self.seat("core", *(["aa"] if alias == "aa" else ["aa", "bb"]))
            self.limit(alias, **limits)
        for seed in range(2):
            self.turn(seed)
        with self.assertRaises(Problem) as caught:
            self.turn(9)
        self.assertEqual(caught.exception.status, 429)
        self.assertAlmostEqual(caught.exception.retry_after, 3600, delta=5)

    def turn(self, seed):
        """The `bench` object of a new conversation's turn."""
        turn = routing.begin(request(reply="route", text=f"task {seed}"), self.now(), f"{seed:08x}", seed)
        return gather(routing.play(turn, clocks=self.clocks)).extra["bench"]

    def test_a_routed_requests_size_is_estimated_once(self):
        self.provider.script("mm", text("one"))
        self.add("mm", context=100_000)
        self.seat("core", "mm")
        self.limit(tpm=100_000)
        asked = request(reply="route", messages=ASKED)
        with mock.patch.object(tokens, "measured", side_effect=tokens.measured) as measured:
            turn = routing.begin(asked, self.now(), "0a1b2c3d", 7)
            self.assertEqual(gather(routing.play(turn, clocks=self.clocks)).text, "one")
        measured.assert_called_once()


if __name__ == "__main__":
    unittest.main()
