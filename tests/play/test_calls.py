import json
import threading
import time
from dataclasses import replace
from itertools import product

from metrics.client.chat import Conversation
from metrics.client.transport import Hangup
from metrics.events import Chunk, Closed, Opened, Text, singly
from metrics.limits import ledger, underway
from metrics.play import calls
from metrics.play.calls import Clocks, Filing
from metrics.records import Price, Seat
from metrics.store import home
from tests.play.house import House
from tests.provider import CUT, body, chunk, completion, error, garbage, gated, hang, reset, stream, text

ASKED = [{"role": "user", "content": "hello there"}]


class CallsTest(House):
    def setUp(self):
        super().setUp()
        self.pauses = []
        self.clocks = Clocks(
            monotonic=lambda: time.monotonic() + sum(self.pauses),
            now=lambda: time.time() + sum(self.pauses),
            sleep=self.pauses.append,
        )

    def place(self, *answers, deadline=30.0, options=None, hangup=None, relay=False, **facts):
        """(answer, events, ledger row) of one call to a member that answers so."""
        from metrics.bench import roster

        self.provider.script("mm", *answers)
        self.add("mm", **facts)
        seat = Seat("p20261129-142645-0a1b2c3d.member1", "member", roster.target("mm"))
        filing = Filing("panel", panel="p20261129-142645-0a1b2c3d", collection="core")
        play = calls.place(
            seat,
            Conversation(ASKED),
            options or {},
            filing,
            deadline=deadline,
            hangup=hangup or Hangup(),
            clocks=self.clocks,
            relay=relay,
        )
        events = []
        while True:
            try:
                events.append(next(play))
            except StopIteration as end:
                return end.value, events, self.row()

    def row(self):
        ledger.LOG.flush()
        lines = next((home.current() / "ledger").glob("*.jsonl")).read_text(encoding="utf-8").splitlines()
        return json.loads(lines[-1])

    def test_an_answer(self):
        answer, events, row = self.place(text("one ", "two"), price=Price(1.0, 2.0, 0.5, 1.0))
        self.assertEqual(
            (answer.status, answer.text, answer.finish, answer.attempts), ("ok", "one two", "stop", 1)
        )
        self.assertEqual([one.text for one in singly(events) if isinstance(one, Text)], ["one ", "two"])
        self.assertIsInstance(events[-1], Closed)
        self.assertEqual(answer.cost, (11 * 1 + 7 * 2) * 10**6)
        self.assertEqual((row["status"], row["uncached_in"], row["out"]), ("ok", 11, 7))
        self.assertEqual((row["cost_usd"], row["cost_status"]), (25e-6, "computed"))
        self.assertIsNotNone(answer.first_token_s)
        rates = {"input": 1.0, "output": 2.0, "cache_read": 0.5, "cache_write": 1.0}
        self.assertEqual((row["price"], row["price_source"]), (rates, "user"))
        self.assertEqual((len(row["price_version"]), row["request_id"]), (12, "cc-1"))

    def test_the_providers_own_figure_counts_where_the_user_said_nothing(self):
        spent = {"prompt_tokens": 11, "completion_tokens": 7, "cost": 0.125}
        for price, usd, source in ((None, 0.125, "provider"), (Price(1.0, 2.0), 25e-6, "user")):
            with self.subTest(source):
                self.setUp()
                _, _, row = self.place(text("said", usage=spent), price=price)
                self.assertEqual((row["cost_usd"], row["price_source"]), (usd, source))
                self.doCleanups()

    def test_a_call_is_under_way_until_it_has_its_row(self):
        seen = []

        def answer(request):
            seen.extend(tell() for tell in underway._underway.calls.values())
            return text("said")

        _, _, row = self.place(answer)
        self.assertEqual([(one["call"], one["error"]) for one in seen], [(row["call"], "interrupted")])
        self.assertEqual(
            (seen[0]["out"], seen[0]["cost_status"], seen[0]["seconds"]), (None, "unknown", None)
        )
        self.assertEqual(underway._underway.calls, {})

    def test_usage_that_is_missing_is_estimated_and_marked(self):
        answer, _, row = self.place(text("twelve chars", usage=None), price=Price(1.0, 1.0))
        self.assertEqual((answer.usage.estimated, answer.usage.out, row["estimated"]), (True, 3, True))

    def test_what_is_relayed_counts_too(self):
        for usage, out in ((None, 3), ({"prompt_tokens": 11, "completion_tokens": 7}, 7)):
            with self.subTest(usage):
                self.setUp()
                answer, events, row = self.place(text("twelve", " chars", usage=usage), relay=True)
                self.assertEqual(
                    [type(event) for event in singly(events)], [Opened, Chunk, Chunk, Chunk, Closed]
                )
                self.assertEqual((answer.status, answer.text, row["out"]), ("ok", "twelve chars", out))
                self.assertEqual(row["estimated"], usage is None)
                self.doCleanups()

    STATUSES = [
        ("empty", [text("")], "empty", "empty", 502),
        ("nothing at all", [stream(done=False)], "empty", "empty", 502),
        (
            "thought itself out of budget",
            [stream(chunk({"reasoning_content": "hm"}), chunk({}, "length"))],
            "empty",
            "out_of_budget",
            502,
        ),
        ("filtered", [text("", finish="content_filter")], "refused", "refused", 502),
        ("long, but an answer", [text("half", finish="length")], "ok", None, None),
        ("cut after it began", [stream(chunk({"content": "half"}), CUT)], "cut", "cut", 502),
        (
            "an error after it began",
            [stream(chunk({"content": "half"}), {"error": {"message": "boom"}})],
            "cut",
            None,
            None,
        ),
        ("bad key", [error(401, "no")], "error", "auth", 401),
        ("bad request", [error(400, "no such thing")], "error", "bad_request", 400),
        ("too long a prompt", [error(400, "maximum context length is 10 tokens")], "error", "context", None),
        ("garbage", [garbage()], "error", "garbage", 502),
        ("a web page", [body("<html>", headers={"Content-Type": "text/html"})], "error", "garbage", 502),
        ("not as a stream", [completion({"role": "assistant", "content": "whole"})], "ok", None, None),
        (
            "limited for long",
            [error(429, "slow", headers={"Retry-After": "99"})],
            "error",
            "rate_limited",
            429,
        ),
    ]

    def test_status_of_every_kind_of_end(self):
        for (name, answers, status, kind, http_status), relay in product(self.STATUSES, (False, True)):
            with self.subTest(name, relay=relay):
                self.setUp()
                answer, _, row = self.place(*answers, relay=relay)
                self.assertEqual((answer.status, row["status"]), (status, status), answer)
                if kind:
                    self.assertEqual((answer.error, row["error"]), (kind, kind))
                if http_status:
                    self.assertEqual(answer.http_status, http_status)
                self.doCleanups()

    AGAIN = [
        ("a stated second", [error(429, "slow", headers={"Retry-After": "1"}), text("ok")], "ok", 2, [1.0]),
        ("no word on when", [error(429, "slow"), error(429, "slow"), text("ok")], "ok", 3, [1.0, 2.0]),
        ("broken, then fine", [error(500, "x"), error(503, "x"), text("ok")], "ok", 3, None),
        ("broken for good", [error(500, "x")], "error", 3, None),
        ("too long to wait", [error(429, "slow", headers={"Retry-After": "11"}), text("ok")], "error", 1, []),
        ("a refusal is final", [error(400, "x"), text("ok")], "error", 1, []),
        ("a bad key is final", [error(401, "x"), text("ok")], "error", 1, []),
        ("not after it began", [stream(chunk({"content": "half"}), CUT), text("ok")], "cut", 1, []),
    ]

    def test_what_is_tried_again(self):
        for name, answers, status, attempts, pauses in self.AGAIN:
            with self.subTest(name):
                self.setUp()
                answer, _, row = self.place(*answers)
                self.assertEqual(
                    (answer.status, answer.attempts, row["attempts"]), (status, attempts, attempts)
                )
                self.assertEqual(len(self.provider.of("mm")), attempts)
                if pauses is not None:
                    self.assertEqual(sum(self.pauses), sum(pauses))
                self.doCleanups()

    def test_who_is_stopped_while_it_waits_ends_at_once(self):
        hangup = Hangup()

        def sleep(seconds):
            self.pauses.append(seconds)
            hangup.now(("stopped", "it was stopped"))

        self.clocks = replace(self.clocks, sleep=sleep)
        slow = error(429, "slow", headers={"Retry-After": "9"})
        answer, _, row = self.place(slow, text("ok"), hangup=hangup)
        self.assertEqual((answer.error, row["error"], len(self.provider.of("mm"))), ("stopped", "stopped", 1))
        self.assertLess(sum(self.pauses), 1.0)

    def test_a_parameter_that_is_refused_by_name_is_left_out(self):
        refusal = error(400, "Unsupported parameter: 'seed'", param="seed", code="unsupported_parameter")
        answer, _, _ = self.place(refusal, text("ok"), options={"seed": 1, "top_p": 0.5})
        self.assertEqual(answer.status, "ok")
        first, second = (request.json for request in self.provider.of("mm"))
        self.assertEqual((first.get("seed"), second.get("seed"), second.get("top_p")), (1, None, 0.5))

    def test_a_failure_that_costs_nothing_has_no_cost_and_is_not_unknown(self):
        for answer_of in (error(401, "x"), error(429, "x", headers={"Retry-After": "99"})):
            self.setUp()
            _, _, row = self.place(answer_of, price=Price(1.0, 1.0))
            self.assertEqual((row["cost_usd"], row["cost_status"], row["out"]), (None, "none", None))
            self.doCleanups()

    def test_time_runs_out(self):
        answer, _, row = self.place(hang(), deadline=0.2)
        self.assertEqual((answer.status, answer.http_status, row["status"]), ("timeout", 504, "timeout"))

    def test_a_connection_lost_before_the_answer_is_tried_again(self):
        answer, _, _ = self.place(reset(), text("ok"))
        self.assertEqual(answer.status, "ok")

    def test_the_calls_of_an_answer(self):
        one, two = (
            {"index": 0, "id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"pa'}},
            {"index": 1, "id": "c2", "type": "function", "function": {"name": "list", "arguments": ""}},
        )
        rest = {"index": 0, "function": {"arguments": 'th": "a"}'}}
        pieces = [chunk({"tool_calls": [piece]}) for piece in (one, two, rest)]
        for relay in (False, True):
            with self.subTest(relay=relay):
                self.setUp()
                answer, _, _ = self.place(stream(*pieces, chunk({}, "tool_calls")), relay=relay)
                self.assertEqual(answer.calls, (("read", '{"path": "a"}'), ("list", "{}")))
                self.doCleanups()

    def test_who_leaves_hangs_up_and_what_it_cost_is_recorded(self):
        from metrics.bench import roster

        gate = threading.Event()
        self.provider.script("mm", gated(["half", "rest"], [threading.Event(), gate]))
        self.provider.script(
            "mm", stream(chunk({"content": "half an answer"}), gate, chunk({"content": "rest"}))
        )
        self.add("mm")
        seat = Seat("r20261129-142645-0a1b2c3d.1", "member", roster.target("mm"))
        hangup = Hangup()
        play = calls.place(seat, Conversation(ASKED), {}, Filing("route"), deadline=30, hangup=hangup)
        while not isinstance(next(play), Text):
            pass
        play.close()
        gate.set()
        self.assertTrue(hangup.done)
        row = self.row()
        self.assertEqual(
            (row["status"], row["error"], row["estimated"], row["out"]), ("cut", "caller_left", True, 4)
        )
