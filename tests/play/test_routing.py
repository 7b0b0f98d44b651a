import contextlib
import itertools
import json
from contextlib import closing
from unittest import mock

from metrics.events import Chunk, Closed, Text, Tick, ToolStart, gather, singly
from metrics.evidence import offloads, routes
from metrics.limits import ledger
from metrics.play import attempt, routing
from metrics.play.calls import Clocks
from metrics.records import Problem
from tests.play.house import NOW, House, request
from tests.provider import CUT, chunk, error, garbage, hang, reset, stream, text

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
LIMITED = error(429, "slow", headers={"Retry-After": "99"})
CONTEXT = error(400, "maximum context length is 5 tokens", code="context_length_exceeded")


class Routes(House):
    """Turns of a collection whose members nobody knows anything of: the seed alone says who is first."""

    def choose(self, seed=0, token="0a1b2c3d", at=NOW, **asked):
        return routing.begin(request(reply="route", **asked), at, token, seed)

    def first(self, *members, **asked):
        """A turn in which `members` stand in this order."""
        for seed in range(200):
            turn = self.choose(seed, **asked)
            if tuple(one.alias for one in turn.ranking.members[: len(members)]) == members:
                return turn
        raise AssertionError("no seed gives that order")

    def refused(self, **asked):
        with self.assertRaises(Problem) as caught:
            self.choose(**asked)
        return caught.exception

    def rows(self):
        """The ledger's rows, oldest first."""
        return list(reversed(ledger.LOG.recent(50)[0]))


class RoutingTest(Routes):
    def test_the_first_that_can(self):
        self.add("no-tools", tools=False)
        self.add("unknown")
        self.add("able", tools=True)
        self.seat("core", "no-tools", "unknown", "able")
        self.assertEqual(len(self.choose().ranking.members), 3)
        turn = self.choose(tools=TOOLS)
        self.assertEqual([one.alias for one in turn.ranking.members], ["able"])
        self.assertEqual([skip.alias for skip in turn.ranking.skipped], ["no-tools", "unknown"])
        self.assertRegex(turn.place.conversation, r"^r\d{8}-\d{6}-0a1b2c3d$")

    def test_nobody_can(self):
        self.add("small", context=10)
        self.seat("core", "small")
        self.assertEqual(self.refused(text="x" * 400).status, 413)
        problem = self.refused(tools=TOOLS)
        self.assertEqual(problem.status, 400)
        self.assertIn("tools", problem.message)

    def test_the_request_goes_on_as_it_was_sent(self):
        self.provider.script("mm", text("hello"))
        self.add("mm", tools=True)
        self.seat("core", "mm")
        turn = self.choose(tools=TOOLS, passed={"tool_choice": "auto", "n": 1}, options={"temperature": 0.5})
        reply = gather(routing.play(turn))
        sent = self.provider.of("mm")[-1].json
        self.assertEqual((sent["tools"], sent["tool_choice"], sent["temperature"]), (TOOLS, "auto", 0.5))
        self.assertEqual((reply.text, reply.usage.prompt), ("hello", 11))
        self.assertEqual(reply.extra["bench"]["alias"], "mm")
        self.assertEqual(offloads.find(f"{turn.place.conversation}.1")["status"], "ok")

    def test_tool_calls_come_through(self):
        call = {
            "index": 0,
            "id": "c1",
            "type": "function",
            "function": {"name": "look", "arguments": '{"a":1}'},
        }
        self.provider.script("mm", stream(chunk({"tool_calls": [call]}), chunk({}, "tool_calls")))
        self.add("mm", tools=True)
        self.seat("core", "mm")
        events = list(routing.play(self.choose(tools=TOOLS, format="anthropic")))
        self.assertTrue(any(isinstance(event, ToolStart) for event in events))
        self.assertEqual(events[-1].finish, "tool_calls")

    FAILURES = [
        ("refused", error(400, "no such thing"), 400),
        ("limited", error(429, "slow", headers={"Retry-After": "99"}), 429),
        ("empty", text(""), 502),
    ]

    def test_a_failure_keeps_its_status(self):
        for name, answer, status in self.FAILURES:
            with self.subTest(name):
                self.setUp()
                self.provider.script("mm", answer)
                self.seat("core", "mm")
                with self.assertRaises(Problem) as caught:
                    list(routing.play(self.choose()))
                self.assertEqual(caught.exception.status, status)
                self.doCleanups()

    def test_closed_comes_last_and_once(self):
        self.provider.script("mm", text("a", "b"))
        self.seat("core", "mm")
        events = list(singly(routing.play(self.choose(format="ollama"))))
        self.assertEqual(sum(isinstance(event, Closed) for event in events), 1)
        self.assertIsInstance(events[-1], Closed)
        self.assertEqual("".join(event.text for event in events if isinstance(event, Text)), "ab")

    def test_chat_gets_the_chunks_of_chat_as_they_came(self):
        said = chunk({"content": "aa", "mood": "good"}, logprobs=None)
        self.provider.script("mm", stream(said, chunk({}, "stop")))
        self.seat("core", "mm")
        events = list(routing.play(self.choose(stream=True)))
        self.assertEqual([type(event) for event in events], [Chunk, Chunk, Closed])
        self.assertEqual(json.loads(events[0].raw), said)


