"""The dashboard's doors, tried one by one on a real server: what a page of another site, a judge, a key, a
forged host or a path that climbs can do. Nothing."""

import http.client
import itertools
import json
import re
import socket
import unittest
from pathlib import Path
from typing import Any

import serve
from tests.running import ROOT, Running

TOKEN = "an-admin-token-of-some-length"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
JSON = "application/json"
ROUTES = tuple(serve.routes(False))
API = tuple(route for route in ROUTES if route.guard == "api")
PAGES = ("/", *serve.PAGES, "/login")
STREAMS = ("/api/events", "/api/backup")  # that go on, or are large


def path_of(pattern: str) -> str:
    """An address that a pattern answers for."""
    return (
        re.sub(r"\{file\*\}", "app.js", re.sub(r"\{version\}", "v1beta", pattern))
        .replace("{", "")
        .replace("}", "")
        .replace("*", "")
    )


class Guarded(unittest.TestCase):
    """One server that asks who is there and wants keys, an admin's session, a judge's, and a key."""

    callers = itertools.count(1)
    bench: Running
    admin: str
    judge: str
    key: str

    @classmethod
    def ask(cls, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any, bytes]:
        """(status, headers, body) of one request; a reply that goes on is left after its first bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", cls.bench.port, timeout=30)
        sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if sent is not None:
            named.setdefault("Content-Type", JSON)
        # Each from an address of its own, as a trusted proxy would say: wrong tries have to wait otherwise.
        named.setdefault("X-Forwarded-For", "10.{}.{}.{}".format(*next(cls.callers).to_bytes(3, "big")))
        try:
            connection.request(method, path, sent, {k: v for k, v in named.items() if v})
            answer = connection.getresponse()
            streams = path.partition("?")[0] in STREAMS and answer.status == 200
            return answer.status, answer.headers, b"" if streams else answer.read()
        finally:
            connection.close()

    @staticmethod
    def cookie(headers: Any) -> str:
        return str(headers["Set-Cookie"]).partition(";")[0]

    def tries(self, method: str, pattern: str, **headers: str) -> int:
        body = None if method == "GET" else b"{}"
        return self.ask(method, path_of(pattern), body, **headers)[0]


def setUpModule() -> None:
    """One server for all of it."""
    Guarded.bench = unittest.enterModuleContext(
        Running(
            BENCHWARMERS_ADMIN_TOKEN=TOKEN,
            BENCHWARMERS_REQUIRE_KEYS="1",
            BENCH_TRUSTED_PROXIES="127.0.0.1",
        )
    )
    owner = {"Authorization": f"Bearer {TOKEN}"}
    Guarded.admin = Guarded.cookie(Guarded.ask("POST", "/login", {"token": TOKEN})[1])
    link = json.loads(Guarded.ask("POST", "/api/invitation", {"name": "anna"}, **owner)[2])["link"]
    shown = {"invitation": link.partition("#invitation=")[2]}
    Guarded.judge = Guarded.cookie(Guarded.ask("POST", "/login", shown)[1])
    Guarded.key = json.loads(Guarded.ask("POST", "/api/key/create", {"name": "app"}, **owner)[2])["key"]


class Roles(Guarded):
    def test_a_judge_is_refused_every_route_that_is_for_admins_with_words(self) -> None:
        refused = [route for route in API if route.who != "judge"]
        self.assertGreater(len(refused), 25)
        for route in refused:
            with self.subTest(route.method, pattern=route.pattern):
                body = None if route.method == "GET" else b"{}"
                status, _, said = self.ask(route.method, path_of(route.pattern), body, Cookie=self.judge)
                self.assertEqual(status, 403, said)
                self.assertIn(b"a judge reads", said)

    def test_what_a_judge_may_changes_nothing_but_verdicts(self) -> None:
        writes = {route.pattern for route in API if route.who == "judge" and route.method != "GET"}
        self.assertEqual(writes, {"/api/verdict", "/api/seats", "/api/route"})  # the last two ask nobody
        for route in API:
            if route.who == "judge":
                with self.subTest(route.pattern):
                    self.assertNotIn(self.tries(route.method, route.pattern, Cookie=self.judge), (401, 403))

    def test_who_shows_nothing_gets_nothing(self) -> None:
        for route in API:
            with self.subTest(route.method, pattern=route.pattern):
                self.assertEqual(self.tries(route.method, route.pattern), 401)

    def test_verdicts_say_whose_they_are(self) -> None:
        body = {"model": "core", "messages": [{"role": "user", "content": "x == None"}]}
        self.ask("POST", "/v1/chat/completions", body, Authorization=f"Bearer {self.key}")
        panels = json.loads(self.ask("GET", "/api/log", Cookie=self.judge)[2])["panels"]
        call = panels[0]["seats"][0]["call"]
        for cookie, name in ((self.judge, "anna"), (self.admin, "admin")):
            given = {"call": call, "useful": name == "anna"}
            status, _, said = self.ask("POST", "/api/verdict", given, Cookie=cookie)
            self.assertEqual((status, json.loads(said)["verdict"]["by"]), (200, name))


class Mixing(Guarded):
    def test_a_session_never_opens_the_gateway(self) -> None:
        gateway = [route for route in ROUTES if route.guard == "gateway"]
        self.assertGreater(len(gateway), 30)
        secret = self.admin.partition("=")[2]
        for route in gateway:
            for shown in (
                {"Cookie": self.admin},
                {"Authorization": f"Bearer {secret}"},
                {"x_api_key": TOKEN},
            ):
                with self.subTest(route.pattern, shown=list(shown)):
                    self.assertEqual(self.tries(route.method, route.pattern, **shown), 401)

    def test_a_key_never_opens_the_dashboard(self) -> None:
        ways = (
            {"Authorization": f"Bearer {self.key}"},
            {"x_api_key": self.key},
            {"Cookie": f"bw_session={self.key}"},
        )
        for shown in ways:
            for route in API:
                with self.subTest(route.pattern, shown=list(shown)):
                    self.assertEqual(self.tries(route.method, route.pattern, **shown), 401)
            with self.subTest("page", shown=list(shown)):
                self.assertEqual(self.ask("GET", "/panels", Accept="text/html", **shown)[0], 303)
                self.assertEqual(self.ask("POST", "/login", {"token": self.key}, **shown)[0], 401)
                self.ask("POST", "/login", {"token": TOKEN})  # else this address would have to wait

    def test_nothing_that_is_secret_is_in_a_reply(self) -> None:
        secrets = [each.partition("=")[2].encode() for each in (self.admin, self.judge)]
        secrets += [self.key.encode(), TOKEN.encode()]
        for route in API:
            if route.method == "GET":
                _, headers, said = self.ask("GET", path_of(route.pattern), Cookie=self.admin)
                for secret in secrets:
                    self.assertNotIn(secret, said + str(headers).encode(), route.pattern)


class OtherSites(Guarded):
    """With an admin's cookie, as if the browser had sent it along."""

    def strangers(self) -> list[dict[str, str]]:
        port = self.bench.port
        origins = [
            "https://evil.example",
            "null",
            f"http://127.0.0.1:{port + 1}",
            f"https://127.0.0.1:{port}",
            f"http://localhost:{port}",
            f"http://127.0.0.1:{port}.evil.example",
        ]
        sites = [{"Sec_Fetch_Site": site} for site in ("cross-site", "same-site")]
        return [*({"Origin": origin} for origin in origins), *sites]

    def test_another_site_neither_reads_nor_writes(self) -> None:
        for stranger in self.strangers():
            for route in API:
                with self.subTest(route.pattern, **stranger):
                    body = None if route.method == "GET" else b"{}"
                    path = path_of(route.pattern)
                    status, headers, _ = self.ask(route.method, path, body, Cookie=self.admin, **stranger)
                    self.assertEqual(status, 403)
                    self.assertIsNone(headers["Access-Control-Allow-Origin"])

    def test_another_site_cannot_sign_anybody_in_or_out(self) -> None:
        for stranger in self.strangers():
            for path, body in (("/login", {"token": TOKEN}), ("/logout", {})):
                with self.subTest(path, **stranger):
                    status, headers, _ = self.ask("POST", path, body, Cookie=self.judge, **stranger)
                    self.assertEqual((status, headers["Set-Cookie"]), (403, None))
        self.assertEqual(self.tries("GET", "/api/status", Cookie=self.judge), 200)

    def test_no_form_is_taken(self) -> None:
        forms = ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "")
        here = f"http://127.0.0.1:{self.bench.port}"
        for kind in forms:
            for marks in ({"Origin": here}, {"Sec_Fetch_Site": "same-origin"}, {}):
                with self.subTest(kind, **marks):
                    shown = {"Cookie": self.admin, "Content_Type": kind, **marks}
                    for path in ("/api/settings", "/api/key/revoke", "/login", "/logout"):
                        self.assertEqual(self.ask("POST", path, b'{"name": "app"}', **shown)[0], 415, path)
        self.assertEqual(self.tries("GET", "/api/status", Cookie=self.admin), 200)

    def test_no_preflight_lets_a_stranger_in(self) -> None:
        for origin in ("https://evil.example", "null"):
            asked = {"Origin": origin, "Access_Control_Request_Method": "POST"}
            status, headers, _ = self.ask("OPTIONS", "/api/settings", **asked)
            self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (403, None))

    def test_a_name_that_was_bound_to_this_address_is_not_served(self) -> None:
        hosts = ("evil.example", f"evil.example:{self.bench.port}", "127.0.0.1.evil.example", "0.0.0.0", "")
        paths = [*PAGES, "/ui/app.js", "/api/status", "/v1/models", "/health", "/nothing"]
        for host in hosts:
            for path in paths:
                with self.subTest(host, path=path):
                    status, headers, _ = self.raw(path, f"Host: {host}", f"Cookie: {self.admin}")
                    self.assertEqual((status, headers.get("location")), (403, None))

    def raw(self, target: str, *lines: str) -> tuple[int, dict[str, str], bytes]:
        """A request as it is written here, nothing made plain on the way."""
        return raw(self.bench.port, target, *lines)


