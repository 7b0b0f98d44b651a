"""The dialect over the real transport, against the scripted provider: what a seat really meets."""

import threading
import unittest
from collections.abc import Iterator
from dataclasses import replace

from metrics.client import chat, quirks
from metrics.client.transport import Timeouts, Transport
from metrics.events import Closed, Event, Text, Tick, gather, singly
from metrics.records import Problem
from tests import provider as fake
from tests.client.arrivals import TARGET

PATIENT = Timeouts()


class Wire(unittest.TestCase):
    def setUp(self) -> None:
        self.provider = fake.Provider()
        self.provider.__enter__()
        self.addCleanup(self.provider.stop)
        self.transport = Transport()
        self.addCleanup(self.transport.close)
        self.target = replace(TARGET, base=self.provider.base)

    def ask(self, timeouts: Timeouts = PATIENT, **options: object) -> list[Event]:
        out = chat.compose(self.target, chat.Conversation([{"role": "user", "content": "hi"}]), options)
        with self.transport.open(out.method, out.url, out.headers, out.body, timeouts=timeouts) as arrival:
            return list(chat.read(arrival, self.target))

    def test_answers(self) -> None:
        hello = {"role": "assistant", "content": "hello"}
        for name, answer in [
            ("stream", fake.text("hel", "lo")),
            ("until the connection closes", fake.text("hel", "lo", framing="close")),
            ("gzip", fake.completion(hello, usage=fake.USAGE)),
            ("split", fake.text("hel", "lo", split=1)),
            ("gzip whole", replace(fake.completion(hello, usage=fake.USAGE), gzip=True)),
        ]:
            with self.subTest(name):
                self.provider.script("m", answer)
                reply = gather(self.ask())
                self.assertEqual((reply.text, reply.usage.prompt, reply.usage.out), ("hello", 11, 7))
        request = self.provider.requests[-1]
        self.assertEqual(request.json["messages"], [{"role": "user", "content": "hi"}])
        self.assertEqual(request.headers["content-type"], "application/json")

    def test_a_stream_gives_its_connection_back(self) -> None:
        for _ in range(3):
            self.ask()
        self.assertEqual(self.provider.connections, 1)

    def test_faults(self) -> None:
        hi = fake.chunk({"content": "hi"})
        cases: list[tuple[str, fake.Answer, tuple[int, str]]] = [
            ("rate limit", fake.error(429, "slow", {"Retry-After": "7"}), (429, "rate_limited")),
            ("gzipped refusal", replace(fake.error(400, "no"), gzip=True), (400, "bad_request")),
            (
                "refusal cut short",
                replace(fake.error(429, "slow"), steps=[b"{", fake.CUT], headers={"Content-Length": "9"}),
                (429, "rate_limited"),
            ),
            ("reset", fake.reset(), (502, "unreachable")),
            ("garbage", fake.garbage(), (502, "garbage")),
            ("cut", fake.stream(hi, fake.CUT), (502, "cut")),
            ("reset midway", fake.stream(hi, fake.RESET), (502, "cut")),
            ("closed midway", fake.stream(hi, done=False, framing="close"), (502, "cut")),
            ("empty", fake.stream(done=False), (502, "empty")),
            (
                "an error in the stream",
                fake.stream(hi, {"error": {"code": 503, "message": "x"}}),
                (503, "overloaded"),
            ),
            ("hangs", fake.hang(), (504, "timeout")),
            ("hangs midway", fake.stream(hi, fake.HANG), (504, "timeout")),
        ]
        for name, answer, expected in cases:
            with self.subTest(name):
                self.provider.script("m", answer)
                with self.assertRaises(Problem) as caught:
                    self.ask(Timeouts(first_byte=0.2, idle=0.2))
                self.assertEqual((caught.exception.status, caught.exception.kind), expected)

    def test_pieces_come_as_they_are_sent(self) -> None:
        gates = [threading.Event(), threading.Event()]
        self.provider.script("m", fake.gated(["a", "b"], gates))
        out = chat.compose(self.target, chat.Conversation([]), {})
        with self.transport.open(out.method, out.url, out.headers, out.body) as arrival:
            events = chat.read(arrival, self.target, tick=0.02)
            seen: list[Event] = []
            for letter, gate in zip("ab", gates, strict=True):
                self.assertTrue(any(isinstance(event, Tick) for event in [*seen, *_until(events, Tick)]))
                gate.set()
                seen = _until(events, Text)
                self.assertEqual(seen[-1], Text(letter))
            self.assertIsInstance(_until(events, Closed)[-1], Closed)

    def test_a_refused_field_is_learned(self) -> None:
        self.addCleanup(quirks.forget)
        refusal = fake.error(400, "Unsupported parameter: 'max_tokens'.", param="max_tokens")
        self.provider.script("m", refusal, fake.text("fine"))
        with self.assertRaises(Problem) as caught:
            self.ask(max_tokens=512)
        self.assertTrue(chat.learn(self.target, caught.exception))
        self.assertEqual(gather(self.ask(max_tokens=512)).text, "fine")
        last = self.provider.requests[-1].json
        self.assertEqual((last.get("max_tokens"), last["max_completion_tokens"]), (None, 512))

    def test_listing(self) -> None:
        self.assertEqual(chat.list_models(self.transport, self.provider.base, None, ""), [{"served": "m"}])


def _until(events: Iterator[Event], kind: type) -> list[Event]:
    """Events up to the first of a kind."""
    out: list[Event] = []
    for event in singly(events):
        out.append(event)
        if isinstance(event, kind):
            return out
    raise AssertionError(f"no {kind.__name__} came")


if __name__ == "__main__":
    unittest.main()
