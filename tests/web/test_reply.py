import unittest
from collections.abc import Iterator

from metrics.web.reply import Letterhead, Reply
from metrics.web.table import JSON, Final, Response

PAPER = Letterhead("1.2")


def head_of(reply: Reply, minor: int = 1, keep: bool = True) -> tuple[dict[str, str], bool]:
    """The header lines of a reply, and whether the connection lasts."""
    head, lasts = PAPER.begin(reply, "id-1", minor, keep)
    lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    return dict(line.split(": ", 1) for line in lines[1:]), lasts


class Heads(unittest.TestCase):
    def test_what_every_reply_says(self) -> None:
        headers, _ = head_of(Reply(Response(200, (JSON,), b"{}")))
        self.assertRegex(headers.pop("Date"), r"^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$")
        self.assertEqual(
            headers,
            {
                "Server": "benchwarmers",
                "X-Benchwarmers-Version": "1.2",
                "X-Content-Type-Options": "nosniff",
                "X-Request-Id": "id-1",
                "Content-Type": "application/json",
                "Content-Length": "2",
            },
        )

    def test_connection_and_framing(self) -> None:
        cases = [  # streams, minor, keep -> connection, framing, lasts
            (False, 1, True, None, "Content-Length", True),
            (False, 1, False, "close", "Content-Length", False),
            (False, 0, True, "keep-alive", "Content-Length", True),
            (False, 0, False, "close", "Content-Length", False),
            (True, 1, True, None, "Transfer-Encoding", True),
            (True, 1, False, "close", "Transfer-Encoding", False),
            (True, 0, True, "close", None, False),
        ]
        for streams, minor, keep, connection, framing, lasts in cases:
            with self.subTest(streams=streams, minor=minor, keep=keep):
                reply = Reply(Response(body=iter([b"a"]) if streams else b"a"))
                headers, stays = head_of(reply, minor, keep)
                framings = {"Content-Length", "Transfer-Encoding"} & headers.keys()
                self.assertEqual(headers.get("Connection"), connection)
                self.assertEqual(framings, {framing} if framing else set())
                self.assertEqual(stays, lasts)

    def test_request_ids(self) -> None:
        for asked in ("abc", "a-b_c.d:e/f+g=", "0" * 128):
            self.assertEqual(PAPER.request_id(asked), asked)
        made = {
            PAPER.request_id(asked) for asked in (None, "", " ", "a b", "a\r\nb", "-a", "x" * 129, "\xe9")
        }
        self.assertEqual(len(made), 8)
        self.assertTrue(all(identifier.isascii() for identifier in made))


class Bodies(unittest.TestCase):
    def test_without_body(self) -> None:
        for status, bodiless, length in ((200, True, "2"), (204, False, None), (304, False, None)):
            with self.subTest(status=status):
                reply = Reply(Response(status, (), b"{}"), bodiless=bodiless)
                self.assertEqual((reply.first, head_of(reply)[0].get("Content-Length")), (b"", length))

    def test_a_stream_that_is_not_wanted_is_closed(self) -> None:
        closed: list[str] = []

        def pieces() -> Iterator[bytes]:
            try:
                yield b"a"
            finally:
                closed.append("yes")

        stream = pieces()
        next(stream)
        reply = Reply(Response(body=stream), bodiless=True)
        self.assertEqual((closed, reply.pieces, reply.first), (["yes"], None, b""))

    def test_framed(self) -> None:
        cases = [
            ([b"ab", b"", b"c"], True, [b"H2\r\nab\r\n", b"", b"1\r\nc\r\n", b"0\r\n\r\n"]),
            ([b"", b"c"], True, [b"H", b"1\r\nc\r\n", b"0\r\n\r\n"]),
            ([], True, [b"H", b"0\r\n\r\n"]),
            ([b"ab", b"", Final(b"c")], True, [b"H2\r\nab\r\n", b"", b"1\r\nc\r\n0\r\n\r\n"]),
            ([b"ab", Final(b"")], True, [b"H2\r\nab\r\n", b"0\r\n\r\n"]),
            ([Final(b"ab")], True, [b"H2\r\nab\r\n", b"0\r\n\r\n"]),
            ([b"ab", Final(b"c")], False, [b"Hab", b"c"]),
            ([b"ab", b"", b"c"], False, [b"Hab", b"", b"c"]),
            ([], False, [b"H"]),
        ]
        for pieces, chunked, sent in cases:
            with self.subTest(pieces=pieces, chunked=chunked):
                reply = Reply(Response(body=iter(pieces)))
                self.assertEqual(list(reply.framed(b"H", chunked=chunked)), sent)

    def test_a_header_that_cannot_be_sent(self) -> None:
        with self.assertRaises(ValueError):
            Reply(Response(200, (("X", "a\r\nSet-Cookie: b"),)))
