"""The endpoint: every method in both eras, and over a real connection what only that can show."""

import http.client
import json
import threading
import unittest

from metrics.mcp import tools, wire
from tests.effort import effort
from tests.formats import mutants
from tests.mcp.stage import BOTH, JSON, STREAM, McpCase, a_key, message, messages, modern
from tests.provider import Provider, gated, text
from tests.running import Running

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}


class MethodsTest(McpCase):
    def setUp(self):
        super().setUp()
        self.seat("core", "one")

    def test_the_handshake(self):
        for wanted, answered in (*((each, each) for each in wire.LEGACY), ("1999-01-01", "2025-11-25")):
            _, headers, said = self.send(message("initialize", {**INITIALIZE, "protocolVersion": wanted}))
            result = said[0]["result"]
            self.assertEqual(result["protocolVersion"], answered)
            self.assertEqual(set(result["capabilities"]), {"tools", "resources", "prompts"})
            self.assertEqual(result["instructions"], tools.INSTRUCTIONS)
            self.assertRegex(headers["Mcp-Session-Id"], r"\A[!-~]{16,}\Z")
        self.refused(message("initialize", {}), wire.INVALID_PARAMS)

    def test_discovery(self):
        posted, headers = modern("server/discover")
        status, sent, said = self.send(posted, headers)
        result = said[0]["result"]
        self.assertEqual((status, result["supportedVersions"][0]), (200, "2026-07-28"))
        self.assertEqual((result["resultType"], result["cacheScope"]), ("complete", "public"))
        self.assertNotIn("Mcp-Session-Id", sent)

    def test_lists_in_both_eras(self):
        for method, name in (
            ("tools/list", "tools"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
            ("prompts/list", "prompts"),
        ):
            with self.subTest(method):
                self.assertEqual(list(self.result(method)), [name])
                posted, headers = modern(method)
                new = self.send(posted, headers)[2][0]["result"]
                self.assertEqual(new[name], self.result(method)[name])
                self.assertIsInstance(new["ttlMs"], int)
                self.refused(message(method, {"cursor": "x"}), wire.INVALID_PARAMS)

    def test_prompts_and_pings(self):
        self.assertEqual(self.result("ping"), {})
        got = self.result("prompts/get", {"name": "verify_claims", "arguments": {"claims": "2 + 2 = 5"}})
        self.assertIn("2 + 2 = 5", got["messages"][0]["content"]["text"])
        self.refused(message("prompts/get", {"name": "none"}), wire.INVALID_PARAMS)

    def test_methods_of_the_other_era_are_unknown(self):
        for method in ("server/discover", "subscriptions/listen", "no/such", "logging/setLevel"):
            self.refused(message(method), wire.NO_METHOD)
        for method in ("initialize", "ping", "no/such"):
            posted, headers = modern(method)
            self.refused(posted, wire.NO_METHOD, 404, headers=headers)

    def test_subscriptions_are_empty_and_over_at_once(self):
        posted, headers = modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, "s1")
        _, _, (agreed, end) = self.send(posted, headers)
        self.assertEqual(agreed["method"], "notifications/subscriptions/acknowledged")
        self.assertEqual(agreed["params"]["notifications"], {})
        for meta in (agreed["params"]["_meta"], end["result"]["_meta"]):
            self.assertEqual(meta[f"{wire.META}subscriptionId"], "s1")

    def test_notifications_and_answers_get_no_reply(self):
        for posted in (
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "method": "notifications/unheard-of", "params": {}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}},
            {"jsonrpc": "2.0", "id": 1, "result": {}},
        ):
            self.assertEqual(self.send(posted)[::2], (202, []))

    def test_tools_that_cannot_be_called(self):
        call = {"name": "none", "arguments": {}}
        self.assertIn("there are list_collections, ask", self.refused(message("tools/call", call), -32602))
        self.refused(message("tools/call", {"name": "ask", "arguments": []}), wire.INVALID_PARAMS)
        self.refused(message("tools/call", {}), wire.INVALID_PARAMS)

    def test_what_the_client_accepts(self):
        for accept, streams in ((JSON, False), ("*/*", False), (BOTH, False), (STREAM, True), ("", False)):
            _, headers, said = self.send(message("ping", its="a"), {"accept": accept})
            self.assertEqual(headers["Content-Type"].startswith(STREAM), streams, accept)
            self.assertEqual(said, [{"jsonrpc": "2.0", "id": "a", "result": {}}])

    def test_a_question_in_one_piece_and_as_a_stream(self):
        self.provider.script("one", text("said"))
        call = {"name": "ask", "arguments": {"collection": "core", "prompt": "x"}}
        for accept, meta, kinds in (
            (JSON, {}, [None]),
            (BOTH, {}, [None]),
            (BOTH, {"progressToken": "p"}, ["notifications/progress"] * 2 + [None]),
            (STREAM, {"progressToken": 0}, ["notifications/progress"] * 2 + [None]),
        ):
            with self.subTest(accept=accept, meta=meta):
                asked = message("tools/call", {**call, "_meta": meta}, 7)
                _, headers, said = self.send(asked, {"accept": accept})
                self.assertEqual([one.get("method") for one in said], kinds)
                self.assertEqual(said[-1]["id"], 7)
                told = said[-1]["result"]["structuredContent"]
                self.assertEqual(
                    (told["seats"][0]["answer"], told["panel"]), ("said", headers["X-Bench-Panel"])
                )
        posted, headers = modern("tools/call", call)
        said = self.send(posted, {**headers, "accept": BOTH})[2]
        self.assertEqual(said[-1]["result"]["resultType"], "complete")

    def test_a_key_that_asks_too_often_is_told_when(self):
        call = {"name": "ask", "arguments": {"collection": "core", "prompt": "x"}}
        key = a_key("often-by-mcp")
        object.__setattr__(key, "rpm", 1)
        self.assertFalse(self.result("tools/call", call, key=key).get("isError"))
        self.assertRegex(self.fails("ask", call["arguments"], key=key), r"\. Try again in \d+ s\.\Z")


