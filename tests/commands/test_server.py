import itertools
import unittest
from typing import Any

from metrics.commands import server
from metrics.commands.failure import Failure
from tests.commands.stage import Reply, Stage

DOOR = {"WWW-Authenticate": 'Bearer realm="benchwarmers"'}
API = {
    "ok": False,
    "errors": ["One.", "Two."],
    "error": {"message": "One.", "kind": "conflict", "hint": "do this"},
}
V1 = {"error": {"message": "no model", "type": "invalid_request_error", "param": None, "code": None}}
REFUSALS = [
    (
        "both sentences and the server's hint",
        "/api/x",
        Reply(API, 409),
        1,
        "conflict",
        "One.; Two.",
        "do this",
    ),
    ("openai's shape", "/v1/x", Reply(V1, 404), 1, "not_found", "no model", "bench collections"),
    (
        "a provider's door, told by us",
        "/api/x",
        Reply({"error": {"message": "refuses this key", "kind": "auth"}}, 400),
        1,
        "upstream_auth",
        "refuses",
        "bench endpoint key",
    ),
    (
        "the command that a message names",
        "/api/x",
        Reply(
            {"error": {"message": "in use; `bench endpoint rm x --with-models` does", "kind": "bad_request"}},
            400,
        ),
        1,
        "bad_request",
        "in use",
        "bench endpoint rm x --with-models",
    ),
    ("our door", "/v1/x", Reply(V1, 401, DOOR), 4, "auth", "no model", "BENCHWARMERS_KEY"),
    (
        "the dashboard's door",
        "/api/x",
        Reply(V1, 401),
        4,
        "auth",
        "no model",
        "BENCHWARMERS_ADMIN_TOKEN",
    ),
    (
        "a provider's door",
        "/v1/x",
        Reply(V1, 401),
        1,
        "upstream_auth",
        "no model",
        "bench endpoint key",
    ),
    ("wait", "/v1/x", Reply(V1, 429, {"Retry-After": "90"}), 1, "rate_limited", "no model", "1 min"),
    (
        "a broken file",
        "/v1/x",
        Reply({"error": {"message": "core.json, line 2: no"}}, 503, {"x-should-retry": "false"}),
        1,
        "config",
        "line 2",
        "repair that file",
    ),
    ("no reason", "/v1/x", Reply(b"oops", 500), 1, "internal", "500", "server's own output"),
    (
        "somebody else",
        "/v1/x",
        Reply(b"<html>", 404),
        3,
        "no_server",
        "no Benchwarmers at",
        "bench serve",
    ),
    (
        "somebody else's 200",
        "/v1/x",
        Reply(b"<html>"),
        3,
        "no_server",
        "no Benchwarmers at",
        "bench serve",
    ),
    ("a list", "/v1/x", Reply(b"[]"), 3, "no_server", "no Benchwarmers at", "bench serve"),
]


class Address(unittest.TestCase):
    def test_where_the_server_is(self) -> None:
        cases = [
            (None, {}, "http://127.0.0.1:8122"),
            (None, {"BENCHWARMERS_URL": "http://there:9/"}, "http://there:9"),
            ("https://here", {"BENCHWARMERS_URL": "http://there:9"}, "https://here"),
            ("http://here:1/v1", {}, "http://here:1"),
            ("http://[::1]:8122", {}, "http://[::1]:8122"),
        ]
        for url, env, wanted in cases:
            with self.subTest(wanted):
                self.assertEqual(server.server(url, env).base, wanted)

    def test_refused_addresses(self) -> None:
        for url in ("here", "ftp://here", "http://", "http://x:99999", "http://x?y=1", "//x"):
            with self.subTest(url), self.assertRaises(Failure) as caught:
                server.server(url, {})
            self.assertEqual(caught.exception.exit, 2)

    def test_what_starts_it(self) -> None:
        cases = [
            ("http://127.0.0.1:8122", "start one: bench serve"),
            ("http://localhost:9000", "start one: bench serve --port 9000"),
            ("https://far.example", "check --url or BENCHWARMERS_URL, or start the server there"),
        ]
        for url, hint in cases:
            with self.subTest(url):
                failure = server.Server(url).nobody()
                self.assertEqual((failure.exit, failure.hint), (3, hint))


