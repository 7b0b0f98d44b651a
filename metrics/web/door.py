"""Who comes in, by what they show: a gateway key on the gateway's routes, the admin token, an invitation or a
session on the dashboard's. One never opens the other's.

Without keys required and without a token (a server for this computer alone) the door stands open; a real key
that is shown is honoured all the same, so that its scope and its budget hold.
"""

import hmac
import ipaddress
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from metrics.bench import keys
from metrics.bench.keys import Key
from metrics.records import Problem
from metrics.web import invitations, public, roles, sessions
from metrics.web.backoff import Backoff
from metrics.web.roles import Person
from metrics.web.table import Call

LOOPBACK = ("127.0.0.1", "::1", "localhost")
SHORTEST = 16  # characters of an admin token
SHOWN_IN = ("x-api-key", "x-goog-api-key")
YES, NO = ("1", "true", "yes"), ("", "0", "false", "no")

MISSING = (
    "this server wants a key: send Authorization: Bearer bwk_…, x-api-key or x-goog-api-key; "
    "`bench key create NAME` makes one"
)
SCHEME = 'the Authorization header must be "Bearer bwk_…": the word Bearer, a space, and the key'
UNKNOWN = "this key is not known here, or it was revoked: ask for a new one"
FORM = "this is not a gateway key: those begin with bwk_; `bench key create NAME` makes one"
SIGN_IN = "sign in first: /login in a browser, `bench login`, or the admin token as Authorization: Bearer"

# What opens nothing here, by how it begins.
OTHERS = {
    keys.PREFIX: "a gateway key does not open the dashboard's API: ",
    sessions.PREFIX: "this session is over: ",
    invitations.PREFIX: "an invitation is used at /login: ",
}
WRONG = "this is not the admin token of this server (BENCHWARMERS_ADMIN_TOKEN)"
USED = "this invitation is not known here: it was used or withdrawn, or it is over. Ask for a new one"


@dataclass(slots=True)
class Door:
    """`required`: the gateway wants keys. `token`: what signs in; None: the dashboard is open. `trusted` are
    the proxies whose word on addresses counts."""

    required: bool = False
    token: str | None = None
    trusted: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = ()
    secure: bool = False
    now: Callable[[], float] = time.time
    keys: Backoff = field(default_factory=Backoff)
    logins: Backoff = field(default_factory=Backoff)

    def caller(self, call: Call, in_query: bool) -> Key | None:
        """Whose key came with the call; None where none is wanted. Problem 401, or 429 for an address that
        has tried many that are none: a right one is let in from anywhere at any time."""
        shown = _shown(call, in_query)
        if shown is not None and shown.startswith(keys.PREFIX):
            key = keys.find(shown)
            if key is None:
                raise self._slowed(call, keys.refusal(UNKNOWN, "unknown"))
            return keys.usable(key, self.now())
        if not self.required:
            return None
        if shown:
            raise self._slowed(call, keys.refusal(FORM, "form"))
        said = call.headers.get("authorization", "").strip()
        raise keys.refusal(SCHEME, "scheme") if said else keys.refusal(MISSING, "missing")

    def _slowed(self, call: Call, refusal: Problem) -> Problem:
        """The refusal, or a 429 that says the same to an address that keeps trying."""
        address = self.address(call)
        wait = self.keys.wait(address)
        if not wait:
            self.keys.failed(address)
            return refusal
        return Problem(
            429,
            f"{refusal.message}. Too many wrong keys came from this address: the next is looked at in "
            f"{math.ceil(wait)} s",
            retry_after=wait,
        )

    def person(self, call: Call) -> Person:
        """Who is at the dashboard. Problem 401 unless the call is signed in, 429 for an address that has
        tried many wrong tokens."""
        found = self.signed_in(call)
        if found is not None:
            return found
        scheme, _, shown = call.headers.get("authorization", "").strip().partition(" ")
        why = next((said for prefix, said in OTHERS.items() if shown.strip().startswith(prefix)), "")
        if why or scheme.lower() != "bearer" or not shown.strip():
            raise _unauthorised(why + SIGN_IN)
        return self.sign_in(call, shown.strip())

    def sign_in(self, call: Call, token: object) -> Person:
        """Who shows the admin token. Problem 401 unless this is it, 429 while the address has to wait."""
        good = self.token is not None and isinstance(token, str) and _same(token, self.token)
        return self._tried(call, lambda: roles.OWNER if good else None, WRONG)

    def accept(self, call: Call, invitation: str) -> Person:
        """Who was invited; uses the invitation up. Problem 401 and 429 as for a token."""
        return self._tried(call, lambda: invitations.accept(invitation, self.token or "", self.now()), USED)

    def _tried(self, call: Call, who: Callable[[], Person | None], wrong: str) -> Person:
        """`who`, unless the address has to wait; a try that fails counts."""
        address = self.address(call)
        wait = self.logins.wait(address)
        if wait:
            raise Problem(
                429,
                f"too many wrong tokens came from this address: the next is looked at in {math.ceil(wait)} s",
                retry_after=wait,
            )
        found = who()
        if found is None:
            self.logins.failed(address)
            wait = self.logins.wait(address)
            later = f". The next is looked at in {math.ceil(wait)} s" if wait else ""
            raise _unauthorised(wrong + later, wait or None)
        self.logins.succeeded(address)
        return found

    def secret(self, call: Call) -> str:
        """The session's secret that the call shows, good or not; "" when it shows none."""
        return next(self._secrets(call), "")

    def _secrets(self, call: Call) -> Iterator[str]:
        """A browser may send several cookies of one name: cookies know no ports, and a neighbour may have
        set its own."""
        scheme, _, shown = call.headers.get("authorization", "").strip().partition(" ")
        if scheme.lower() == "bearer" and shown.strip().startswith(sessions.PREFIX):
            yield shown.strip()
            return
        for part in call.headers.get("cookie", "").split(";"):
            name, _, value = part.partition("=")
            if name.strip() == sessions.COOKIE:
                yield value.strip().strip('"')

    def signed_in(self, call: Call) -> Person | None:
        """Whose session the call shows, or whoever is there where nobody has to sign in; None: nobody's."""
        if self.token is None:
            return roles.LOCAL
        found = (sessions.find(secret, self.token, self.now()) for secret in self._secrets(call))
        return next(filter(None, found), None)

    def address(self, call: Call) -> str:
        """Where the call comes from: the peer, or what a trusted proxy says of it."""
        address = call.peer
        for hop in reversed(call.headers.get("x-forwarded-for", "").split(",") if self.trusted else ()):
            if not self._trusts(address) or not hop.strip():
                break
            address = _without_port(hop.strip())
        return address

    def encrypted(self, call: Call) -> bool:
        """Whether the caller's connection is https, as far as that can be known here."""
        forwarded = call.headers.get("x-forwarded-proto", "").lower() == "https"
        return self.secure or (forwarded and self._trusts(call.peer))

    def _trusts(self, address: str) -> bool:
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self.trusted)