def raw(port: int, target: str, *lines: str) -> tuple[int, dict[str, str], bytes]:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        head = "\r\n".join([f"GET {target} HTTP/1.1", *lines, "Connection: close", "", ""])
        line.sendall(head.encode("latin-1"))
        said = b"".join(iter(lambda: line.recv(65_536), b""))
    first, _, body = said.partition(b"\r\n\r\n")
    status, *fields = first.decode("latin-1").split("\r\n")
    return int(status.split()[1]), {n.lower(): v for n, _, v in (f.partition(": ") for f in fields)}, body


class Headers(Guarded):
    def test_every_page_and_file_says_the_same_policy_and_stands_in_no_frame(self) -> None:
        names = sorted(path.relative_to(ROOT / "ui") for path in (ROOT / "ui").rglob("*.html"))
        for path in (*PAGES, "/ui/app.js", "/ui/tokens.css", *(f"/ui/{name.as_posix()}" for name in names)):
            with self.subTest(path):
                status, headers, _ = self.ask("GET", path, Accept="text/html", Cookie=self.admin)
                self.assertEqual(status, 200)
                self.assertEqual(headers.get_all("Content-Security-Policy"), [POLICY])
                self.assertEqual(headers["X-Frame-Options"], "DENY")
                self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
                self.assertEqual(headers["Referrer-Policy"], "no-referrer")
                self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")

    def test_what_is_private_is_kept_by_no_cache_and_framed_by_no_page(self) -> None:
        for route in API:
            for cookie in (self.admin, ""):
                with self.subTest(route.pattern, signed_in=bool(cookie)):
                    body = None if route.method == "GET" else b"{}"
                    _, headers, _ = self.ask(route.method, path_of(route.pattern), body, Cookie=cookie)
                    self.assertEqual(headers.get_all("Cache-Control"), ["no-store"])
                    self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
                    self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")
                    self.assertIsNone(headers["Set-Cookie"])

    def test_the_cookie_is_for_the_browser_alone(self) -> None:
        for proto, secure in (("https", True), ("http", False), ("", False)):
            with self.subTest(proto):
                _, headers, _ = self.ask("POST", "/login", {"token": TOKEN}, X_Forwarded_Proto=proto)
                parts = set(headers["Set-Cookie"].split("; ")[1:])
                wanted = {"Path=/", "Max-Age=604800", "HttpOnly", "SameSite=Strict"}
                self.assertEqual(parts, wanted | ({"Secure"} if secure else set()))
                self.assertEqual(headers["Cache-Control"], "no-store")


