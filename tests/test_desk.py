import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import gateway
from metrics import desk
from metrics.client.arrival import Clock, Timeouts
from metrics.client.opening import Opening
from metrics.client.pool import Origin
from metrics.client.transport import Transport
from metrics.desk import Desk
from metrics.play import calls
from metrics.records import Problem
from metrics.web.table import Call
from tests.lines import Played

ORIGIN = Origin("http", "127.0.0.1", 9)


class DeskTest(unittest.TestCase):
    def setUp(self) -> None:
        self.others = self.enterContext(ThreadPoolExecutor(3))

    def test_one_at_a_time(self) -> None:
        one, order, waits = Desk(60), [], threading.Event()

        def work() -> None:
            waits.set()
            one.take()
            order.append("the other")
            one.leave()

        one.take()
        other = self.others.submit(work)
        waits.wait()
        order.append("the first")
        one.leave()
        other.result()
        self.assertEqual(order, ["the first", "the other"])

    def test_who_has_it_keeps_it(self) -> None:
        one = Desk(60)
        one.take()
        one.take()
        one.leave()
        self.assertFalse(one.taken())

    def test_whoever_waits_leaves_it(self) -> None:
        one = Desk(60)
        one.take()
        one.sleep(0)
        self.others.submit(one.take).result()

    def test_who_has_not_got_it_goes_on_and_leaves_nothing(self) -> None:
        one = Desk(0)
        one.take()

        def work() -> bool:
            one.take()
            one.leave()
            return one.taken()

        self.assertTrue(self.others.submit(work).result())
        one.leave()
        one.leave()
        self.assertFalse(one.taken())


class WhoWaitsTest(unittest.TestCase):
    """Whatever a request waits for, it does not wait at the desk."""

    def seated(self) -> None:
        desk.take()
        self.addCleanup(desk.leave)
        self.assertTrue(desk.taken())

    def test_for_an_answer(self) -> None:
        self.seated()
        coming = Played([b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
        Opening(Transport(), ORIGIN, coming, "GET", (b"",), Clock(Timeouts())).answer()
        self.assertFalse(desk.taken())

    def test_for_a_connection(self) -> None:
        self.seated()
        with self.assertRaises(Problem):
            Transport().connect(ORIGIN, Clock(Timeouts()), None)
        self.assertFalse(desk.taken())

    def test_for_room_under_a_limit(self) -> None:
        self.seated()
        calls.REAL.sleep(0)
        self.assertFalse(desk.taken())

    def test_at_the_end(self) -> None:
        for body, taken in ((b"", True), (b" " * gateway.LONG, False)):
            with self.subTest(len(body)):
                seen: list[bool] = []
                refused = mock.Mock(side_effect=lambda call, seen=seen: seen.append(desk.taken()) or {}[""])
                api = mock.Mock(NAME="any", parse=refused)
                with self.assertRaises(KeyError):
                    gateway.ask(api, Call("POST", "/", body=body))
                self.assertEqual((seen, desk.taken()), ([taken], False))


if __name__ == "__main__":
    unittest.main()
