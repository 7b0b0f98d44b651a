import unittest
from typing import Any
from unittest import mock

from tests.commands.stage import Reply, Stage

KEY = "made-up-" + "key-1234"
OPENAI: dict[str, Any] = {
    "name": "openai",
    "base": "https://api.example.com/v1",
    "api": "chat",
    "profile": "",
    "kind": "provider",
    "key": {"set": True, "source": "file", "hint": "1234"},
    "default": True,
    "models": 2,
    "builtin": False,
}
PRACTICE = OPENAI | {"name": "practice", "builtin": True, "default": False, "key": {"set": False}}
LISTING = {"ok": True, "models": [f"m{n}" for n in range(20)], "note": ""}
REPLIES: dict[str, Reply | dict[str, Any]] = {
    "GET /api/endpoints": {"ok": True, "endpoints": [OPENAI, PRACTICE]},
    "POST /api/endpoint": {"ok": True, "endpoint": OPENAI | {"name": "x"}, "listing": LISTING},
    "POST /api/endpoint/test": {"ok": True, "listing": LISTING},
    "POST /api/endpoint/key": {"ok": True},
    "POST /api/endpoint/default": {"ok": True},
    "POST /api/endpoint/remove": {"ok": True},
}
BASE = ["--base", "https://api.example.com/v1"]


class Endpoints(unittest.TestCase):
    def setUp(self) -> None:
        self.stage = self.enterContext(Stage(REPLIES))

    def test_list(self) -> None:
        lines = self.stage.bench("endpoints").out.splitlines()
        self.assertEqual(lines[0].split(), ["name", "kind", "api", "key", "models", "base"])
        self.assertIn("provider, default", lines[2])
        self.assertIn("…1234 (file)", lines[2])
        self.assertIn("practice programs", lines[3])
        self.assertEqual(self.stage.bench("endpoints", "--json").document["endpoints"], [OPENAI, PRACTICE])

    def test_add_in_the_forms_that_are_a_contract(self) -> None:
        base = {"name": "x", "base": BASE[1]}  # what is not named stays as it is saved
        cases = [
            (["x", *BASE, "--api", "chat", "--key-stdin"], f"{KEY}\n", base | {"api": "chat", "key": KEY}),
            (
                ["x", *BASE, "--key-stdin", "--profile", "api.far.example"],
                KEY,
                base | {"profile": "api.far.example", "key": KEY},
            ),
            (["x", *BASE, "--key-stdin"], "", base | {"key": ""}),
            (["x", *BASE, "--key-env", "MY_KEY"], "", base | {"key": KEY}),
            (["x", *BASE], "", base),
            (["--key-stdin", *BASE, "x", "--api", "gemini"], "", base | {"api": "gemini", "key": ""}),
            (
                ["x", *BASE, "--no-test", "--default", "--kind", "hub"],
                "",
                base | {"kind": "hub", "test": False, "default": True},
            ),
        ]
        for line, stdin, body in cases:
            with self.subTest(" ".join(line)):
                played = self.stage.bench("endpoint", "add", *line, stdin=stdin.encode(), env={"MY_KEY": KEY})
                self.assertEqual(played.code, 0, played.err)
                self.assertEqual(self.stage.last.body, body)
                self.assertNotIn(KEY, played.out + played.err)
        self.assertIn("saved x\n20 models listed:\n  m0\n", played.out)
        self.assertIn("… and 8 more", played.out)
        self.assertIn("bench model add ALIAS --endpoint x --served ID", played.err)

    def test_an_endpoint_that_was_there_is_changed(self) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            (
                {"base": "http://far/v1", "key": {"set": False}},
                "changed openai: base was https://api.example.com/v1, is http://far/v1; "
                "key was …1234 (file), is none\n",
            ),
            ({"default": False}, "changed openai: default was yes, is no\n"),
            ({}, "openai: as it was\n"),
        ]
        for change, words in cases:
            with self.subTest(words):
                self.stage.replies["POST /api/endpoint"] = {"ok": True, "endpoint": OPENAI | change}
                self.assertEqual(self.stage.bench("endpoint", "add", "openai", *BASE).out, words)

    def test_enter_at_the_prompt_is_no_key(self) -> None:
        with mock.patch("getpass.getpass", return_value=""):
            self.stage.bench("endpoint", "add", "x", *BASE, tty=True)
        self.assertEqual(self.stage.last.body["key"], "")

    def test_keys_that_are_none(self) -> None:
        cases = [
            (["--key-stdin"], f"{KEY}\n{KEY}\n", "is not a key"),
            (["--key-stdin"], "clé", "is not a key"),
            (["--key-env", "UNSET"], "", "UNSET is not set"),
            (["--key-env", "A", "--key-stdin"], "", "not allowed with"),
        ]
        for options, stdin, words in cases:
            with self.subTest(words):
                played = self.stage.bench("endpoint", "add", "x", *BASE, *options, stdin=stdin.encode())
                self.assertEqual((played.code, self.stage.sent), (2, []))
                self.assertIn(words, played.err)
                self.assertNotIn(KEY, played.err)

    def test_test(self) -> None:
        self.assertIn("openai answers", self.stage.bench("endpoint", "test", "openai").out)
        self.stage.replies["POST /api/endpoint/test"] = {
            "ok": True,
            "listing": {"ok": False, "models": [], "note": "refused: 401"},
        }
        played = self.stage.bench("endpoint", "test", "openai")
        self.assertEqual((played.code, played.out), (1, "openai: refused: 401\n"))
        self.assertEqual(self.stage.bench("endpoint", "test", "openai", "--json").code, 1)

    def test_key_default_and_rm(self) -> None:
        cases = [
            (["key", "x", "--key-stdin"], KEY, "/api/endpoint/key", {"name": "x", "key": KEY}),
            (["key", "x", "--key-stdin"], "", "/api/endpoint/key", {"name": "x", "key": ""}),
            (["default", "x"], "", "/api/endpoint/default", {"name": "x"}),
            (["rm", "x"], "", "/api/endpoint/remove", {"name": "x", "with_models": False}),
            (["rm", "x", "--with-models"], "", "/api/endpoint/remove", {"name": "x", "with_models": True}),
        ]
        for line, stdin, path, body in cases:
            with self.subTest(" ".join(line)):
                played = self.stage.bench("endpoint", *line, stdin=stdin.encode())
                self.assertEqual(played.code, 0, played.err)
                self.assertEqual((self.stage.last.path, self.stage.last.body), (path, body))
        self.assertEqual(self.stage.bench("endpoint", "key", "x").code, 2)

    def test_removal_wants_the_name_typed(self) -> None:
        for typed, code in ((b"x\n", 0), (b"y\n", 1), (b"", 1)):
            with self.subTest(typed):
                self.assertEqual(self.stage.bench("endpoint", "rm", "x", stdin=typed, tty=True).code, code)


if __name__ == "__main__":
    unittest.main()