class FailoverTest(Routes):
    """Nothing has left yet: whatever goes wrong, the next member answers and the caller never knows."""

    BEFORE = [
        ("limited", LIMITED, "rate_limited"),
        ("broken", error(500, "boom"), "upstream"),
        ("busy", error(503, "busy"), "overloaded"),
        ("overloaded", error(529, "overloaded", type="overloaded_error"), "overloaded"),
        ("late", error(408, "timeout"), "timeout"),
        ("a bad key", error(401, "bad key"), "auth"),
        ("no credit", error(402, "no credits"), "payment"),
        ("gone", error(404, "no such model"), "not_found"),
        (
            "a schema that only this one refuses",
            error(400, "invalid schema for function look"),
            "bad_request",
        ),
        ("too long for this one", CONTEXT, "context"),
        ("reset", reset(), "unreachable"),
        ("garbage", garbage(), "garbage"),
        ("nothing", text(""), "empty"),
        ("only thoughts", stream(chunk({"reasoning_content": "hm"}), chunk({}, "stop")), "empty"),
        ("an error in a 200", stream({"error": {"message": "no", "code": 503}}), "overloaded"),
        ("cut before a word", stream(chunk({"role": "assistant"}), CUT, done=False), "cut"),
        ("a page", garbage(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>"), "garbage"),
    ]

    def test_the_next_member_answers(self):
        for number, (name, answer, kind) in enumerate(self.BEFORE):
            for streamed in (False, True):
                with self.subTest(name, streamed=streamed):
                    bad, good = f"bad{number}{streamed}", f"good{number}{streamed}"
                    self.provider.script(bad, answer)
                    self.provider.script(good, text("fine"))
                    self.seat("core", bad, good)
                    turn = self.first(bad, good, stream=streamed)
                    reply = gather(routing.play(turn))
                    self.assertEqual(reply.text, "fine")
                    told = reply.extra["bench"]
                    self.assertEqual((told["alias"], told["call"][-2:]), (good, ".2"))
                    self.assertEqual(
                        [(one["alias"], one["error"]) for one in told["failed_over"]], [(bad, kind)]
                    )
                    # A kept connection that ends without a word says nothing of its member.
                    asked = 2 if name == "reset" else 1
                    self.assertEqual(len(self.provider.of(bad)), asked, "it is not asked again")
                    self.assertEqual([row["status"] == "ok" for row in self.rows()[-2:]], [False, True])

    def test_an_unstreamed_turn_is_whole_or_somebody_elses(self):
        """Half an answer was read and nothing has left: fault 16 of an earlier implementation."""
        self.provider.script("bad", stream(chunk({"content": "half"}), CUT, done=False))
        self.provider.script("good", text("fine"))
        self.seat("core", "bad", "good")
        self.assertEqual(gather(routing.play(self.first("bad", "good"))).text, "fine")

    def test_what_was_said_stays_said(self):
        self.provider.script("bad", stream(chunk({"content": "half"}), CUT, done=False))
        self.provider.script("good", text("fine"))
        self.seat("core", "bad", "good")
        turn = self.first("bad", "good", stream=True, format="anthropic")
        said = []
        with self.assertRaises(Problem) as caught:
            said.extend(routing.play(turn))
        self.assertEqual(caught.exception.kind, "cut")
        self.assertIn("server error; send it again", caught.exception.message)
        self.assertEqual(self.provider.of("good"), [])
        self.assertEqual(routes.turns(turn.place.conversation)[0]["status"], "cut")

    def test_three_members_are_asked_and_no_more(self):
        for alias in ("aa", "bb", "cc", "dd"):
            self.provider.script(alias, error(401, "bad key"))
        self.seat("core", "aa", "bb", "cc", "dd")
        with self.assertRaises(Problem):
            gather(routing.play(self.choose()))
        self.assertEqual(len(self.provider.requests), routing.MOST)

    TOGETHER = [
        ("all limited", [LIMITED, error(429, "bb", headers={"Retry-After": "55"})], 429, 55),
        ("no credit anywhere", [error(402, "no credits"), error(402, "no credits")], 402, None),
        ("the same refusal", [error(400, "bad"), error(400, "bad")], 400, None),
        ("mixed", [LIMITED, error(400, "bad")], 502, None),
        ("too long for all", [CONTEXT, CONTEXT], 400, None),
        ("one member", [error(422, "bad field")], 422, None),
    ]

    def test_the_error_describes_the_set(self):
        for number, (name, answers, status, wait) in enumerate(self.TOGETHER):
            with self.subTest(name):
                aliases = [f"t{number}-{at}" for at in range(len(answers))]
                for alias, answer in zip(aliases, answers, strict=True):
                    self.provider.script(alias, answer)
                self.seat("core", *aliases)
                with self.assertRaises(Problem) as caught:
                    gather(routing.play(self.choose()))
                self.assertEqual((caught.exception.status, caught.exception.retry_after), (status, wait))
                for alias in aliases:
                    self.assertIn(alias, caught.exception.message)
                if answers[0] is CONTEXT:
                    self.assertEqual(caught.exception.code, "context_length_exceeded")
                    self.assertIn("maximum context length", caught.exception.message)

    def test_a_refusal_is_nobody_elses_affair(self):
        self.provider.script("aa", error(400, "no", code="content_policy_violation"))
        self.seat("core", "aa", "bb")
        with self.assertRaises(Problem) as caught:
            gather(routing.play(self.first("aa", "bb")))
        self.assertEqual(caught.exception.status, 400)
        self.assertEqual(self.provider.of("bb"), [])

    def test_a_member_that_rests_is_never_first(self):
        self.provider.script("aa", LIMITED)
        self.seat("core", "aa", "bb")
        gather(routing.play(self.first("aa", "bb"), clocks=Clocks(now=lambda: NOW)))
        for seed in range(50):
            self.assertEqual(self.choose(seed).ranking.members[0].alias, "bb")


class StickyTest(Routes):
    LATER = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "hi"},
        {"role": "user", "content": "and now?"},
    ]

    def aliases(self, turns, **asked):
        """Who answers each of these turns."""
        return [
            gather(routing.play(self.choose(seed, **asked))).extra["bench"]["alias"] for seed in range(turns)
        ]

    def test_a_conversation_stays_with_its_member(self):
        self.seat("core", "aa", "bb", "cc")
        turn = self.choose()
        first = gather(routing.play(turn)).extra["bench"]
        self.assertEqual(set(self.aliases(20, messages=self.LATER)), {first["alias"]})
        row = routes.turns(turn.place.conversation)[0]
        self.assertEqual((row["turn"], row["how"], row["call"]), (21, "sticky", first["call"]))
        self.assertEqual(offloads.find(first["call"])["model"], first["alias"])
        self.assertEqual(len(offloads.recent(50)[0]), 1, "one offload a conversation and model")

    def test_after_failing_over_it_stays_with_the_one_that_answered(self):
        self.provider.script("aa", error(500, "boom"), text("better now"))
        self.seat("core", "aa", "bb")
        gather(routing.play(self.first("aa", "bb")))
        self.assertEqual(self.aliases(3, messages=self.LATER), ["bb"] * 3)

    def test_who_asks_again_after_half_an_answer_gets_another_member(self):
        """An agent sends a turn that broke off once more. Whatever member broke off would do so again."""
        half = stream(chunk({"content": "half"}), CUT, done=False)
        for number, again in enumerate((self.LATER, self.LATER[:1])):  # in mid-conversation, and at its start
            for seed in range(20):
                bad, good = f"bad{number}-{seed}", f"good{number}-{seed}"
                self.provider.script(bad, half)
                self.provider.script(good, text("fine"))
                self.seat("core", bad, good)
                messages = [{"role": "user", "content": f"task {bad}"}, *again[1:]]
                with self.subTest(bad), self.assertRaises(Problem):
                    list(routing.play(self.first(bad, good, stream=True, messages=messages)))
                turns = [self.choose(seed, stream=True, messages=messages) for _ in "ab"]
                self.assertEqual(turns[0].ranking.members[0].alias, good)
                self.assertEqual(gather(routing.play(turns[0])).extra["bench"]["alias"], good)
        later = self.choose(messages=[*messages, *self.LATER[1:]])
        self.assertEqual((later.how, later.ranking.members[0].alias), ("sticky", good))

    def test_it_leaves_a_member_that_rests_or_cannot(self):
        self.add("aa", tools=True)
        self.add("bb", tools=True)
        self.seat("core", "aa", "bb")
        gather(routing.play(self.first("aa", "bb", session="s")))
        self.add("cc", tools=True)
        self.seat("core", "bb", "cc")
        self.assertNotIn("aa", self.aliases(3, session="s", tools=TOOLS))

    def test_a_session_holds_whatever_is_said(self):
        self.seat("core", "aa", "bb", "cc")
        said = [
            gather(routing.play(self.choose(seed, text=f"task {seed}", session="s"))).extra["bench"]
            for seed in range(20)
        ]
        self.assertEqual(len({one["alias"] for one in said}), 1)
        self.assertEqual([one["turn"] for one in said], list(range(1, 21)))

    def test_two_keys_never_share_one(self):
        self.seat("core", "aa", "bb")
        ids = {self.choose(key=key, session="s", token=key * 8).place.conversation for key in "ab"}
        self.assertEqual(len(ids), 2)

    def test_the_same_first_words_are_another_conversation(self):
        """Ten unrelated tasks that begin alike are no conversation of ten turns (fault 30)."""
        self.seat("core", "aa")
        turns = [self.choose(token=f"0000000{at}") for at in range(3)]
        self.assertEqual(len({turn.place.conversation for turn in turns}), 3)
        self.assertEqual({turn.place.turn for turn in turns}, {1})


