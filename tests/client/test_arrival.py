import gzip
import unittest
import zlib
from collections.abc import Sequence

from metrics.client.arrival import Clock, Hangup, Timeouts, told
from metrics.client.opening import Opening
from metrics.client.pool import Origin
from metrics.line import Line
from metrics.records import Problem
from tests.lines import Played, every_cut

TEXT = b'{"id": "cc-1", "content": "hello hello hello hello"}'
ORIGIN = Origin("http", "127.0.0.1", 9)


def answer(*fields: str, body: bytes = b"", status: str = "200 OK", version: str = "1.1") -> bytes:
    lines = [f"HTTP/{version} {status}", *fields]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def chunked(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


class Case:
    """An answer that arrives in pieces. `kept` are the lines that were given back."""

    def __init__(
        self,
        coming: Sequence[bytes | Exception],
        *,
        bodiless: bool = False,
        timeouts: Timeouts | None = None,
        hangup: Hangup | None = None,
    ) -> None:
        self.line = Played(coming)
        self.kept: list[Line] = []
        self.clock = Clock(timeouts or Timeouts())
        opening = Opening(self, ORIGIN, self.line, "HEAD" if bodiless else "GET", (), self.clock, hangup)
        arrival = opening.answer()
        assert arrival is not None
        self.arrival = arrival

    def connect(self, *_: object) -> Line:
        return Played([])

    def keep(self, origin: Origin, line: Line) -> None:
        self.kept.append(line)

    @property
    def outcome(self) -> str:
        if self.kept:
            return "kept"
        return "closed" if self.line.closed else "open"


FRAMED = {
    "length": answer(f"Content-Length: {len(TEXT)}", body=TEXT),
    "chunked": answer("Transfer-Encoding: chunked", body=chunked(TEXT[:7], TEXT[7:])),
    "gzip": answer(
        f"Content-Length: {len(gzip.compress(TEXT, mtime=0))}",
        "Content-Encoding: gzip",
        body=gzip.compress(TEXT, mtime=0),
    ),
    "deflate, chunked": answer(
        "Content-Encoding: deflate", "Transfer-Encoding: chunked", body=chunked(zlib.compress(TEXT))
    ),
    "after interim": answer(status="100 Continue")
    + answer("Link: x", status="103 Early Hints")
    + answer(f"Content-Length: {len(TEXT)}", body=TEXT),
}


class Reading(unittest.TestCase):
    def test_cut_anywhere_read_whole(self) -> None:
        for name, whole in FRAMED.items():
            for pieces in [[whole], *every_cut(whole)]:
                case = Case(pieces)
                self.assertEqual((case.arrival.status, case.arrival.read()), (200, TEXT), name)
                self.assertEqual(case.outcome, "kept", name)

    def test_cut_anywhere_in_pieces(self) -> None:
        for name, whole in FRAMED.items():
            for pieces in every_cut(whole):
                case = Case(pieces)
                found = list(case.arrival.pieces())
                self.assertEqual((b"".join(found), case.outcome), (TEXT, "kept"), name)
                self.assertNotIn(b"", found)

    def test_cut_off_anywhere(self) -> None:
        """No answer that lost its end passes for a whole one."""
        for name, whole in FRAMED.items():
            for at in range(len(whole)):
                with self.subTest(name, at=at):
                    try:
                        case = Case([whole[:at]] if at else [])
                        case.arrival.read()
                    except Problem as problem:
                        kind = problem.kind
                    self.assertEqual(kind, "cut" if at else "unreachable")

    def test_until_the_connection_ends(self) -> None:
        for version in ("1.0", "1.1"):
            for pieces in every_cut(answer("Content-Type: x", body=TEXT, version=version)):
                case = Case(pieces)
                self.assertEqual((case.arrival.read(), case.outcome), (TEXT, "closed"))

    def test_without_body(self) -> None:
        length = answer("Content-Length: 10", "Content-Encoding: gzip")
        for coming, bodiless, outcome in (
            (length, True, "kept"),
            (answer("Transfer-Encoding: chunked"), True, "kept"),
            (answer(status="204 No Content"), True, "kept"),
            (answer("Content-Length: 0"), False, "kept"),
            (answer("Content-Length: 0", "Content-Encoding: gzip"), False, "kept"),
            (answer("Content-Length: 0", "Connection: close"), False, "closed"),
            (answer("Content-Length: 0", version="1.0"), False, "closed"),
        ):
            with self.subTest(coming=coming):
                case = Case([coming], bodiless=bodiless)
                self.assertEqual((case.arrival.read(), case.outcome), (b"", outcome))

    def test_headers(self) -> None:
        case = Case(
            [answer("X-Request-ID: r", "Retry-After: 7", "content-encoding: gzip", "content-length: 0")]
        )
        self.assertEqual(case.arrival.headers, {"x-request-id": "r", "retry-after": "7"})

    def test_bytes_after_the_end_spoil_the_connection(self) -> None:
        for whole in FRAMED.values():
            case = Case([whole + b"HTTP/1.1 200 OK\r\n"])
            self.assertEqual((case.arrival.read(), case.outcome), (TEXT, "closed"))

    def test_too_large(self) -> None:
        bomb = gzip.compress(bytes(10_000_000))
        for coming in (
            answer("Content-Length: 2000", body=bytes(2_000)),
            answer("Transfer-Encoding: chunked", body=chunked(bytes(2_000))),
            answer(f"Content-Length: {len(bomb)}", "Content-Encoding: gzip", body=bomb),
        ):
            case = Case([coming])
            with self.assertRaises(Problem) as caught:
                case.arrival.read(limit=1_000)
            self.assertEqual((caught.exception.status, caught.exception.kind), (502, "too_large"))
            self.assertEqual(case.outcome, "closed")
        self.assertEqual(
            len(Case([answer("Content-Length: 1000", body=bytes(1_000))]).arrival.read(1_000)), 1_000
        )

    def test_garbage(self) -> None:
        for coming in (
            b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
            b"\x00\x01 this is not HTTP\r\n\r\n",
            answer(status="101 Switching Protocols"),
            answer(status="100 Continue") * 30,
            answer("X: " + "y" * 70_000),
            answer("Content-Length: -1"),
            answer("Content-Length: 1", "Content-Length: 2"),
            answer("Transfer-Encoding: gzip"),
            answer("Content-Encoding: br", "Content-Length: 1", body=b"x"),
            answer("Transfer-Encoding: chunked", body=b"zz\r\n"),
            answer("Content-Encoding: gzip", "Content-Length: 4", body=b"nope"),
        ):
            with self.subTest(coming=coming[:60]), self.assertRaises(Problem):
                Case([coming]).arrival.read()

    def test_garbage_in_the_body_has_its_kind(self) -> None:
        case = Case([answer("Transfer-Encoding: chunked", body=b"-5\r\nhello")])
        with self.assertRaises(Problem) as caught:
            case.arrival.read()
        self.assertEqual((caught.exception.status, caught.exception.kind), (502, "garbage"))
        self.assertEqual(case.outcome, "closed")

    def test_reset(self) -> None:
        case = Case([answer("Content-Length: 9", body=b"abc"), ConnectionResetError(104, "reset by peer")])
        pieces = case.arrival.pieces()
        self.assertEqual(next(pieces), b"abc")
        with self.assertRaises(Problem) as caught:
            next(pieces)
        self.assertEqual((caught.exception.kind, case.outcome), ("cut", "closed"))
        self.assertIn("reset", caught.exception.message)


class Closing(unittest.TestCase):
    def test_before_the_end(self) -> None:
        whole = answer("Transfer-Encoding: chunked", body=b"3\r\nabc\r\n")
        cases: list[tuple[str, list[bytes | Exception], str]] = [
            ("the end is here", [whole + b"0\r\n\r\n"], "kept"),
            ("the end has come by now", [whole, b"0\r\n\r\n"], "kept"),
            ("the end has not come", [whole, TimeoutError()], "closed"),
            ("more has come", [whole, b"3\r\ndef\r\n0\r\n\r\n"], "closed"),
            ("garbage has come", [whole, b"xyz"], "closed"),
        ]
        for name, coming, outcome in cases:
            with self.subTest(name):
                case = Case(coming)
                self.assertEqual(next(case.arrival.pieces()), b"abc")
                case.arrival.close()
                self.assertEqual(case.outcome, outcome)

    def test_context(self) -> None:
        case = Case([answer("Content-Length: 9", body=b"abc"), TimeoutError()])
        with case.arrival:
            pass
        self.assertEqual(case.outcome, "closed")
        case.arrival.close()

    def test_once_only(self) -> None:
        case = Case([FRAMED["length"]])
        with case.arrival as arrival:
            arrival.read()
        arrival.close()
        self.assertEqual(len(case.kept), 1)

    def test_reading_on_after_the_end(self) -> None:
        case = Case([FRAMED["length"]])
        self.assertEqual(
            (case.arrival.read(), case.arrival.read(), list(case.arrival.pieces())), (TEXT, b"", [])
        )

    def test_reading_after_closing_is_no_whole_answer(self) -> None:
        case = Case([answer("Content-Length: 9", body=b"abc"), TimeoutError()])
        case.arrival.close()
        with self.assertRaises(Problem):
            case.arrival.read()


class Waiting(unittest.TestCase):
    def test_ticks(self) -> None:
        coming: list[bytes | Exception] = [
            answer("Content-Length: 4", body=b"a"),
            TimeoutError(),
            TimeoutError(),
            b"bc",
            TimeoutError(),
            b"d",
        ]
        case = Case(coming)
        self.assertEqual(list(case.arrival.pieces(tick=10.0)), [b"a", b"", b"", b"bc", b"", b"d"])
        self.assertEqual(case.line.limits[1:], [10.0] * 5)

    def test_idle(self) -> None:
        timeouts = Timeouts(idle=25.0)
        for tick, ticks in ((10.0, 2), (None, 0)):
            with self.subTest(tick=tick):
                stalled: list[bytes | Exception] = [answer("Content-Length: 4"), *[TimeoutError()] * 9]
                case = Case(stalled, timeouts=timeouts)
                found = []
                with self.assertRaises(Problem) as caught:
                    for piece in case.arrival.pieces(tick):
                        found.append(piece)
                self.assertEqual(
                    (found, caught.exception.status, caught.exception.kind), ([b""] * ticks, 504, "timeout")
                )
                self.assertEqual(case.outcome, "closed")

    def test_quiet_seconds_start_again_with_each_piece(self) -> None:
        coming: list[bytes | Exception]
        coming = [answer("Content-Length: 2"), TimeoutError(), b"a", TimeoutError(), TimeoutError()]
        case = Case(coming, timeouts=Timeouts(idle=10.0))
        found = []
        with self.assertRaises(Problem):
            for piece in case.arrival.pieces(5.0):
                found.append(piece)
        self.assertEqual(found, [b"", b"a", b""])

    def test_total(self) -> None:
        with self.assertRaises(Problem) as caught:
            Case([answer("Content-Length: 2")], timeouts=Timeouts(total=0.0))
        self.assertEqual((caught.exception.status, caught.exception.kind), (504, "timeout"))

    def test_limits_as_they_were_asked_for(self) -> None:
        for seconds, said in (
            (0.999996, "1 s"),
            (299.997, "300 s"),
            (1.5, "1.5 s"),
            (0.25, "0.25 s"),
            (0.004, "0.004 s"),
            (9.99, "10 s"),
            (0.0, "0 s"),
        ):
            with self.subTest(seconds):
                self.assertEqual(told(seconds), said)

    def test_total_shortens_each_wait(self) -> None:
        case = Case([answer("Content-Length: 2"), b"ab"], timeouts=Timeouts(total=30.0))
        case.arrival.read()
        self.assertTrue(all(29.0 < limit <= 30.0 for limit in case.line.limits))


class HangingUp(unittest.TestCase):
    def test_while_reading(self) -> None:
        hangup = Hangup()
        case = Case([answer("Content-Length: 4", body=b"a"), TimeoutError(), b"bc"], hangup=hangup)
        pieces = case.arrival.pieces(tick=1.0)
        self.assertEqual([next(pieces), next(pieces)], [b"a", b""])
        hangup.now()
        with self.assertRaises(Problem) as caught:
            next(pieces)
        self.assertEqual((caught.exception.kind, case.outcome), ("hangup", "closed"))

    def test_afterwards_it_touches_nothing(self) -> None:
        hangup = Hangup()
        case = Case([FRAMED["length"]], hangup=hangup)
        case.arrival.read()
        hangup.now()
        self.assertEqual((case.outcome, case.line.closed), ("kept", False))

    def test_before(self) -> None:
        hangup = Hangup()
        hangup.now()
        with self.assertRaises(Problem):
            Case([FRAMED["length"]], hangup=hangup)
