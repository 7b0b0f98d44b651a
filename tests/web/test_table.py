import json
import unittest

from metrics.records import Problem
from metrics.web import table
from metrics.web.table import Call, Response, Route, Table


def handler(call: Call) -> Response:
    return Response()


def routed(*rows: str) -> Table:
    """A table of "METHOD /pattern" rows."""
    return Table(Route(method, pattern, handler) for method, pattern in (row.split(" ", 1) for row in rows))


ROUTES = routed(
    "GET /",
    "GET /v1/models",
    "GET /v1/models/{id*}",
    "POST /v1/chat/completions",
    "POST /v1beta/models/{id*}:generateContent",
    "POST /v1beta/models/{id*}:streamGenerateContent",
    "GET /api/panel/{id}",
    "POST /api/panel/{id}/close",
    "GET /ui/{file*}",
)


class Reading(unittest.TestCase):
    """The body of a call, which may be megabytes, is held for no longer than it is of use."""

    def test_a_body_becomes_its_object(self) -> None:
        call = Call("POST", "/", body=b'{"model": "m", "messages": [1]}')
        self.assertEqual(call.json(), {"model": "m", "messages": [1]})
        self.assertIs(call.json(), call.json())
        call.release()
        self.assertEqual(call.body, b"")

    def test_a_large_body_is_not_held_beside_what_it_says(self) -> None:
        body = b'{"model": "%b"}' % (b"m" * 1_000_000)
        call = Call("POST", "/", body=body)
        self.assertEqual(len(call.json()["model"]), 1_000_000)
        self.assertEqual((call.body, call.digest), (b"", hash(body)))

    def test_equal_bodies_are_known_by_their_digest(self) -> None:
        one, same, other = (Call("POST", "/", body=body) for body in (b'{"a": 1}', b'{"a": 1}', b'{"a": 2}'))
        for call in (one, same, other):
            call.json()
        self.assertEqual(one.digest, same.digest)
        self.assertNotEqual(one.digest, other.digest)

    def test_the_name_of_what_was_asked_for_outlasts_a_release(self) -> None:
        for said, kept in (({"model": "m", "prompt": "x" * 200, "n": 1}, {"model": "m"}), ({"n": 1}, {})):
            call = Call("POST", "/", body=json.dumps(said).encode())
            call.json()
            call.release()
            self.assertEqual(call.json(), kept)


class Finding(unittest.TestCase):
    def test_found(self) -> None:
        cases = [
            ("GET", "/", "/", {}),
            ("HEAD", "/v1/models", "/v1/models", {}),
            ("GET", "/v1/models/bench/core:all", "/v1/models/{id*}", {"id": "bench/core:all"}),
            (
                "POST",
                "/v1beta/models/a/b:generateContent",
                "/v1beta/models/{id*}:generateContent",
                {"id": "a/b"},
            ),
            (
                "POST",
                "/v1beta/models/a:b:streamGenerateContent",
                "/v1beta/models/{id*}:streamGenerateContent",
                {"id": "a:b"},
            ),
            ("GET", "/api/panel/p1", "/api/panel/{id}", {"id": "p1"}),
            ("POST", "/api/panel/p1/close", "/api/panel/{id}/close", {"id": "p1"}),
            ("GET", "/ui/pages/ask.js", "/ui/{file*}", {"file": "pages/ask.js"}),
            # Slips of a pasted base URL.
            ("POST", "/v1/v1/chat/completions", "/v1/chat/completions", {}),
            ("POST", "/v1/v1/v1/chat/completions", "/v1/chat/completions", {}),
            ("POST", "//v1/chat/completions", "/v1/chat/completions", {}),
            ("POST", "/v1/chat/completions/", "/v1/chat/completions", {}),
            ("GET", "//v1/v1/models", "/v1/models", {}),
            ("GET", "/v1/v1/models/x", "/v1/models/{id*}", {"id": "x"}),
            ("GET", "//", "/", {}),
        ]
        for method, path, pattern, parts in cases:
            with self.subTest(path=path):
                route, found = ROUTES.find(method, path)
                self.assertEqual((route.pattern, found), (pattern, parts))

    def test_not_found(self) -> None:
        for path in ("/x", "/v1", "/v1/chat", "/api/panel/", "/api/panel/a/b", "/v1/models\n", "/api/state"):
            with self.subTest(path=path), self.assertRaises(Problem) as caught:
                ROUTES.find("GET", path)
            self.assertEqual(caught.exception.status, 404)
            self.assertIn("/v1", caught.exception.message)

    def test_wrong_method(self) -> None:
        cases = [
            ("GET", "/v1/chat/completions", "OPTIONS, POST"),
            ("DELETE", "/v1/models", "GET, HEAD, OPTIONS"),
            ("PUT", "/api/panel/p1", "GET, HEAD, OPTIONS"),
            ("HEAD", "//v1/chat/completions", "OPTIONS, POST"),
        ]
        for method, path, allow in cases:
            with self.subTest(path=path), self.assertRaises(Problem) as caught:
                ROUTES.find(method, path)
            self.assertEqual((caught.exception.status, caught.exception.headers), (405, (("Allow", allow),)))

    def test_methods(self) -> None:
        self.assertEqual(ROUTES.methods("/v1/models"), ("GET", "HEAD", "OPTIONS"))
        self.assertEqual(ROUTES.methods("/nowhere"), ())

    def test_a_path_is_claimed_once(self) -> None:
        with self.assertRaises(ValueError):
            routed("GET /a", "GET /a")


