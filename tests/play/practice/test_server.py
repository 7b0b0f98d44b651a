import json
import threading
import unittest
from typing import Any

from metrics.client.transport import Transport
from metrics.play.practice import squad
from metrics.play.practice.server import routes
from metrics.web.table import Call, Table
from tests.play.practice.conversations import example

HELLO = [{"role": "user", "content": "hello"}]


class Loopback(unittest.TestCase):
    """The squad over real HTTP, through the client that calls every provider."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.squad = squad.start()
        cls.addClassCleanup(cls.squad.stop)
        cls.transport = Transport()

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, str], bytes]:
        sent = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        headers = [("Content-Type", "application/json")] if sent else []
        with self.transport.open(
            method, self.squad.base_url + path, headers, [sent] if sent else []
        ) as arrival:
            return arrival.status, arrival.headers, arrival.read()

    def ask(self, **body: Any) -> tuple[int, dict[str, str], bytes]:
        return self.call("POST", "/chat/completions", body)

    def test_the_listing(self):
        status, _, body = self.call("GET", "/models")
        rows = json.loads(body)["data"]
        self.assertEqual(
            (status, [row["id"] for row in rows]), (200, [player.name for player in squad.SQUAD])
        )
        self.assertTrue(all(row["practice"] is True and row["owned_by"] == "practice" for row in rows))
        self.assertTrue(all("a program, not a model" in row["description"] for row in rows))
        self.assertEqual(json.loads(self.call("GET", "/models/practice-lint")[2]), rows[0])
        self.assertEqual(self.call("GET", "/models/no/such")[0], 404)

    def test_the_example(self):
        status, _, body = self.ask(model="practice-lint", messages=[{"role": "user", "content": example()}])
        self.assertEqual(status, 200)
        self.assertIn(
            "`pricing.py:12` **mutable default argument**",
            json.loads(body)["choices"][0]["message"]["content"],
        )

    def test_a_stream(self):
        status, headers, body = self.ask(model="practice-terse", messages=HELLO, stream=True)
        self.assertEqual((status, headers["content-type"].partition(";")[0]), (200, "text/event-stream"))
        self.assertTrue(body.endswith(b"data: [DONE]\n\n"))

    def test_errors(self):
        cases = [
            ({"model": "nobody", "messages": HELLO}, 404, "model_not_found"),
            ({"model": "practice-lint"}, 400, None),
            (b"{", 400, None),
        ]
        for body, status, code in cases:
            with self.subTest(body):
                got, _, text = self.call("POST", "/chat/completions", body)
                self.assertEqual((got, json.loads(text)["error"]["code"]), (status, code))

    def test_flaky(self):
        messages = [{"role": "user", "content": "over HTTP"}]
        status, headers, body = self.ask(model="practice-flaky", messages=messages)
        self.assertEqual(
            (status, headers["retry-after"], json.loads(body)["error"]["code"]),
            (429, "1", "rate_limit_exceeded"),
        )
        self.assertEqual(self.ask(model="practice-flaky", messages=messages)[0], 200)

    def test_nesting_is_no_crash(self):
        deep: Any = "x"
        for _ in range(600):
            deep = [deep]
        status = self.ask(
            model="practice-agent", messages=[{"role": "user", "content": [{"type": "x", "text": deep}]}]
        )[0]
        self.assertIn(status, (200, 400))


class Waiting(unittest.TestCase):
    def chat(self, text: str, stopping: threading.Event, gone: bool, stream: bool) -> list[bytes]:
        players = {player.name: player for player in squad.SQUAD}
        body = {"model": "practice-slow", "messages": [{"role": "user", "content": text}], "stream": stream}
        call = Call("POST", "/v1/chat/completions", {}, json.dumps(body).encode(), gone=lambda: gone)
        response = Table(routes(players, stopping)).find("POST", call.path)[0].handler(call)
        return [response.body] if isinstance(response.body, bytes) else list(response.body)

    def test_a_stop_or_a_hang_up_ends_a_slow_answer(self):
        stopping = threading.Event()
        stopping.set()
        for name, event, gone in [("stop", stopping, False), ("hung up", threading.Event(), True)]:
            with self.subTest(name):
                self.assertEqual(len(self.chat("slow 600", event, gone, True)), 2)
                self.assertEqual(len(self.chat("slow 600", event, gone, False)), 1)

    def test_no_seconds_no_wait(self):
        self.assertIn(b"[DONE]", self.chat("slow 0", threading.Event(), False, True)[-1])
