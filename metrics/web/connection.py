"""One caller's connection: requests read one after another, each answered before the next is looked at.

Takes a `Line` that is already open. A request goes through four steps: its head, whether it may be answered
at all (`_admit`: host, path, origin, size), its body, its handler. A refusal in step two is answered
without the body, which is then read away if it is small; otherwise the connection ends, so what was not
read can never be taken for the next request.
"""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from metrics import coding, http1, memory
from metrics.line import Line
from metrics.records import Problem
from metrics.store import files
from metrics.web.guard import PRIVATE, Guard, alone
from metrics.web.reply import Letterhead, Reply
from metrics.web.table import Call, Response, Route, Table, problem_json


@dataclass(frozen=True, slots=True)
class Limits:
    """What one server takes. Seconds: `head` from a head's first byte to its last, `idle` between two
    requests, `write` without the caller reading, `linger` for reading away what a refused caller still
    sends. `rate` (bytes a second) is what a body must come with once `head` seconds have passed; `skip` how
    large a refused body is read away to keep the connection."""

    connections: int = 1024
    body: int = 20_000_000
    head: float = 20.0
    idle: float = 75.0
    write: float = 60.0
    linger: float = 5.0
    rate: float = 1_000.0
    skip: int = 262_144


class Service:
    """What all connections of one server share."""

    def __init__(
        self, table: Table, guard: Guard, limits: Limits, log: Callable[[str], None], version: str
    ) -> None:
        self.table = table
        self.guard = guard
        self.limits = limits
        self.log = log
        self.letterhead = Letterhead(version)
        self.stopping = False


class _Left(Exception):
    """The caller went away in the middle of its request."""