def from_environment(env: Mapping[str, str]) -> Door:
    """The door of a server so configured. Problem 400 that says exactly what is missing or wrong: what cannot
    be guarded is not opened."""
    bind, token = env.get("BENCH_BIND") or LOOPBACK[0], env.get("BENCHWARMERS_ADMIN_TOKEN") or None
    said = env.get("BENCHWARMERS_REQUIRE_KEYS", "").strip().lower()
    beyond = bind not in LOOPBACK
    if said not in (*YES, *NO):
        raise Problem(400, f"BENCHWARMERS_REQUIRE_KEYS={said[:40]} must be 1 or 0")
    if token is not None and len(token) < SHORTEST:
        raise Problem(
            400, f"BENCHWARMERS_ADMIN_TOKEN has {len(token)} characters: it needs {SHORTEST} or more"
        )
    if beyond and token is None:
        raise Problem(
            400,
            f"BENCH_BIND={bind} is refused: to listen beyond this computer set BENCHWARMERS_ADMIN_TOKEN "
            f"({SHORTEST} characters or more), which signs in to the dashboard; callers will need keys",
        )
    if beyond and said in NO[1:]:
        raise Problem(
            400,
            f"BENCHWARMERS_REQUIRE_KEYS={said} is refused with BENCH_BIND={bind}: beyond this computer "
            "keys are required. Unset it, or set it to 1",
        )
    secure = (public.address(env) or "").startswith("https://")
    return Door(beyond or said in YES, token, _networks(env.get("BENCH_TRUSTED_PROXIES", "")), secure)


def _networks(text: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    try:
        return tuple(
            ipaddress.ip_network(one.strip(), strict=False) for one in text.split(",") if one.strip()
        )
    except ValueError as error:
        raise Problem(
            400, f"BENCH_TRUSTED_PROXIES must be addresses or networks with commas between them: {error}"
        ) from None


def _shown(call: Call, in_query: bool) -> str | None:
    """What the call shows as its key: the first that could be one, else the first of all."""
    headers = call.headers
    found = []
    if "authorization" in headers:
        scheme, _, bearer = headers["authorization"].strip().partition(" ")
        if scheme.lower() == "bearer":
            bearer = bearer.strip()
            if bearer.startswith(keys.PREFIX):
                return bearer
            found.append(bearer)
    for name in SHOWN_IN:
        if name in headers:
            found.append(headers[name].strip())
    if in_query and call.query:
        found.append(call.param("key").strip())
    for one in found:
        if one.startswith(keys.PREFIX):
            return one
    return next(filter(None, found), None)


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode("utf-8", "replace"))


def unmapped(address: str) -> str:
    """An IPv4 address as such: who listens to both kinds has it as ::ffff:192.0.2.1 (RFC 4291, 2.5.5.2), by
    which it is in nobody's network, and all of them in one."""
    last = address.rpartition(":")[2]
    return last if "." in last and address.lower().startswith("::ffff:") else address


def _without_port(hop: str) -> str:
    """The address of a hop. Some proxies write its port too, and one attacker has 65,535 of those."""
    if hop.startswith("["):
        hop = hop[1:].partition("]")[0]
    return unmapped(hop.partition(":")[0] if hop.count(":") == 1 else hop)


def _unauthorised(message: str, wait: float | None = None) -> Problem:
    header = ("WWW-Authenticate", 'Bearer realm="benchwarmers-admin"')
    return Problem(401, message, retryable=False, retry_after=wait, headers=(header,))
