"""A connection played without a socket: what a caller sends, and the replies read back."""

import json
from collections.abc import Iterator, Sequence

from metrics import http1
from metrics.records import Problem
from metrics.web.connection import Connection, Limits, Service
from metrics.web.guard import Guard
from metrics.web.table import Call, Response, Route, Table, as_json
from tests.lines import Played

HOST = b"Host: 127.0.0.1:8122\r\n"


def crash(*_: object) -> Response:
    raise ZeroDivisionError


class Stage:
    """A service whose handlers note their calls. `log` is what it logged, `closed` which streams were
    ended."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.calls: list[Call] = []
        self.log: list[str] = []
        self.closed: list[str] = []
        routes = [
            Route("GET", "/a", self.echo),
            Route("POST", "/echo", self.echo),
            Route("POST", "/shaped", self.echo, error=self.shaped),
            Route("GET", "/stream", self.stream),
            Route("GET", "/stream/{how}", self.stream),
            Route(
                "GET",
                "/headers",
                lambda call: Response(200, (("X-Bench-Model", "m"), ("X-Bench-Seats", "a, b"))),
            ),
            Route("GET", "/crash", crash),
            Route("GET", "/bad-header", lambda call: Response(200, (("X", "a\nb"),))),
            Route("GET", "/crash-in-error", self.refuse, error=crash),
            Route("GET", "/refused", self.refuse, error=self.shaped),
        ]
        self.service = Service(
            Table(routes), Guard(origins=["https://app.example"]), limits or Limits(), self.log.append, "1.0"
        )

    def echo(self, call: Call) -> Response:
        self.calls.append(call)
        return Response(200, (), call.body or call.path.encode())

    def shaped(self, problem: Problem, call: Call | None) -> Response:
        return as_json({"shaped": problem.message}, problem.status)

    def refuse(self, call: Call) -> Response:
        raise Problem(418, "no coffee")

    def stream(self, call: Call) -> Response:
        return Response(200, (), self.pieces(call.parts.get("how", "")))

    def pieces(self, how: str) -> Iterator[bytes]:
        try:
            if how == "refuse-first":
                raise Problem(429, "not now")
            yield b"one"
            if how == "quiet":
                yield b""
                self.log.append("still there")
            if how == "refuse":
                raise Problem(502, "upstream gone")
            if how == "crash":
                raise RuntimeError("boom")
            if how == "disk":
                raise OSError("disk")
            yield b"two"
        finally:
            self.closed.append(how)

    def play(self, pieces: Sequence[bytes | Exception]) -> Played:
        line = Played(pieces)
        Connection(line, "127.0.0.1", self.service).serve()
        return line


class Reply:
    """One reply read back off the wire."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def error(self) -> str:
        return str(json.loads(self.body)["error"]["message"])


def replies(line: Played, heads: Sequence[str] = ()) -> list[Reply]:
    """What was sent, as replies; `heads` names the methods where one is HEAD."""
    data = b"".join(line.sent)
    found: list[Reply] = []
    while data:
        head = http1.answer_head(data[: data.index(b"\r\n\r\n")])
        data = data[data.index(b"\r\n\r\n") + 4 :]
        body = b""
        if len(found) < len(heads) and heads[len(found)] == "HEAD" or head.status in (100, 204, 304):
            pass
        elif head.chunked:
            chunks = http1.Chunks()
            body = chunks.feed(data)
            data = chunks.rest if chunks.done else b""
            head.headers["x-whole"] = str(chunks.done)
        elif head.length is not None:
            body, data = data[: head.length], data[head.length :]
        else:
            body, data = data, b""
        found.append(Reply(head.status, head.headers, body))
    return found


def get(path: str = "/a", *more: str) -> bytes:
    return (
        f"GET {path} HTTP/1.1\r\n".encode()
        + HOST
        + b"".join(f"{line}\r\n".encode() for line in more)
        + b"\r\n"
    )


def post(body: bytes, *more: str, path: str = "/echo", length: bool = True) -> bytes:
    lines = [*more, f"Content-Length: {len(body)}"] if length else list(more)
    head = f"POST {path} HTTP/1.1\r\n".encode() + HOST
    return head + b"".join(f"{line}\r\n".encode() for line in lines) + b"\r\n" + body