class PatienceTest(Routes):
    """Time is the test's own: each look at the clock is `step` seconds later."""

    def clocks(self, step):
        ticking = itertools.count()
        return Clocks(monotonic=lambda: next(ticking) * step, now=lambda: NOW, sleep=lambda _: None)

    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(attempt, "LOOK", 0.01))

    def test_ninety_seconds_of_nothing_are_enough(self):
        self.provider.script("mute", hang())
        self.provider.script("good", text("fine"))
        self.seat("core", "mute", "good")
        turn = self.first("mute", "good", stream=True)
        events = list(routing.play(turn, clocks=self.clocks(20.0)))
        self.assertGreaterEqual(sum(isinstance(event, Tick) for event in events), 1, "its caller hears of it")
        told = events[-1].extra["bench"]
        self.assertEqual((told["alias"], told["failed_over"][0]["error"]), ("good", "timeout"))
        self.assertEqual(self.rows()[-2]["status"], "timeout")

    def test_a_caller_who_left_ends_the_call(self):
        for streamed in (False, True):
            with self.subTest(streamed=streamed):
                alias = f"mute{streamed}"
                self.provider.script(alias, hang())
                self.seat("core", alias)
                turn = self.choose(stream=streamed)
                with self.assertRaises(Problem) as caught:
                    list(routing.play(turn, gone=lambda: True))
                self.assertEqual(caught.exception.status, 499)
                self.assertEqual(self.rows()[-1]["error"], "caller_left")
                self.assertEqual(routes.turns(turn.place.conversation)[0]["error"], "caller_left")

    def test_a_caller_who_leaves_between_words_pays_for_them(self):
        self.provider.script("mm", text("a long", " answer"))
        self.seat("core", "mm")
        turn = self.choose(stream=True, format="ollama")
        with closing(routing.play(turn)) as events:
            while not isinstance(next(events), Text):
                pass
        self.assertEqual(routes.turns(turn.place.conversation)[0]["error"], "caller_left")
        row = self.rows()[-1]
        self.assertEqual((row["error"], row["estimated"]), ("caller_left", True))
        self.assertGreater(row["out"], 0)


