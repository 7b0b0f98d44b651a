import json
import unittest
from unittest import mock

from metrics.bench import listing
from metrics.formats import gemini
from metrics.records import Problem
from metrics.web.table import Call, Route, Table
from tests.formats.gemini_asked import DECLARED, HELLO, resolved
from tests.formats.naming import naming


class PathTest(unittest.TestCase):
    TABLE = Table(Route(method, pattern, verb) for method, pattern, verb in gemini.PATHS)

    def test_every_spelling_of_a_path(self):
        for path, asked in [
            ("/v1beta/models/core:generateContent", "core"),
            ("/v1beta/models/bench/core:route:generateContent", "bench/core:route"),
            ("/v1beta/models/bench%2Fcore%3Aroute:generateContent", "bench/core:route"),
            ("/v1/models/bench/core:generateContent", "bench/core"),
            ("/v1/v1/models/bench/core:generateContent", "bench/core"),
            ("/v1alpha/models/core:generateContent", "core"),
            ("/v1beta/bench/core:route:generateContent", "bench/core:route"),
            ("/v1beta/v1beta/models/core:generateContent", "core"),
            ("/v1/publishers/google/models/bench/core:generateContent", "bench/core"),
            ("/v1beta1/publishers/bench/models/core:generateContent", "bench/core"),
            ("/v1beta1/projects/p/locations/l/publishers/google/models/core:generateContent", "core"),
        ]:
            with self.subTest(path):
                body = json.dumps({"contents": HELLO}).encode()
                found = Call("POST", path, {}, body)
                route, found.parts = self.TABLE.find("POST", found.path)
                self.assertEqual(route.handler, "ask")
                with naming(resolved):
                    self.assertEqual(gemini.parse(found).model, asked)

    def test_who_answers(self):
        for method, path, wanted in [
            ("POST", "/v1beta/models/core:streamGenerateContent", "ask"),
            ("POST", "/v1/models/core:countTokens", gemini.count_tokens),
            ("POST", "/v1beta/models/core:embedContent", gemini.nothing),
            ("POST", "/v1/models/core:predict", gemini.nothing),
            ("POST", "/v1beta/interactions", gemini.nothing),
            ("GET", "/v1beta/interactions/x", gemini.nothing),
            ("GET", "/v1beta/models", gemini.models),
            ("GET", "/v1beta/models/bench/core:route", gemini.model),
        ]:
            with self.subTest(path):
                self.assertEqual(self.TABLE.find(method, path)[0].handler, wanted)

    def test_other_formats_keep_their_paths(self):
        for path in ("/v1/messages", "/v1/chat/completions", "/api/chat", "/v1/responses", "/v1/x:y"):
            with self.subTest(path), self.assertRaises(Problem):
                self.TABLE.find("POST", path)

    def test_nothing_is_told_in_its_own_shape(self):
        with self.assertRaises(Problem) as caught:
            gemini.nothing(Call("POST", "/v1beta/models/core:embedContent"))
        error = json.loads(gemini.error(caught.exception, None).body)["error"]
        self.assertEqual((error["code"], error["status"]), (404, "NOT_FOUND"))
        self.assertIn(":generateContent", error["message"])


class ErrorTest(unittest.TestCase):
    CASES = [
        (Problem(400, "x", param="n"), 400, "INVALID_ARGUMENT"),
        (Problem(401, "x"), 401, "UNAUTHENTICATED"),
        (Problem(402, "x"), 402, "RESOURCE_EXHAUSTED"),
        (Problem(403, "x"), 403, "PERMISSION_DENIED"),
        (Problem(404, "x"), 404, "NOT_FOUND"),
        (Problem(413, "x"), 413, "INVALID_ARGUMENT"),
        (Problem(415, "x"), 415, "INVALID_ARGUMENT"),
        (Problem(418, "x"), 418, "INVALID_ARGUMENT"),
        (Problem(429, "x"), 429, "RESOURCE_EXHAUSTED"),
        (Problem(500, "x"), 500, "INTERNAL"),
        (Problem(502, "x"), 502, "UNAVAILABLE"),
        (Problem(503, "x"), 503, "UNAVAILABLE"),
        (Problem(504, "x"), 504, "DEADLINE_EXCEEDED"),
        (Problem(507, "x"), 507, "INTERNAL"),
        (Problem(529, "x"), 503, "UNAVAILABLE"),
    ]

    def test_status(self):
        for problem, status, word in self.CASES:
            with self.subTest(status=problem.status):
                response = gemini.error(problem, None)
                error = json.loads(response.body)["error"]
                self.assertEqual((response.status, error["code"], error["status"]), (status, status, word))
                self.assertEqual(error["message"], "x")

    def test_how_long_to_wait(self):
        for wait, told in [(7, "7s"), (45.8379, "45.838s"), (0, "0s"), (3600.0, "3600s"), (-1, "0s")]:
            with self.subTest(wait=wait):
                response = gemini.error(Problem(429, "x", retry_after=wait), None)
                details = json.loads(response.body)["error"]["details"]
                self.assertEqual(
                    details, [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": told}]
                )
                self.assertIn("Retry-After", dict(response.headers))

    def test_which_field(self):
        details = json.loads(gemini.error(Problem(400, "no", param="topP"), None).body)["error"]["details"]
        self.assertEqual(details[0]["fieldViolations"], [{"field": "topP", "description": "no"}])


ENTRY = {
    "id": "bench/core:route",
    "collection": "core",
    "mode": "route",
    "description": "",
    "together": {"context_window": 9000},
}


class ListingTest(unittest.TestCase):
    def test_models(self):
        with mock.patch.object(
            listing, "entries", lambda: [ENTRY, {**ENTRY, "together": {"context_window": None}}]
        ):
            told = json.loads(gemini.models(Call("GET", "/v1beta/models?pageSize=50")).body)["models"]
        self.assertEqual(told[0]["name"], "models/bench/core:route")
        self.assertEqual(told[0]["inputTokenLimit"], 9000)
        self.assertNotIn("inputTokenLimit", told[1])
        self.assertIn("generateContent", told[0]["supportedGenerationMethods"])

    def test_one_under_the_name_it_was_asked_for(self):
        for asked in ("core:route", "bench/core:route", "models/bench/core:route"):
            with self.subTest(asked), mock.patch.object(listing, "entry", lambda name: {**ENTRY, "id": name}):
                told = json.loads(gemini.model(Call("GET", "/", parts={"id": asked})).body)
                self.assertEqual(told["name"], "models/" + asked.removeprefix("models/"))

    def test_count_tokens(self):
        def count(**body):
            asked = Call("POST", "/v1beta/models/core:countTokens", {}, json.dumps(body).encode())
            asked.parts = {"name": "models/core"}
            with naming(resolved):
                return json.loads(gemini.count_tokens(asked).body)["totalTokens"]

        plain = count(contents=HELLO)
        self.assertGreater(plain, 0)
        self.assertEqual(count(generateContentRequest={"model": "models/core", "contents": HELLO}), plain)
        self.assertGreater(count(generate_content_request={"contents": HELLO, "tools": [DECLARED]}), plain)
        with self.assertRaises(Problem):
            count()