class Sessions(Guarded):
    def test_nobody_chooses_somebody_elses_session(self) -> None:
        fixed = "bw_session=bws_chosen-by-another-site"
        made = self.cookie(self.ask("POST", "/login", {"token": TOKEN}, Cookie=fixed)[1])
        self.assertNotEqual(made, fixed)
        self.assertEqual(self.tries("GET", "/api/status", Cookie=fixed), 401)
        again = self.cookie(self.ask("POST", "/login", {"token": TOKEN}, Cookie=made)[1])
        self.assertEqual(self.tries("GET", "/api/status", Cookie=made), 401)  # it ended where this one began
        self.assertEqual(self.tries("GET", "/api/status", Cookie=again), 200)

    def test_a_judges_session_that_an_admin_begins_in_is_left(self) -> None:
        link = self.invite("carl")
        judge = self.cookie(self.ask("POST", "/login", {"invitation": link})[1])
        admin = self.cookie(self.ask("POST", "/login", {"token": TOKEN}, Cookie=judge)[1])
        self.assertEqual(self.tries("GET", "/api/sessions", Cookie=judge), 401)
        self.assertEqual(self.tries("GET", "/api/sessions", Cookie=admin), 200)

    def test_what_names_a_session_opens_nothing(self) -> None:
        listed = json.loads(self.ask("GET", "/api/sessions", Cookie=self.admin)[2])["sessions"]
        for one in listed:
            for shown in (one["id"], f"bws_{one['id']}"):
                self.assertEqual(self.tries("GET", "/api/status", Cookie=f"bw_session={shown}"), 401)

    def test_an_invitation_is_used_once_by_whoever_comes_first_and_by_no_reader(self) -> None:
        secret = self.invite("dora")
        for _ in range(2):
            self.ask("GET", f"/login?invitation={secret}", Accept="text/html")
        got = [self.ask("POST", "/login", {"invitation": secret})[0] for _ in range(3)]
        self.assertEqual(got, [200, 401, 401])

    def test_a_stream_ends_with_its_session(self) -> None:
        mine = self.cookie(self.ask("POST", "/login", {"token": TOKEN})[1])
        connection = http.client.HTTPConnection("127.0.0.1", self.bench.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request("GET", "/api/events", headers={"Cookie": mine})
        stream = connection.getresponse()
        self.assertEqual(json.loads(stream.readline())["event"], "hello")
        self.ask("POST", "/logout", {}, Cookie=mine)
        self.ask("POST", "/api/settings", {"max_calls": 4}, Cookie=self.admin)  # news, which it is not told
        told = [json.loads(line) for line in stream.read().splitlines()]
        self.assertEqual([(one["event"], one.get("why")) for one in told], [("end", "signed_out")])

    def invite(self, name: str) -> str:
        _, _, said = self.ask("POST", "/api/invitation", {"name": name}, Cookie=self.admin)
        return str(json.loads(said)["link"].partition("#invitation=")[2])


class Files(Guarded):
    CLIMBS = (
        "/ui/../requirements-dev.txt",
        "/ui/..%2frequirements-dev.txt",
        "/ui/%2e%2e/requirements-dev.txt",
        "/ui/%2e%2e%2frequirements-dev.txt",
        "/ui/%252e%252e%252frequirements-dev.txt",
        "/ui/..%252frequirements-dev.txt",
        "/ui/..\\requirements-dev.txt",
        "/ui/..%5crequirements-dev.txt",
        "/ui/%2e%2e%5crequirements-dev.txt",
        "/ui/....//requirements-dev.txt",
        "/ui/..;/requirements-dev.txt",
        "/ui/%c0%ae%c0%ae/requirements-dev.txt",
        "/ui/%u002e%u002e/requirements-dev.txt",
        "/ui//../requirements-dev.txt",
        "/ui/ask/../../requirements-dev.txt",
        "/ui/./app.js",
        "/ui/app.js%00",
        "/ui/app.js%00.html",
        "/ui/%00",
        "/ui/app.js/",
        "/ui/app.js/.",
        "/ui/app.js%20",
        "/ui/app.js::$DATA",
        "/ui/C:/requirements-dev.txt",
        "/ui//etc/passwd",
        "/ui/%2fetc%2fpasswd",
        "/ui/file:///etc/passwd",
        "/ui/README.md",
        "/ui/.git/config",
        "/ui/",
        "/ui/ask",
        "/ui/ask/",
        "/ui/..",
        "//ui/../requirements-dev.txt",
        "/ui/~root",
        "/ui/APP.JS",
    )

    def test_no_path_leads_out_of_the_folder_or_to_what_is_no_file_of_the_page(self) -> None:
        host = f"Host: 127.0.0.1:{self.bench.port}"
        self.assertEqual(raw(self.bench.port, "/ui/app.js", host)[0], 200)
        for target in self.CLIMBS:
            with self.subTest(target):
                status, headers, body = raw(self.bench.port, target, host)
                if status == 200:  # a file system that knows no case
                    self.assertEqual(body, (ROOT / "ui" / Path(target).name.lower()).read_bytes())
                    continue
                self.assertIn(status, (400, 404), target)
                for telling in (b"ruff", b"root:", b"import "):
                    self.assertNotIn(telling, body)
                self.assertTrue(headers["content-type"].startswith(JSON))

    def test_an_address_that_is_carried_to_the_form_breaks_no_header(self) -> None:
        host = f"Host: 127.0.0.1:{self.bench.port}"
        for target in ("/panels?q=%0d%0aSet-Cookie:%20a=b", "/panels?q=a%00b", '/panels?q="><script>'):
            with self.subTest(target):
                status, headers, _ = raw(self.bench.port, target, host, "Accept: text/html")
                self.assertEqual(status, 303)
                self.assertRegex(headers["location"], r"\A/login\?to=/panels[\w%.-]*\Z")
                self.assertNotIn("set-cookie", headers)


if __name__ == "__main__":
    unittest.main()
