import time
import unittest

from metrics.records import Problem
from metrics.web import roles, sessions
from metrics.web.door import Door
from metrics.web.guard import Guard, alone
from metrics.web.roles import Person
from metrics.web.table import Call, Response, Route
from tests.bench.bench import BenchCase

GUARD = Guard()
SET_UP = Guard.from_environment(
    {
        "BENCH_ALLOWED_HOSTS": "bench.lan, Box:8122,",
        "BENCH_ALLOWED_ORIGINS": "https://app.example/ ,null,http://localhost:3000",
        "BENCHWARMERS_PUBLIC_URL": "https://bench.example",
    }
)
HOST = "127.0.0.1:8122"
TOKEN = "a token of some length"


def route(guard: str) -> Route:
    return Route("POST", "/x", lambda call: Response(), guard=guard)


def status_of(guard: Guard, method: str, kind: str, headers: dict[str, str]) -> int:
    """With which status a call is refused, 200 if it is not."""
    try:
        guard.check(route(kind), Call(method, "/x", {"host": HOST, **headers}))
    except Problem as problem:
        return problem.status
    return 200


class Hosts(unittest.TestCase):
    def test_beyond_this_computer_its_health_is_told_under_any_name(self) -> None:
        health = Route("GET", "/health", lambda call: Response(), guard="open")
        for beyond, path, host, refused in (
            (True, health, "healthcheck.host.example", False),
            (True, route("open"), "healthcheck.host.example", True),
            (True, None, "healthcheck.host.example", True),
            (False, health, "healthcheck.host.example", True),
            (False, health, HOST, False),
        ):
            with self.subTest(beyond=beyond, host=host):
                call = Call("GET", "/health", {"host": host})
                if refused:
                    self.assertRaises(Problem, Guard(beyond=beyond).check, path, call)
                else:
                    Guard(beyond=beyond).check(path, call)

    def test_any_kind_of_route_and_none(self) -> None:
        cases = [
            ("127.0.0.1", 200),
            ("127.0.0.1:8122", 200),
            ("127.1.2.3:9", 200),
            ("localhost", 200),
            ("LocalHost:8122", 200),
            ("[::1]:8122", 200),
            ("[::1]", 200),
            ("", 403),
            ("evil.example", 403),
            ("evil.example:8122", 403),
            ("127.0.0.1.evil.example", 403),
            ("localhost.evil.example:8122", 403),
            ("evil.example@127.0.0.1", 403),
            ("127.0.0.1@evil.example", 403),
            ("0.0.0.0:8122", 403),
            ("[::]", 403),
            ("[::ffff:10.0.0.1]", 403),
            ("192.168.1.2", 403),
            ("127.0.0.1:8122:8122", 403),
            ("127.0.0.1:", 403),
            ("127.0.0.1, evil.example", 403),
            ("127.1", 403),
            ("2130706433", 403),
            ("localhost.", 403),
            ("bench.lan", 403),
        ]
        for host, status in cases:
            for kind in ("page", "api", "gateway", "open"):
                with self.subTest(host=host, kind=kind):
                    self.assertEqual(status_of(GUARD, "GET", kind, {"host": host}), status)
            with self.subTest(host=host, kind=None):
                try:
                    GUARD.check(None, Call("GET", "/", {"host": host}))
                    self.assertEqual(status, 200)
                except Problem as problem:
                    self.assertEqual(problem.status, status)

    def test_names_that_were_allowed(self) -> None:
        cases = [
            ("bench.lan", 200),
            ("bench.lan:1", 200),
            ("BENCH.LAN", 200),
            ("box:8122", 200),
            ("box:1", 403),
            ("bench.example", 200),
            ("x.bench.lan", 403),
        ]
        for host, status in cases:
            with self.subTest(host=host):
                self.assertEqual(status_of(SET_UP, "GET", "api", {"host": host}), status)

    def test_no_host_at_all(self) -> None:
        with self.assertRaises(Problem):
            GUARD.check(None, Call("GET", "/"))


