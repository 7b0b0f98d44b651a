"""The server: a thread for each connection, and as many connections as it can hold.

`ThreadingHTTPServer` accepts; `Connection` does the rest. This module knows about sockets and threads, and
nothing of HTTP.
"""

import errno
import os
import socket
import socketserver
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from metrics.line import Line
from metrics.records import Problem
from metrics.web.connection import Connection, Limits, Service
from metrics.web.door import unmapped
from metrics.web.guard import Guard
from metrics.web.reply import Reply
from metrics.web.table import Table, problem_json

__all__ = ["Limits", "Server"]

# A caller that was turned away gets this long to read why, without a thread being spent on it.
_READ_WHY = 1.0
_TURNED_AWAY_AT_ONCE = 128


class Server(ThreadingHTTPServer):
    """Serves `table` behind `guard` at `address` (host, port; 0 is any free port). `log` gets traces of
    handlers that crash. Problem 503 (kind "port_taken") or 403 when the address cannot be had."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 1024
    # On Windows SO_REUSEADDR would let two servers share one port.
    allow_reuse_address = os.name == "posix"

    def __init__(
        self,
        address: tuple[str, int],
        table: Table,
        guard: Guard,
        *,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        log: Callable[[str], None] = lambda line: None,
        version: str = "",
    ) -> None:
        self.service = Service(table, guard, limits, log, version)
        self._connections: dict[socket.socket, Connection] = {}
        self._turned_away: deque[tuple[float, socket.socket]] = deque()
        self._serving = threading.Event()
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        _room_for_files(2 * limits.connections + 256)
        try:
            super().__init__(address, BaseHTTPRequestHandler)
        except OSError as error:
            raise _not_bound(address, error) from error

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        host = str(self.server_address[0])
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def connections(self) -> int:
        return len(self._connections)

    def serve_forever(self, poll_interval: float = 0.05) -> None:
        if not self.service.stopping:
            self._serving.set()
            super().serve_forever(poll_interval)

    def drain(self, seconds: float) -> None:
        """Stop: accept nothing more, let requests that are under way finish for up to `seconds`, end the
        rest.

        Not to be called from the thread that is in `serve_forever`, which returns from it.
        """
        self.service.stopping = True
        if self._serving.is_set():
            self.shutdown()
        self.server_close()
        until, pause = time.monotonic() + seconds, threading.Event()
        while self._busy() and time.monotonic() < until:
            pause.wait(0.01)
        for connection in list(self._connections.values()):
            connection.line.abort()

    def _busy(self) -> bool:
        return any(not connection.idle for connection in list(self._connections.values()))

    # --- what socketserver calls

    def server_bind(self) -> None:
        # HTTPServer's own asks DNS for this computer's name, which can take seconds and is used nowhere.
        if os.name != "posix":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)  # type: ignore[attr-defined]
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.port

    def get_request(self) -> tuple[socket.socket, Any]:
        try:
            return super().get_request()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                # The connection stays in the queue, so this would spin until another one ends.
                self.service.log("no file descriptors left: raise the limit on open files (ulimit -n)")
                threading.Event().wait(0.05)
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        if len(self._connections) >= self.service.limits.connections:
            self._turn_away(request)
            return
        try:
            request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            # Gone already.
            self.shutdown_request(request)
            return
        peer = unmapped(str(client_address[0]))
        self._connections[request] = Connection(Line(request), peer, self.service)
        super().process_request(request, client_address)

    def finish_request(self, request: Any, client_address: Any) -> None:
        self._connections[request].serve()

    def close_request(self, request: Any) -> None:
        self._connections.pop(request, None)
        super().close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        self.service.log(f"a connection failed\n{traceback.format_exc()}")

    def service_actions(self) -> None:
        """Called after each accept and at least twice a second."""
        now = time.monotonic()
        while self._turned_away and (
            self._turned_away[0][0] < now or len(self._turned_away) > _TURNED_AWAY_AT_ONCE
        ):
            self._turned_away.popleft()[1].close()

    def _turn_away(self, request: socket.socket) -> None:
        most = self.service.limits.connections
        problem = Problem(503, f"this server holds its {most} connections already: try again", retry_after=1)
        reply = self.service.letterhead.whole(Reply(problem_json(problem, None)))
        request.setblocking(False)
        try:
            request.send(reply)
            request.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        self._turned_away.append((time.monotonic() + _READ_WHY, request))

    def server_close(self) -> None:
        super().server_close()
        while self._turned_away:
            self._turned_away.popleft()[1].close()


def _not_bound(address: tuple[str, int], error: OSError) -> Problem:
    host, port = address
    if error.errno == errno.EADDRINUSE:
        hint = "stop what listens there, or choose another port (0 is any free one)"
        return Problem(503, f"port {port} on {host} is taken: {hint}", kind="port_taken")
    if error.errno == errno.EACCES:
        return Problem(403, f"port {port} may not be opened by this user: choose one above 1023")
    return Problem(503, f"{host}:{port} cannot be listened on: {error.strerror or error}", kind="unreachable")


def _room_for_files(wanted: int) -> None:
    """Lift this process's limit on open files, where it has one lower than the connections it is to hold
    need."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        except (OSError, ValueError):
            pass
