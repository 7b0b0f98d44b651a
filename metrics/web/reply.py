"""How a reply looks in bytes: what every reply says at its head, and how its body is framed. No sockets.

A `Reply` is a `Response` made ready: its header lines are written and the first piece of a stream is taken
before anything is sent, so whatever is wrong with it can still be answered with a status of its own.
"""

import itertools
import re
import secrets
import time
from collections.abc import Iterator
from email.utils import formatdate

from metrics import http1
from metrics.records import Problem
from metrics.web.table import Final, Headers, Response

_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+=-]{0,127}")
_BODILESS = frozenset({204, 304})


class Reply:
    """`pieces` is None when `first` is the whole body. ValueError when a header of the response cannot be
    sent."""

    __slots__ = ("fields", "first", "pieces", "status")

    def __init__(self, response: Response, more: Headers = (), *, bodiless: bool = False) -> None:
        self.status = response.status
        try:
            self.fields = http1.fields(response.headers + more if more else response.headers)
        except Problem as problem:
            raise ValueError(problem.message) from problem
        self.first = b""
        self.pieces: Iterator[bytes] | None = None
        body = response.body
        if isinstance(body, bytes):
            if self.status not in _BODILESS:
                self.first = b"" if bodiless else body
                self.fields += b"Content-Length: %d\r\n" % len(body)
        else:
            self.pieces = body
            if bodiless or self.status in _BODILESS:
                self.close()
                self.pieces = None
            else:
                self.first = next(body, b"")

    def framed(self, start: bytes, *, chunked: bool) -> Iterator[bytes]:
        """What to send of a stream, one item at a time: the head goes with the first piece. An empty piece
        is an empty item: nothing to send yet."""
        assert self.pieces is not None
        if not chunked:
            yield start + self.first
            yield from self.pieces
            return
        yield start + http1.chunk(self.first) if self.first else start
        for piece in self.pieces:
            if type(piece) is Final:
                yield http1.chunk(piece) + http1.LAST_CHUNK if piece else http1.LAST_CHUNK
                return
            yield http1.chunk(piece) if piece else b""
        yield http1.LAST_CHUNK

    def close(self) -> None:
        close = getattr(self.pieces, "close", None)
        if close is not None:
            close()


class Letterhead:
    """What every reply of one server has at its head: version, date, the request's id."""

    def __init__(self, version: str) -> None:
        self._common = http1.fields(
            (
                ("Server", "benchwarmers"),
                ("X-Benchwarmers-Version", version),
                ("X-Content-Type-Options", "nosniff"),
            )
        )
        self._dated = (0, b"")
        self._launch = secrets.token_hex(4)
        self._count = itertools.count(1)

    def request_id(self, asked: str | None = None) -> str:
        """The caller's own id where it is a plain one, else a new one, unlike any other of this or another
        launch."""
        if asked is not None and _REQUEST_ID.fullmatch(asked):
            return asked
        return f"{self._launch}-{next(self._count):x}"

    def begin(self, reply: Reply, request_id: str, minor: int, keep: bool) -> tuple[bytes, bool]:
        """The head of `reply` for a caller of HTTP/1.`minor`, and whether the connection lasts beyond it:
        the end of the connection is the only end that a stream to HTTP/1.0 can have."""
        fields, streams = reply.fields, reply.pieces is not None
        keep = keep and (minor > 0 or not streams)
        if not keep:
            fields += b"Connection: close\r\n"
        elif not minor:
            fields += b"Connection: keep-alive\r\n"
        if streams and minor:
            fields += b"Transfer-Encoding: chunked\r\n"
        named = request_id.encode("ascii")
        head = b"%b%bX-Request-Id: %b\r\n%b\r\n" % (
            http1.status_line(reply.status),
            self._date(),
            named,
            fields,
        )
        return head, keep

    def whole(self, reply: Reply) -> bytes:
        """A reply that is not streamed, all in one, to a caller who is then left."""
        return self.begin(reply, self.request_id(), 1, False)[0] + reply.first

    def _date(self) -> bytes:
        """Date and what never changes, written once a second."""
        now = int(time.time())
        at, block = self._dated
        if at != now:
            block = b"Date: %b\r\n%b" % (formatdate(now, usegmt=True).encode("ascii"), self._common)
            self._dated = (now, block)
        return block