class Pages(unittest.TestCase):
    def test_origin(self) -> None:
        json = {"content-type": "application/json"}
        cases = [
            ("http://127.0.0.1:8122", 200),
            ("null", 403),
            ("file://", 403),
            ("", 403),
            ("http://localhost:9", 403),
            ("http://localhost:8122", 403),
            ("http://127.0.0.1", 403),
            ("http://127.0.0.1.evil.example", 403),
            ("http://127.0.0.1:8122.evil.example", 403),
            ("https://127.0.0.1:8122", 403),
            ("https://app.example", 403),
        ]
        for origin, status in cases:
            with self.subTest(origin=origin):
                for kind in ("api", "gateway"):
                    self.assertEqual(status_of(GUARD, "POST", kind, {"origin": origin, **json}), status)
                    self.assertEqual(status_of(GUARD, "GET", kind, {"origin": origin}), status)
                self.assertEqual(status_of(GUARD, "POST", "page", {"origin": origin, **json}), status)
                self.assertEqual(status_of(GUARD, "GET", "page", {"origin": origin}), 200)

    def test_allowed_origins(self) -> None:
        json = {"content-type": "application/json"}
        cases = [
            ("https://app.example", 200),
            ("HTTPS://APP.example", 200),
            ("http://localhost:3000", 200),
            ("https://bench.example", 200),
            ("http://bench.example", 403),
            ("null", 403),
            ("https://app.example:1", 403),
        ]
        for origin, status in cases:
            with self.subTest(origin=origin):
                headers = {"origin": origin, "sec-fetch-site": "cross-site", **json}
                self.assertEqual(status_of(SET_UP, "POST", "gateway", headers), status)

    def test_fetch_site(self) -> None:
        json = {"content-type": "application/json"}
        cases = [
            ("POST", "api", "same-origin", 200),
            ("POST", "api", "none", 200),
            ("POST", "api", "same-site", 403),
            ("POST", "gateway", "cross-site", 403),
            ("POST", "gateway", "Cross-Site", 403),
            ("GET", "api", "cross-site", 403),
            ("GET", "gateway", "cross-site", 200),
            ("GET", "page", "cross-site", 200),
            ("POST", "page", "cross-site", 403),
            ("POST", "open", "cross-site", 200),
        ]
        for method, kind, site, status in cases:
            with self.subTest(method=method, kind=kind, site=site):
                self.assertEqual(status_of(GUARD, method, kind, {"sec-fetch-site": site, **json}), status)

    def test_same_origin_on_port_80(self) -> None:
        headers = {"host": "localhost:80", "origin": "http://localhost", "content-type": "application/json"}
        self.assertEqual(status_of(GUARD, "POST", "api", headers), 200)


class ContentTypes(unittest.TestCase):
    def test_kinds(self) -> None:
        cases = [  # content type, from a program, from a page
            ("application/json", 200, 200),
            ("application/json; charset=utf-8", 200, 200),
            ("Application/JSON", 200, 200),
            ("application/json, application/json", 200, 200),
            ("application/vnd.api+json", 200, 200),
            (None, 200, 415),
            ("application/x-www-form-urlencoded", 200, 415),
            ("text/plain", 415, 415),
            ("text/plain; application/json", 415, 415),
            ("multipart/form-data; boundary=x", 415, 415),
            ("application/jsonp", 415, 415),
            ("text/json", 415, 415),
        ]
        for kind, program, page in cases:
            headers = {} if kind is None else {"content-type": kind}
            with self.subTest(kind=kind):
                self.assertEqual(status_of(GUARD, "POST", "gateway", headers), program)
                for mark in ({"origin": f"http://{HOST}"}, {"sec-fetch-site": "same-origin"}):
                    self.assertEqual(status_of(GUARD, "POST", "api", {**headers, **mark}), page)

    def test_who_sends_a_cookie_is_a_browser(self) -> None:
        for kind, status in (
            ("application/json", 200),
            ("application/x-www-form-urlencoded", 415),
            ("", 415),
        ):
            with self.subTest(kind):
                headers = {"cookie": "a=b", "content-type": kind}
                self.assertEqual(status_of(GUARD, "POST", "api", headers), status)

    def test_reading_needs_none(self) -> None:
        self.assertEqual(status_of(GUARD, "GET", "api", {"origin": f"http://{HOST}"}), 200)


