import contextlib
import http.client
import socket
import threading
import time
import unittest
from collections.abc import Iterator

from metrics.records import Problem
from metrics.web.guard import Guard
from metrics.web.http import Limits, Server
from metrics.web.table import Call, Response, Route, Table, as_json

GET = b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Running:
    """A server on a free loopback port. The handler of /wait says `entered` and waits for `go`; `streamed`
    is set when a stream of /endless was closed."""

    def __init__(self, limits: Limits | None = None, host: str = "127.0.0.1") -> None:
        self.entered, self.go, self.streamed = threading.Event(), threading.Event(), threading.Event()
        self.gone: list[bool] = []
        self.log: list[str] = []
        routes = [
            Route("GET", "/a", lambda call: as_json({"peer": call.peer})),
            Route("GET", "/wait", self.wait),
            Route("GET", "/endless", lambda call: Response(body=self.endless())),
            Route("POST", "/size", lambda call: as_json({"size": len(call.body)})),
        ]
        self.server = Server(
            (host, 0),
            Table(routes),
            Guard(),
            limits=limits or Limits(),
            log=self.log.append,
            version="1",
        )
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        self.go.set()
        self.server.drain(1.0)
        self.thread.join(5)

    def wait(self, call: Call) -> Response:
        self.entered.set()
        self.go.wait(5)
        self.gone.append(call.gone())
        return as_json({"waited": True})

    def endless(self) -> Iterator[bytes]:
        try:
            while True:
                yield bytes(65_536)
        finally:
            self.streamed.set()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.server.port), 5)


