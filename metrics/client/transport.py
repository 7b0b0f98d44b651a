"""HTTP calls to providers: opening connections, and sending a request on one.

Connections are kept and used again (see pool.py). Redirects are never followed (a provider's key must not
travel to where a reply points). Proxies named in the environment are not used: a call goes to the address it
names.
"""

import atexit
import errno
import functools
import ipaddress
import os
import queue
import selectors
import socket
import threading
import time
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, cast

from metrics import desk, http1
from metrics.client.arrival import Arrival, Clock, Hangup, Timeouts, hung_up
from metrics.client.opening import Opening
from metrics.client.pool import Origin, Pool, locate
from metrics.line import Buffer, Line
from metrics.records import Problem
from metrics.version import VERSION

if TYPE_CHECKING:
    import ssl

__all__ = ["Arrival", "Hangup", "Timeouts", "Transport", "shared"]

Address = tuple[int, int, int, Any]
_PAUSE = 0.1
_OTHERS_WAIT = 2.0
_NO_BODY = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection"})
# Translated IPv4 (RFC 6052).
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class Transport:
    """Calls over HTTP/1.1, from any number of threads. `agent` is the User-Agent of calls that name none;
    `tls` makes the context of secure connections, else this computer's own certificates count."""

    def __init__(
        self,
        agent: str = "benchwarmers",
        pool: Pool | None = None,
        tls: "Callable[[], ssl.SSLContext] | None" = None,
    ) -> None:
        self._agent = agent
        self._pool = Pool() if pool is None else pool
        self._tls = functools.cache(tls or _default_tls)
        self._sessions: dict[Origin, ssl.SSLSession] = {}

    def open(
        self,
        method: str,
        url: str,
        headers: Sequence[tuple[str, str]] = (),
        body: Sequence[Buffer] = (),
        *,
        timeouts: Timeouts = Timeouts(),  # noqa: B008 - frozen
        hangup: Hangup | None = None,
        public: bool = False,
    ) -> Arrival:
        """Send one request and wait for the head of its answer, whatever its status.

        The buffers of `body` are sent as they are. `public` refuses addresses that are not of the open
        internet, for URLs that a request brings. Problem 400 for what cannot be sent, else one of the kinds
        of arrival.py.
        """
        sent = self.begin(method, url, headers, body, timeouts=timeouts, hangup=hangup, public=public)
        arrival = sent.answer()
        assert arrival is not None  # without a tick it is waited for
        return arrival

    def begin(
        self,
        method: str,
        url: str,
        headers: Sequence[tuple[str, str]] = (),
        body: Sequence[Buffer] = (),
        *,
        timeouts: Timeouts = Timeouts(),  # noqa: B008 - frozen
        hangup: Hangup | None = None,
        public: bool = False,
    ) -> Opening:
        """As `open`, but without waiting: the request is sent."""
        origin, head = _aim(method, url, public, tuple(headers), self._agent)
        length = sum(map(len, body))
        if length or method not in _NO_BODY:
            head = b"%bContent-Length: %d\r\n\r\n" % (head, length)
        else:
            head += b"\r\n"
        clock = Clock(timeouts)
        return Opening(self, origin, self._pool.take(origin), method, (head, *body), clock, hangup)

    def close(self) -> None:
        """End the connections that are idle."""
        self._pool.clear()

    # --- connecting

    def connect(self, origin: Origin, clock: Clock, hangup: Hangup | None) -> Line:
        desk.leave()
        until = time.monotonic() + clock.at_most(clock.timeouts.connect)
        addresses = _lookup(origin, until, hangup)
        failure: OSError | None = None
        for tried, address in enumerate(addresses):
            # An address that does not answer may not use up the time of those after it.
            left = max(0.0, until - time.monotonic())
            share = left if tried == len(addresses) - 1 else min(left / 2, _OTHERS_WAIT)
            try:
                sock = _dial(address, share, hangup)
                return self._wrap(sock, origin, max(0.001, until - time.monotonic()), hangup)
            except OSError as error:
                failure = error
        if hangup is not None and hangup.done:
            raise hung_up()
        raise _unreachable(origin, failure)

    def _wrap(self, sock: socket.socket, origin: Origin, seconds: float, hangup: Hangup | None) -> Line:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if origin.scheme == "http":
            return Line(sock)
        tls = self._tls().wrap_socket(
            sock,
            server_hostname=origin.host,
            do_handshake_on_connect=False,
            session=self._sessions.get(origin),
        )
        line = Line(tls, tls=True)
        try:
            if hangup is not None:
                hangup.attach(line.abort)
            tls.settimeout(seconds)
            tls.do_handshake()
        except BaseException:
            tls.close()
            raise
        return line

    def keep(self, origin: Origin, line: Line) -> None:
        if origin.scheme == "https" and not line.since:
            # A ticket of the first use makes the next connection's handshake short.
            session = cast("ssl.SSLSocket", line.sock).session
            if session is not None:
                self._sessions[origin] = session
        self._pool.put(origin, line)