class Cors(unittest.TestCase):
    METHODS = ("GET", "HEAD", "OPTIONS")

    def test_reply_headers(self) -> None:
        self.assertEqual(SET_UP.cors(Call("GET", "/", {"host": HOST, "origin": "https://evil.example"})), ())
        self.assertEqual(SET_UP.cors(Call("GET", "/", {"host": HOST})), ())
        headers = dict(SET_UP.cors(Call("GET", "/", {"host": HOST, "origin": "https://app.example"})))
        self.assertEqual(headers["Access-Control-Allow-Origin"], "https://app.example")
        self.assertEqual(headers["Vary"], "Origin")
        self.assertIn("X-Bench-Panel", headers["Access-Control-Expose-Headers"])
        self.assertIn("X-Request-Id", headers["Access-Control-Expose-Headers"])

    def test_preflight(self) -> None:
        asked = {
            "host": HOST,
            "origin": "https://app.example",
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization,content-type,x-stainless-os",
            "access-control-request-private-network": "true",
        }
        response = SET_UP.preflight(Call("OPTIONS", "/", asked), self.METHODS)
        headers = dict(response.headers)
        self.assertEqual(response.status, 204)
        self.assertEqual(headers["Access-Control-Allow-Methods"], "GET, HEAD, OPTIONS")
        self.assertEqual(headers["Access-Control-Allow-Headers"], asked["access-control-request-headers"])
        self.assertEqual(headers["Access-Control-Max-Age"], "600")
        self.assertEqual(headers["Access-Control-Allow-Private-Network"], "true")

    def test_preflight_of_a_stranger(self) -> None:
        for headers in (
            {"host": HOST, "origin": "https://evil.example"},
            {"host": HOST, "origin": "null"},
            {"host": "evil.example", "origin": "http://evil.example"},
        ):
            with self.subTest(headers=headers), self.assertRaises(Problem) as caught:
                GUARD.preflight(Call("OPTIONS", "/", headers), self.METHODS)
            self.assertEqual(caught.exception.status, 403)

    def test_options_from_a_program(self) -> None:
        response = GUARD.preflight(Call("OPTIONS", "/", {"host": HOST}), self.METHODS)
        self.assertEqual((response.status, response.headers), (204, (("Allow", "GET, HEAD, OPTIONS"),)))

    def test_strange_header_list_is_not_echoed(self) -> None:
        asked = {"host": HOST, "origin": f"http://{HOST}", "access-control-request-headers": "a\r\nb: c"}
        response = GUARD.preflight(Call("OPTIONS", "/", asked), self.METHODS)
        self.assertEqual(dict(response.headers)["Access-Control-Allow-Headers"], "content-type")


class Persons(BenchCase):
    """A guard with a token: whose call it is, what a judge may, where a page leads before anyone signs in."""

    def setUp(self) -> None:
        super().setUp()
        self.guard = Guard(door=Door(token=TOKEN))
        self.secret = sessions.begin(Person("anna", roles.JUDGE), TOKEN, "", time.time())

    def call(self, target: str = "/x", method: str = "POST", **headers: str) -> Call:
        cookie = {"cookie": f"{sessions.COOKIE}={self.secret}", "content-type": "application/json"}
        return Call(method, target, {"host": HOST, **cookie, **headers})

    def test_a_judge_comes_in_where_judges_may(self) -> None:
        for who, status in ((roles.JUDGE, 200), (roles.ADMIN, 403)):
            asked = self.call()
            try:
                self.guard.check(Route("POST", "/x", lambda call: Response(), who=who), asked)
                got = 200
            except Problem as problem:
                got = problem.status
            with self.subTest(who):
                self.assertEqual((got, asked.who.name), (status, "anna"))

    def test_a_route_is_for_admins_unless_it_says_otherwise(self) -> None:
        self.assertEqual(route("api").who, roles.ADMIN)

    def test_a_stream_ends_with_its_session(self) -> None:
        asked = self.call()
        self.guard.check(Route("POST", "/x", lambda call: Response(), who=roles.JUDGE), asked)
        self.assertFalse(asked.gone())
        sessions.end(self.secret)
        self.assertTrue(asked.gone())

    def test_a_page_leads_to_the_form_and_back(self) -> None:
        page = Route("GET", "/owed", lambda call: Response(), guard="page")
        cases = [
            ("/", "/login"),
            ("/owed", "/login?to=/owed"),
            ("/panels?q=a%20b&state=owed", "/login?to=/panels%3Fq%3Da%2520b%26state%3Dowed"),
            ("//evil.example/x", "/login?to=//evil.example/x"),  # the page follows no such address
        ]
        for target, place in cases:
            asked = self.call(target, "GET", accept="text/html", cookie="")
            with self.subTest(target), self.assertRaises(Problem) as sent:
                self.guard.check(page, asked)
            self.assertEqual(dict(sent.exception.headers)["Location"], place)
        self.guard.check(page, self.call("/owed", "GET", accept="text/html"))


class Alone(unittest.TestCase):
    def test_what_a_private_reply_says_unless_it_says_so_itself(self) -> None:
        said = dict(alone((("content-security-policy", "x"), ("Content-Type", "y"))))
        self.assertEqual(said["Cache-Control"], "no-store")
        self.assertEqual(said["Cross-Origin-Resource-Policy"], "same-origin")
        self.assertNotIn("Content-Security-Policy", said)
        self.assertIn("frame-ancestors 'none'", dict(alone(()))["Content-Security-Policy"])
