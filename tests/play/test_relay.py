import contextlib
import io
import threading
import unittest

from metrics.play.relay import Relay, joined
from metrics.records import Problem


class RelayTest(unittest.TestCase):
    def test_says_what_the_source_says(self):
        self.assertEqual(list(Relay(iter("abc"))), ["a", "b", "c"])

    def test_first_keeps_its_place(self):
        relay = Relay(iter("abc"))
        self.assertTrue(relay.first())
        self.assertEqual(list(relay), ["a", "b", "c"])

    def test_an_early_refusal_is_raised_by_first(self):
        def source():
            raise Problem(429, "later")
            yield

        with self.assertRaises(Problem) as caught:
            Relay(source()).first()
        self.assertEqual(caught.exception.status, 429)

    def test_a_late_problem_is_raised_where_it_happened(self):
        def source():
            yield "a"
            raise Problem(502, "gone")

        heard = []
        relay = Relay(source())
        relay.first()
        with self.assertRaises(Problem):
            for item in relay:
                heard.append(item)
        self.assertEqual(heard, ["a"])

    def test_silence_is_none(self):
        go_on = threading.Event()

        def source():
            go_on.wait(10)
            yield "a"

        heard = []
        for item in Relay(source(), quiet=0.001):
            heard.append(item)
            if item is None:
                go_on.set()
        self.assertIsNone(heard[0])
        self.assertEqual(heard[-1], "a")

    def test_first_gives_up_waiting(self):
        go_on = threading.Event()

        def source():
            go_on.wait(10)
            yield "a"

        relay = Relay(source())
        self.assertFalse(relay.first(timeout=0.001))
        go_on.set()
        self.assertEqual([item for item in relay if item is not None], ["a"])

    def test_nothing_follows_the_last_item(self):
        """However long the source takes to end after it: a keep-alive behind the end would break a stream."""
        go_on = threading.Event()

        def source():
            yield "last"
            go_on.wait(10)

        reading = iter(Relay(source()))
        self.assertEqual(next(reading), "last")
        go_on.set()
        self.assertEqual(list(reading), [])

    def test_who_joins_late_hears_all_of_it(self):
        go_on = threading.Event()

        def source():
            yield "a"
            go_on.wait(10)
            yield "b"

        first = Relay(source(), name="panel", about="it")
        self.assertEqual(next(iter(first)), "a")
        joining = joined("panel")
        self.assertEqual(joining.about, "it")
        go_on.set()
        self.assertEqual(list(joining), ["a", "b"])
        self.assertEqual(list(first), ["a", "b"])
        self.assertIsNone(joined("panel"), "what has ended cannot be joined")

    def test_a_source_outlives_its_reader(self):
        finished, go_on = threading.Event(), threading.Event()

        def source():
            yield "a"
            go_on.wait(10)
            yield "b"
            finished.set()

        reading = iter(Relay(source()))
        self.assertEqual(next(reading), "a")
        reading.close()
        go_on.set()
        self.assertTrue(finished.wait(10))

    def test_a_crash_is_a_500_with_a_trace_in_the_log(self):
        def source():
            raise ZeroDivisionError("oops")
            yield

        log = io.StringIO()
        with contextlib.redirect_stderr(log), self.assertRaises(Problem) as caught:
            list(Relay(source()))
        self.assertEqual(caught.exception.status, 500)
        self.assertIn("ZeroDivisionError", log.getvalue())
