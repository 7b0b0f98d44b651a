"""The scripted provider keeps its word; other tests lean on it."""

import http.client
import json
import threading
import unittest

from tests import provider as fake


class Scripts(unittest.TestCase):
    def post(self, provider: fake.Provider, model: str, stream: bool = True) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", provider.port, timeout=10)
        self.addCleanup(connection.close)
        connection.request("POST", "/v1/chat/completions", json.dumps({"model": model, "stream": stream}))
        response = connection.getresponse()
        self.addCleanup(response.close)
        return response

    def test_queue_and_records(self) -> None:
        with fake.Provider() as provider:
            provider.script("m", fake.text("a", "b"), fake.error(429, "slow", {"Retry-After": "7"}))
            first, second, third = (self.post(provider, "m") for _ in range(3))
            self.assertIn(b'"content": "b"', first.read())
            self.assertEqual((second.status, second.getheader("retry-after")), (429, "7"))
            self.assertEqual(third.status, 429)
            self.assertIn("ok from other", self.post(provider, "other", stream=False).read().decode())
            self.assertEqual([r.json["model"] for r in provider.requests], ["m", "m", "m", "other"])

    def test_faults(self) -> None:
        cases = [
            ("reset", fake.reset(), (ConnectionError, http.client.HTTPException)),
            ("garbage", fake.garbage(), (http.client.HTTPException,)),
            ("cut", fake.stream(fake.chunk({"content": "a"}), fake.CUT), (http.client.IncompleteRead,)),
        ]
        for name, answer, errors in cases:
            with self.subTest(name), fake.Provider() as provider:
                provider.script("*", answer)
                with self.assertRaises(errors):
                    self.post(provider, "m").read()

    def test_gate(self) -> None:
        gate = threading.Event()
        with fake.Provider() as provider:
            provider.script("m", fake.gated(["a", "b"], [gate]))
            response = self.post(provider, "m")
            self.assertIn(b'"role"', response.readline())
            gate.set()
            self.assertIn(b"[DONE]", response.read())

    def test_a_caller_that_leaves_is_noticed(self) -> None:
        with fake.Provider() as provider:
            provider.script("silent", fake.hang())
            connection = http.client.HTTPConnection("127.0.0.1", provider.port, timeout=10)
            connection.request("POST", "/v1/chat/completions", json.dumps({"model": "silent"}))
            provider.wait_for(1)
            connection.close()
            self.assertTrue(provider.requests[0].gone.wait(10))

    def test_gzip_split_and_keep_alive(self) -> None:
        with fake.Provider() as provider:
            provider.script("*", fake.body({"a": 1}, gzip=True, split=1))
            connection = http.client.HTTPConnection("127.0.0.1", provider.port, timeout=10)
            for _ in range(2):
                connection.request("POST", "/v1/x", b"{}")
                self.assertEqual(connection.getresponse().read()[:2], b"\x1f\x8b")
            connection.close()
            self.assertEqual(provider.connections, 1)


if __name__ == "__main__":
    unittest.main()