@functools.cache
def shared() -> Transport:
    """The transport of this process, so that all its calls share one pool."""
    made = Transport(f"benchwarmers/{VERSION}")
    atexit.register(made.close)
    return made


# Calls to one model begin alike and have the same headers, each time.
@functools.lru_cache(maxsize=256)
def _aim(
    method: str, url: str, public: bool, headers: tuple[tuple[str, str], ...], agent: str
) -> tuple[Origin, bytes]:
    """Where a call goes, and its head but for the body's length."""
    if not (method.isascii() and method.isalpha()):
        raise Problem(400, f"{method[:20]!r} is not an HTTP method")
    origin, target = locate(url, public)
    names = {http1.field_name(name) for name, _ in headers}
    if not names.isdisjoint(_OURS):
        raise Problem(400, f"the headers {', '.join(sorted(names & _OURS))} are the transport's to set")
    fields = http1.fields(headers if "user-agent" in names else (*headers, ("User-Agent", agent)))
    return origin, f"{method} {target} HTTP/1.1\r\nHost: {origin.authority}\r\n".encode("ascii") + fields


# --- opening sockets


def _lookup(origin: Origin, until: float, hangup: Hangup | None) -> list[Address]:
    """The addresses of a host, families in turn. A name is looked up in a thread, since that can neither be
    hurried nor ended."""
    found: queue.SimpleQueue[list[Address] | OSError | None] = queue.SimpleQueue()
    if _literal(origin.host):
        found.put(_resolved(origin))
    else:
        if hangup is not None:
            hangup.attach(lambda: found.put(None))
        threading.Thread(target=lambda: found.put(_resolved(origin)), daemon=True).start()
    try:
        addresses = found.get(timeout=max(0.001, until - time.monotonic()))
    except queue.Empty:
        raise Problem(504, f"the name {origin.host} was not found in time", kind="timeout") from None
    if addresses is None:
        raise hung_up()
    if isinstance(addresses, OSError):
        raise _unreachable(origin, addresses)
    if origin.public and not all(is_public(str(where[0])) for *_, where in addresses):
        raise Problem(400, f"{origin.host} is not an address of the open internet, and a request named it")
    first = [address for address in addresses if address[0] == addresses[0][0]]
    others = [address for address in addresses if address[0] != addresses[0][0]]
    return [address for pair in zip_longest(first, others) for address in pair if address is not None]


def _literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _resolved(origin: Origin) -> list[Address] | OSError:
    try:
        rows = socket.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
    except OSError as error:
        return error
    except UnicodeError:
        return OSError(f"{origin.host!r} is not a host name")
    return [(family, kind, protocol, where) for family, kind, protocol, _, where in rows]


def is_public(address: str) -> bool:
    """Whether `address` is of the open internet: not private, loopback, link-local (cloud metadata), nor
    one of those written as IPv6."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        return ip.is_global and not ip.is_multicast if inner is None else is_public(str(inner))
    return ip.is_global and not ip.is_multicast


def _dial(address: Address, seconds: float, hangup: Hangup | None) -> socket.socket:
    family, kind, protocol, where = address
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setblocking(False)
        _check(sock.connect_ex(where))
        _await_connection(sock, seconds, hangup)
    except BaseException:
        sock.close()
        raise
    return sock


def _await_connection(sock: socket.socket, seconds: float, hangup: Hangup | None) -> None:
    until = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_WRITE)
        while (left := until - time.monotonic()) > 0:
            # Not every system wakes a connecting socket that another thread shuts down: look now and then.
            if selector.select(left if hangup is None else min(left, _PAUSE)):
                return _check(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
            if hangup is not None and hangup.done:
                raise hung_up()
    raise TimeoutError


def _check(code: int) -> None:
    if code not in (0, errno.EINPROGRESS, errno.EWOULDBLOCK):
        raise OSError(code, os.strerror(code))


def _unreachable(origin: Origin, error: OSError | None) -> Problem:
    where = origin.authority
    if isinstance(error, TimeoutError):
        return Problem(504, f"{where} did not accept a connection in time", kind="timeout")
    if isinstance(error, ConnectionRefusedError):
        return Problem(502, f"nothing listens at {where} (connection refused)", kind="unreachable")
    if isinstance(error, socket.gaierror):
        return Problem(
            502, f"the name {origin.host} is not known: check the address's spelling", kind="unreachable"
        )
    if origin.scheme == "https" and "SSL" in type(error).__name__:
        reason = getattr(error, "verify_message", "") or getattr(error, "reason", "") or str(error)
        return Problem(502, f"no secure connection to {where}: {reason}", kind="unreachable")
    return Problem(502, f"no connection to {where}: {error}", kind="unreachable")


def _default_tls() -> "ssl.SSLContext":
    # Imported at the first https call: it costs a command that talks to loopback a third of its start.
    import ssl

    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
