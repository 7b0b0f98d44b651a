import contextlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
from collections.abc import Iterator
from pathlib import Path

from metrics.client import transport
from metrics.client.arrival import Arrival
from metrics.client.pool import Origin, Pool
from metrics.client.transport import Hangup, Timeouts, Transport
from metrics.records import Problem
from tests.client.far import CLOSE, FINE, RESET, STALL, Case, Far, Script, kind_of


class Asking(Case):
    def test_request_as_sent(self) -> None:
        with Far([[FINE], [FINE], [FINE]]) as far:
            calls = self.calls(agent="benchwarmers/9")
            calls.open("POST", far.url + "/v1/x?y=1", (("X-Key", "k"),), (b"a", b"bc")).read()
            calls.open("GET", far.url, (("User-Agent", "mine"),)).read()
            calls.open("POST", far.url + "/empty").read()
            (first, body), (second, _), (third, _) = far.requests
            self.assertEqual((first.method, first.target, body), ("POST", "/v1/x?y=1", b"abc"))
            expected = {"host": f"127.0.0.1:{far.port}", "x-key": "k", "content-length": "3"}
            self.assertEqual(first.headers, {**expected, "user-agent": "benchwarmers/9"})
            self.assertEqual(second.headers, {"host": f"127.0.0.1:{far.port}", "user-agent": "mine"})
            self.assertEqual(third.headers["content-length"], "0")
            self.assertEqual(far.connections, 1)

    def test_large_bodies_in_many_buffers(self) -> None:
        with Far([[FINE]]) as far:
            buffers = [bytes([number % 251]) * 30_011 for number in range(100)] + [b""]
            self.assertEqual(self.calls().open("POST", far.url, (), buffers).read(), b"ok")
            self.assertEqual(far.requests[0][1], b"".join(buffers))

    def test_any_status_is_an_answer(self) -> None:
        redirect = (
            b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
        )
        with Far([[redirect], [FINE.replace(b"200 OK", b"529 ")]]) as far:
            calls = self.calls()
            arrival = calls.open("POST", far.url, (("Authorization", "Bearer k"),))
            self.assertEqual((arrival.status, arrival.read()), (307, b""))
            with calls.open("POST", far.url) as arrival:
                self.assertEqual(arrival.status, 529)

    def test_not_sent(self) -> None:
        calls = self.calls()
        for method, url, headers in (
            ("GET", "http://127.0.0.1:1/\r\nX: y", ()),
            ("GET", "http://127.0.0.1:1/", (("X", "a\r\nY: b"),)),
            ("GET", "http://127.0.0.1:1/", (("X: y\r\nZ", "a"),)),
            ("GET", "http://127.0.0.1:1/", (("X", "\u20ac"),)),
            ("GET", "http://127.0.0.1:1/", (("Content-Length", "5"),)),
            ("GET", "http://127.0.0.1:1/", (("transfer-encoding", "chunked"),)),
            ("GET", "http://127.0.0.1:1/", (("Host", "other"),)),
            ("GET /x HTTP/1.1\r\nX: y\r\n\r\nGET", "http://127.0.0.1:1/", ()),
        ):
            with self.subTest(method=method, headers=headers):
                self.assertEqual(kind_of(calls.open, method, url, headers)[0], 400)

    def test_an_answer_to_a_body_that_was_not_read(self) -> None:
        refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"
        listening = socket.create_server(("127.0.0.1", 0))

        def refuse() -> None:
            sock, _ = listening.accept()
            with sock:
                sock.recv(100)
                sock.sendall(refusal)
                sock.shutdown(socket.SHUT_WR)
                while sock.recv(1 << 20):
                    pass

        threading.Thread(target=refuse, daemon=True).start()
        with listening:
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
            arrival = self.calls().open("POST", url, (), (bytes(3_000_000),))
            self.assertEqual((arrival.status, arrival.read()), (413, b"no"))