class WholeTest(Routes):
    def test_who_is_asked_for_the_whole_at_once(self):
        """Only of a stream can silence be told from work, or a broken member from a slow one."""
        for name, members, answers, streamed in [
            ("nobody knows it", ["aa"], [text("a")], [True]),
            ("it answered before", ["bb"], [text("a"), text("b")], [True, None]),
            ("it broke in between", ["cc"], [text("a"), error(401, "key"), text("c")], [True, None, True]),
            ("another could take over", ["dd", "ee"], [text("a"), text("b")], [True, True]),
        ]:
            with self.subTest(name):
                self.seat("core", *members)
                self.provider.script(members[0], *answers)
                for _ in answers:
                    with contextlib.suppress(Problem):
                        gather(routing.play(self.first(*members)))
                asked = [one.json.get("stream") for one in self.provider.of(members[0])]
                self.assertEqual(asked, streamed)

    def test_a_model_that_only_streams_is_asked_again(self):
        self.seat("core", "aa")
        only = error(400, "This model only supports stream mode, please enable the stream parameter")
        self.provider.script("aa", text("a"), only, text("fine"))
        gather(routing.play(self.choose()))
        self.assertEqual(gather(routing.play(self.choose())).text, "fine")
        self.assertEqual([asked.json.get("stream") for asked in self.provider.of("aa")], [True, None, True])
