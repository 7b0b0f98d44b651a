import json

from metrics.events import Chunk, Closed, Text, ToolStart, gather
from metrics.evidence import offloads
from metrics.play import routing
from metrics.records import Problem
from tests.play.house import NOW, House, request
from tests.provider import chunk, error, stream, text

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


class RoutingTest(House):
    def choose(self, **asked):
        return routing.choose(request(reply="route", **asked), NOW, "0a1b2c3d")

    def refused(self, **asked):
        with self.assertRaises(Problem) as caught:
            self.choose(**asked)
        return caught.exception

    def test_the_first_that_can(self):
        self.add("no-tools", tools=False)
        self.add("unknown")
        self.add("able", tools=True)
        self.seat("core", "no-tools", "unknown", "able")
        self.assertEqual(self.choose().seat.target.alias, "no-tools")
        turn = self.choose(tools=TOOLS)
        self.assertEqual(turn.seat.target.alias, "able")
        self.assertEqual([skip.alias for skip in turn.skipped], ["no-tools", "unknown"])
        self.assertRegex(turn.seat.call, r"^r\d{8}-\d{6}-0a1b2c3d\.1$")

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
        self.assertEqual(offloads.find(turn.seat.call)["status"], "ok")

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
        events = list(routing.play(self.choose(format="ollama")))
        self.assertEqual(sum(isinstance(event, Closed) for event in events), 1)
        self.assertIsInstance(events[-1], Closed)
        self.assertEqual("".join(event.text for event in events if isinstance(event, Text)), "ab")

    def test_chat_gets_the_chunks_of_chat_as_they_came(self):
        said = chunk({"content": "a", "mood": "good"}, logprobs=None)
        self.provider.script("mm", stream(said, chunk({}, "stop")))
        self.seat("core", "mm")
        events = list(routing.play(self.choose()))
        self.assertEqual([type(event) for event in events], [Chunk, Chunk, Closed])
        self.assertEqual(json.loads(events[0].raw), said)
