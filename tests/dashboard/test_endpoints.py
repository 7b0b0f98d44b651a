import unittest
from typing import Any
from unittest import mock

from metrics.bench import credentials, endpoints, roster
from metrics.bench.catalog import book
from metrics.dashboard import endpoints as handlers
from metrics.records import Price, Problem
from tests.dashboard.api import ApiCase
from tests.provider import Answer, Provider, body, error, garbage

KEY = "key-of-a-test-7f3a"


class Endpoints(ApiCase):
    routes = handlers.HANDLERS

    def setUp(self) -> None:
        super().setUp()
        self.provider = self.enterContext(Provider(("m1", "m2")))

    def script(self, *answers: Answer) -> None:
        self.provider.script("/v1/models", *answers)

    def add(self, **more: Any) -> Any:
        return self.post("/api/endpoint", {"name": "box", "base": self.provider.base, **more})

    def test_added_with_its_list(self) -> None:
        reply = self.add()
        self.assertEqual(reply["listing"], {"ok": True, "models": ["m1", "m2"], "total": 2, "note": ""})
        self.assertEqual(
            reply["endpoint"],
            {
                "name": "box",
                "base": self.provider.base,
                "api": "chat",
                "profile": "",
                "kind": "provider",
                "default": False,
                "builtin": False,
                "key": {"set": False, "source": None, "hint": None},
                "models": 0,
            },
        )
        self.assertEqual(len(self.provider.requests), 1)

    def test_the_key_is_kept_apart_and_never_shown(self) -> None:
        reply = self.add(key=KEY)
        self.assertEqual(reply["endpoint"]["key"], {"set": True, "source": "file", "hint": "7f3a"})
        shown = [
            self.ask("GET", "/api/endpoints"),
            self.ask("POST", "/api/endpoint/test", {"name": "box"}),
            reply,
        ]
        self.assertNotIn(KEY, str(shown))
        for name in ("endpoints.json", "changes.jsonl"):
            self.assertNotIn(KEY, self.text(name))
        self.assertIn(KEY, self.text("credentials.json"))

    def test_a_second_list_without_the_key_tells_whether_it_was_checked(self) -> None:
        self.assertIn("open to everybody", self.add(key=KEY)["listing"]["note"])
        sent = [request.headers.get("authorization") for request in self.provider.requests]
        self.assertEqual(sent, [f"Bearer {KEY}", None])
        self.script(body({"data": [{"id": "m1"}]}), error(401, "no key"))
        self.assertEqual(self.add(key=KEY)["listing"]["note"], "the key was checked")

    def test_each_api_is_asked_for_its_own_list_and_the_key_where_it_belongs(self) -> None:
        root = self.provider.base.removesuffix("/v1")
        openai, google = {"data": [{"id": "m1"}]}, {"models": [{"name": "models/m1"}]}
        cases: list[tuple[str, str, str, Any, str, str]] = [
            ("chat", "/v1", "/v1/models", openai, "authorization", f"Bearer {KEY}"),
            ("responses", "/v1", "/v1/models", openai, "authorization", f"Bearer {KEY}"),
            ("anthropic", "", "/v1/models", openai, "x-api-key", KEY),
            ("gemini", "/v1beta", "/v1beta/models", google, "x-goog-api-key", KEY),
            ("ollama", "", "/api/tags", {"models": [{"name": "m1"}]}, "authorization", f"Bearer {KEY}"),
        ]
        for api, tail, path, listing, header, sent in cases:
            with self.subTest(api):
                self.provider.script(path, body(listing), error(401, "no key"))
                self.provider.requests.clear()
                form = {"name": api, "base": root + tail, "api": api, "key": KEY}
                reply = self.post("/api/endpoint", form)
                self.assertEqual(reply["endpoint"]["api"], api)
                self.assertEqual(
                    reply["listing"],
                    {"ok": True, "models": ["m1"], "total": 1, "note": "the key was checked"},
                )
                first, second = self.provider.requests
                self.assertEqual((first.path.partition("?")[0], first.headers.get(header)), (path, sent))
                self.assertNotIn(KEY, f"{first.path}{second.path}{second.headers}")
                self.provider.script(path, body(listing))
                again = self.post("/api/endpoint/test", {"name": api})["listing"]
                self.assertEqual((again["models"], "open to everybody" in again["note"]), (["m1"], True))
        listed = {one["name"]: one["api"] for one in self.get("/api/endpoints")["endpoints"]}
        self.assertEqual(listed, {api: api for api, *_ in cases})
        kept = self.post("/api/endpoint", {"name": "gemini", "base": f"{root}/v1beta"})
        self.assertEqual(kept["endpoint"]["api"], "gemini", "an edit keeps the api it does not name")

    def test_what_is_not_saved(self) -> None:
        cases = [
            ([error(401, "bad key")], KEY, 400, "refuses this key (HTTP 401)"),
            ([error(403, "no")], KEY, 400, "refuses this key (HTTP 403)"),
            ([error(401, "key?")], None, 400, "wants a key"),
            ([error(500, "broken")], None, 502, "cannot be listed"),
            ([garbage()], None, 502, "cannot be listed"),
            ([body({"hello": 1})], None, 502, "is no list of models"),
        ]
        for answers, key, status, words in cases:
            with self.subTest(words, key=key):
                self.script(*answers)
                form = {"name": "box", "base": self.provider.base, **({"key": key} if key else {})}
                sentence = self.refused("/api/endpoint", form, status)
                self.assertIn(words, sentence)
                self.assertIn("--no-test", sentence)
                self.assertNotIn("--api", sentence)
        self.script(error(500, "broken"))
        form = {"name": "box", "base": self.provider.base, "api": "responses"}
        self.assertIn("--api responses --no-test", self.refused("/api/endpoint", form, 502))
        self.assertEqual((endpoints.all(), self.text("credentials.json")), ({}, ""))

    def test_unreachable(self) -> None:
        self.provider.stop()
        form = {"name": "box", "base": self.provider.base}
        self.assertIn("cannot be listed", self.refused("/api/endpoint", form, 502))
        self.assertEqual(endpoints.all(), {})
        reply = self.post("/api/endpoint", {**form, "test": False})
        self.assertEqual(reply["listing"]["note"], "saved without a test")

    def test_saved_without_a_list(self) -> None:
        for status in (404, 405, 501):
            with self.subTest(status):
                self.script(error(status, "no such page"))
                listing = self.add()["listing"]
                self.assertFalse(listing["ok"])
                self.assertIn(f"HTTP {status}", listing["note"])

    def test_a_long_list_is_cut(self) -> None:
        self.script(body({"data": [{"id": f"m{n}"} for n in range(600)]}))
        listing = self.add()["listing"]
        self.assertEqual((len(listing["models"]), listing["total"]), (500, 600))

    def test_what_may_be_chosen_from_is_listed_beside(self) -> None:
        said = self.get("/api/endpoints")
        self.assertEqual(set(said["apis"]), {"chat", "anthropic", "gemini", "responses", "ollama"})
        known = {provider["name"]: provider for provider in said["providers"]}
        self.assertEqual(known["anthropic"]["api"], "anthropic")
        for provider in known.values():
            self.assertTrue(provider["base"].startswith("https://"), provider)
            self.assertIn(provider["api"], said["apis"])

    def test_an_edit_keeps_what_it_does_not_name(self) -> None:
        with mock.patch.dict(endpoints.DIALECTS, {"anthropic": endpoints.DIALECTS["chat"]}):
            self.add(
                api="anthropic", profile="api.anthropic.com", kind="hub", key=KEY, default=True, test=False
            )
            reply = self.post(
                "/api/endpoint", {"name": "box", "base": f"{self.provider.base}/more", "test": False}
            )
        kept = {field: reply["endpoint"][field] for field in ("api", "profile", "kind", "default", "base")}
        self.assertEqual(
            kept,
            {
                "api": "anthropic",
                "profile": "api.anthropic.com",
                "kind": "hub",
                "default": True,
                "base": f"{self.provider.base}/more",
            },
        )
        self.assertEqual(credentials.key("box", {}), KEY)

    def test_a_saved_key_stays_with_its_address(self) -> None:
        other = self.enterContext(Provider(("m3",)))  # the same host, another port
        for given in ({}, {"key": ""}, {"key": None}):
            with self.subTest(given):
                self.add(key=KEY)
                other.requests.clear()
                reply = self.post("/api/endpoint", {"name": "box", "base": other.base, **given})
                self.assertEqual([request.headers.get("authorization") for request in other.requests], [None])
                self.assertFalse(reply["endpoint"]["key"]["set"])
                self.assertEqual(reply["key_dropped"], given.get("key") is None)
                self.assertEqual((reply["change"], reply["was"]), ("changed", {"base": self.provider.base}))
                self.assertIn(f"it led to {self.provider.base} before", reply["listing"]["note"])
                self.assertEqual("is dropped" in reply["listing"]["note"], reply["key_dropped"])
                self.assertNotIn(KEY, self.text("credentials.json"))

    def test_which_addresses_share_a_key(self) -> None:
        cases = [
            ("https://one.test/v1", "https://one.test/v2", True),
            ("https://one.test/v1", "https://ONE.test:443/v1", True),
            ("https://one.test/v1", "http://one.test/v1", False),
            ("https://one.test/v1", "https://one.test:8443/v1", False),
            ("https://one.test/v1", "https://two.test/v1", False),
        ]
        for old, new, kept in cases:
            with self.subTest(new):
                self.post("/api/endpoint", {"name": "box", "base": old, "key": KEY, "test": False})
                reply = self.post("/api/endpoint", {"name": "box", "base": new, "test": False})
                self.assertEqual((reply["key_dropped"], reply["endpoint"]["key"]["set"]), (not kept, kept))

    def test_the_key_of_the_new_address_replaces_the_old(self) -> None:
        self.post("/api/endpoint", {"name": "box", "base": "http://127.0.0.1:9", "key": KEY, "test": False})
        self.assertEqual(self.add(key="another-key-4242")["change"], "changed")
        self.assertEqual(self.provider.requests[0].headers.get("authorization"), "Bearer another-key-4242")
        self.assertEqual(credentials.key("box", {}), "another-key-4242")

    def test_a_key_left_behind_is_not_for_a_new_endpoint(self) -> None:
        self.write("credentials.json", f'{{"box": "{KEY}"}}')
        reply = self.add()
        self.assertEqual((reply["change"], reply["key_dropped"]), ("new", True))
        self.assertEqual(self.provider.requests[0].headers.get("authorization"), None)

    def test_a_refused_move_keeps_all_as_it_was(self) -> None:
        self.add(key=KEY)
        self.refused("/api/endpoint", {"name": "box", "base": "http://127.0.0.1:9"}, 502)
        self.assertEqual((endpoints.get("box").base, credentials.key("box", {})), (self.provider.base, KEY))
        self.assertEqual(self.add()["change"], "same")

    def test_a_key_of_the_environment_is_told(self) -> None:
        self.add()
        with mock.patch.dict("os.environ", {credentials.variable("box"): KEY}):
            form = {"name": "box", "base": "http://127.0.0.1:9", "test": False}
            self.assertIn("BENCHWARMERS_KEY_BOX is sent", self.post("/api/endpoint", form)["listing"]["note"])

    def test_models_are_not_led_to_another_provider(self) -> None:
        groq, openai = "https://api.groq.com/openai/v1", "https://api.openai.com/v1"
        self.post("/api/endpoint", {"name": "fast", "base": groq, "test": False})
        self.post("/api/endpoint", {"name": "fast", "base": openai, "test": False})
        self.seat_models("alpha", endpoint="fast")
        form = {"name": "fast", "base": groq, "test": False}
        self.assertIn("another name", self.refused("/api/endpoint", form, 409))
        self.assertEqual(endpoints.get("fast").base, openai)

    def test_a_known_runtime_is_local(self) -> None:
        reply = self.post(
            "/api/endpoint", {"name": "ollama", "base": "http://localhost:11434/v1", "test": False}
        )
        self.assertEqual(reply["endpoint"]["kind"], "local")

    def test_what_the_list_says_of_a_model_is_known_from_then_on(self) -> None:
        listed = {
            "data": [{"id": "m1", "max_model_len": 4096, "pricing": {"prompt": "0", "completion": "0"}}]
        }
        self.script(body(listed))
        self.add()
        self.seat_models("m1", endpoint="box")
        model = roster.get("m1")
        self.assertEqual((model.context, model.price), (4096, Price(0, 0, source="listing")))
        self.post("/api/endpoint/remove", {"name": "box", "with_models": True})
        self.assertNotIn("box", book.book().listings)

    def test_key_default_and_remove(self) -> None:
        self.add()
        self.assertTrue(self.post("/api/endpoint/key", {"name": "box", "key": KEY})["endpoint"]["key"]["set"])
        self.assertFalse(self.post("/api/endpoint/key", {"name": "box", "key": ""})["endpoint"]["key"]["set"])
        self.assertTrue(self.post("/api/endpoint/default", {"name": "box"})["endpoint"]["default"])
        self.seat_models("alpha", endpoint="box")
        self.assertEqual(self.get("/api/endpoints")["endpoints"][0]["models"], 1)
        self.assertIn("--with-models", self.refused("/api/endpoint/remove", {"name": "box"}, 409))
        self.assertEqual(
            self.post("/api/endpoint/remove", {"name": "box", "with_models": True})["retired"], ["alpha"]
        )
        self.assertEqual((self.get("/api/endpoints")["endpoints"], roster.all()), ([], {}))

    def test_nonsense(self) -> None:
        steps = ("", "/test", "/key", "/default", "/remove")
        self.refuses_nonsense(*(f"/api/endpoint{step}" for step in steps))
        fields: dict[str, list[Any]] = {
            "name": [5, [], "X", "a", None],
            "base": [5, [], "", "ftp://x", "http://u:p@x/v1", "http://x/v1?a=b"],
            "api": [5, [], "soap"],
            "profile": [5, [], "http://x", "a b"],
            "kind": [5, "cloud"],
            "key": [5, [], {}, "two words"],
            "test": ["no", 0],
            "default": ["yes", 1],
        }
        for field, values in fields.items():
            for value in values:
                with self.subTest(field=field, value=value):
                    self.refused("/api/endpoint", {"name": "box", "base": self.provider.base, field: value})
        self.assertIn('"base" is missing', self.refused("/api/endpoint", {"name": "box"}))
        for step in steps[1:]:
            with self.subTest(step):
                form = {"name": "nobody", **({"key": KEY} if step == "/key" else {})}
                self.assertIn("none yet", self.refused(f"/api/endpoint{step}", form, 404))
        self.assertEqual(endpoints.all(), {})

    def test_the_squad_is_listed_and_left_alone(self) -> None:
        self.seat_squad("practice-lint")
        listed = self.get("/api/endpoints")["endpoints"]
        self.assertEqual(
            [(one["name"], one["builtin"], one["models"]) for one in listed], [("practice", True, 1)]
        )
        for step, more in (("", {"base": "http://127.0.0.1:9"}), ("/key", {"key": KEY}), ("/remove", {})):
            with self.subTest(step):
                self.assertIn("built", self.refused(f"/api/endpoint{step}", {"name": "practice", **more}))


class SecondList(unittest.TestCase):
    def test_an_unclear_answer_says_nothing_of_the_key(self) -> None:
        tried: list[str | None] = []

        def lister(key: str | None) -> list[dict[str, Any]]:
            tried.append(key)
            if key is None:
                raise Problem(503, "busy")
            return []

        listing = handlers.listed(endpoints.Endpoint("box", "http://127.0.0.1:9"), "k", lister)
        self.assertEqual((tried, listing["note"]), (["k", None], ""))


if __name__ == "__main__":
    unittest.main()