class Calls(unittest.TestCase):
    def test_target(self) -> None:
        cases = [
            ("/a/b", "/a/b", "/a/b", ""),
            ("/a%2Fb?x=1", "/a/b", "/a%2Fb", "x=1"),
            ("/caf%C3%A9", "/caf\xe9", "/caf%C3%A9", ""),
            ("/caf\xc3\xa9", "/caf\xe9", "/caf\xc3\xa9", ""),
            ("/%ff", "/\ufffd", "/%ff", ""),
            ("/a?b?c", "/a", "/a", "b?c"),
        ]
        for target, path, raw, query in cases:
            with self.subTest(target=target):
                call = Call("GET", target)
                self.assertEqual((call.path, call.raw_path, call.query), (path, raw, query))

    def test_param(self) -> None:
        call = Call("GET", "/?a=1&b=x%20y&a=2&c=&d")
        self.assertEqual([call.param(name) for name in "abcde"], ["1", "x y", "", "", ""])
        self.assertEqual(call.param("e", "f"), "f")

    def test_json(self) -> None:
        call = Call("POST", "/", body=b'\xef\xbb\xbf{"a": "\\ud83d", "b": "\xf0\x9f\x91\x8d"}')
        self.assertEqual(call.json(), {"a": "\ud83d", "b": "\U0001f44d"})
        self.assertIs(call.json(), call.json())

    def test_not_json(self) -> None:
        cases = [
            (b"", "is empty"),
            (b'{"model": ', "line 1, column 11"),
            (b'{"m":"\xff"}', "not UTF-8: byte 6"),
            (b"[1,2]", "not an array"),
            (b"null", "not null"),
            (b"5", "not a number"),
            (b'"x"', "not a string"),
            (b"true", "not a boolean"),
            (b'{"a": NaN}', "NaN"),
            (b'{"a": -Infinity}', "Infinity"),
            (b"[" * 100_000, "nested too deeply"),
            (b'{"a": ' + b"9" * 5_000 + b"}", "not JSON"),
            (b'{"a": 1} x', "column 10"),
            ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
        ]
        for body, part in cases:
            with self.subTest(body=body[:20]), self.assertRaises(Problem) as caught:
                Call("POST", "/", body=body).json()
            self.assertEqual(caught.exception.status, 400)
            self.assertIn(part, caught.exception.message)


class Answers(unittest.TestCase):
    def test_as_json(self) -> None:
        response = table.as_json({"a": ["\xe9", None]}, 201, (("X", "y"),))
        self.assertEqual(response.body, '{"a":["\xe9",null]}'.encode())
        self.assertEqual((response.status, response.headers), (201, (table.JSON, ("X", "y"))))

    def test_a_lone_surrogate_does_not_break_the_reply(self) -> None:
        body = table.json_bytes({"text": "cut \ud83d here \xe9"})
        self.assertEqual(json.loads(body), {"text": "cut \ud83d here \xe9"})

    def test_nan_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            table.as_json(float("nan"))

    def test_problem(self) -> None:
        cases = [
            (Problem(400, "m", param="model"), {}),
            (Problem(429, "m", retry_after=6.2), {"Retry-After": "7"}),
            (
                Problem(429, "m", retry_after=-1, retryable=False),
                {"Retry-After": "0", "x-should-retry": "false"},
            ),
            (Problem(500, "m", retryable=False), {"x-should-retry": "false"}),
            (Problem(503, "m"), {}),
            (Problem(405, "m", headers=(("Allow", "GET"),)), {"Allow": "GET"}),
        ]
        for problem, headers in cases:
            with self.subTest(problem.status):
                response = table.problem_json(problem, None)
                assert isinstance(response.body, bytes)
                error = {"message": "m", "type": problem.kind, "param": problem.param, "code": None}
                self.assertEqual(json.loads(response.body), {"error": error})
                self.assertEqual(dict(response.headers), {"Content-Type": "application/json", **headers})