class FuzzTest(McpCase):
    """Bodies as careless and hostile clients send them."""

    def test_every_reply_is_a_message(self):
        self.provider.script("one", text("said"))
        self.seat("core", "one")
        files = [{"name": "a.py", "text": "x"}]
        wishes = {"with": [], "quorum": 1, "budget": 1, "deadline": 20, "merged": False, "system": "s"}
        asks = {"collection": "core", "prompt": "x", "files": files, **wishes}
        judges = {"call": "p20261129-142645-0a1b2c3d.member1", "useful": True, "real": ["a"], "note": "n"}
        good = [
            ("initialize", INITIALIZE),
            ("tools/call", {"name": "ask", "arguments": asks, "_meta": {"progressToken": 1}}),
            ("tools/call", {"name": "verdict", "arguments": judges}),
            ("tools/call", {"name": "pending_verdicts", "arguments": {"session": "s", "active": "false"}}),
            ("tools/call", {"name": "usage", "arguments": {"by": "day", "since": "7d"}}),
            ("resources/read", {"uri": "bench://collection/core/record"}),
            ("prompts/get", {"name": "review_diff", "arguments": {"diff": "x", "focus": "{y}"}}),
        ]
        for seed, (method, params) in enumerate(good):
            new, headers = modern(method, params)
            for posted, more in ((message(method, params), {}), (new, headers)):
                for body in mutants.bodies(posted, seed, effort(25, 200)):
                    status, _, said = self.send(body, {**more, "accept": BOTH})
                    shown = f"{body[:300]!r} -> {status} {str(said)[:300]}"
                    self.assertIn(status, (200, 202, 400, 404), shown)
                    self.assertEqual([one["jsonrpc"] for one in said], ["2.0"] * len(said), shown)
                    if status != 202:
                        self.assertEqual(("result" in said[-1]) + ("error" in said[-1]), 1, shown)


