"""Route mode as its callers see it: one real server, a scripted provider."""

import http.client
import json
import threading
import unittest

from tests.provider import CUT, Provider, chunk, error, gated, hang, stream, text
from tests.running import Running

HELLO = [{"role": "user", "content": "hello"}]
LATER = [*HELLO, {"role": "assistant", "content": "hi"}, {"role": "user", "content": "and now?"}]
LIMITED = error(429, "slow", headers={"Retry-After": "99"})


def setUpModule():
    # The provider ends first: a server waits for what is still being answered.
    Routed.bench = unittest.enterModuleContext(Running())
    Routed.provider = unittest.enterModuleContext(Provider())


class Routed(unittest.TestCase):
    seats = iter(range(1000))

    def collection(self, *answers):
        """A collection whose members give `answers`, in any order; its name and their aliases."""
        number = next(self.seats)
        aliases = [f"r{number}-{at}" for at in range(len(answers))]
        for alias, answer in zip(aliases, answers, strict=True):
            self.provider.script(alias, *(answer if isinstance(answer, tuple) else (answer,)))
        self.bench.seat(f"route{number}", self.provider.base, *aliases)
        return f"route{number}", aliases

    def open(self, name, messages=HELLO, stream=True, **headers):
        """The reply of a turn, unread, with its connection, which the caller closes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.bench.port, timeout=30)
        self.addCleanup(connection.close)
        body = json.dumps({"model": f"bench/{name}:route", "messages": messages, "stream": stream})
        connection.request(
            "POST", "/v1/chat/completions", body, {"Content-Type": "application/json", **headers}
        )
        return connection.getresponse(), connection

    def turn(self, name, messages=HELLO, stream=False, **headers):
        """(status, headers, the reply's JSON or the events' JSON objects)."""
        reply, _ = self.open(name, messages, stream, **headers)
        raw = reply.read().decode()
        if not stream or reply.status != 200:
            return reply.status, reply.headers, json.loads(raw)
        lines = [line.removeprefix("data: ") for line in raw.splitlines() if line.startswith("data: {")]
        return reply.status, reply.headers, [json.loads(line) for line in lines]


class RouteTest(Routed):
    def test_where_a_panel_is_shown_a_route_is_told_what_to_ask_instead(self):
        name, _ = self.collection(text("one"))
        for path in ("/bench/ask", "/api/seats"):
            with self.subTest(path):
                status, said = self.bench.post(path, {"model": f"bench/{name}:route", "messages": HELLO})
                self.assertEqual(status, 400)
                self.assertIn("--merged", json.dumps(said))

    def test_a_failure_before_the_first_word_is_never_seen(self):
        for bad in (LIMITED, error(500, "boom"), stream({"error": {"message": "no", "code": 500}}), text("")):
            for streamed in (False, True):
                with self.subTest(bad.status, streamed=streamed):
                    name, (failing, well) = self.collection(bad, text("fine"))
                    for _ in range(6):  # until the failing one was asked first, which chance decides
                        status, headers, reply = self.turn(name, stream=streamed)
                        self.assertEqual((status, headers["X-Bench-Model"]), (200, well))
                        told = (reply[-1] if streamed else reply)["bench"]
                        self.assertEqual(told["alias"], well)
                        self.assertEqual(headers["X-Bench-Conversation"], told["conversation"])
                        if self.provider.of(failing):
                            break

    def test_a_break_after_the_first_word_is_an_error_in_the_stream(self):
        name, _ = self.collection(stream(chunk({"content": "half"}), CUT, done=False))
        status, _, events = self.turn(name, stream=True)
        self.assertEqual(status, 200)
        said = [choice["delta"].get("content") for event in events for choice in event.get("choices", ())]
        self.assertEqual("".join(filter(None, said)), "half")
        self.assertIn("error", events[-1])

    def test_the_whole_answer_or_an_error_where_nothing_is_streamed(self):
        name, _ = self.collection(stream(chunk({"content": "half"}), CUT, done=False))
        status, headers, reply = self.turn(name)
        self.assertEqual((status, headers["X-Bench-Model"]), (502, None))
        self.assertIn("broke off", reply["error"]["message"])
        self.assertRegex(headers["X-Bench-Conversation"], r"^r\d{8}-\d{6}-[0-9a-f]{8}$")

    def test_all_limited_is_a_429_with_the_smallest_wait(self):
        name, _ = self.collection(LIMITED, error(429, "b", headers={"Retry-After": "55"}))
        status, headers, reply = self.turn(name)
        self.assertEqual((status, headers["Retry-After"]), (429, "55"), reply)

    def test_words_come_as_they_are_said(self):
        gates = [threading.Event(), threading.Event()]
        name, _ = self.collection(gated(["one ", "two"], gates))
        gates[0].set()
        reply, _ = self.open(name)
        said = b""
        while b"one " not in said:
            said += reply.read1()
        self.assertNotIn(b"two", said)
        gates[1].set()
        self.assertIn(b"two", said + reply.read())

    def test_a_session_stays_with_its_member(self):
        name, _ = self.collection(text("a"), text("b"), text("c"))
        told = [
            self.turn(name, [{"role": "user", "content": f"task {number}"}], **{"x-session-id": "s-1"})[2][
                "bench"
            ]
            for number in range(8)
        ]
        self.assertEqual(len({one["alias"] for one in told}), 1)
        self.assertEqual([one["turn"] for one in told], list(range(1, 9)))
        self.assertEqual(len({one["call"] for one in told}), 1)

    def test_a_conversation_goes_on_where_it_began(self):
        name, _ = self.collection(text("a"), text("b"), text("c"))
        first = self.turn(name)[2]["bench"]
        for _ in range(5):
            told = self.turn(name, LATER)[2]["bench"]
            self.assertEqual((told["alias"], told["conversation"]), (first["alias"], first["conversation"]))

    def test_one_verdict_judges_what_a_member_did(self):
        name, (alias,) = self.collection(text("a"))
        call = self.turn(name, **{"x-session-id": "s-2"})[2]["bench"]["call"]
        self.turn(name, LATER, **{"x-session-id": "s-2"})
        self.assertEqual(self.bench.post("/bench/pending", {"calls": [call]})[1], {"pending": [call]})
        self.bench.save("/bench/verdict", call=call, useful=True)
        record = self.bench.get(f"/bench/record?collection={name}")[1]["aliases"]
        self.assertEqual(record[alias]["useful"], 1)


class SlowHangUp(Routed):
    def test_who_hangs_up_ends_the_call(self):
        """While the member says nothing at all, not even its head."""
        for streamed in (False, True):
            with self.subTest(streamed=streamed):
                name, (alias,) = self.collection(hang())
                before = len(self.provider.requests)
                connection = http.client.HTTPConnection("127.0.0.1", self.bench.port, timeout=30)
                body = json.dumps({"model": f"bench/{name}:route", "messages": HELLO, "stream": streamed})
                connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
                self.provider.wait_for(before + 1)
                connection.close()
                self.assertTrue(self.provider.of(alias)[0].gone.wait(20))