def received(sock: socket.socket) -> bytes:
    """Everything until the other side closes."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while piece := sock.recv(65_536):
            data += piece
    return data


class Serving(unittest.TestCase):
    @unittest.skipUnless(socket.has_ipv6, "this Python has no IPv6")
    def test_a_server_for_both_kinds_of_addresses_knows_ipv4_ones_as_such(self) -> None:
        try:
            running = Running(host="::ffff:127.0.0.1")
        except Problem:
            self.skipTest("this system has no IPv6")
        with running, running.connect() as sock:
            sock.sendall(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            self.assertIn(b'{"peer":"127.0.0.1"}', received(sock))

    def test_one_connection_many_requests(self) -> None:
        with Running() as running, running.connect() as sock:
            for _ in range(3):
                sock.sendall(GET)
                data = b""
                while b'"127.0.0.1"}' not in data:
                    data += sock.recv(65_536)
            self.assertEqual(running.server.connections, 1)

    def test_a_standard_client(self) -> None:
        with Running() as running:
            client = http.client.HTTPConnection("127.0.0.1", running.server.port, timeout=5)
            body = bytes(3_000_000)
            for headers, sent in (({}, body), ({"Transfer-Encoding": "chunked"}, iter([body, b"x"]))):
                client.request("POST", "/size", sent, headers, encode_chunked=bool(headers))
                reply = client.getresponse()
                self.assertEqual(
                    (reply.status, reply.read()[:15]),
                    (200, b'{"size":3000000' if not headers else b'{"size":3000001'),
                )
            client.close()

    def test_a_refusal_can_be_read_by_a_caller_that_is_still_sending(self) -> None:
        with Running(Limits(body=1_000)) as running, running.connect() as sock:
            sock.sendall(b"POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000000\r\n\r\n")
            sock.sendall(bytes(5_000_000))
            sock.shutdown(socket.SHUT_WR)
            self.assertIn(b" 413 ", received(sock)[:20])

    def test_urls(self) -> None:
        with Running() as running:
            self.assertEqual(running.server.url, f"http://127.0.0.1:{running.server.port}")

    def test_ipv6(self) -> None:
        try:
            server = Server(("::1", 0), Table(()), Guard())
        except Problem:
            self.skipTest("no IPv6 here")
        self.assertEqual(server.url, f"http://[::1]:{server.port}")
        server.drain(0.0)

    def test_a_taken_port(self) -> None:
        with Running() as running, self.assertRaises(Problem) as caught:
            Server(("127.0.0.1", running.server.port), Table(()), Guard())
        self.assertEqual(caught.exception.kind, "port_taken")
        self.assertIn(str(running.server.port), caught.exception.message)


class Many(unittest.TestCase):
    def test_128_at_once_without_an_error(self) -> None:
        with Running() as running, contextlib.ExitStack() as stack:
            socks = [stack.enter_context(running.connect()) for _ in range(128)]
            for _ in range(3):
                for sock in socks:
                    sock.sendall(GET)
                for sock in socks:
                    self.assertEqual(sock.recv(65_536)[:15], b"HTTP/1.1 200 OK")
            self.assertEqual(running.log, [])

    def test_one_more_than_it_holds(self) -> None:
        with Running(Limits(connections=3)) as running, contextlib.ExitStack() as stack:
            socks = [stack.enter_context(running.connect()) for _ in range(3)]
            for sock in socks:
                sock.sendall(GET)
                sock.recv(65_536)
            late = stack.enter_context(running.connect())
            late.sendall(GET)
            reply = received(late)
            self.assertEqual(reply[:12], b"HTTP/1.1 503")
            for part in (b"Connection: close", b"X-Request-Id: ", b"Retry-After: 1", b"3 connections"):
                self.assertIn(part, reply)
            socks[0].sendall(GET)
            self.assertEqual(socks[0].recv(65_536)[:12], b"HTTP/1.1 200")

    def test_a_thousand_and_one_more(self) -> None:
        with Running() as running, contextlib.ExitStack() as stack:
            try:
                socks = [stack.enter_context(running.connect()) for _ in range(1024)]
            except OSError as error:
                self.skipTest(f"too few files may be open here: {error}")
            late = stack.enter_context(running.connect())
            self.assertEqual(received(late)[:12], b"HTTP/1.1 503")
            socks[-1].sendall(GET)
            self.assertEqual(socks[-1].recv(65_536)[:12], b"HTTP/1.1 200")


class Slow(unittest.TestCase):
    def test_half_a_head_is_not_waited_for(self) -> None:
        with Running(Limits(head=0.05)) as running, running.connect() as sock:
            sock.sendall(GET[:10])
            self.assertIn(b" 408 ", received(sock)[:20])

    def test_byte_by_byte_does_not_help(self) -> None:
        with Running(Limits(head=0.1)) as running, running.connect() as sock:
            with contextlib.suppress(OSError):
                sock.settimeout(0.01)
                sock.sendall(b"GET /a HTTP/1.1\r\nHost: localhost\r\n")
                until = time.monotonic() + 5
                while time.monotonic() < until:
                    sock.sendall(b"X")
                    with contextlib.suppress(TimeoutError):
                        if sock.recv(65_536):
                            break
            self.assertLess(time.monotonic(), until)

    def test_silence_is_not_kept(self) -> None:
        with Running(Limits(head=0.05, idle=0.05)) as running, running.connect() as sock:
            self.assertEqual(received(sock), b"")
        with Running(Limits(idle=0.05)) as running, running.connect() as sock:
            sock.sendall(GET)
            self.assertIn(b" 200 ", received(sock)[:20])

    def test_a_caller_that_does_not_read(self) -> None:
        with Running(Limits(write=0.05)) as running, running.connect() as sock:
            sock.sendall(GET.replace(b"/a", b"/endless"))
            self.assertTrue(running.streamed.wait(5))


class Leaving(unittest.TestCase):
    def test_a_caller_that_hangs_up_is_noticed(self) -> None:
        with Running() as running:
            sock = running.connect()
            sock.sendall(GET.replace(b"/a", b"/wait"))
            running.entered.wait(5)
            sock.close()
            running.go.set()
            until = time.monotonic() + 5
            while not running.gone and time.monotonic() < until:
                running.streamed.wait(0.01)
            self.assertEqual(running.gone, [True])

    def test_a_caller_that_waits_is_not_gone(self) -> None:
        with Running() as running, running.connect() as sock:
            sock.sendall(GET.replace(b"/a", b"/wait") + GET)
            running.entered.wait(5)
            running.go.set()
            self.assertIn(b'{"waited":true}', sock.recv(65_536))
            self.assertEqual(running.gone, [False])

    def test_hanging_up_ends_the_stream(self) -> None:
        with Running() as running:
            sock = running.connect()
            sock.sendall(GET.replace(b"/a", b"/endless"))
            sock.recv(65_536)
            sock.close()
            self.assertTrue(running.streamed.wait(5))


class Draining(unittest.TestCase):
    def test_what_is_under_way_is_finished(self) -> None:
        with Running() as running, running.connect() as idle, running.connect() as busy:
            idle.sendall(GET)
            idle.recv(65_536)
            busy.sendall(GET.replace(b"/a", b"/wait"))
            running.entered.wait(5)
            drained = threading.Thread(target=running.server.drain, args=(5.0,))
            drained.start()
            until = time.monotonic() + 5
            while not running.server.service.stopping and time.monotonic() < until:
                running.streamed.wait(0.005)
            running.go.set()
            reply = received(busy)
            self.assertIn(b'{"waited":true}', reply)
            self.assertIn(b"Connection: close", reply)
            drained.join(5)
            self.assertEqual(received(idle), b"")
            with self.assertRaises(OSError):
                running.connect()

    def test_no_longer_than_asked(self) -> None:
        with Running() as running, running.connect() as busy:
            busy.sendall(GET.replace(b"/a", b"/wait"))
            running.entered.wait(5)
            running.server.drain(0.05)
            self.assertEqual(received(busy), b"")

    def test_a_server_that_never_served(self) -> None:
        server = Server(("127.0.0.1", 0), Table(()), Guard())
        server.drain(0.1)
