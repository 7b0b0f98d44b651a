"""Who may call: the host a request names, the web page it comes from, what a page may send, and what the
door (`door.py`) wants to see.

A server on loopback is open to every program of this computer, and to every web page its browser shows. Two
things tell a page from a program: pages cannot choose their Host (so a name that was re-bound to 127.0.0.1
gives itself away) and browsers name the page in Origin or Sec-Fetch-Site. Programs send neither, and are
left alone.
"""

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from urllib.parse import quote, urlsplit

from metrics.records import Problem
from metrics.web import public, roles
from metrics.web.door import LOOPBACK, Door, from_environment
from metrics.web.table import Call, Headers, Response, Route

EXPOSED = (
    "X-Bench-Panel, X-Bench-Seats, X-Bench-Conversation, X-Bench-Model, X-Request-Id, Retry-After, "
    "Mcp-Session-Id"
)
MAX_AGE = "600"
# What is for whoever signed in: no cache keeps it (RFC 9111, 5.2.2.5), no other page takes it in.
PRIVATE = frozenset({"api", "login"})
ALONE: Headers = (
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
)
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")
_HEADER_NAMES = re.compile(r"[A-Za-z0-9_.,\- ]{1,1000}")
_REMEMBERED = 64
HEALTH = "/health"
# What curl says of a body when it is told nothing; a form in a page says it too, but then Origin is there
# as well.
_FORM = "application/x-www-form-urlencoded"


class Guard:
    """`hosts` are names (with or without a port) that count beside the loopback ones, `origins` pages of
    other sites that may call, `public_url` the address under which the server is known outside. With
    `beyond` it listens beyond loopback: then any address of numbers counts as well, which no page can make
    another server's name lead to."""

    def __init__(
        self,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        public_url: str | None = None,
        door: Door | None = None,
        beyond: bool = False,
    ) -> None:
        self.door = door or Door()
        self._beyond = beyond
        public = urlsplit(public_url or "")
        self._hosts = {host.strip().lower() for host in hosts if host.strip()}
        self._origins = {origin.strip().rstrip("/").lower() for origin in origins if origin.strip()} - {
            "null",
            "*",
        }
        if public.scheme and public.netloc:
            self._hosts.add(public.netloc.lower())
            self._origins.add(f"{public.scheme}://{public.netloc}".lower())
        self._known: set[str] = set()

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> "Guard":
        return cls(
            env.get("BENCH_ALLOWED_HOSTS", "").split(","),
            env.get("BENCH_ALLOWED_ORIGINS", "").split(","),
            public.address(env),
            from_environment(env),
            (env.get("BENCH_BIND") or LOOPBACK[0]) not in LOOPBACK,
        )

    def check(self, route: Route | None, call: Call) -> None:
        """Problem 401, 403, 415 or 429 if `call` may not be answered, 303 to /login for a page; `route` is
        None for a path that does not exist. The call then knows whose it is."""
        headers = call.headers
        host = headers.get("host", "")
        # Whoever hosts the server asks how it is by a name of its own; a page learns nothing there.
        if host not in self._known and not (self._beyond and route is not None and route.pattern == HEALTH):
            self._check_host(host)
        if route is None or route.guard == "open":
            return
        if "origin" in headers or "sec-fetch-site" in headers:
            self._check_page(route, call)
        elif call.method not in _READS:
            # Who sends a cookie is a browser, also one too old to say which page it comes from.
            _check_type(headers.get("content-type"), required="cookie" in headers)
        if route.guard == "gateway":
            call.key = self.door.caller(call, route.query_key)
        else:
            self._check_door(route, call)

    def _check_door(self, route: Route, call: Call) -> None:
        """Of a route of the dashboard."""
        if self.door.token is None or route.guard == "login":
            return
        if route.guard == "api":
            call.who = self.door.person(call)
            roles.check(call.who, route.who)
            if call.who.session:
                call.gone = partial(self._left, call, call.gone)
        elif "text/html" in call.headers.get("accept", "") and self.door.signed_in(call) is None:
            raise Problem(303, "sign in at /login", headers=(("Location", _sign_in(call)),))

    def _left(self, call: Call, gone: Callable[[], bool]) -> bool:
        """Whether a caller has hung up, or was signed out: a stream ends with the session it began in."""
        return gone() or self.door.signed_in(call) is None

    def allows(self, call: Call) -> bool:
        """Whether the page that `call` names in Origin may call: one of ours, or one of the allowed."""
        origin = call.headers.get("origin", "").lower()
        return origin in self._origins or origin == "http://" + call.headers.get(
            "host", ""
        ).lower().removesuffix(":80")

    def cors(self, call: Call) -> Headers:
        """What lets an allowed page read the reply; nothing for any other."""
        if "origin" not in call.headers or not self.allows(call):
            return ()
        return (
            ("Access-Control-Allow-Origin", call.headers["origin"]),
            ("Access-Control-Expose-Headers", EXPOSED),
            ("Vary", "Origin"),
        )

    def preflight(self, call: Call, methods: tuple[str, ...]) -> Response:
        """The answer to OPTIONS on a path that has `methods`: what an allowed page may send. Problem 403
        for any other."""
        self.check(None, call)
        allow = ", ".join(methods)
        if "origin" not in call.headers:
            return Response(204, (("Allow", allow),))
        if not self.allows(call):
            raise _stranger(call)
        wanted = call.headers.get("access-control-request-headers", "")
        headers: Headers = (
            ("Allow", allow),
            ("Access-Control-Allow-Methods", allow),
            ("Access-Control-Allow-Headers", wanted if _HEADER_NAMES.fullmatch(wanted) else "content-type"),
            ("Access-Control-Max-Age", MAX_AGE),
        )
        if call.headers.get("access-control-request-private-network") == "true":
            headers += (("Access-Control-Allow-Private-Network", "true"),)
        return Response(204, headers)

    def _check_host(self, host: str) -> None:
        match = _HOST.fullmatch(host)
        name = match[1].lower() if match else ""
        known = _loopback(name) or name in self._hosts or host.lower() in self._hosts
        if not (match and (known or (self._beyond and _numeric(name)))):
            hint = "use 127.0.0.1 or localhost, or list the name in BENCH_ALLOWED_HOSTS"
            raise Problem(403, f"the host {host[:80]!r} is not served here: {hint}")
        if len(self._known) < _REMEMBERED:
            self._known.add(host)

    def _check_page(self, route: Route, call: Call) -> None:
        reads = call.method in _READS
        if reads and route.guard in ("page", "login"):
            return
        # A page of another site always says so in one of the two; an origin that is allowed may be of
        # another site.
        site = call.headers.get("sec-fetch-site", "none").lower()
        if "origin" in call.headers:
            if not self.allows(call):
                raise _stranger(call)
        elif site not in ("same-origin", "none") and not (reads and route.guard == "gateway"):
            raise Problem(403, "a page of another site may not call this server")
        if not reads:
            _check_type(call.headers.get("content-type"), required=True)


