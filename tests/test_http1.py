import random
import unittest

from metrics import http1
from metrics.records import Problem
from tests.lines import every_cut

GOOD = b"GET /a?b=1 HTTP/1.1\r\nHost: h"
POST = b"POST /v1 HTTP/1.1\r\nHost: h\r\n"


def status_of(head: bytes) -> int:
    """The status with which a head is refused, 200 if it is not."""
    try:
        http1.request_head(head)
    except Problem as problem:
        return problem.status
    return 200


HEADS = [
    ("fine", GOOD, 200),
    ("unknown method", b"PURGE / HTTP/1.1\r\nHost: h", 200),
    ("no host", b"GET / HTTP/1.1", 400),
    ("no host, 1.0", b"GET / HTTP/1.0", 200),
    ("empty host", b"GET / HTTP/1.1\r\nHost:", 200),
    ("two hosts", GOOD + b"\r\nHost: h", 400),
    ("no version", b"GET /\r\nHost: h", 400),
    ("two spaces", b"GET  / HTTP/1.1\r\nHost: h", 400),
    ("tab", b"GET\t/\tHTTP/1.1\r\nHost: h", 400),
    ("version 2", b"PRI * HTTP/2.0\r\nHost: h", 505),
    ("version 1.2", b"GET / HTTP/1.2\r\nHost: h", 505),
    ("lower-case version", b"GET / http/1.1\r\nHost: h", 400),
    ("method not a token", b"G(T / HTTP/1.1\r\nHost: h", 400),
    ("relative target", b"GET x HTTP/1.1\r\nHost: h", 400),
    ("authority target", b"CONNECT h:80 HTTP/1.1\r\nHost: h", 400),
    ("other scheme", b"GET ftp://h/ HTTP/1.1\r\nHost: h", 400),
    ("asterisk", b"OPTIONS * HTTP/1.1\r\nHost: h", 200),
    ("bare LF", b"GET / HTTP/1.1\nHost: h", 400),
    ("bare CR", b"GET / HTTP/1.1\r\nHost: h\rX: y", 400),
    ("folded", GOOD + b"\r\nX: a\r\n b", 400),
    ("folded first", b"GET / HTTP/1.1\r\n Host: h", 400),
    ("NUL", GOOD + b"\r\nX: a\0b", 400),
    ("control", GOOD + b"\r\nX: a\x01b", 400),
    ("DEL", GOOD + b"\r\nX: a\x7fb", 400),
    ("tab in a value", GOOD + b"\r\nX: a\tb", 200),
    ("obs-text", GOOD + b"\r\nX: \xff\x80", 200),
    ("no colon", GOOD + b"\r\nX", 400),
    ("known name without colon", GOOD + b"\r\nHost", 400),
    ("space before colon", GOOD + b"\r\nX : y", 400),
    ("empty name", GOOD + b"\r\n: y", 400),
    ("name with a quote", GOOD + b'\r\nX"y: z', 400),
    ("100 headers", GOOD + b"\r\nX: y" * 99, 200),
    ("101 headers", GOOD + b"\r\nX: y" * 100, 431),
    ("length", POST + b"Content-Length: 5", 200),
    ("length, leading zero", POST + b"Content-Length: 005", 200),
    ("length twice the same", POST + b"Content-Length: 5\r\nContent-Length: 5", 200),
    ("length list, the same", POST + b"Content-Length: 5, 5", 200),
    ("two lengths", POST + b"Content-Length: 2\r\nContent-Length: 7", 400),
    ("length list", POST + b"Content-Length: 2, 7", 400),
    ("length +5", POST + b"Content-Length: +5", 400),
    ("length -5", POST + b"Content-Length: -5", 400),
    ("length 0x5", POST + b"Content-Length: 0x5", 400),
    ("length 5.0", POST + b"Content-Length: 5.0", 400),
    ("length 1_0", POST + b"Content-Length: 1_0", 400),
    ("length, superscript", POST + b"Content-Length: \xb2", 400),
    ("length, empty", POST + b"Content-Length:", 400),
    ("length, huge", POST + b"Content-Length: " + b"9" * 19, 400),
    ("length, two words", POST + b"Content-Length: 5 5", 400),
    ("length, trailing comma", POST + b"Content-Length: 5,", 400),
    ("chunked", POST + b"Transfer-Encoding: chunked", 200),
    ("Chunked", POST + b"Transfer-Encoding: Chunked", 200),
    ("both", POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked", 400),
    ("both, other order", POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5", 400),
    ("both, unknown coding", POST + b"Content-Length: 5\r\nTransfer-Encoding: x", 400),
    ("gzip, chunked", POST + b"Transfer-Encoding: gzip, chunked", 501),
    ("chunked twice", POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 501),
    ("identity", POST + b"Transfer-Encoding: identity", 501),
    ("empty coding", POST + b"Transfer-Encoding:", 501),
    ("vertical tab before the coding", POST + b"Transfer-Encoding: \x0bchunked", 400),
    ("chunked in 1.0", b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked", 400),
    ("garbage", bytes(range(256)), 400),
    ("empty", b"", 400),
]


class RequestHeads(unittest.TestCase):
    def test_parts(self) -> None:
        head = http1.request_head(
            b"POST /v1/x?y=%20 HTTP/1.1\r\nHost: h:1\r\nCoNTent-Length:  12 \r\nX-A:\t\xe9\t"
        )
        self.assertEqual((head.method, head.target, head.minor), ("POST", "/v1/x?y=%20", 1))
        self.assertEqual(head.headers, {"host": "h:1", "content-length": "12", "x-a": "\xe9"})
        self.assertEqual((head.length, head.chunked, head.keep), (12, False, True))

    def test_refused(self) -> None:
        for name, head, status in HEADS:
            with self.subTest(name):
                self.assertEqual(status_of(head), status)

    def test_keep(self) -> None:
        cases = [
            (b"1.1", b"", True),
            (b"1.1", b"\r\nConnection: close", False),
            (b"1.1", b"\r\nConnection: Keep-Alive, Close", False),
            (b"1.1", b"\r\nConnection: upgrade", True),
            (b"1.0", b"", False),
            (b"1.0", b"\r\nConnection: keep-alive", True),
            (b"1.0", b"\r\nConnection: keep-alive, close", False),
        ]
        for version, extra, keep in cases:
            with self.subTest(version=version, extra=extra):
                head = http1.request_head(b"GET / HTTP/" + version + b"\r\nHost: h" + extra)
                self.assertEqual(head.keep, keep)

    def test_absolute_target_brings_its_own_host(self) -> None:
        cases = [
            (b"http://other:8/a?b", "/a?b", "other:8"),
            (b"HTTP://other", "/", "other"),
            (b"https://other?b", "/?b", "other"),
        ]
        for target, path, host in cases:
            with self.subTest(target=target):
                head = http1.request_head(b"GET " + target + b" HTTP/1.1\r\nHost: h")
                self.assertEqual((head.target, head.headers["host"]), (path, host))

    def test_repeated_headers_are_joined(self) -> None:
        head = http1.request_head(GOOD + b"\r\nX: a\r\nx: b\r\nCookie: c=1\r\nCookie: d=2")
        self.assertEqual((head.headers["x"], head.headers["cookie"]), ("a, b", "c=1; d=2"))


class HeadEnds(unittest.TestCase):
    def test_cut_anywhere(self) -> None:
        whole = b"GET / HTTP/1.1\r\nHost: h\r\n\r\nrest"
        for pieces in every_cut(whole):
            buffer, searched, found = b"", 0, -1
            for piece in pieces:
                buffer += piece
                found = http1.end_of_head(buffer, searched)
                if found >= 0:
                    break
                searched = len(buffer)
            self.assertEqual(found, whole.index(b"\r\n\r\n"))

    def test_bare_line_feeds_are_refused_at_once(self) -> None:
        whole = b"GET / HTTP/1.1\nHost: h\n\n"
        for pieces in every_cut(whole):
            with self.assertRaises(Problem) as caught:
                buffer, searched = b"", 0
                for piece in pieces:
                    buffer += piece
                    http1.end_of_head(buffer, searched)
                    searched = len(buffer)
            self.assertEqual(caught.exception.status, 400)

    def test_too_large(self) -> None:
        line = b"X: " + b"y" * (http1.HEAD_LIMIT - 3)
        self.assertEqual(http1.end_of_head(line + b"\r\n\r\n"), http1.HEAD_LIMIT)
        for head in (line + b"z", line + b"z\r\n\r\n"):
            with self.assertRaises(Problem) as caught:
                http1.end_of_head(head)
            self.assertEqual(caught.exception.status, 431)


class AnswerHeads(unittest.TestCase):
    def test_parts(self) -> None:
        cases = [
            (b"HTTP/1.1 200 OK", (200, "OK", None, False, True)),
            (b"HTTP/1.1 200", (200, "", None, False, True)),
            (
                b"HTTP/1.1 429 Too Many Requests\r\ncontent-length: 7",
                (429, "Too Many Requests", 7, False, True),
            ),
            (b"HTTP/1.0 200 OK\r\nContent-Length: 0", (200, "OK", 0, False, False)),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", (200, "OK", None, True, True)),
            # Chunked wins over a length (RFC 9112, 6.3), and the connection is not trusted again.
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3",
                (200, "OK", None, True, False),
            ),
            (b"HTTP/1.1 200 OK\r\nConnection: close", (200, "OK", None, False, False)),
        ]
        for data, expected in cases:
            with self.subTest(data=data):
                head = http1.answer_head(data)
                self.assertEqual((head.status, head.reason, head.length, head.chunked, head.keep), expected)

    def test_not_http(self) -> None:
        for data in (
            b"",
            b"SSH-2.0-OpenSSH_9",
            b"HTTP/2 200",
            b"HTTP/1.1",
            b"HTTP/1.1 20 OK",
            b"HTTP/1.1 2000 OK",
            b"HTTP/1.1 099 OK",
            b"HTTP/1.1 \xb2\xb2\xb2 OK",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip",
            b"HTTP/1.1 200 OK\r\nContent-Length: -1",
            b"HTTP/1.1 200 OK\nX: y",
            b"\x15\x03\x01\x00\x02\x02\x50",
        ):
            with self.subTest(data=data), self.assertRaises(Problem):
                http1.answer_head(data)


class Writing(unittest.TestCase):
    def test_status_lines(self) -> None:
        self.assertEqual(http1.status_line(200), b"HTTP/1.1 200 OK\r\n")
        self.assertEqual(http1.status_line(529), b"HTTP/1.1 529 \r\n")

    def test_fields(self) -> None:
        self.assertEqual(http1.fields((("A", "1"), ("B-c", "\xe9"))), b"A: 1\r\nB-c: \xe9\r\n")
        self.assertEqual(http1.fields(()), b"")

    def test_no_header_can_be_smuggled_into_another(self) -> None:
        for name, value in (
            ("A", "1\r\nB: 2"),
            ("A", "1\nB: 2"),
            ("A", "1\r"),
            ("A", "1\0"),
            ("A\r\nB", "1"),
            ("A: 1\r\nB", "2"),
            ("A B", "1"),
            ("", "1"),
            ("A", "\u20ac"),
        ):
            with self.subTest(name=name, value=value), self.assertRaises(Problem):
                http1.fields(((name, value),))


def fed(pieces: list[bytes], limit: int | None = None) -> tuple[bytes, bool, bytes]:
    """Payload, done and rest of a chunked body that comes in `pieces`."""
    chunks, payload = http1.Chunks(limit), b""
    for at, piece in enumerate(pieces):
        payload += chunks.feed(piece)
        if chunks.done:
            return payload, True, chunks.rest + b"".join(pieces[at + 1 :])
    return payload, chunks.done, b""


class ChunkedCoding(unittest.TestCase):
    GOOD = (
        (b"0\r\n\r\n", b"", b""),
        (b"5\r\nhello\r\n0\r\n\r\n", b"hello", b""),
        (b"5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\n", b"hello", b"GET / HTTP/1.1\r\n"),
        (b"0005\r\nhello\r\n000\r\n\r\n", b"hello", b""),
        (b'a;x=y\r\n0123456789\r\nB ; q="z"\r\nabcdefghijk\r\n0;end\r\n\r\n', b"0123456789abcdefghijk", b""),
        (b"2 \r\n\r\n\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\nrest", b"\r\n", b"rest"),
    )
    BAD = (
        b"-5\r\nhello\r\n0\r\n\r\n",
        b"+5\r\nhello\r\n0\r\n\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"5_0\r\n",
        b" 5\r\nhello\r\n",
        b"\r\n5\r\nhello\r\n",
        b"g\r\n",
        b"5\nhello\n0\n\n",
        b"5\r\nhello\n0\r\n\r\n",
        b"5\r\nhello!\r\n0\r\n\r\n",
        b'5\r\n{"a":1}\r\n0\r\n\r\n',
        b"5\r\nhelloXX0\r\n\r\n",
        b"5;a\rb\r\nhello\r\n0\r\n\r\n",
        b"1000000000000000\r\n",
        b"0\r\nnot a header\r\n\r\n",
        b"0\r\n folded\r\n\r\n",
        b"0\r\nX: 1\n\r\n",
        b"5;" + b"x" * 5_000 + b"\r\n",
        b"9" * 5_000,
        b"1;" + b"x" * 4_000 + b"\r\nA\r\n",
    )

    def test_good_cut_anywhere(self) -> None:
        for whole, payload, rest in self.GOOD:
            for pieces in [[whole], *every_cut(whole)]:
                with self.subTest(pieces=pieces):
                    self.assertEqual(fed(pieces), (payload, True, rest))

    def test_unfinished(self) -> None:
        for whole, _, rest in self.GOOD:
            body = whole[: len(whole) - len(rest)]
            for at in range(len(body)):
                self.assertFalse(fed([body[:at]])[1])

    def test_bad_cut_anywhere(self) -> None:
        for whole in self.BAD:
            if len(whole) > 100:
                whole = whole * 6 if whole.endswith(b"A\r\n") else whole
                cuts = [[whole], [whole[:4_200], whole[4_200:]]]
            else:
                cuts = [[whole], *every_cut(whole)]
            for pieces in cuts:
                with (
                    self.subTest(whole=whole[:40], first=len(pieces[0])),
                    self.assertRaises(Problem) as caught,
                ):
                    fed(pieces)
                self.assertEqual(caught.exception.status, 400)

    def test_limit_counts_before_the_bytes_come(self) -> None:
        self.assertEqual(fed([b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"], limit=5)[0], b"abcde")
        for whole in (b"6\r\n", b"3\r\nabc\r\n3\r\n", b"fffffff\r\n"):
            with self.subTest(whole=whole), self.assertRaises(Problem) as caught:
                fed([whole], limit=5)
            self.assertEqual(caught.exception.status, 413)

    def test_endless_trailers(self) -> None:
        chunks = http1.Chunks()
        chunks.feed(b"0\r\n")
        with self.assertRaises(Problem):
            for _ in range(100):
                chunks.feed(b"X: " + b"y" * 300 + b"\r\n")

    def test_round_trip_of_any_pieces(self) -> None:
        rng = random.Random(7)
        for _ in range(100):
            parts = [rng.randbytes(rng.choice((1, 2, 15, 16, 17, 300))) for _ in range(rng.randrange(6))]
            whole = b"".join(map(http1.chunk, parts)) + http1.LAST_CHUNK + b"next"
            pieces = []
            while whole:
                at = rng.randrange(1, 40)
                pieces.append(whole[:at])
                whole = whole[at:]
            self.assertEqual(fed(pieces), (b"".join(parts), True, b"next"))


class Fuzz(unittest.TestCase):
    """Whatever comes, a Problem or a value comes of it; and a head that is accepted has no way to be read
    otherwise."""

    SEEDS = (
        b"POST /v1/chat HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nX-A: b\r\nConnection: close",
        b"GET http://h:1/a?b HTTP/1.0\r\nTransfer-Encoding: chunked\r\nHost: h",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nServer: x",
    )
    BITS = (
        b"\r\n",
        b"\n",
        b"\r",
        b" ",
        b":",
        b"\0",
        b"Content-Length: 7\r\n",
        b"\xff",
        b"\t",
        b",",
        b"+",
        b"HTTP/1.1",
    )

    def test_heads(self) -> None:
        rng = random.Random(11)
        for turn in range(3_000):
            data = bytearray(self.SEEDS[turn % len(self.SEEDS)])
            for _ in range(rng.randrange(1, 4)):
                at = rng.randrange(len(data))
                data[at : at + rng.randrange(3)] = rng.choice(self.BITS)
            for read in (http1.request_head, http1.answer_head):
                try:
                    head = read(bytes(data))
                except Problem as problem:
                    self.assertIn(problem.status, (400, 431, 501, 505))
                    continue
                for name, value in head.headers.items():
                    self.assertEqual(name, name.lower())
                    self.assertFalse(set("\r\n\0") & set(name + value))
                if isinstance(head, http1.RequestHead):
                    self.assertFalse(head.chunked and "content-length" in head.headers)

    def test_chunks(self) -> None:
        rng = random.Random(13)
        for _ in range(3_000):
            data = bytearray(b"5;a=b\r\nhello\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n")
            for _ in range(rng.randrange(1, 3)):
                at = rng.randrange(len(data))
                data[at : at + rng.randrange(3)] = rng.choice(self.BITS)
            outcomes = []
            for pieces in ([bytes(data)], [bytes(data[i : i + 1]) for i in range(len(data))]):
                try:
                    outcomes.append(fed(pieces))
                except Problem:
                    outcomes.append((b"", False, b"refused"))
            self.assertEqual(outcomes[0], outcomes[1], bytes(data))
