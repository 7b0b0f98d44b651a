import unittest

from metrics.client.arrival import Arrival, Clock, Hangup, Timeouts
from metrics.client.opening import Opening
from metrics.client.pool import Origin
from metrics.line import Line
from metrics.records import Problem
from tests.lines import Played, every_cut

ORIGIN = Origin("http", "127.0.0.1", 9)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
MESSAGE = (b"GET / HTTP/1.1\r\n\r\n",)


class Lines:
    """A transport whose new connections are `fresh`, one after the other."""

    def __init__(self, *fresh: Played) -> None:
        self.fresh = list(fresh)
        self.kept: list[Line] = []

    def connect(self, *_: object) -> Line:
        return self.fresh.pop(0)

    def keep(self, origin: Origin, line: Line) -> None:
        self.kept.append(line)

    def send(self, kept: Played | None, hangup: Hangup | None = None, **limits: float) -> Opening:
        return Opening(self, ORIGIN, kept, "GET", MESSAGE, Clock(Timeouts(**limits)), hangup)


def outcome(opening: Opening, tick: float | None = None) -> tuple[int, str, int]:
    """Status, what came of it, and after how many quiet ticks."""
    ticks = 0
    try:
        while (arrival := opening.answer(tick)) is None:
            ticks += 1
    except Problem as problem:
        return problem.status, problem.kind, ticks
    return arrival.status, arrival.read().decode(), ticks


class OpeningTest(unittest.TestCase):
    def test_a_head_cut_anywhere(self) -> None:
        for whole in (ANSWER, EARLY + ANSWER, EARLY * 19 + ANSWER):
            for pieces in [[whole], *every_cut(whole)]:
                lines = Lines()
                self.assertEqual(outcome(lines.send(Played(pieces))), (200, "ok", 0))
                self.assertEqual(len(lines.kept), 1)

    def test_what_is_no_answer(self) -> None:
        for coming, kind in (
            ([b"HTTP/1.1 200 OK\r\nContent-"], "cut"),
            ([EARLY], "cut"),
            ([EARLY * 20 + ANSWER], "garbage"),
            ([ANSWER.replace(b"200 OK", b"101 Switching")], "garbage"),
            ([b"hello\r\n\r\n"], "garbage"),
            ([b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok"], "garbage"),
            ([TimeoutError()], "timeout"),
            ([OSError(5, "no more")], "unreachable"),
        ):
            with self.subTest(coming):
                line = Played(coming)
                self.assertEqual(outcome(Lines().send(line)), (504 if kind == "timeout" else 502, kind, 0))
                self.assertTrue(line.closed)

    def test_a_kept_connection_that_gives_nothing_is_replaced_once(self) -> None:
        for dead in ([], [ConnectionResetError()]):
            fresh = Played([ANSWER])
            self.assertEqual(outcome(Lines(fresh).send(Played(list(dead)))), (200, "ok", 0))
            self.assertEqual(fresh.sent, list(MESSAGE))
            lines = Lines(Played(list(dead)), Played([ANSWER]))
            self.assertEqual(outcome(lines.send(Played(list(dead)))), (502, "unreachable", 0))
            self.assertEqual(outcome(Lines(Played(list(dead))).send(None)), (502, "unreachable", 0))

    def test_waiting_for_a_head_ticks(self) -> None:
        quiet: list[bytes | Exception] = [TimeoutError()] * 3
        coming = [*quiet, b"HTTP/1.1 200 OK\r\n", *quiet, b"Content-Length: 2\r\n\r\nok"]
        for tick, found in ((2.0, (200, "ok", 6)), (10.0, (504, "timeout", 2)), (None, (504, "timeout", 0))):
            with self.subTest(tick=tick):
                self.assertEqual(outcome(Lines().send(Played(list(coming)), first_byte=25.0), tick), found)

    def test_a_new_connection_has_all_of_the_time(self) -> None:
        kept, fresh = Played([TimeoutError(), ConnectionResetError()]), Played([TimeoutError(), ANSWER])
        self.assertEqual(outcome(Lines(fresh).send(kept, first_byte=3.0), 2.0), (200, "ok", 2))

    def test_hanging_up_while_it_waits(self) -> None:
        hangup, line = Hangup(), Played([TimeoutError(), ANSWER])
        opening = Lines().send(line, hangup)
        self.assertIsNone(opening.answer(1.0))
        hangup.now()
        self.assertEqual(outcome(opening, 1.0), (499, "hangup", 0))

    def test_closing(self) -> None:
        line = Played([TimeoutError()])
        opening = Lines().send(line)
        self.assertIsNone(opening.answer(1.0))
        opening.close()
        self.assertTrue(line.closed)

    def test_an_answer_to_what_was_not_taken(self) -> None:
        class Refusing(Played):
            def send(self, buffers: object) -> None:
                raise BrokenPipeError

        lines = Lines()
        arrival = lines.send(Refusing([ANSWER])).answer()
        assert isinstance(arrival, Arrival)
        self.assertEqual((arrival.read(), lines.kept), (b"ok", []))