class Talking(unittest.TestCase):
    def test_each_door_has_its_key(self) -> None:
        env = {"BENCHWARMERS_KEY": "bwk_caller", "BENCHWARMERS_ADMIN_TOKEN": "admin-token"}
        cases = [
            ("/api/status", "Bearer admin-token"),
            ("/bench/record", "Bearer bwk_caller"),
            ("/v1/models", "Bearer bwk_caller"),
        ]
        with Stage({f"GET {path}": {"ok": True} for path, _ in cases}) as stage:
            for path, wanted in cases:
                with self.subTest(path):
                    server.server(stage.url, env).get(path, limit=3, before=None)
                    self.assertEqual(stage.last.headers["authorization"], wanted)
                    self.assertEqual(stage.last.path, f"{path}?limit=3")
            server.server(stage.url, {}).get("/api/status")
            self.assertNotIn("authorization", stage.last.headers)

    def test_refusals(self) -> None:
        for name, path, reply, code, kind, message, hint in REFUSALS:
            with (
                self.subTest(name),
                Stage({f"POST {path}": reply}) as stage,
                self.assertRaises(Failure) as caught,
            ):
                server.server(stage.url, {}).post(path, {})
            failure = caught.exception
            self.assertEqual((failure.exit, failure.kind), (code, kind))
            self.assertIn(message, failure.message)
            self.assertIn(hint, failure.hint)

    def test_another_program_is_not_quoted(self) -> None:
        words = Reply({"error": {"message": "no such route, friend", "type": "not_found"}}, 404)
        for who in ({"status": "fine"}, words, Reply(b"<html>")):
            with self.subTest(who), Stage({"GET /health": who, "POST /v1/x": words}) as stage:
                with self.assertRaises(Failure) as caught:
                    server.server(stage.url, {}).post("/v1/x", {})
                self.assertEqual(
                    caught.exception.message,
                    f"there is no Benchwarmers at {stage.url}: another program answers there",
                )
        with Stage({"GET /api/endpoints": {"hello": "world"}}) as stage:
            self.assertEqual(stage.bench("endpoints").code, 3)

    def test_nobody_there(self) -> None:
        with Stage() as stage:
            url = stage.url
        with self.assertRaises(Failure) as caught:
            server.server(url, {}).get("/api/status")
        self.assertEqual(caught.exception.exit, 3)


class Lines(unittest.TestCase):
    BYTES = b'{"a": 1}\n\n{"b": "\xc3\xa9"}\r\n{"c": 3}'
    WANTED = [b'{"a": 1}', b'{"b": "\xc3\xa9"}', b'{"c": 3}']

    def test_cut_at_every_pair_of_positions(self) -> None:
        size = len(self.BYTES)
        for first, second in itertools.combinations(range(size + 1), 2):
            pieces = [
                part for part in (self.BYTES[:first], self.BYTES[first:second], self.BYTES[second:]) if part
            ]
            self.assertEqual(list(server.lines(iter(pieces))), self.WANTED, (first, second))

    def test_quiet_ticks_pass_through(self) -> None:
        pieces = [b'{"a"', b"", b": 1}\n", b"", b"", b'{"b": 2}\n']
        self.assertEqual(list(server.lines(iter(pieces))), [b"", b'{"a": 1}', b"", b"", b'{"b": 2}'])

    def test_a_stream_of_events(self) -> None:
        events: list[dict[str, Any]] = [{"event": "tick"}, {"event": "panel.done", "bench": {}}]
        with Stage({"POST /bench/ask": Reply(events)}) as stage:
            self.assertEqual(list(server.server(stage.url, {}).stream("/bench/ask", {})), events)

    def test_a_stream_refused(self) -> None:
        reply = Reply({"error": {"message": "no collection x"}}, 404)
        with Stage({"POST /bench/ask": reply}) as stage, self.assertRaises(Failure) as caught:
            list(server.server(stage.url, {}).stream("/bench/ask", {}))
        self.assertEqual(caught.exception.message, "no collection x")


if __name__ == "__main__":
    unittest.main()
