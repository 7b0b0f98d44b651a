import json
import socket
import threading
import unittest

from scripts.bench import load, streams
from scripts.bench.load import Job
from tests.scripts.bench.test_load import hang_up, serve

BODY = json.dumps({"model": "mock-c20", "stream": True})


class StreamsTest(unittest.TestCase):
    def port(self, answer):
        listener = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        threading.Thread(target=answer, args=(listener,), daemon=True).start()
        return listener.getsockname()[1]

    def drive(self, **job):
        return streams.drive(Job(**{"path": "/v1/chat/completions", "body": BODY, "warm": 0.0} | job))

    def test_every_chunk_of_whole_streams_counts(self):
        port = self.port(serve)
        for connections in (1, 3):
            for path in ("/v1/chat/completions", "/v1/messages"):
                with self.subTest(path, connections=connections):
                    # No time at all: each connection has one stream, which is heard to its end.
                    told = self.drive(port=port, path=path, connections=connections, seconds=0.0, chunks=20)
                    self.assertEqual((told["ok"], told["errors"]), (connections, 0))
                    self.assertEqual(told["asked"], connections)
                    self.assertEqual(round(told["chunk_rate"] * told["seconds"]), 20 * connections)
                    self.assertLessEqual(0.0, told["delay_p50_ms"])
                    self.assertLessEqual(told["delay_p50_ms"], told["delay_p99_ms"])
                    self.assertLessEqual(told["first_ms"], told["p99_ms"])

    def test_a_stream_that_lacks_chunks_is_an_error(self):
        told = self.drive(port=self.port(serve), seconds=0.0, chunks=21)
        self.assertEqual((told["ok"], told["errors"]), (0, 1))

    def test_an_answer_that_is_no_stream_is_an_error(self):
        told = self.drive(port=self.port(serve), body='{"model":"mock-1"}', seconds=0.0, chunks=20)
        self.assertEqual((told["ok"], told["errors"], told["first_ms"]), (0, 1, 0.0))

    def test_a_connection_that_ends_is_an_error(self):
        for connections in (1, 3):
            told = self.drive(port=self.port(hang_up), connections=connections, seconds=5.0, chunks=20)
            self.assertEqual((told["ok"], told["errors"]), (0, connections))

    def test_streams_that_began_before_do_not_count_but_their_errors_do(self):
        tally = streams.Tally(counting=10.0)
        for begun, right in ((9.0, True), (9.5, False), (10.0, True), (11.0, False)):
            tally.add(Heard(begun), right, 12.0)
        told = tally.told(2.0)
        self.assertEqual((told["ok"], told["errors"], told["asked"]), (1, 2, 4))
        self.assertEqual((told["chunk_rate"], told["first_ms"]), (1.0, 500.0))
        self.assertEqual((told["delay_p50_ms"], told["delay_p99_ms"]), (3.0, 3.0))

    def test_is_bounded(self):
        with self.assertRaises(ValueError):
            self.drive(port=1, connections=load.MOST_CONNECTIONS + 1, chunks=1)


class Heard:
    """A caller whose stream began at `begun`."""

    def __init__(self, begun):
        self.begun, self.first, self.heard = begun, begun + 0.5, [0.001, 0.003]
