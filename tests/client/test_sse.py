"""Every stream is read whole, byte by byte and cut in two at every position, and must say the same."""

import unittest
from collections.abc import Iterable

from metrics.client import sse
from metrics.records import Problem

# name, bytes, [(event, data)], whether the last event is whole
STREAMS: list[tuple[str, bytes, list[tuple[str, bytes]], bool]] = [
    ("lf", b"data: a\n\ndata: b\n\n", [("", b"a"), ("", b"b")], True),
    ("crlf", b"data: a\r\n\r\ndata: b\r\n\r\n", [("", b"a"), ("", b"b")], True),
    ("cr", b"data: a\r\rdata: b\r\r", [("", b"a"), ("", b"b")], True),
    ("mixed ends", b"data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", [("", b"a"), ("", b"b"), ("", b"c")], True),
    ("no blank line at the end", b"data: a\n\ndata: [DONE]", [("", b"a"), ("", b"[DONE]")], False),
    ("one line end at the end", b"data: a\n\ndata: [DONE]\n", [("", b"a"), ("", b"[DONE]")], False),
    ("bom", b"\xef\xbb\xbfdata: a\n\ndata: b\n\n", [("", b"a"), ("", b"b")], True),
    (
        "bom only inside is text",
        b"data: a\n\ndata: \xef\xbb\xbfb\n\n",
        [("", b"a"), ("", b"\xef\xbb\xbfb")],
        True,
    ),
    ("comments", b": hello\n\n:\ndata: a\n: x\n\n: y\n\n", [("", b"a")], True),
    ("multi-line data", b'data: {"a":\ndata: 1}\n\n', [("", b'{"a":\n1}')], True),
    ("no space after the colon", b"data:a\n\ndata:  b\n\n", [("", b"a"), ("", b" b")], True),
    ("field without colon", b"data\n\ndata: a\n\n", [("", b""), ("", b"a")], True),
    (
        "named",
        b"event: error\ndata: {}\n\nid: 7\nretry: 10\ndata: a\n\n",
        [("error", b"{}"), ("", b"a")],
        True,
    ),
    ("many blank lines", b"\n\n\n\ndata: a\n\n\n\n\ndata: b\n\n\n", [("", b"a"), ("", b"b")], True),
    ("no data, no event", b"event: ping\n\nfoo: bar\n\n", [], True),
    ("utf-8", "data: 棚は🧰\n\n".encode(), [("", "棚は🧰".encode())], True),
    ("nothing", b"", [], True),
]


def events(pieces: Iterable[bytes]) -> list[sse.SseEvent]:
    return [event for event in sse.read(iter(pieces)) if event is not None]


class Read(unittest.TestCase):
    def test_whole_by_byte_and_cut_everywhere(self) -> None:
        for name, stream, expected, whole in STREAMS:
            splits = [[stream], [stream[i : i + 1] for i in range(len(stream))]]
            splits += [[stream[:i], b"", stream[i:]] for i in range(len(stream) + 1)]
            for pieces in splits:
                with self.subTest(name, pieces=pieces):
                    found = events(pieces)
                    self.assertEqual([(event.event, event.data) for event in found], expected)
                    if found:
                        self.assertEqual(found[-1].whole, whole)

    def test_signs_of_life(self) -> None:
        self.assertEqual(list(sse.read(iter([b"", b": working\n\n", b""]))), [None, None, None])

    def test_a_cr_ends_its_event_at_once(self) -> None:
        def pieces() -> Iterable[bytes]:
            yield b"data: a\r\r"
            raise AssertionError("asked for more before giving the event")

        self.assertEqual(next(sse.read(iter(pieces()))), sse.SseEvent("", b"a"))

    def test_limit(self) -> None:
        for name, pieces in [
            ("never ends", [b"data: "] + [b"x" * 50] * 3),
            ("ends", [b"data: " + b"x" * 150 + b"\n\n"]),
        ]:
            with self.subTest(name), self.assertRaises(Problem) as caught:
                list(sse.read(iter(pieces), limit=100))
            self.assertEqual((caught.exception.status, caught.exception.kind), (502, "too_large"))
        self.assertEqual(len(list(sse.read(iter([b"data: x\n\n" * 100]), limit=100))), 100)

    def test_a_long_event_is_joined_once(self) -> None:
        pieces = [b"data: "] + [b"x" * 1024] * 4096 + [b"\n", b"\n"]
        (event,) = events(pieces)
        self.assertEqual(len(event.data), 4 << 20)


if __name__ == "__main__":
    unittest.main()
