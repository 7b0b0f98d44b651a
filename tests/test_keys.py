"""Keys, scopes, limits, budgets and login, as callers meet them: a real server that requires keys."""

import http.client
import json
import threading
import unittest

from tests.provider import Provider, text
from tests.running import Running

TOKEN = "an-admin-token-of-some-length"
ASKED = {"messages": [{"role": "user", "content": "hello"}]}
SMALL = {"prompt_tokens": 10, "completion_tokens": 10}
PRICE = {"input": 0, "output": 1000}  # a tenth of a cent for each token that is said


class Keyed(unittest.TestCase):
    """One server and one provider for the class, with collections of one model each, and one of two."""

    environment = {"BENCHWARMERS_REQUIRE_KEYS": "1"}

    @classmethod
    def setUpClass(cls):
        cls.provider = cls.enterClassContext(Provider())
        cls.bench = cls.enterClassContext(Running(**cls.environment))
        for alias in ("aa", "bb", "cheap", "dear", "dark"):
            cls.provider.script(alias, text("said by " + alias, usage=SMALL))
        cls.bench.seat("ca", cls.provider.base, "aa")
        cls.bench.seat("cb", cls.provider.base, "bb")
        cls.bench.seat("cd", cls.provider.base, "dark")
        cls.bench.seat("two", cls.provider.base, "cheap", "dear")
        for alias, price in (("aa", PRICE), ("cheap", PRICE), ("dear", {"input": 0, "output": 10_000})):
            cls.bench.save("/api/model", alias=alias, price=price)

    def key(self, name, *words):
        return self.bench.do("key", "create", name, *words).strip()

    def ask(self, key, model="ca", path="/v1/chat/completions", **more):
        """(status, headers, body) of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.bench.port, timeout=60)
        headers = {"Content-Type": "application/json"}
        headers |= key if isinstance(key, dict) else {"Authorization": f"Bearer {key}"} if key else {}
        body = None if more.get("get") else json.dumps({"model": model, **ASKED, **more})
        connection.request("POST" if body else "GET", path, body, headers)
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, json.loads(said)


class ShownTest(Keyed):
    def test_what_is_no_key_is_told_apart_and_in_the_callers_own_format(self):
        self.key("off")
        off = self.key("off2")
        self.bench.do("key", "disable", "off2")
        gone = self.key("gone")
        self.bench.do("key", "revoke", "gone")
        old = self.key("old")
        self.bench.save("/api/key", name="old", expires="2020-01-01")
        cases = [
            (None, "wants a key"),
            ({"Authorization": "Basic YWJj"}, 'must be "Bearer'),
            ({"Authorization": "bwk_abc"}, 'must be "Bearer'),
            ({"x-api-key": "sk-other"}, "begin with bwk_"),
            ({"Authorization": "Bearer bwl_0123456789abcdef0123456789abcdef"}, "begin with bwk_"),
            (gone, "revoked"),
            (off, "disabled"),
            (old, "expired"),
        ]
        for shown, said in cases:
            with self.subTest(said, shown=shown):
                status, headers, body = self.ask(shown)
                self.assertEqual(status, 401, body)
                self.assertIn(said, body["error"]["message"])
                self.assertIn("Bearer", headers["www-authenticate"])
        shapes = [
            ("/v1/messages", {"max_tokens": 5}, lambda body: body["error"]["type"] == "authentication_error"),
            ("/api/chat", {}, lambda body: "key" in body["error"]),
            (
                "/v1beta/models/ca:generateContent",
                {},
                lambda body: body["error"]["status"] == "UNAUTHENTICATED",
            ),
            ("/v1/responses", {"input": "x"}, lambda body: body["error"]["code"] == "invalid_api_key"),
        ]
        for path, more, right in shapes:
            with self.subTest(path):
                status, _, body = self.ask(None, path=path, **more)
                self.assertTrue(status == 401 and right(body), body)

    def test_a_key_is_taken_in_each_of_its_places(self):
        key = self.key("placed")
        gemini = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
        for headers in ({"Authorization": f"bearer {key}"}, {"x-api-key": key}, {"x-goog-api-key": key}):
            with self.subTest(headers):
                self.assertEqual(self.ask(headers)[0], 200)
        both = {"Authorization": "Bearer bwl_0123456789abcdef0123456789abcdef", "x-api-key": key}
        self.assertEqual(self.ask(both)[0], 200)
        path = f"/v1beta/models/bench/ca:generateContent?key={key}"
        self.assertEqual(self.bench.post(path, gemini)[0], 200)
        self.assertEqual(self.ask(None, path=f"/v1/chat/completions?key={key}")[0], 401)

    def test_a_rotated_key_opens_and_the_old_one_does_not(self):
        old = self.key("turned")
        new = self.bench.do("key", "rotate", "turned").strip()
        self.assertEqual((self.ask(old)[0], self.ask(new)[0]), (401, 200))

    def test_the_key_is_nowhere_on_disk(self):
        key = self.key("secret")
        self.ask(key)
        for path in self.bench.home.rglob("*"):
            if path.is_file():
                self.assertNotIn(key.encode(), path.read_bytes(), path)

    def test_the_dashboard_stays_open_on_this_computer_without_a_token(self):
        self.assertEqual(self.bench.get("/api/status")[0], 200)


class ScopeTest(Keyed):
    def test_a_scoped_key_sees_and_asks_its_own_alone(self):
        key = self.key("app", "--collections", "ca,two", "--modes", "all,route")
        listed = self.ask(key, path="/v1/models", get=True)[2]["data"]
        ids = [one["id"] for one in listed]
        self.assertEqual(ids, ["bench/ca", "bench/ca:route", "bench/two", "bench/two:route"])
        for path in ("/v1beta/models", "/api/tags"):
            names = json.dumps(self.ask(key, path=path, get=True)[2])
            self.assertTrue("bench/ca" in names and "bench/cb" not in names, path)
        for model, status in (("ca", 200), ("ca:route", 200), ("cb", 403), ("ca:merged", 403), ("nope", 403)):
            with self.subTest(model):
                got, _, body = self.ask(key, model)
                self.assertEqual(got, status, body)
                self.assertNotIn("bench/cb", json.dumps(body))
        self.assertEqual(self.ask(key, path="/v1/models/bench/cb", get=True)[0], 403)
        self.assertEqual(self.ask(key, "cb", path="/bench/ask")[0], 403)
        self.assertEqual(self.ask(key, "cb", path="/v1/messages/count_tokens", max_tokens=5)[0], 403)

    def test_verdicts_and_records_are_scoped(self):
        """Fault 17: one app could set another's ranking."""
        mine, other = self.key("judge", "--collections", "ca"), self.key("other", "--collections", "cb")
        call = self.ask(other, "cb")[2]["bench"]["seats"][0]["call"]
        own = self.ask(mine)[2]["bench"]["seats"][0]["call"]
        judge = {"call": call, "useful": True}
        self.assertEqual(self.ask(mine, path="/bench/verdict", **judge)[0], 403)
        self.assertEqual(self.ask(mine, path="/bench/verdict", call=call, withdrawn=True)[0], 403)
        self.assertEqual(self.ask(mine, path="/bench/pending", calls=[own, call])[0], 403)
        self.assertEqual(self.ask(mine, path="/bench/record?collection=cb", get=True)[0], 403)
        self.assertEqual(self.ask(mine, path="/bench/record?collection=ca", get=True)[0], 200)
        self.assertEqual(self.ask(mine, path="/bench/pending", calls=[own])[2], {"pending": [own]})
        self.assertEqual(self.ask(other, path="/bench/verdict", **judge)[0], 200)

    def test_models_outside_the_scope_do_not_answer(self):
        key = self.key("cheapskate", "--models", "cheap,aa")
        seats = self.ask(key, "two")[2]["bench"]
        self.assertEqual([seat["alias"] for seat in seats["seats"]], ["cheap"])
        self.assertEqual([skip["alias"] for skip in seats["skipped"]], ["dear"])
        self.assertEqual(self.ask(key, "two:route")[2]["bench"]["alias"], "cheap")
        self.assertEqual(self.ask(key, "cb:route")[0], 403)
        self.assertEqual(self.ask(key, "ca", **{"with": ["bb"]})[0], 403)

    def test_conversations_and_launches_are_their_keys_own(self):
        one, other = self.key("one"), self.key("two")
        turns = {"messages": [*ASKED["messages"], {"role": "assistant", "content": "a"}, *ASKED["messages"]]}
        talks = [self.ask(key, "ca:route", **turns)[2]["bench"]["conversation"] for key in (one, one, other)]
        self.assertEqual((talks[0] == talks[1], talks[1] == talks[2]), (True, False))
        token = "bwl_0123456789abcdef0123456789abcdef"
        self.ask({"Authorization": f"Bearer {one}", "X-Bench-Launch": token}, "ca:route")
        told = [
            self.ask(key, path=f"/bench/launch?token={token}", get=True)[2]["calls"] for key in (one, other)
        ]
        self.assertEqual(told, [1, 0])


