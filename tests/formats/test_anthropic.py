import json
import unittest
from unittest import mock

from metrics.bench import listing
from metrics.formats import anthropic
from metrics.records import Problem
from metrics.web.table import Call
from tests.formats.anthropic_asked import (
    HELLO,
    PNG,
    TOOL,
    USE,
    Reader,
    assistant,
    body,
    request,
    resolving,
    text,
    user,
)


class ErrorTest(unittest.TestCase):
    TYPES = {
        400: "invalid_request_error",
        401: "authentication_error",
        402: "billing_error",
        403: "permission_error",
        404: "not_found_error",
        405: "invalid_request_error",
        413: "request_too_large",
        415: "invalid_request_error",
        429: "rate_limit_error",
        500: "api_error",
        502: "api_error",
        503: "overloaded_error",
        504: "timeout_error",
        507: "api_error",
        529: "overloaded_error",
    }

    def test_types(self):
        for status, kind in self.TYPES.items():
            with self.subTest(status):
                response = anthropic.error(Problem(status, "x", retry_after=1.2), request({}))
                self.assertEqual(response.status, status)
                self.assertEqual(
                    json.loads(response.body),
                    {"type": "error", "error": {"type": kind, "message": "x"}, "request_id": "req-1"},
                )
                headers = dict(response.headers)
                self.assertEqual((headers["request-id"], headers["Retry-After"]), ("req-1", "2"))
                self.assertEqual("x-should-retry" in headers, status not in (429, 500, 502, 503, 504, 529))

    def test_before_there_was_a_request(self):
        self.assertIsNone(json.loads(anthropic.error(Problem(400, "x"), None).body)["request_id"])

    def test_claude_code_learns_that_it_must_compact(self):
        for problem in (
            Problem(413, "no room", code="context_length_exceeded"),
            Problem(400, "no room", kind="context"),
        ):
            told = json.loads(anthropic.error(problem, None).body)["error"]["message"]
            self.assertEqual(told, "prompt is too long: no room")


class OwnAnswersTest(unittest.TestCase):
    def warmed(self, mode="route", **fields):
        with resolving(mode):
            return anthropic.warm(request(body(**{"max_tokens": 0, **fields})))

    def test_no_tokens_are_an_empty_message(self):
        reply = json.loads(self.warmed().body)
        self.assertEqual((reply["content"], reply["stop_reason"]), ([], "end_turn"))
        self.assertEqual(reply["usage"]["output_tokens"], 0)
        self.assertGreater(reply["usage"]["input_tokens"], 0)

    def test_streamed_as_well(self):
        reader = Reader()
        reader.feed(b"".join(self.warmed(stream=True).body))
        self.assertTrue(reader.ended)
        self.assertEqual((reader.blocks, reader.last["delta"]["stop_reason"]), ([], "end_turn"))

    def test_all_else_is_not_for_it(self):
        for tokens in (1, None, False, "0", 0.0, -1):
            with self.subTest(tokens=tokens):
                self.assertIsNone(self.warmed(max_tokens=tokens))

    def test_a_wrong_request_is_still_refused(self):
        for mode, fields in [("route", {"messages": []}), ("all", {"tools": [TOOL]})]:
            with self.assertRaises(Problem):
                self.warmed(mode, **fields)

    def counted(self, **fields):
        told = {"model": "m", "messages": HELLO, **fields}
        with resolving("all"):
            return json.loads(
                anthropic.count_tokens(request(told, "/v1/messages/count_tokens?beta=true")).body
            )

    def test_everything_counts(self):
        least = self.counted()["input_tokens"]
        self.assertGreater(least, 0)
        for name, fields in {
            "system": {"system": "s" * 100},
            "tools": {"tools": [TOOL]},
            "a call": {"messages": [*HELLO, assistant({**USE, "input": {"a": "x" * 100}})]},
            "a picture": {"messages": [user(PNG, text("hello"))]},
        }.items():
            with self.subTest(name):
                self.assertGreater(self.counted(**fields)["input_tokens"], least)


def entry(suffix="", mode="all", collection="core"):
    together = {"context_window": 8000, "capabilities": ["completion", "vision"]}
    name = f"bench/{collection}{suffix}"
    return {"id": name, "collection": collection, "mode": mode, "created": 0, "together": together}


class ModelsTest(unittest.TestCase):
    ENTRIES = [entry(), entry(":merged", "merged"), entry(":route", "route")]
    IDS = [
        "bench/core",
        "bench/core:merged",
        "bench/core:route",
        "claude-bench-core-all",
        "claude-bench-core-merged",
        "claude-bench-core-route",
    ]

    def page(self, query=""):
        with mock.patch.object(listing, "entries", lambda: self.ENTRIES):
            return json.loads(anthropic.models(Call("GET", f"/v1/models{query}")).body)

    def test_a_model(self):
        told = self.page()["data"][-1]
        capabilities = told.pop("capabilities")
        self.assertEqual(
            told,
            {
                "type": "model",
                "id": "claude-bench-core-route",
                "display_name": "bench/core route",
                "created_at": "1970-01-01T00:00:00Z",
                "lifecycle": "active",
                "max_input_tokens": 8000,
                "max_tokens": None,
            },
        )
        self.assertTrue(capabilities["image_input"]["supported"])
        self.assertTrue(capabilities["effort"]["high"]["supported"])
        self.assertFalse(capabilities["pdf_input"]["supported"])

    PAGES = [
        ("", 0, 6, False),
        ("?limit=1000", 0, 6, False),
        ("?limit=2", 0, 2, True),
        ("?limit=2&after_id=bench/core:merged", 2, 4, True),
        ("?limit=2&after_id=claude-bench-core-all", 4, 6, False),
        ("?after_id=claude-bench-core-route", 6, 6, False),
        ("?limit=2&before_id=claude-bench-core-all", 1, 3, True),
        ("?limit=2&before_id=bench/core:route", 0, 2, False),
        ("?before_id=bench%2Fcore", 0, 0, False),
        ("?after_id=bench/core&before_id=bench/core:route", 1, 2, False),
    ]

    def test_pages(self):
        for query, start, end, more in self.PAGES:
            with self.subTest(query):
                page = self.page(query)
                ids = [model["id"] for model in page["data"]]
                self.assertEqual(ids, self.IDS[start:end])
                self.assertEqual(page["has_more"], more)
                ends = (ids[0], ids[-1]) if ids else (None, None)
                self.assertEqual((page["first_id"], page["last_id"]), ends)

    def test_wrong_pages(self):
        for query in ("?limit=0", "?limit=x", "?limit=1001", "?limit=²", "?after_id=nobody"):
            with self.subTest(query), self.assertRaises(Problem) as caught:
                self.page(query)
            self.assertEqual(caught.exception.status, 400)

    def test_one_model(self):
        with mock.patch.object(listing, "entry", lambda name: entry(":route", "route")):
            call = Call("GET", "/v1/models/x", parts={"id": "claude-bench-core-route"})
            told = json.loads(anthropic.model(call).body)
        self.assertEqual((told["id"], told["display_name"]), ("claude-bench-core-route", "bench/core route"))