class Failing(Case):
    def test_kinds(self) -> None:
        short = Timeouts(first_byte=0.05, idle=0.05)
        cases: list[tuple[str, Script, tuple[int, str]]] = [
            ("closes", [CLOSE], (502, "unreachable")),
            ("resets", [RESET], (502, "unreachable")),
            ("says nothing", [STALL], (504, "timeout")),
            ("half a head", [FINE[:9], STALL], (504, "timeout")),
            ("half a head, closes", [FINE[:9], CLOSE], (502, "cut")),
            ("half a body", [FINE[:-1], STALL], (504, "timeout")),
            ("half a body, closes", [FINE[:-1], CLOSE], (502, "cut")),
            ("half a body, resets", [FINE[:-1], RESET], (502, "cut")),
            ("no HTTP", [b"\x00\x01 not HTTP\r\n\r\n"], (502, "garbage")),
            ("bare line feeds", [b"HTTP/1.1 200 OK\nX: y\n\n"], (502, "garbage")),
            ("no end of head", [b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000], (502, "garbage")),
        ]
        for name, steps, kind in cases:
            with self.subTest(name), Far([steps]) as far:
                waiting = short if kind[1] == "timeout" else Timeouts()  # a busy machine is late, too
                self.assertEqual(self.failure("GET", far.url, timeouts=waiting), kind)

    def test_total(self) -> None:
        drip: Script = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n", STALL]
        with Far([drip]) as far:
            arrival = self.calls().open("GET", far.url, timeouts=Timeouts(total=0.1))
            self.assertEqual(kind_of(arrival.read), (504, "timeout"))
        with Far([[STALL]]) as far:
            self.assertEqual(self.failure("GET", far.url, timeouts=Timeouts(total=0.05)), (504, "timeout"))

    def test_nothing_listens(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as sock:
            port = sock.getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            with self.subTest(host=host), self.assertRaises(Problem) as caught:
                self.calls().open("GET", f"http://{host}:{port}/")
            self.assertEqual((caught.exception.status, caught.exception.kind), (502, "unreachable"))
            self.assertIn("nothing listens", caught.exception.message)

    def test_unknown_names(self) -> None:
        for host in ("nowhere.invalid", "a" * 70 + ".invalid"):
            with self.subTest(host=host):
                timeouts = Timeouts(connect=5.0)
                kind = self.failure("GET", f"http://{host}/", timeouts=timeouts)
                self.assertIn(kind, ((502, "unreachable"), (504, "timeout")))


class Reusing(Case):
    def test_a_connection_that_was_closed_is_not_used(self) -> None:
        with Far([[FINE, CLOSE]], [[FINE]]) as far:
            calls = self.calls()
            self.assertEqual(calls.open("POST", far.url).read(), b"ok")
            until = time.monotonic() + 5
            while far.connections < 2 and time.monotonic() < until:
                self.assertEqual(calls.open("POST", far.url).read(), b"ok")
            self.assertEqual(far.connections, 2)

    def test_once_more_when_a_kept_connection_gives_nothing(self) -> None:
        for last in (CLOSE, RESET):
            with self.subTest(last), Far([[FINE], [last]], [[FINE]]) as far:
                calls = self.calls()
                answers = [calls.open("POST", far.url, (), (b"x",)).read() for _ in range(2)]
                self.assertEqual((answers, far.connections, len(far.requests)), ([b"ok"] * 2, 2, 3))

    def test_never_more_than_once_more(self) -> None:
        with Far([[FINE], [CLOSE]], [[CLOSE]]) as far:
            calls = self.calls()
            calls.open("POST", far.url).read()
            self.assertEqual(kind_of(calls.open, "POST", far.url), (502, "unreachable"))
            self.assertEqual(len(far.requests), 3)

    def test_never_after_something_of_an_answer_or_a_time_out(self) -> None:
        cases: list[tuple[Script, str]] = [
            ([b"HTTP", CLOSE], "cut"),
            ([STALL], "timeout"),
            ([b"junk\r\n\r\n"], "garbage"),
        ]
        for steps, kind in cases:
            with self.subTest(kind), Far([[FINE], steps], [[FINE]]) as far:
                calls = self.calls()
                calls.open("POST", far.url).read()
                timeouts = Timeouts(first_byte=0.05)
                self.assertEqual(kind_of(calls.open, "POST", far.url, timeouts=timeouts)[1], kind)
                self.assertEqual(len(far.requests), 2)

    def test_many_threads_share_the_pool(self) -> None:
        with Far([[FINE]] * 200) as far:
            calls, failures = self.calls(), []

            def ask() -> None:
                for _ in range(20):
                    if calls.open("GET", far.url).read() != b"ok":
                        failures.append("wrong")

            threads = [threading.Thread(target=ask) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(10)
            self.assertEqual(failures, [])
            self.assertLessEqual(far.connections, 8)
            self.assertEqual(len(far.requests), 160)


class HangingUp(Case):
    def test_while_waiting_for_the_head(self) -> None:
        with Far([[STALL]]) as far:
            self.end(far, lambda calls, hangup: calls.open("GET", far.url, hangup=hangup))

    def test_while_reading(self) -> None:
        with Far([[FINE[:-1], STALL]]) as far:
            self.end(far, lambda calls, hangup: calls.open("GET", far.url, hangup=hangup).read())

    def test_while_sending(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
            hangup = Hangup()
            threading.Timer(0.05, hangup.now).start()
            kind = self.failure("POST", url, (), (bytes(30_000_000),), hangup=hangup)
            self.assertEqual(kind, (499, "hangup"))

    def test_while_connecting(self) -> None:
        with full_backlog() as port:
            hangup = Hangup()
            threading.Timer(0.05, hangup.now).start()
            kind = self.failure("GET", f"http://127.0.0.1:{port}/", hangup=hangup)
            self.assertEqual(kind, (499, "hangup"))

    def test_before(self) -> None:
        with Far([[FINE]]) as far:
            hangup = Hangup()
            hangup.now()
            self.assertEqual(self.failure("GET", far.url, hangup=hangup), (499, "hangup"))
            self.assertEqual(far.requests, [])


@contextlib.contextmanager
def full_backlog() -> Iterator[int]:
    """A port that takes no more connections and refuses none."""
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        port = listening.getsockname()[1]
        for _ in range(8):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", port))
        yield port


class Connecting(Case):
    def test_time_out(self) -> None:
        with full_backlog() as port:
            timeouts = Timeouts(connect=0.05)
            kind = self.failure("GET", f"http://127.0.0.1:{port}/", timeouts=timeouts)
            self.assertEqual(kind, (504, "timeout"))

    def test_the_next_address_when_one_fails(self) -> None:
        # localhost is ::1 as well on most computers, and this server is on 127.0.0.1 alone.
        with Far([[FINE]]) as far:
            self.assertEqual(self.calls().open("GET", f"http://localhost:{far.port}/").read(), b"ok")

    def test_addresses_of_the_open_internet(self) -> None:
        cases = [
            ("93.184.216.34", True),
            ("2606:4700::1111", True),
            ("127.0.0.1", False),
            ("10.1.2.3", False),
            ("172.16.0.1", False),
            ("192.168.0.1", False),
            ("169.254.169.254", False),
            ("100.64.0.1", False),
            ("0.0.0.0", False),
            ("224.0.0.1", False),
            ("255.255.255.255", False),
            ("::1", False),
            ("::", False),
            ("fe80::1%eth0", False),
            ("fd00::1", False),
            ("ff02::1", False),
            ("::ffff:127.0.0.1", False),
            ("::ffff:93.184.216.34", True),
            ("64:ff9b::7f00:1", False),
            ("2002:7f00:1::", False),
        ]
        for address, public in cases:
            with self.subTest(address=address):
                self.assertEqual(transport.is_public(address), public)

    def test_private_addresses_are_refused_where_a_request_named_them(self) -> None:
        with Far([[FINE], [FINE]]) as far:
            calls = self.calls()
            calls.open("GET", far.url).read()
            for url in (
                far.url,
                f"http://localhost:{far.port}/",
                "http://169.254.169.254/latest",
                "http://2130706433/",
            ):
                with self.subTest(url=url):
                    self.assertEqual(kind_of(calls.open, "GET", url, public=True)[0], 400)
            self.assertEqual(len(far.requests), 1)


@unittest.skipUnless(shutil.which("openssl"), "openssl makes the certificate")
class Tls(Case):
    scratch: tempfile.TemporaryDirectory[str]
    certificate: Path
    server: ssl.SSLContext

    @classmethod
    def setUpClass(cls) -> None:
        cls.scratch = tempfile.TemporaryDirectory()
        folder = Path(cls.scratch.name)
        command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
        names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        files = ["-keyout", str(folder / "key"), "-out", str(folder / "certificate")]
        subprocess.run([*command.split(), *names, *files], check=True, capture_output=True)
        cls.certificate = folder / "certificate"
        cls.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        cls.server.load_cert_chain(folder / "certificate", folder / "key")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.scratch.cleanup()

    def trusting(self) -> Transport:
        return self.calls(
            tls=lambda: ssl.create_default_context(cafile=str(self.certificate)), pool=Pool(most=1)
        )

    def test_kept_connections_and_short_handshakes(self) -> None:
        with Far([[FINE], [FINE, CLOSE]], [[FINE]], tls=self.server) as far:
            calls = self.trusting()
            self.assertEqual(
                [calls.open("POST", far.url, (), (bytes(200_000),)).read() for _ in range(2)], [b"ok"] * 2
            )
            self.assertEqual(far.connections, 1)
            calls.close()
            self.assertEqual(calls.open("GET", far.url).read(), b"ok")
            self.assertEqual(far.reused, [False, True])

    def test_a_certificate_that_is_not_trusted(self) -> None:
        with Far([[FINE]], tls=self.server) as far, self.assertRaises(Problem) as caught:
            self.calls().open("GET", far.url)
        self.assertEqual(caught.exception.kind, "unreachable")
        self.assertIn("self-signed", caught.exception.message.replace("self signed", "self-signed"))

    def test_a_port_that_does_not_speak_tls(self) -> None:
        with Far([[FINE]]) as far:
            kind = kind_of(
                self.trusting().open, "GET", f"https://localhost:{far.port}/", timeouts=Timeouts(connect=0.3)
            )
            self.assertIn(kind, ((502, "unreachable"), (504, "timeout")))

    def test_time_outs_and_hanging_up(self) -> None:
        with Far([[FINE[:-1], STALL]], tls=self.server) as far:
            arrival = self.trusting().open("GET", far.url, timeouts=Timeouts(idle=0.05))
            self.assertEqual(kind_of(arrival.read), (504, "timeout"))
        with Far([[FINE[:-1], STALL]], tls=self.server) as far:
            self.end(far, lambda calls, hangup: self.trusting().open("GET", far.url, hangup=hangup).read())

    def test_ticks(self) -> None:
        with Far([[FINE[:-1], STALL]], tls=self.server) as far:
            with self.trusting().open("GET", far.url) as arrival:
                pieces = arrival.pieces(tick=0.01)
                self.assertEqual([next(pieces), next(pieces), next(pieces)], [b"o", b"", b""])


class Shared(unittest.TestCase):
    def test_one_for_the_process(self) -> None:
        self.assertIs(transport.shared(), transport.shared())

    def test_names(self) -> None:
        self.assertTrue(
            {Arrival, Hangup, Timeouts, Transport} <= {getattr(transport, n) for n in transport.__all__}
        )
        self.assertEqual(Origin("https", "h", 443).authority, "h")
