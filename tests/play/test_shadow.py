import json
from dataclasses import replace
from unittest import mock

from metrics.bench import collections, roster
from metrics.client.chat import Conversation
from metrics.events import gather
from metrics.evidence import reliability, shadows
from metrics.limits import ledger
from metrics.play import routing, shadow
from metrics.records import Answer, Seat, Target
from metrics.store import disk
from tests.play.house import NOW, House, request
from tests.provider import body, chunk, error, stream, text

CONVERSATION = "r20261129-142645-0a1b2c3d"
TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
READ = (("read", '{"path": "a"}'),)


def calling(*made):
    """A provider's answer that makes these (name, arguments) calls."""
    calls = [
        {"index": at, "id": f"c{at}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for at, (name, arguments) in enumerate(made)
    ]
    return stream(chunk({"tool_calls": calls}), chunk({}, "tool_calls"))


class Consider(House):
    def setUp(self):
        super().setUp()
        self.add("aa", "bb", tools=True)
        self.seat("core", "aa", "bb", shadow=1.0)
        self.work = []
        self.enterContext(mock.patch.object(shadow.crew, "go", self.work.append))
        self.addCleanup(shadow._playing.clear)

    def consider(self, turn=1, chances=(0.0, 0.0), load=False, **facts):
        """Whether a shadow was sent for a turn that "aa" answered."""
        seat = Seat(f"{CONVERSATION}.1", "member", roster.target("aa"))
        answer = replace(Answer(seat, "ok", calls=READ), **facts)
        draws = iter(chances)
        asked = request(reply="route", tools=TOOLS)
        return shadow.consider(
            asked,
            answer,
            CONVERSATION,
            Conversation(asked.messages),
            {"tools": TOOLS},
            turn=turn,
            now=NOW,
            chance=lambda: next(draws),
            load=lambda: load,
        )

    def play(self):
        while self.work:
            self.work.pop()()

    def test_another_member_answers_and_is_compared(self):
        self.provider.script("bb", calling(("read", '{"path": "b"}')))
        self.assertTrue(self.consider())
        self.assertEqual((self.provider.requests, shadow.playing()), ([], 1))  # it has only been sent for
        self.play()
        self.assertEqual(shadow.playing(), 0)
        sent = self.provider.requests[-1].json
        self.assertEqual((sent["model"], sent["tools"]), ("bb", TOOLS))
        row = shadows.of(CONVERSATION, 1)
        told = {name: row[name] for name in ("model", "shadow", "status", "agreement", "differs", "tools")}
        self.assertEqual(
            told,
            {
                "model": "aa",
                "shadow": "bb",
                "status": "ok",
                "agreement": "arguments",
                "differs": ["read.path"],
                "tools": ["read"],
            },
        )
        self.assertNotIn("hello", json.dumps(row))
        call = ledger.recent(1)[0][0]
        self.assertEqual(
            (call["purpose"], call["call"], call["conversation"], call["collection"]),
            ("shadow", f"{CONVERSATION}.shadow1", CONVERSATION, "core"),
        )

    def test_how_often(self):
        cases = [(0.0, 0.0, False), (0.25, 0.24, True), (0.25, 0.25, False), (1.0, 0.999, True)]
        for rate, drawn, sent in cases:
            with self.subTest(rate=rate, drawn=drawn):
                collections.save("core", {"shadow": rate}, "test")
                self.assertEqual(self.consider(chances=(drawn, 0.0)), sent)
                shadow._playing.clear()

    def test_who(self):
        self.add("cc", "dd", tools=True)
        self.add("ee")
        collections.save("core", {"members": ["aa", "bb", "cc", "dd", "ee"]}, "test")
        reliability.note("fake:cc", "error", NOW - 1, "rate_limited", 60.0)
        for drawn, who in ((0.0, "bb"), (0.49, "bb"), (0.5, "dd"), (0.999, "dd")):
            with self.subTest(drawn):
                self.provider.script(who, text("words"))
                self.assertTrue(self.consider(chances=(0.0, drawn)))
                self.play()
                self.assertEqual(self.provider.requests[-1].json["model"], who)

    def test_nobody_else(self):
        collections.save("core", {"members": ["aa"]}, "test")
        self.assertTrue(self.consider())
        self.play()
        self.assertEqual((shadow.playing(), shadows.placed("core", "2026-11-30")), (0, 0))

    def test_not_now(self):
        cases = [("a busy machine", {"load": True}), ("no answer", {"status": "error"})]
        for name, facts in cases:
            with self.subTest(name):
                self.assertFalse(self.consider(**facts))
        collections.remove("core", "test")
        self.assertFalse(self.consider())
        self.assertEqual((self.work, shadow.playing()), ([], 0))

    def test_so_many_at_once(self):
        sent = [self.consider(turn) for turn in range(shadow.AT_ONCE + 1)]
        self.assertEqual(sent, [True] * shadow.AT_ONCE + [False])

    def test_so_many_a_day(self):
        collections.save("core", {"shadow_daily": 2}, "test")
        self.provider.script("bb", text("words"), text("words"))
        self.assertTrue(self.consider(1))
        self.assertTrue(self.consider(2))
        self.play()
        self.assertFalse(self.consider(3))
        collections.save("core", {"shadow_daily": 1}, "test")
        with mock.patch.object(shadows, "placed", return_value=0):
            self.assertEqual([self.consider(4), self.consider(5)], [True, False])  # one is still at work

    def test_a_failed_shadow_is_recorded_and_nothing_else(self):
        self.provider.script("bb", *[error(400, "no")] * 3)
        self.assertTrue(self.consider())
        self.play()
        row = shadows.of(CONVERSATION, 1)
        self.assertEqual((row["agreement"], row["error"], shadow.playing()), ("failed", "bad_request", 0))

    def test_a_disk_that_refuses_is_nobodys_trouble(self):
        refused = disk.Problem(507, "no space")
        with mock.patch.object(shadows, "placed", side_effect=refused):
            self.assertFalse(self.consider())
        self.provider.script("bb", text("words"))
        self.assertTrue(self.consider())
        with mock.patch.object(shadows, "record", side_effect=refused):
            self.play()
        self.assertEqual(shadow.playing(), 0)

    def test_an_answer_that_is_no_answer(self):
        self.provider.script("bb", body(b"\xff\xfe nonsense"))
        self.assertTrue(self.consider())
        self.play()
        self.assertEqual(shadows.of(CONVERSATION, 1)["agreement"], "failed")


class InRouteMode(House):
    def test_a_turn_has_its_shadow_and_its_caller_hears_nothing_of_it(self):
        self.add("aa", "bb", tools=True)
        self.seat("core", "aa", "bb", shadow=1.0)
        for name in ("aa", "bb"):
            self.provider.script(name, calling(("read", '{"path": "a"}')), calling(("read", '{"path": "b"}')))
        work = []
        quiet = mock.patch.object(shadow.os, "getloadavg", return_value=(0.0, 0.0, 0.0), create=True)
        self.addCleanup(shadow._playing.clear)
        said = [{"role": role, "content": "words"} for role in ("user", "assistant", "user")]
        for number in (1, 2):
            with quiet, mock.patch.object(shadow.crew, "go", work.append):
                asked = request(reply="route", tools=TOOLS, messages=said[: 2 * number - 1])
                turn = routing.begin(asked, NOW, "0a1b2c3d", 1)
                reply = gather(routing.play(turn))
            self.assertNotIn("shadow", json.dumps(reply.extra))
            self.assertEqual(len(self.provider.requests), 2 * number - 1)
            work.pop()()
            row = shadows.of(turn.place.conversation, turn.place.turn)
            self.assertEqual((row["agreement"], row["turn"], row["status"]), ("same", number, "ok"))
            self.assertEqual({row["model"], row["shadow"]}, {"aa", "bb"})
        purposes = [row["purpose"] for row in ledger.recent(9)[0]]
        self.assertEqual(purposes, ["shadow", "route"] * 2)


class Compare(House):
    def test_compare(self):
        two = (("list", "{}"), ("read", '{"path": "a", "lines": 3}'))
        deep = (("read", '{"at": {"x": [1, 2]}}'),)
        cases = [
            ("the same", READ, READ, "same", ()),
            ("the same, written otherwise", READ, (("read", '{ "path" : "a" }'),), "same", ()),
            ("in another order", two, two[::-1], "same", ()),
            ("no arguments", (("list", ""),), (("list", "{}"),), "same", ()),
            ("other arguments", READ, (("read", '{"path": "b"}'),), "arguments", ("read.path",)),
            ("one more", READ, (("read", '{"path": "a", "n": 1}'),), "arguments", ("read.n",)),
            ("inside", deep, (("read", '{"at": {"x": [2, 1]}}'),), "arguments", ("read.at",)),
            ("half an argument", READ, (("read", '{"path": "a'),), "arguments", ("read.*",)),
            ("another tool", READ, (("list", "{}"),), "tools", ()),
            ("one call more", READ, (*READ, *READ), "tools", ()),
            ("words instead", READ, (), "kind", ()),
            ("a call instead", (), READ, "kind", ()),
            ("both words", (), (), "same", ()),
        ]
        seat = Seat("c", "member", Target("aa", "x:aa", "x", "x", "aa", "http://127.0.0.1/v1"))
        for name, ours, theirs, agreement, differs in cases:
            with self.subTest(name):
                told = shadow.compare(Answer(seat, "ok", calls=ours), Answer(seat, "ok", calls=theirs))
                self.assertEqual(told, (agreement, differs))
        for status, agreement in (("refused", "kind"), ("error", "failed"), ("empty", "failed")):
            with self.subTest(status):
                self.assertEqual(
                    shadow.compare(Answer(seat, "ok", "words"), Answer(seat, status))[0], agreement
                )
        many = tuple(("t", json.dumps({f"a{n}": n})) for n in range(30))
        changed = tuple(("t", json.dumps({f"a{n}": n + 1})) for n in range(30))
        differs = shadow.compare(Answer(seat, "ok", calls=many), Answer(seat, "ok", calls=changed))[1]
        self.assertEqual(len(differs), shadow.MOST_NAMED)
