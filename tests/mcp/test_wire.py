"""Messages, versions and headers of the protocol, sound and broken."""

import unittest

from metrics.commands import stdio
from metrics.mcp import wire
from metrics.mcp.wire import Refused
from metrics.records import Problem
from tests.mcp.stage import called, message, modern


class BodyTest(unittest.TestCase):
    def test_what_is_no_message(self):
        cases = (
            (b"{nope", wire.PARSE_ERROR),
            (b"", wire.PARSE_ERROR),
            (b"[]", wire.INVALID_REQUEST),
            (b' [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', wire.INVALID_REQUEST),
            (b"\xff{}", wire.PARSE_ERROR),
        )
        for raw, number in cases:
            with self.subTest(raw), self.assertRaises(Refused) as refused:
                wire.body(called(raw))
            self.assertEqual((refused.exception.number, refused.exception.status), (number, 400))

    def test_ids(self):
        for good in (0, 1, -5, "", "a-1", 9007199254740991):
            self.assertEqual(wire.ident({"id": good}), good)
        self.assertIsNone(wire.ident({}))
        for bad in (None, 1.5, True, [], {}):
            with self.subTest(bad), self.assertRaises(Refused):
                wire.ident({"id": bad})


class MessageTest(unittest.TestCase):
    def refused(self, posted, headers, number):
        with self.assertRaises(Refused) as refused:
            wire.message(posted, headers)
        self.assertEqual(refused.exception.number, number)
        return refused.exception

    def test_legacy_versions(self):
        for told, version in ((None, "2025-03-26"), ("2025-06-18", "2025-06-18"), ("2025-11-25",) * 2):
            headers = {} if told is None else {"mcp-protocol-version": told}
            found = wire.message(message("ping"), headers)
            self.assertEqual((found.version, found.modern, found.id), (version, False, 1))

    def test_what_is_refused(self):
        cases = (
            ("no method", {"jsonrpc": "2.0", "id": 1}, {}, wire.INVALID_REQUEST),
            ("another protocol", {**message("ping"), "jsonrpc": "1.0"}, {}, wire.INVALID_REQUEST),
            ("a method of no kind", message(5), {}, wire.INVALID_REQUEST),
            ("params in a list", message("ping", []), {}, wire.INVALID_PARAMS),
            ("meta in a list", message("ping", {"_meta": []}), {}, wire.INVALID_PARAMS),
            (
                "an old version",
                message("ping"),
                {"mcp-protocol-version": "1900-01-01"},
                wire.UNKNOWN_VERSION,
            ),
            ("modern by header alone", message("x"), {"mcp-protocol-version": "2026-07-28"}, -32602),
        )
        for name, posted, headers, number in cases:
            with self.subTest(name):
                self.refused(posted, headers, number)

    def test_an_unknown_version_is_told_the_known_ones(self):
        problem = self.refused(message("ping"), {"mcp-protocol-version": "1900-01-01"}, -32022)
        self.assertEqual(problem.data, {"supported": list(wire.VERSIONS), "requested": "1900-01-01"})

    def test_modern_headers_must_say_what_the_message_says(self):
        posted, headers = modern("tools/call", {"name": "ask"})
        self.assertTrue(wire.message(posted, headers).modern)
        cases = (
            {"mcp-protocol-version": "2025-11-25"},
            {"mcp-method": "tools/list"},
            {"mcp-method": ""},
            {"mcp-name": "other"},
            {"mcp-name": ""},
            {"mcp-name": "=?base64?!!?="},
        )
        for wrong in cases:
            with self.subTest(wrong):
                self.refused(posted, {**headers, **wrong}, wire.HEADER_MISMATCH)

    def test_a_name_that_no_header_holds_comes_encoded(self):
        for name in ("ask", "grüße", " padded ", "=?base64?x?=", "a\nb"):
            with self.subTest(name):
                posted, headers = modern("tools/call", {"name": name})
                self.assertTrue(headers["mcp-name"].isascii())
                self.assertEqual(wire.message(posted, headers).params["name"], name)
        self.assertEqual(stdio.header("ask"), "ask")

    def test_a_notification_needs_no_meta(self):
        posted = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        found = wire.message(posted, {"mcp-protocol-version": "2026-07-28"})
        self.assertIsNone(found.id)

    def test_answers_to_requests_that_we_never_make(self):
        self.assertTrue(wire.is_reply({"jsonrpc": "2.0", "id": 1, "result": {}}))
        self.assertFalse(wire.is_reply(message("ping")))
        self.assertFalse(wire.is_reply({}))


class ReplyTest(unittest.TestCase):
    def test_results_of_both_eras(self):
        legacy = wire.message(message("tools/list", its="a"), {})
        self.assertEqual(
            wire.result(legacy, {"tools": []}, (5, "public")),
            {"jsonrpc": "2.0", "id": "a", "result": {"tools": []}},
        )
        new = wire.message(*modern("tools/list"))
        said = wire.result(new, {"tools": []}, (5, "public"))["result"]
        self.assertEqual((said["resultType"], said["ttlMs"], said["cacheScope"]), ("complete", 5, "public"))
        self.assertEqual(said["_meta"][f"{wire.META}serverInfo"], wire.SERVER)

    def test_the_status_of_an_error(self):
        cases = (
            (Refused(wire.NO_METHOD, "x"), 200, 404),
            (Refused(wire.INVALID_PARAMS, "x"), 200, 400),
            (Refused(wire.PARSE_ERROR, "x"), 400, 400),
            (Refused(wire.NO_RESOURCE, "x"), 200, 200),
            (Problem(429, "x", retry_after=3), 429, 429),
        )
        for problem, legacy, new in cases:
            for era, status in ((False, legacy), (True, new)):
                with self.subTest(problem=problem, modern=era):
                    self.assertEqual(wire.refused(problem, 1, era).status, status)

    def test_an_error_without_an_id_has_none(self):
        self.assertNotIn("id", wire.failure(Problem(403, "no"), None))
        self.assertEqual(wire.failure(Problem(403, "no"), 0)["id"], 0)
        self.assertEqual(wire.failure(Problem(403, "no"), 0)["error"], {"code": 403, "message": "no"})
        self.assertEqual(wire.error(Problem(401, "key"), None).status, 401)

    def test_progress(self):
        for meta, token in (({}, None), ({"progressToken": 0}, 0), ({"progressToken": True}, None)):
            found = wire.message(message("tools/call", {"_meta": meta}), {})
            self.assertEqual(wire.progress_token(found), token)
        params = {"progressToken": "t", "progress": 1.5, "total": 3, "message": "w"}
        self.assertEqual(wire.progress("t", 1.5, 3, "w")["params"], params)


if __name__ == "__main__":
    unittest.main()