class SlowLimitTest(Keyed):
    def test_requests_a_minute(self):
        key = self.key("slow", "--rpm", "2")
        first, second, third = (self.ask(key) for _ in range(3))
        self.assertEqual([first[0], second[0], third[0]], [200, 200, 429])
        self.assertEqual(first[1]["x-ratelimit-limit-requests"], "2")
        self.assertEqual(
            (first[1]["x-ratelimit-remaining-requests"], second[1]["x-ratelimit-remaining-requests"]),
            ("1", "0"),
        )
        self.assertLessEqual(int(third[1]["retry-after"]), 60)
        self.assertGreater(int(third[1]["retry-after"]), 0)
        self.assertEqual(self.ask(key, path="/v1/models", get=True)[0], 200)
        anthropic = self.ask(key, path="/v1/messages", max_tokens=5)
        self.assertEqual((anthropic[0], anthropic[2]["error"]["type"]), (429, "rate_limit_error"))
        self.assertEqual(anthropic[1]["anthropic-ratelimit-requests-remaining"], "0")

    def test_tokens_a_minute(self):
        key = self.key("brief", "--tpm", "50")
        answers = [self.ask(key) for _ in range(4)]
        self.assertEqual([status for status, _, _ in answers], [200, 200, 200, 429])
        self.assertIn("tokens a minute", answers[-1][2]["error"]["message"])
        big = [{"role": "user", "content": "word " * 200}]
        status, headers, _ = self.ask(self.key("tiny", "--tpm", "50"), messages=big)
        self.assertEqual((status, headers["x-should-retry"]), (429, "false"))


