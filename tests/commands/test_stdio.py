"""MCP on stdin and stdout: what goes out for each line, and what comes back."""

import io
import json
import os
import queue
import threading
import unittest

import cli
from metrics.commands import stdio
from metrics.commands.output import Console
from metrics.commands.server import Server
from tests.mcp.stage import INFO, message, modern
from tests.provider import Provider, gated
from tests.running import Running

NOBODY = Server("http://127.0.0.1:9", named=True)


class HeadersTest(unittest.TestCase):
    def test_they_say_what_the_message_says(self):
        posted, headers = modern("tools/call", {"name": "grüße"})
        told = {name.lower(): value for name, value in stdio.mirrored(posted, [("X", "agreed")])}
        self.assertEqual(told, headers)
        self.assertEqual(stdio.mirrored(message("ping"), [("X", "agreed")]), [("X", "agreed")])
        self.assertEqual(stdio.mirrored(message("initialize", {}), [("X", "agreed")]), [])
        for odd in ({}, {"method": 5}, {"method": "x", "params": []}, {"params": {"_meta": 5}}):
            self.assertEqual(stdio.mirrored(odd, []), [])


class NobodyTest(unittest.TestCase):
    def said(self, *lines):
        written = []
        stdio.Twin(NOBODY, written.append).serve(iter(lines))
        return [json.loads(one) for one in written]

    def test_no_server(self):
        said = self.said(json.dumps(message("ping", its=0)).encode())
        self.assertEqual((said[0]["id"], said[0]["error"]["code"]), (0, stdio.INTERNAL))
        self.assertIn("no server answers at http://127.0.0.1:9", said[0]["error"]["message"])

    def test_lines_that_are_no_messages(self):
        said = self.said(b"nope\n", b"\n", b"[1]\n", b"\xff\n")
        self.assertEqual([one["error"]["code"] for one in said], [stdio.PARSE_ERROR] * 3)

    def test_a_notification_gets_no_answer_whatever_happens(self):
        self.assertEqual(self.said(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'), [])


class SlowServedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = cls.enterClassContext(Running())
        cls.provider = cls.enterClassContext(Provider())
        cls.bench.seat("held", cls.provider.base, "slow")

    def setUp(self):
        reader, writer = os.pipe()
        self.stdin = os.fdopen(writer, "w", encoding="utf-8")
        self.said = queue.SimpleQueue()
        out = io.StringIO()
        out.write = lambda text: [self.said.put(json.loads(line)) for line in text.splitlines()]
        taken = io.TextIOWrapper(os.fdopen(reader, "rb"), encoding="utf-8")
        console = Console("bench", {}, taken, out, io.StringIO())
        self.thread = threading.Thread(
            target=cli.main, args=(["--url", self.bench.url, "mcp"],), kwargs={"console": console}
        )
        self.thread.start()
        self.addCleanup(taken.close)
        self.addCleanup(self.end)

    def end(self):
        self.stdin.close()
        self.thread.join(30)

    def send(self, posted):
        self.stdin.write(json.dumps(posted) + "\n")
        self.stdin.flush()

    def ask(self, posted):
        self.send(posted)
        return self.said.get(timeout=30)

    def shake_hands(self):
        handshake = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": INFO}
        self.assertEqual(
            self.ask(message("initialize", handshake))["result"]["protocolVersion"], "2025-06-18"
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def test_both_eras(self):
        self.shake_hands()
        self.assertEqual(self.ask(message("ping", its="a")), {"jsonrpc": "2.0", "id": "a", "result": {}})
        self.assertEqual(self.ask(modern("server/discover")[0])["result"]["resultType"], "complete")
        self.assertEqual(self.ask(message("no/such"))["error"]["code"], -32601)

    def test_progress_and_others_beside_it_and_cancelling(self):
        for posted, cancels in ((message, self.shake_hands), (lambda *given: modern(*given)[0], None)):
            with self.subTest(cancels):
                gate = threading.Event()
                self.addCleanup(gate.set)
                self.provider.script("slow", gated(["late"], [gate]))
                if cancels:
                    cancels()
                arguments = {"collection": "held", "prompt": "x"}
                call = {"name": "ask", "arguments": arguments, "_meta": {"progressToken": 1}}
                self.assertEqual(self.ask(posted("tools/call", call, 7))["params"]["progress"], 0)
                self.assertEqual(self.ask(posted("tools/list", {}, 8))["id"], 8)
                self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
                self.assertEqual(self.ask(posted("prompts/list", {}, 9))["id"], 9)
                gate.set()
        self.end()
        self.assertTrue(self.said.empty())

    def test_a_server_of_another_kind(self):
        written = []
        elsewhere = Server(self.provider.base.removesuffix("/v1"), named=True)
        stdio.Twin(elsewhere, written.append).serve(iter([json.dumps(message("ping")).encode()]))
        self.assertIn("another program answers", json.loads(written[0])["error"]["message"])


if __name__ == "__main__":
    unittest.main()
