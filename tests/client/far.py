"""A scripted far end on loopback, byte for byte, and what a transport makes of it."""

import contextlib
import socket
import ssl
import threading
import unittest
from collections.abc import Callable, Sequence
from typing import Any

from metrics import http1
from metrics.client.transport import Hangup, Transport
from metrics.records import Problem

FINE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
# Steps of a scripted server: bytes to send, or one of these.
CLOSE, RESET, STALL = "close", "reset", "stall"
Script = list[bytes | str]


class Far:
    """A server whose n-th connection follows the n-th script: a list of steps for each request it gets, and
    it closes after the last one. `requests` are heads and bodies as they came."""

    def __init__(self, *scripts: Sequence[Script], tls: ssl.SSLContext | None = None) -> None:
        self.scripts = list(scripts)
        self.requests: list[tuple[http1.RequestHead, bytes]] = []
        self.connections = 0
        self.reused: list[bool] = []
        self.stop = threading.Event()
        self.reached = threading.Event()
        self._tls = tls
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listening.getsockname()[1])

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://{'localhost' if self._tls else '127.0.0.1'}:{self.port}"

    def __enter__(self) -> "Far":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._listening.accept()
                script = self.scripts[min(self.connections, len(self.scripts) - 1)]
                self.connections += 1
                threading.Thread(target=self._serve, args=(sock, script), daemon=True).start()

    def _serve(self, sock: socket.socket, script: Sequence[Script]) -> None:
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            if self._tls is not None:
                secure = self._tls.wrap_socket(sock, server_side=True)
                self.reused.append(bool(secure.session_reused))
                sock = secure
            stack.enter_context(sock)
            for steps in script:
                if not self._request(sock):
                    return
                for step in steps:
                    self._step(sock, step)

    def _step(self, sock: socket.socket, step: bytes | str) -> None:
        if isinstance(step, bytes):
            sock.sendall(step)
        elif step == STALL:
            self.reached.set()
            self.stop.wait(10)
        elif step == RESET:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            raise OSError
        else:
            raise OSError

    def _request(self, sock: socket.socket) -> bool:
        data = b""
        while b"\r\n\r\n" not in data:
            piece = sock.recv(65_536)
            if not piece:
                return False
            data += piece
        end = data.index(b"\r\n\r\n")
        head, body = http1.request_head(data[:end]), data[end + 4 :]
        while len(body) < head.length:
            body += sock.recv(1 << 20)
        self.requests.append((head, body))
        return True


def kind_of(ask: Callable[..., object], *words: Any, **options: Any) -> tuple[int, str]:
    """Status and kind of the Problem that a call ends in."""
    try:
        ask(*words, **options)
    except Problem as problem:
        return problem.status, problem.kind
    return 200, ""


class Case(unittest.TestCase):
    def calls(self, **options: Any) -> Transport:
        """A transport of this test's own."""
        made = Transport(**options)
        self.addCleanup(made.close)
        return made

    def failure(self, method: str, url: str, *words: Any, **options: Any) -> tuple[int, str]:
        """Status and kind of the Problem that one call ends in, its answer read."""
        return kind_of(lambda: self.calls().open(method, url, *words, **options).read())

    def end(self, far: Far, ask: Callable[[Transport, Hangup], object]) -> None:
        """Let `ask` wait for the server in a thread, hang up, and see it end."""
        calls, hangup = self.calls(), Hangup()
        outcome: list[tuple[int, str]] = []
        thread = threading.Thread(target=lambda: outcome.append(kind_of(lambda: ask(calls, hangup))))
        thread.start()
        self.assertTrue(far.reached.wait(5))
        hangup.now()
        thread.join(5)
        self.assertEqual(outcome, [(499, "hangup")])
        self.assertTrue(hangup.done)