class ServedTest(unittest.TestCase):
    """One server, asked over connections."""

    @classmethod
    def setUpClass(cls):
        cls.bench = cls.enterClassContext(Running(BENCHWARMERS_REQUIRE_KEYS="1"))
        # The provider ends first: a server waits for the seats that are still being answered.
        cls.provider = cls.enterClassContext(Provider())
        cls.bench.seat("held", cls.provider.base, "quick", "slow")
        cls.bench.seat("other", cls.provider.base, "lone")
        cls.key = cls.bench.do("key", "create", "mcp").strip()
        cls.narrow = cls.bench.do("key", "create", "narrow", "--collections", "other").strip()

    def open(self, verb, body=None, path="/mcp", key="", **headers):
        """A connection on which a request was sent, and its answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.bench.port, timeout=60)
        self.addCleanup(connection.close)
        said = {"Content-Type": JSON, "Accept": BOTH, "Authorization": f"Bearer {key or self.key}"}
        said |= {name.replace("_", "-"): value for name, value in headers.items()}
        said = {name: value for name, value in said.items() if value}
        connection.request(verb, path, None if body is None else json.dumps(body), said)
        return connection, connection.getresponse()

    def ask(self, body, **more):
        """(status, messages)"""
        _, answer = self.open("POST", body, **more)
        said = answer.read()
        return answer.status, messages(said)

    def test_paths_keys_and_strangers(self):
        ping = message("ping")
        cases = (
            ({}, 200, None),
            ({"path": "/v1/mcp"}, 200, None),
            ({"path": "/mcp/"}, 200, None),
            ({"key": "bwk_" + "x" * 43}, 401, 401),
            ({"Authorization": ""}, 401, 401),
            ({"Origin": "http://evil.example"}, 403, 403),
            ({"Origin": f"http://127.0.0.1:{self.bench.port}"}, 200, None),
            ({"Host": "evil.example"}, 403, 403),
            ({"Content_Type": "text/plain"}, 415, 415),
        )
        for more, status, number in cases:
            with self.subTest(more):
                got, said = self.ask(ping, **more)
                self.assertEqual((got, said[0].get("error", {}).get("code")), (status, number))

    def test_the_other_verbs(self):
        for verb in ("GET", "DELETE"):
            answer = self.open(verb)[1]
            self.assertEqual((answer.status, "POST" in answer.getheader("Allow")), (405, True))
        session = self.open("POST", message("initialize", INITIALIZE))[1].getheader("Mcp-Session-Id")
        self.assertEqual(self.ask(message("ping"), Mcp_Session_Id=session)[0], 200)
        self.assertEqual(self.open("DELETE", Mcp_Session_Id=session)[1].status, 204)
        status, said = self.ask(message("ping", its=5), Mcp_Session_Id=session)
        self.assertEqual((status, said[0]["id"]), (404, 5))
        self.assertEqual(self.ask(message("ping"), Mcp_Session_Id="never-seen-" + "x" * 20)[0], 200)

    def test_a_key_sees_its_own_collections(self):
        call = {"name": "list_collections", "arguments": {}}
        for key, names in ((self.narrow, ["other"]), (self.key, ["core", "held", "other"])):
            said = self.ask(message("tools/call", call), key=key)[1]
            listed = said[0]["result"]["structuredContent"]["collections"]
            self.assertEqual([one["name"] for one in listed], names)

    def held(self):
        """(the gate that the slow seat waits behind, a call that asks for progress)."""
        gate = threading.Event()
        self.addCleanup(gate.set)
        self.provider.script("quick", text("at once"))
        self.provider.script("slow", gated(["in the end"], [gate]))
        arguments = {"collection": "held", "prompt": "x"}
        return gate, {"name": "ask", "arguments": arguments, "_meta": {"progressToken": "p"}}

    def events(self, answer, count):
        """The next messages of a stream, as they come."""
        found = []
        while len(found) < count:
            line = answer.readline()
            if line.startswith(b"data: "):
                found.append(json.loads(line[6:]))
        return found

    def test_progress_comes_while_seats_are_at_work(self):
        gate, call = self.held()
        _, answer = self.open("POST", message("tools/call", call))
        self.assertEqual(answer.getheader("X-Accel-Buffering"), "no")
        first, second = self.events(answer, 2)
        self.assertEqual(first["params"]["message"], "waiting for quick, slow")
        self.assertIn("quick: ok", second["params"]["message"])
        gate.set()
        third, end = self.events(answer, 2)
        self.assertEqual((third["params"]["progress"], third["params"]["total"]), (2, 2))
        self.assertEqual(len(end["result"]["structuredContent"]["to_judge"]), 2)

    def test_cancelling_ends_the_wait_and_not_the_panel(self):
        gate, call = self.held()
        session = self.open("POST", message("initialize", INITIALIZE))[1].getheader("Mcp-Session-Id")
        _, answer = self.open("POST", message("tools/call", call, "long"), Mcp_Session_Id=session)
        self.events(answer, 2)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}}
        self.assertEqual(self.ask(cancel, Mcp_Session_Id="somebody-else-" + "x" * 20)[0], 202)
        self.assertEqual(self.ask(cancel, key=self.narrow, Mcp_Session_Id=session)[0], 202)
        self.assertEqual(self.ask(cancel, Mcp_Session_Id=session)[0], 202)
        self.assertEqual(b"".join(line for line in answer if line.startswith(b"data: ")), b"")  # it ends
        gate.set()
        self.written(answer.getheader("X-Bench-Panel"))

    def test_leaving_ends_the_wait_and_not_the_panel(self):
        gate, call = self.held()
        connection, answer = self.open("POST", message("tools/call", call))
        self.events(answer, 2)
        panel = answer.getheader("X-Bench-Panel")
        answer.close()
        connection.close()
        gate.set()
        self.written(panel)

    def written(self, panel):
        """The panel is in the log, every seat with its answer."""
        read = message("resources/read", {"uri": f"bench://panel/{panel}"})
        while "error" in (said := self.ask(read)[1][0]):
            pass  # its rows are written within a moment
        seats = json.loads(said["result"]["contents"][0]["text"])["panel"]["seats"]
        self.assertEqual([seat["status"] for seat in seats], ["ok", "ok"])


if __name__ == "__main__":
    unittest.main()