class SlowBudgetTest(Keyed):
    def test_a_spent_budget_is_a_402_that_says_when_it_renews(self):
        key = self.key("poor", "--budget", "0.05usd/month")
        self.assertEqual(self.ask(key, max_tokens=20)[0], 200)  # 0.01 of 0.05, held at 0.02
        self.assertEqual(self.ask(key, max_tokens=41)[0], 402)
        for model in ("ca", "ca:route"):
            status, _, body = self.ask(key, model, max_tokens=1000)
            self.assertEqual((status, body["error"]["code"]), (402, "budget_exceeded"), body)
            self.assertIn("$0.04 left of $0.05 a month", body["error"]["message"].replace("0.040", "0.04"))
            self.assertIn("renews at", body["error"]["message"])
        anthropic = self.ask(key, path="/v1/messages", max_tokens=1000)
        self.assertEqual((anthropic[0], anthropic[2]["error"]["type"]), (402, "billing_error"))
        self.assertIn("$0.01", self.bench.do("key", "show", "poor"))

    def test_what_is_spent_outlives_the_server(self):
        key = self.key("lasting", "--budget", "0.02usd/total")
        self.assertEqual([self.ask(key, max_tokens=10)[0] for _ in range(3)], [200, 200, 402])
        self.bench.stop()
        self.bench.process.stdout.close()
        self.bench.start()
        self.assertEqual(self.ask(key, max_tokens=10)[0], 402)

    def test_an_unknown_cost_is_no_free_lunch(self):
        strict = self.key("strict", "--budget", "5usd/month")
        easy = self.key("easy", "--budget", "5usd/month", "--unknown-cost", "allow")
        for model in ("cd", "cd:route"):
            status, _, body = self.ask(strict, model)
            self.assertEqual(status, 402)
            self.assertIn("no known price", body["error"]["message"])
            self.assertEqual(self.ask(easy, model)[0], 200)

    def test_a_hundred_at_once_do_not_overspend(self):
        key = self.key("crowd", "--budget", "0.10usd/day")
        statuses, threads = [], []
        for _ in range(40):
            threads.append(threading.Thread(target=lambda: statuses.append(self.ask(key, max_tokens=10)[0])))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(set(statuses), {200, 402})
        self.assertLessEqual(statuses.count(200), 10)
        told = self.bench.get("/api/keys?name=crowd")[1]["keys"][0]
        self.assertEqual(told["budgets"][0]["held_usd"], 0)
        self.assertAlmostEqual(told["spent"]["day_usd"], statuses.count(200) * 0.01)

    def test_collections_and_the_bench_have_budgets_too(self):
        key = self.key("rich")
        self.bench.do("budget", "set", "0usd/day", "--collection", "ca")
        self.assertEqual((self.ask(key)[0], self.ask(key, "cb")[0]), (402, 200))
        self.bench.do("budget", "set", "none", "--collection", "ca")
        self.bench.do("budget", "set", "0usd/total")
        self.assertEqual((self.ask(key)[0], self.ask(key, "cb")[0]), (402, 402))
        self.assertIn("the bench", self.bench.do("budget", "show"))
        self.bench.do("budget", "set", "none")
        self.assertEqual(self.ask(key)[0], 200)

    def test_a_request_may_bring_its_own(self):
        key = self.key("careful")
        status, _, body = self.ask(key, "two", max_tokens=10, bench={"budget": 0.05})
        self.assertEqual((status, [seat["alias"] for seat in body["bench"]["seats"]]), (200, ["cheap"]))
        skipped = body["bench"]["skipped"][0]
        self.assertEqual(skipped["alias"], "dear")
        self.assertIn("this request", skipped["why"])
        status, _, body = self.ask(key, "two:route", max_tokens=10, bench={"budget": 0.05})
        self.assertEqual((status, body["bench"]["alias"]), (200, "cheap"))
        for model in ("two", "two:route"):
            self.assertEqual(self.ask(key, model, max_tokens=10, bench={"budget": 0.001})[0], 402)
        self.assertEqual(self.ask(key, bench={"budget": "much"})[0], 400)

    def test_what_would_happen_can_be_asked(self):
        self.key("asker", "--collections", "ca,two", "--models", "aa,dear", "--budget", "3usd/month")
        cases = [("ca", 0, "200"), ("cb", 1, "403"), ("two", 1, "402"), ("nope", 1, "403")]
        for model, code, status in cases:
            with self.subTest(model):
                done = self.bench.cli("key", "effective", "asker", "--model", model)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.assertIn(status, done.stdout)