class Connection:
    """`idle` is true while it waits for a request's first byte: what may be ended without harm."""

    def __init__(self, line: Line, peer: str, service: Service) -> None:
        self.idle = False
        self.line = line
        self._peer = peer
        self._service = service
        self._limits = service.limits
        self._buffer = b""

    def serve(self) -> None:
        """Answer until the caller leaves, keeps silent for too long, or has to be sent away. Does not close
        the line."""
        self.line.wait_at_most(self._limits.head)
        self.line.stand_at_most(self._limits.write)
        try:
            while self._exchange():
                self.line.wait_at_most(self._limits.idle)
        except (OSError, _Left):
            pass

    def _exchange(self) -> bool:
        """One request and its reply; whether another may follow."""
        try:
            head = self._head()
        except Problem as problem:
            request_id = self._service.letterhead.request_id()
            self._send(Reply(problem_json(problem, None)), request_id, 1, keep=False)
            return self._linger()
        if head is None:
            return False
        headers = head.headers
        request_id = self._service.letterhead.request_id(headers.get("x-request-id"))
        call = Call(
            head.method, head.target, headers, request_id=request_id, peer=self._peer, gone=self.line.ended
        )
        with files.moment():
            route, refusal = self._admit(head, call)
            whole = True
            if head.chunked or head.length:
                whole, refusal = self._take_body(head, call, refusal)
            reply = self._answer(route, call, refusal)
        keep = head.keep and whole and not self._service.stopping
        again = self._send(reply, request_id, head.minor, keep=keep)
        if not whole or (not again and self.line.readable()):
            return self._linger()
        return again

    # --- the request

    def _head(self) -> http1.RequestHead | None:
        """The next request's head; None when there is none because the caller has left or kept silent."""
        buffer = self._buffer.lstrip(b"\r\n") or self._first_piece()
        if not buffer:
            return None
        searched, until = 0, 0.0
        while (end := http1.end_of_head(buffer, searched)) < 0:
            if buffer[:1] == b"\x16":
                raise Problem(400, "this port speaks http, not https: change the address to http://")
            now = time.monotonic()
            until = until or now + self._limits.head
            searched = len(buffer)
            piece = self._next_piece(until - now)
            if not piece:
                return None
            buffer += piece
        self._buffer = buffer[end + 4 :]
        return http1.request_head(buffer[:end])

    def _first_piece(self) -> bytes:
        """The first bytes of a request, b"" if none come. Line breaks before it are skipped (RFC 9112,
        2.2)."""
        piece = b"\n"
        while piece[:1] in (b"\r", b"\n"):
            self.idle = True
            # In this order: whoever drains the server sets `stopping` first and looks at `idle` then.
            try:
                piece = b"" if self._service.stopping else self.line.receive()
            except TimeoutError:
                piece = b""
            self.idle = False
            stripped = piece.lstrip(b"\r\n")
            if stripped:
                return stripped
        return b""

    def _next_piece(self, seconds: float) -> bytes:
        if seconds > 0:
            self.line.wait_at_most(seconds)
            try:
                return self.line.receive()
            except TimeoutError:
                pass
        raise Problem(408, "the request's head did not arrive in time")

    def _admit(self, head: http1.RequestHead, call: Call) -> tuple[Route | None, Problem | None]:
        """Whose call this is, and why it is refused before its body is read, if it is."""
        route = None
        try:
            route, call.parts = self._find(call)
            self._service.guard.check(route, call)
            if head.length > self._limits.body:
                raise http1.too_large(self._limits.body)
            if "expect" in call.headers and call.headers["expect"].lower() != "100-continue":
                raise Problem(417, "the only expectation known here is 100-continue", kind="bad_request")
        except Problem as problem:
            return route, problem
        return route, None

    def _find(self, call: Call) -> tuple[Route | None, dict[str, str]]:
        table, guard = self._service.table, self._service.guard
        if call.method == "OPTIONS" and table.methods(call.path):
            return None, {}
        try:
            return table.find(call.method, call.path)
        except Problem:
            # A stranger does not learn which paths there are.
            guard.check(None, call)
            raise

    def _take_body(
        self, head: http1.RequestHead, call: Call, refusal: Problem | None
    ) -> tuple[bool, Problem | None]:
        """Read the body into `call`. Whether all of it was read, and why the call is refused, if it is."""
        expects = "expect" in call.headers
        most = self._limits.body
        if refusal is not None:
            most = self._limits.skip
            if expects or head.length > most:
                return False, refusal
        if expects and not self._buffer:
            self.line.send((http1.CONTINUE,))
        if head.chunked or head.length >= memory.LARGE:
            memory.give_back()
        try:
            body = self._chunked(most) if head.chunked else self._counted(head.length)
        except Problem as problem:
            return False, refusal or problem
        if refusal is None and "content-encoding" in call.headers:
            try:
                body = coding.inflated(body, call.headers["content-encoding"], self._limits.body)
            except Problem as problem:
                return True, problem
        call.body = body
        return True, refusal

    def _counted(self, length: int) -> bytes:
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        if len(body) == length:
            return body
        pieces, got, began = [body], len(body), time.monotonic()
        while got < length:
            self._await_body(began, got)
            piece = self._body_piece(self.line.receive_all, length - got)
            pieces.append(piece)
            got += len(piece)
        return pieces[1] if not body and len(pieces) == 2 else b"".join(pieces)

    def _chunked(self, most: int) -> bytes:
        chunks, pieces, got, began = http1.Chunks(most), [], 0, time.monotonic()
        piece, self._buffer = self._buffer, b""
        while True:
            pieces.append(chunks.feed(piece))
            if chunks.done:
                self._buffer = chunks.rest
                return b"".join(pieces)
            got += len(piece)
            self._await_body(began, got)
            piece = self._body_piece(self.line.receive, 65_536)

    def _await_body(self, began: float, got: int) -> None:
        """A body may take `head` seconds, and from then on as long as it keeps coming at `rate`."""
        left = self._limits.head + got / self._limits.rate - (time.monotonic() - began)
        if left <= 0:
            raise Problem(408, "the request's body came too slowly")
        self.line.wait_at_most(min(left, self._limits.head))

    def _body_piece(self, receive: Callable[[int], bytes], most: int) -> bytes:
        try:
            piece = receive(most)
        except TimeoutError:
            raise Problem(408, "the request's body did not arrive in time") from None
        if not piece:
            raise _Left
        return piece

    # --- the reply

    def _answer(self, route: Route | None, call: Call, refusal: Problem | None) -> Reply:
        try:
            if refusal is not None:
                raise refusal
            if route is None:
                methods = self._service.table.methods(call.path)
                return self._reply(self._service.guard.preflight(call, methods), route, call)
            return self._reply(route.handler(call), route, call)
        except Problem as problem:
            return self._error(route, call, problem)
        except Exception:
            self._service.log(
                f"request {call.request_id}, {call.method} {call.path}\n{traceback.format_exc()}"
            )
            message = f"the server failed on this request; its log says why under the id {call.request_id}"
            return self._error(route, call, Problem(500, message, retryable=False))

    def _error(self, route: Route | None, call: Call, problem: Problem) -> Reply:
        """`problem` in the shape of the route's own API."""
        try:
            return self._reply((route.error if route else problem_json)(problem, call), route, call)
        except Exception:
            self._service.log(f"request {call.request_id}, its error\n{traceback.format_exc()}")
            return self._reply(problem_json(problem, call), route, call)

    def _reply(self, response: Response, route: Route | None, call: Call) -> Reply:
        more = self._service.guard.cors(call) if "origin" in call.headers else ()
        if route and route.guard in PRIVATE:
            more += alone(response.headers)
        return Reply(response, more, bodiless=call.method == "HEAD")

    def _send(self, reply: Reply, request_id: str, minor: int, *, keep: bool) -> bool:
        """Write the reply; whether the connection can be used again."""
        start, keep = self._service.letterhead.begin(reply, request_id, minor, keep)
        if reply.pieces is None:
            self.line.send((start, reply.first) if reply.first else (start,))
            return keep
        return self._stream(start, reply, request_id, chunked=minor > 0) and keep

    def _stream(self, start: bytes, reply: Reply, request_id: str, *, chunked: bool) -> bool:
        """Send pieces as they come. False when the caller hung up or the body failed: then no end is sent,
        so that what did arrive cannot be taken for the whole."""
        line = self.line
        try:
            for piece in reply.framed(start, chunked=chunked):
                try:
                    if piece:
                        line.send((piece,))
                    elif line.ended():
                        return False
                except OSError:
                    return False
            return True
        except Problem as problem:
            self._service.log(f"request {request_id}, its stream broke off: {problem.message}")
        except Exception:
            self._service.log(f"request {request_id}, its stream\n{traceback.format_exc()}")
        finally:
            reply.close()
        return False

    def _linger(self) -> bool:
        """Read away what the caller still sends: closing on unread bytes would reset the connection, and
        the reply with it."""
        self.line.finish()
        until = time.monotonic() + self._limits.linger
        try:
            while (left := until - time.monotonic()) > 0:
                self.line.wait_at_most(min(left, 2.0))
                if not self.line.receive():
                    break
        except OSError:
            pass
        return False
