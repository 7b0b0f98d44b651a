import unittest
from unittest import mock

from metrics.bench import changes, endpoints
from metrics.bench.endpoints import Endpoint
from metrics.records import Problem
from tests.bench.bench import BY, BenchCase

BASE = "http://127.0.0.1:9/v1"

BASES = [
    ("https://api.example.com/v1", "https://api.example.com/v1"),
    ("https://api.example.com/v1/", "https://api.example.com/v1"),
    (" http://10.0.0.7:8000 ", "http://10.0.0.7:8000"),
    ("http://[::1]:11434/v1", "http://[::1]:11434/v1"),
    ("http://box.local/openai//", "http://box.local/openai"),
]
NOT_BASES = [
    (5, "must be a text"),
    (None, "must be a text"),
    ("", "must not be empty"),
    ("api.example.com/v1", "http:// or https://"),
    ("ftp://api.example.com", "http:// or https://"),
    ("file:///etc/passwd", "http:// or https://"),
    ("https://", "names no host"),
    ("https://user:pw@api.example.com", "user or a password"),
    ("https://user@api.example.com", "user or a password"),
    ("https://api.example.com/v1?key=1", "end before ?"),
    ("https://api.example.com/v1#x", "end before ?"),
    ("https://api.example.com:99999", "not a URL"),
    ("https://api.example.com:port", "not a URL"),
    ("http://[::1", "not a URL"),
    ("https://api example.com", "spaces"),
    ("https://api.exämple.com", "xn--"),
    ("https://api.example.com/v1/chat/completions", "give its base: https://api.example.com/v1"),
    ("https://api.example.com/v1/models/", "give its base: https://api.example.com/v1"),
    ("https://api.example.com/v1/messages", "give its base: https://api.example.com/v1 .*--api anthropic"),
    ("https://api.example.com/v1/responses", "give its base: https://api.example.com/v1 .*--api responses"),
    (
        "https://api.example.com/v1beta/models/g-2.5:streamGenerateContent",
        "give its base: https://api.example.com/v1beta .*--api gemini",
    ),
    ("http://127.0.0.1:11434/api/chat", "give its base: http://127.0.0.1:11434 .*--api ollama"),
    ("http://127.0.0.1:11434/api/tags", "give its base: http://127.0.0.1:11434 .*--api ollama"),
]


class Saving(BenchCase):
    def test_base_urls(self) -> None:
        for text, kept in BASES:
            with self.subTest(text):
                self.assertEqual(endpoints.base_url("base", text), kept)

    def test_what_is_no_base_url(self) -> None:
        for text, words in NOT_BASES:
            with self.subTest(text), self.assertRaises(Problem) as refusal:
                endpoints.base_url("base", text)
            self.assertEqual((refusal.exception.status, refusal.exception.param), (400, "base"))
            self.assertRegex(refusal.exception.message, words.replace("?", r"\?"))

    def test_every_field_is_kept(self) -> None:
        wanted = Endpoint("box", BASE, "chat", "api.groq.com", "local", True)
        endpoints.save(wanted, BY)
        self.assertEqual(endpoints.get("box"), wanted)
        self.assertEqual(endpoints.get("box").host, "api.groq.com")

    def test_a_dialect_that_this_version_speaks_is_kept(self) -> None:
        with mock.patch.dict(endpoints.DIALECTS, {"anthropic": None}):
            endpoints.save(Endpoint("claude", BASE, api="anthropic"), BY)
        self.assertEqual(endpoints.get("claude").api, "anthropic")

    def test_a_dialect_it_does_not(self) -> None:
        with mock.patch.dict(endpoints.DIALECTS, {"chat": None}, clear=True):
            for api, words in (("gemini", "this version speaks chat"), ("soap", "one of chat, anthropic")):
                with self.subTest(api), self.assertRaises(Problem) as refusal:
                    endpoints.save(Endpoint("box", BASE, api=api), BY)
                self.assertIn(words, refusal.exception.message)

    def test_refused(self) -> None:
        cases = [
            Endpoint("x", BASE),
            Endpoint("Box", BASE),
            Endpoint("a" * 33, BASE),
            Endpoint("box", BASE, kind="cloud"),
            Endpoint("box", BASE, profile="https://api.groq.com"),
        ]
        for wrong in cases:
            with self.subTest(wrong), self.assertRaises(Problem):
                endpoints.save(wrong, BY)
        self.assertEqual(endpoints.all(), {})

    def test_one_default(self) -> None:
        endpoints.save(Endpoint("one", BASE, default=True), BY)
        endpoints.save(Endpoint("two", BASE), BY)
        endpoints.set_default("two", BY)
        self.assertEqual(
            {name: one.default for name, one in endpoints.all().items()}, {"one": False, "two": True}
        )

    def test_unknown_names_what_there_is(self) -> None:
        endpoints.save(Endpoint("one", BASE), BY)
        with self.assertRaises(Problem) as refusal:
            endpoints.get("two")
        self.assertEqual(refusal.exception.status, 404)
        self.assertIn("there are: one", refusal.exception.message)

    def test_changes_are_noted(self) -> None:
        endpoints.save(Endpoint("one", BASE), BY)
        endpoints.save(Endpoint("one", "http://127.0.0.1:8/v1"), BY)
        endpoints.remove("one", BY)
        rows = changes.recent(20)[0]
        self.assertEqual((rows[0]["field"], rows[1]["field"], rows[1]["old"]), ("removed", "base", BASE))


class ByHand(BenchCase):
    def test_unknown_keys_survive_an_edit(self) -> None:
        self.write("endpoints.json", '{"box": {"base": "http://127.0.0.1:9/v1", "_why": "mine"}}')
        endpoints.set_default("box", BY)
        self.assertIn("_why", self.text("endpoints.json"))

    def test_a_broken_entry_is_set_aside(self) -> None:
        self.write("endpoints.json", '{"box": {"base": "http://127.0.0.1:9/v1"}, "bad": {"base": 5}}')
        self.assertEqual(list(endpoints.all()), ["box"])
        with self.assertRaises(Problem) as refusal:
            endpoints.get("bad")
        self.assertEqual(refusal.exception.status, 503)
        self.assertIn('endpoints.json: "bad": "base" must be a text', refusal.exception.message)
        endpoints.remove("bad", BY)
        self.assertEqual(endpoints.SHELF.bad(), {})

    def test_a_later_versions_dialect_is_listed(self) -> None:
        self.write("endpoints.json", '{"box": {"base": "http://127.0.0.1:9/v1", "api": "ollama"}}')
        self.assertEqual(endpoints.get("box").api, "ollama")


class Squad(BenchCase):
    def test_the_built_in_endpoint_is_never_stored(self) -> None:
        self.seat_squad("practice-lint")
        self.assertTrue(endpoints.get("practice").builtin)
        self.assertFalse(endpoints.real())
        self.assertEqual(self.text("endpoints.json"), "")
        for step in (
            lambda: endpoints.save(Endpoint("practice", BASE), BY),
            lambda: endpoints.remove("practice", BY),
        ):
            with self.assertRaises(Problem) as refusal:
                step()
            self.assertIn("built", refusal.exception.message)


if __name__ == "__main__":
    unittest.main()
