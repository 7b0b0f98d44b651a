"""Connections kept open between calls, newest first, per origin.

The newest is the likeliest to be still alive, and the oldest go unused and expire: a pool that shrinks to
what the load needs. An idle connection on which something can be read is dead: an HTTP server only speaks
up to say goodbye.
"""

import re
import time
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from metrics.line import Line
from metrics.records import Problem

_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*|[0-9A-Fa-f:.]+(%\w+)?")
_PORTS = {"http": 80, "https": 443}
# What may stand in a target as it is; everything else is percent-encoded. "%" is: it is taken to be encoded
# already.
_SAFE = "/:?#[]@!$&'()*+,;=%-._~|"


class Origin(NamedTuple):
    """Who is connected to. `public`: only an address of the open internet will do (see
    transport.Transport.open)."""

    scheme: str
    host: str
    port: int
    public: bool = False

    @property
    def authority(self) -> str:
        """The value of Host: the port only where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


@lru_cache(maxsize=512)
def locate(url: str, public: bool = False) -> tuple[Origin, str]:
    """The origin and the target of `url`. Problem 400 when it is no http(s) URL, or holds a key or a
    control character."""
    if not url.isprintable() or " " in url:
        raise Problem(400, f"the URL {url[:100]!r} holds a space or a control character")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except ValueError as error:
        raise Problem(400, f"{url[:100]!r} is not a URL: {error}") from error
    if parts.scheme not in _PORTS or not _HOST.fullmatch(host):
        raise Problem(
            400, f"{url[:100]!r} is not an address like https://host/v1 or http://127.0.0.1:11434/v1"
        )
    if "@" in parts.netloc:
        raise Problem(
            400, "the URL holds a user name or password: save the key with the endpoint, not in its address"
        )
    target = quote(parts.path or "/", safe=_SAFE) + (
        f"?{quote(parts.query, safe=_SAFE)}" if parts.query else ""
    )
    return Origin(parts.scheme, host, port or _PORTS[parts.scheme], public), target


class Pool:
    """Idle lines by origin. `most` are kept for one origin, none for longer than `seconds`."""

    def __init__(
        self, most: int = 256, seconds: float = 60.0, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._idle: dict[Origin, deque[Line]] = {}
        self._most = most
        self._seconds = seconds
        self._now = now
        self._swept = now()

    def take(self, origin: Origin) -> Line | None:
        """The line that was put back last, if it still lives."""
        idle = self._idle.get(origin)
        while idle:
            try:
                line = idle.pop()
            except IndexError:
                break
            if line.since >= self._now() - self._seconds and not line.readable():
                return line
            line.close()
        return None

    def put(self, origin: Origin, line: Line) -> None:
        now = line.since = self._now()
        idle = self._idle.get(origin)
        if idle is None:
            idle = self._idle.setdefault(origin, deque())
        if len(idle) >= self._most:
            line.close()
        else:
            idle.append(line)
        if now - self._swept > self._seconds / 4:
            self._swept = now
            self.sweep(now)

    def sweep(self, now: float) -> None:
        """Close what has been idle for too long."""
        for idle in list(self._idle.values()):
            try:
                while idle and idle[0].since < now - self._seconds:
                    idle.popleft().close()
            except IndexError:
                pass

    def clear(self) -> None:
        self.sweep(float("inf"))

    def __len__(self) -> int:
        return sum(map(len, list(self._idle.values())))
