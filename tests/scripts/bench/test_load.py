import socket
import threading
import unittest

from scripts.bench import load, mock


class TestLoad(unittest.TestCase):
    def test_when_a_reply_is_whole(self):
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        sized = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc"
        for reply in (chunked, sized):
            for cut in range(len(reply)):
                with self.subTest(reply, cut=cut):
                    self.assertFalse(load.whole(reply[:cut]))
            self.assertTrue(load.whole(reply))

    def test_summary(self):
        counted = load.summary([0.001 * number for number in range(1, 101)], 2, 4.0)
        self.assertEqual((counted["ok"], counted["errors"], counted["rate"]), (100, 2, 25.0))
        self.assertAlmostEqual(counted["p50_ms"], 51.0)
        self.assertAlmostEqual(counted["p99_ms"], 100.0)
        self.assertEqual(load.summary([], 3, 1.0)["p50_ms"], 0.0)

    def test_counts_right_and_wrong_replies(self):
        listener = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        port = listener.getsockname()[1]
        for connections in (1, 3):
            for mark, right in (("dog.", True), ("cat.", False)):
                with self.subTest(mark, connections=connections):
                    job = load.Job(port, "/x", "{}", connections, seconds=60.0, warm=0.0, mark=mark, most=9)
                    counted = load.drive(job)
                    self.assertEqual((counted["ok"], counted["errors"]), (9, 0) if right else (0, 9))

    def test_a_connection_that_ends_is_an_error(self):
        listener = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        threading.Thread(target=hang_up, args=(listener,), daemon=True).start()
        for connections in (1, 2):
            job = load.Job(listener.getsockname()[1], "/x", "{}", connections, seconds=5.0, warm=0.0)
            self.assertEqual(load.drive(job)["errors"], connections)

    def test_is_bounded(self):
        for job in (load.Job(1, "/", "", 513), load.Job(1, "/", "", 1, seconds=121.0)):
            with self.subTest(job), self.assertRaises(ValueError):
                load.drive(job)


def serve(listener: socket.socket) -> None:
    try:
        mock.serve(listener)
    except OSError:  # closed: the test is over
        pass


def hang_up(listener: socket.socket) -> None:
    try:
        while True:
            connection, _ = listener.accept()
            connection.recv(65_536)
            connection.close()
    except OSError:
        pass