class SlowLoginTest(Keyed):
    environment = {"BENCHWARMERS_ADMIN_TOKEN": TOKEN, "BENCH_BIND": "0.0.0.0"}

    @classmethod
    def setUpClass(cls):
        cls.bench = cls.enterClassContext(Running(**cls.environment))

    def call(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.bench.port, timeout=60)
        sent = None if body is None else json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, sent, {"Content-Type": "application/json", **named})
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), said

    def test_a_browser_signs_in_and_out(self):
        status, headers, _ = self.call("GET", "/", Accept="text/html")
        self.assertEqual((status, headers["Location"]), (303, "/login"))
        self.assertIn(b"Admin token", self.call("GET", "/login", Accept="text/html")[2])
        self.assertEqual(self.call("GET", "/ui/login.css")[0], 200)
        self.assertEqual(self.call("GET", "/api/status")[0], 401)
        status, headers, _ = self.call("POST", "/login", {"token": TOKEN})
        cookie = headers["Set-Cookie"]
        self.assertEqual(status, 200)
        for part in ("HttpOnly", "SameSite=Strict", "Max-Age=604800", "Path=/"):
            self.assertIn(part, cookie)
        session = cookie.partition(";")[0]
        self.assertEqual(self.call("GET", "/api/status", Cookie=session)[0], 200)
        self.assertEqual(self.call("GET", "/", Accept="text/html", Cookie=session)[0], 200)
        self.assertEqual(self.call("POST", "/logout", {}, Cookie=session)[0], 200)
        self.assertEqual(self.call("GET", "/api/status", Cookie=session)[0], 401)

    def test_the_two_doors_have_two_keys(self):
        made = self.call("POST", "/api/key/create", {"name": "app"}, Authorization=f"Bearer {TOKEN}")
        key = json.loads(made[2])["key"]
        for path, shown, status in (
            ("/api/status", key, 401),
            ("/api/status", TOKEN, 200),
            ("/v1/models", key, 200),
            ("/v1/models", TOKEN, 401),
            ("/v1/models", None, 401),
            ("/health", None, 200),
        ):
            with self.subTest(path, shown=shown):
                headers = {"Authorization": f"Bearer {shown}"} if shown else {}
                self.assertEqual(self.call("GET", path, **headers)[0], status)
        self.assertEqual(self.call("GET", "/")[2], b"Ollama is running")

    def test_a_host_of_numbers_is_served_and_a_strange_name_is_not(self):
        cases = [
            ("10.1.2.3:8122", "/login", 200),
            ("evil.example", "/login", 403),
            ("evil.example", "/v1/models", 403),
            ("evil.example", "/health", 200),  # whoever hosts it asks by a name of its own
        ]
        for host, path, status in cases:
            with self.subTest(host, path=path):
                self.assertEqual(self.call("GET", path, Host=host)[0], status)

    def refused_in_the_end(self, act):
        """The first 429 of a caller who keeps trying: how soon it comes depends on how fast they are."""
        for _ in range(100):
            status, said = act()
            if status == 429:
                return said["error"]["message"]
            self.assertEqual(status, 401)
        return self.fail("a hundred were all looked at")

    def test_many_wrong_tokens_have_to_wait(self):
        """Fault 18: 50 wrong tokens in a row were all answered at once."""
        with Running(BENCHWARMERS_ADMIN_TOKEN=TOKEN) as bench:
            told = self.refused_in_the_end(lambda: bench.post("/login", {"token": "wrong"}))
            self.assertRegex(told, r"looked at in \d+ s")
            self.refused_in_the_end(lambda: bench.get("/api/status", Authorization="Bearer wrong"))

    def test_many_wrong_keys_have_to_wait_and_a_right_one_does_not(self):
        with Running(BENCHWARMERS_REQUIRE_KEYS="1") as bench:
            key = bench.do("key", "create", "good").strip()
            for wrong in ("bwk_wrong", "sk-placeholder"):
                show = {"Authorization": f"Bearer {wrong}"}
                told = self.refused_in_the_end(lambda show=show: bench.get("/v1/models", **show))
                self.assertRegex(told, r"looked at in \d+ s")
            self.assertEqual(bench.get("/v1/models", Authorization=f"Bearer {key}")[0], 200)


if __name__ == "__main__":
    unittest.main()
