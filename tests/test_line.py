import contextlib
import socket
import threading
import unittest
from collections.abc import Iterator

from metrics.line import Line


@contextlib.contextmanager
def joined(tls: bool) -> Iterator[tuple[Line, socket.socket]]:
    """A line and the socket at its other end. `tls` only chooses who keeps the time limits: the kernel or
    Python."""
    near, far = socket.socketpair()
    with near, far:
        line = Line(near, tls=tls)
        line.wait_at_most(5.0)
        line.stand_at_most(5.0)
        far.settimeout(5.0)
        yield line, far


class BothWays(unittest.TestCase):
    """Each test with time limits kept by the kernel, and by Python."""

    def each(self) -> Iterator[tuple[Line, socket.socket]]:
        for tls in (False, True):
            with self.subTest(tls=tls), joined(tls) as pair:
                yield pair

    def test_receive(self) -> None:
        for line, far in self.each():
            far.sendall(b"abcdef")
            self.assertEqual(line.receive(4), b"abcd")
            self.assertEqual(line.receive(), b"ef")
            far.close()
            self.assertEqual(line.receive(), b"")

    def test_time_limit(self) -> None:
        for line, far in self.each():
            line.wait_at_most(0.01)
            for _ in range(2):
                with self.assertRaises(TimeoutError):
                    line.receive()
            far.sendall(b"late")
            self.assertEqual(line.receive(), b"late")
            line.wait_at_most(0.0)
            with self.assertRaises((TimeoutError, BlockingIOError)):
                line.receive()

    def test_receive_all(self) -> None:
        for line, far in self.each():
            sent = bytes(range(256)) * 4_000
            thread = threading.Thread(target=far.sendall, args=(sent,))
            thread.start()
            got = b""
            while len(got) < len(sent):
                got += line.receive_all(len(sent) - len(got))
            thread.join()
            self.assertEqual(got, sent)
            line.wait_at_most(0.01)
            far.sendall(b"part")
            self.assertEqual(line.receive_all(10), b"part")

    def test_send(self) -> None:
        for buffers in (
            [b"one"],
            [b"a", b"", b"b"],
            [b"x" * 50_000] * 9,
            [b"h", b"y" * 300_000, b"", b"t"],
            [b"z" * 900] * 200,
        ):
            for line, far in self.each():
                whole, got = b"".join(buffers), b""
                thread = threading.Thread(target=line.send, args=(buffers,))
                thread.start()
                while len(got) < len(whole):
                    got += far.recv(65_536)
                thread.join()
                self.assertEqual(got, whole)

    def test_nobody_reads(self) -> None:
        for line, _ in self.each():
            line.stand_at_most(0.01)
            for buffers in ([bytes(9_000_000)], [bytes(100_000)] * 90):
                with self.assertRaises(TimeoutError):
                    line.send(buffers)

    def test_readable_and_ended(self) -> None:
        for line, far in self.each():
            self.assertEqual((line.readable(), line.ended()), (False, False))
            far.sendall(b"x")
            self.assertEqual((line.readable(), line.ended()), (True, False))
            line.receive()
            self.assertFalse(line.readable())
            far.close()
            self.assertEqual((line.readable(), line.ended()), (True, True))
        line.close()
        self.assertTrue(line.ended())

    def test_abort_ends_a_read_in_another_thread(self) -> None:
        for line, _ in self.each():
            got: list[bytes] = []
            entered = threading.Event()

            def read(line: Line = line, got: list[bytes] = got, entered: threading.Event = entered) -> None:
                entered.set()
                got.append(line.receive())

            thread = threading.Thread(target=read)
            thread.start()
            entered.wait(5)
            line.abort()
            thread.join(5)
            self.assertEqual(got, [b""])
            line.abort()

    def test_finish_leaves_reading_possible(self) -> None:
        for line, far in self.each():
            line.finish()
            self.assertEqual(far.recv(10), b"")
            far.sendall(b"still")
            self.assertEqual(line.receive(), b"still")
