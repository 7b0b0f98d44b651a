import json
import socket
import threading
import unittest
from unittest.mock import patch

from scripts.bench import mock, stamped


class TestMock(unittest.TestCase):
    def test_lengths(self):
        cases = [
            (b"GET / HTTP/1.1\r\nHost: x", 0),
            (b"POST / HTTP/1.1\r\nContent-Length: 12", 12),
            (b"POST / HTTP/1.1\r\ncontent-LENGTH:7\r\nHost: x", 7),
            (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked", None),
        ]
        for head, expected in cases:
            with self.subTest(head):
                self.assertEqual(mock.length(head), expected)

    def test_replies(self):
        whole = json.loads(mock.WHOLE.partition(b"\r\n\r\n")[2])
        self.assertEqual(whole["choices"][0]["message"]["content"], "".join(mock.WORDS))
        lines = [line for line in mock.STREAMED.split(b"\r\n") if line.startswith(b"data: {")]
        chunks = [json.loads(line[6:]) for line in lines]
        deltas = [choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"]]
        self.assertEqual("".join(deltas), "".join(mock.WORDS))
        self.assertEqual(chunks[-1]["usage"], mock.USAGE)
        self.assertTrue(mock.STREAMED.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n"))

    def test_messages_get_the_same_answer_in_their_own_format(self):
        message = json.loads(mock.answer(b"POST /v1/messages HTTP/1.1", b"{}").partition(b"\r\n\r\n")[2])
        self.assertEqual(message["content"], [{"type": "text", "text": "".join(mock.WORDS)}])
        self.assertEqual(message["stop_reason"], "end_turn")

    def test_a_model_may_take_its_time(self):
        slept, sent = [], Sent()
        with patch.object(mock.time, "sleep", slept.append):
            for body, chunks in ((b'{"model":"mock-1"}', 0), (b'{"model":"mock-d50"}', 0), (STREAM, 3)):
                mock.reply(sent, b"POST /v1/chat/completions HTTP/1.1", body)
                with self.subTest(body):
                    self.assertEqual(len(stamped.STAMP.findall(sent.taken())), chunks)
        self.assertEqual(slept, [0.05, 0.007])

    def test_of_a_large_body_both_ends_are_kept(self):
        body = b"begin" + b" " * 50_000 + b"end"
        for first in (0, 1, 5_000, 50_000, len(body)):
            ours, theirs = socket.socketpair()
            with ours, theirs, self.subTest(first=first):
                threading.Thread(target=ours.sendall, args=(body[first:],), daemon=True).start()
                kept = mock.swallowed(theirs, body[:first], len(body))
                self.assertTrue(kept.endswith(b"end"))
                self.assertTrue(kept.startswith(b"begin"))
        ours, theirs = socket.socketpair()
        ours.close()
        with theirs:
            self.assertIsNone(mock.swallowed(theirs, b"x", 9))

    def test_answers_on_one_connection_however_the_requests_are_cut(self):
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        ours.settimeout(10)
        threading.Thread(target=mock.converse, args=(Untuned(theirs),), daemon=True).start()
        post = b'POST / HTTP/1.1\r\nContent-Length: 15\r\n\r\n{"stream":true}'
        for requests, cut, expected in [
            (b"GET /v1/models HTTP/1.1\r\n\r\n", 7, mock.MODELS),
            (post, 20, mock.STREAMED),
            (post, len(post) - 3, mock.STREAMED),
            (b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}" + post, 44, mock.WHOLE + mock.STREAMED),
            (large(b'{"stream":true}', begin=9_000), 3_000, mock.STREAMED),
            (large(b'{"stream":true}') + large(b"{}"), 9_000, mock.STREAMED + mock.WHOLE),
        ]:
            with self.subTest(requests):
                ours.sendall(requests[:cut])
                ours.sendall(requests[cut:])
                got = b""
                while len(got) < len(expected):
                    got += ours.recv(65_536)
                self.assertEqual(got, expected)


STREAM = b'{"model":"mock-d7-c3","stream":true}'


class Sent:
    """A connection that keeps what is sent."""

    def __init__(self) -> None:
        self._held = b""

    def sendall(self, data: bytes) -> None:
        self._held += data

    def taken(self) -> bytes:
        taken, self._held = self._held, b""
        return taken


def large(end: bytes, begin: int = 20_000) -> bytes:
    body = b" " * begin + end
    return b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


class Untuned:
    """A socket that is not TCP and has no TCP_NODELAY."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def setsockopt(self, *_: object) -> None:
        pass

    def __getattr__(self, name: str) -> object:
        return getattr(self._sock, name)
