import json
import unittest
from unittest import mock

from metrics.bench import listing, names
from metrics.formats import ollama
from metrics.records import Problem
from metrics.web.table import Call, Route, Table
from tests.formats.ollama_asked import HELLO, PNG, asked


class AtOnceTest(unittest.TestCase):
    def test_what_asks_nothing(self):
        for path, body, reason in [
            ("/api/chat", {}, "load"),
            ("/api/chat", {"messages": []}, "load"),
            ("/api/chat", {"messages": [], "keep_alive": 0}, "unload"),
            ("/api/chat", {"keep_alive": "0s"}, "unload"),
            ("/api/chat", {"keep_alive": "10m"}, "load"),
            ("/api/chat", {"keep_alive": False}, "load"),
            ("/api/generate", {}, "load"),
            ("/api/generate", {"prompt": "", "keep_alive": -1}, "load"),
            ("/api/generate", {"prompt": "", "keep_alive": "0"}, "unload"),
        ]:
            with self.subTest(path=path, body=body):
                told = json.loads(asked(path, {"model": "bench/core", **body}, ollama.at_once).body)
                self.assertEqual(
                    (told["model"], told["done"], told["done_reason"]), ("bench/core", True, reason)
                )
                said = told["message"] if path == "/api/chat" else told["response"]
                self.assertEqual(said, {"role": "assistant", "content": ""} if path == "/api/chat" else "")

    def test_what_asks_something(self):
        for path, body in [
            ("/api/chat", {"messages": HELLO}),
            ("/api/chat", {"messages": "x"}),
            ("/api/generate", {"prompt": "x"}),
            ("/api/generate", {"prompt": "", "images": [PNG]}),
            ("/api/generate", {"prompt": "", "suffix": "x"}),
        ]:
            with self.subTest(path=path, body=body):
                self.assertIsNone(asked(path, {"model": "bench/core", **body}, ollama.at_once))


class ErrorTest(unittest.TestCase):
    def test_shape(self):
        for status, wanted in [(400, 400), (404, 404), (413, 413), (429, 429), (502, 502), (529, 503)]:
            with self.subTest(status=status):
                response = ollama.error(Problem(status, "x", retry_after=3), None)
                self.assertEqual((response.status, json.loads(response.body)), (wanted, {"error": "x"}))
                self.assertEqual(dict(response.headers)["Retry-After"], "3")

    def test_an_unknown_model_is_told_as_ollama_does(self):
        problem = Problem(404, "there is core", code="model_not_found")
        for field in ("model", "name"):
            body = json.dumps({field: "bench/typo"}).encode()
            response = ollama.error(problem, Call("POST", "/api/show", {}, body))
            self.assertEqual(
                json.loads(response.body), {"error": "model 'bench/typo' not found: there is core"}
            )


ENTRY = {
    "id": "bench/core:route",
    "collection": "core",
    "mode": "route",
    "description": "Reads\nPython.",
    "members": ["a", "b"],
    "created": 0,
    "together": {"context_window": 9000, "capabilities": ["completion", "vision", "tools"]},
}


class ListingTest(unittest.TestCase):
    TABLE = Table(Route(method, pattern, verb) for method, pattern, verb in ollama.PATHS)

    def test_tags(self):
        with mock.patch.object(listing, "entries", lambda: [ENTRY]):
            told = json.loads(ollama.tags(Call("GET", "/api/tags")).body)["models"][0]
        self.assertEqual((told["name"], told["model"]), ("bench/core:route", "bench/core:route"))
        self.assertEqual((told["size"], len(told["digest"])), (1, 64))
        self.assertEqual(told["details"]["parameter_size"], "2 models")

    def test_show(self):
        for field in ("model", "name"):
            with mock.patch.object(listing, "entry", lambda name: ENTRY if name == "core" else {}):
                told = asked("/api/show", {field: "core"}, lambda call: json.loads(ollama.show(call).body))
            self.assertEqual(told["model_info"]["general.architecture"], "benchwarmers")
            self.assertEqual(told["model_info"]["benchwarmers.context_length"], 9000)
            self.assertEqual(told["capabilities"], ["completion", "vision", "tools"])
            self.assertEqual(told["modelfile"], "# bench/core:route: Reads Python.")

    def test_show_of_a_panel_with_an_unknown_window(self):
        entry = {**ENTRY, "mode": "all", "together": {**ENTRY["together"], "context_window": None}}
        with mock.patch.object(listing, "entry", lambda name: entry):
            told = asked("/api/show", {"model": "core"}, lambda call: json.loads(ollama.show(call).body))
        self.assertEqual(told["model_info"]["benchwarmers.context_length"], 32_768)
        self.assertEqual(told["capabilities"], ["completion", "vision"])

    def test_show_of_nothing(self):
        for body in ({}, {"model": 5}, {"name": ""}):
            with self.subTest(body=body), self.assertRaises(Problem) as caught:
                with mock.patch.object(names.collections, "menu", str):
                    ollama.show(Call("POST", "/api/show", {}, json.dumps(body).encode()))
            self.assertEqual(caught.exception.status, 400)

    def test_the_rest(self):
        self.assertEqual(json.loads(ollama.version(Call("GET", "/")).body), {"version": "0.12.0"})
        self.assertEqual(json.loads(ollama.running(Call("GET", "/")).body), {"models": []})

    def test_what_is_not_done_here_says_so(self):
        for method, path, status, said in [
            ("POST", "/api/pull", 400, "bench collection save"),
            ("POST", "/api/push", 400, "bench collection save"),
            ("POST", "/api/create", 400, "bench collection save"),
            ("POST", "/api/copy", 400, "bench collection save"),
            ("DELETE", "/api/delete", 400, "bench collection save"),
            ("POST", "/api/blobs/sha256:ab", 400, "bench collection save"),
            ("HEAD", "/api/blobs/sha256:ab", 404, "bench collection save"),
            ("POST", "/api/embed", 400, "embedding"),
            ("POST", "/api/embeddings", 400, "embedding"),
        ]:
            with self.subTest(path):
                route, parts = self.TABLE.find(method, path)
                with self.assertRaises(Problem) as caught:
                    route.handler(Call(method, path, parts=parts))
                self.assertEqual(caught.exception.status, status)
                self.assertIn(said, caught.exception.message)