def alone(headers: Headers) -> Headers:
    """What keeps a private reply to itself, but for what it says of that itself."""
    said = {name.lower() for name, _ in headers}
    return tuple(header for header in ALONE if header[0].lower() not in said)


def _sign_in(call: Call) -> str:
    """The address that signs in and leads back to the page that was asked for."""
    target = call.raw_path + (f"?{call.query}" if call.query else "")
    return "/login" if target == "/" else f"/login?to={quote(target, safe='/')}"


def _stranger(call: Call) -> Problem:
    origin = call.headers["origin"][:80]
    return Problem(403, f"a page of {origin!r} may not call this server: list it in BENCH_ALLOWED_ORIGINS")


def _check_type(value: str | None, required: bool) -> None:
    """JSON, whatever its suffix or parameters. Without `required`, as from a program: nothing at all, or
    curl's default."""
    if value == "application/json":
        return
    kind = (value or "").partition(";")[0].partition(",")[0].strip().lower()
    if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
        return
    if required or kind not in ("", _FORM):
        raise Problem(
            415, f"Content-Type {kind[:80]!r} is not read here: send Content-Type: application/json"
        )


def _numeric(name: str) -> bool:
    try:
        return bool(ipaddress.ip_address(name.strip("[]")))
    except ValueError:
        return False


def _loopback(name: str) -> bool:
    """localhost, 127.0.0.0/8 or [::1]. No other name: whoever owns a name chooses where it points."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False
