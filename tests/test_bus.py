"""What just happened reaches who watches, in order, bounded, and costs nothing while nobody does."""

import threading
import unittest

from metrics import bus
from metrics.bus import Bus
from metrics.records import Problem


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def numbers(news):
    return [each.facts["n"] for each in news]


class BusCase(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.bus = Bus(self.clock, "b")

    def say(self, *ns, topic="call"):
        for n in ns:
            self.bus.publish(topic, {"n": n})


class TestReading(BusCase):
    def test_in_order_and_only_what_comes_after(self):
        self.say(0)
        with self.bus.subscribe() as reader:
            self.say(1, 2, 3)
            news = reader.take(0)
            self.assertEqual(numbers(news), [1, 2, 3])
            self.assertEqual([each.id for each in news], ["b-1", "b-2", "b-3"])
            self.assertEqual((news[0].topic, news[0].at), ("call", 1000.0))
            self.assertEqual(reader.take(0), [])

    def test_topics(self):
        with self.bus.subscribe(["panel", "turn"]) as reader:
            for n, topic in enumerate(bus.TOPICS):
                self.say(n, topic=topic)
            self.assertEqual([each.topic for each in reader.take(0)], ["panel", "turn"])

    def test_every_reader_hears_all(self):
        with self.bus.subscribe() as one, self.bus.subscribe() as other:
            self.say(1, 2)
            self.assertEqual(numbers(one.take(0)), numbers(other.take(0)))

    def test_gathers_what_comes_while_it_waits(self):
        with self.bus.subscribe() as reader:
            self.say(1)
            self.assertEqual(numbers(reader.take(1, 0.5, lambda seconds: self.say(2, 3))), [1, 2, 3])

    def test_wakes_a_waiting_reader(self):
        with self.bus.subscribe() as reader:
            threading.Timer(0.01, self.say, (1,)).start()
            self.assertEqual(numbers(reader.take(30)), [1])

    def test_threads_that_publish_lose_nothing(self):
        with self.bus.subscribe() as reader:
            hands = [threading.Thread(target=self.say, args=range(k, 1000, 4)) for k in range(4)]
            for hand in hands:
                hand.start()
            for hand in hands:
                hand.join()
            news = reader.take(0)
            self.assertEqual(sorted(numbers(news)), list(range(1000)))
            self.assertEqual([each.number for each in news], list(range(1, 1001)))


class TestBounds(BusCase):
    def test_who_does_not_keep_up_is_let_go(self):
        with self.bus.subscribe() as slow, self.bus.subscribe() as quick:
            for n in range(bus.BEHIND + 10):
                self.say(n)
                if n % 1000 == 0:
                    quick.take(0)
            self.assertEqual(len(slow.take(0)), bus.BEHIND)
            self.assertTrue(slow.lost and slow.over)
            self.assertFalse(quick.lost or quick.over)
            self.say(-1)
            self.assertEqual(numbers(quick.take(0))[-1], -1)
            self.assertEqual(slow.take(0), [])

    def test_only_so_many_watch(self):
        readers = [self.bus.subscribe() for _ in range(bus.READERS)]
        with self.assertRaises(Problem) as refused:
            self.bus.subscribe()
        self.assertEqual(refused.exception.status, 429)
        readers[0].close()
        self.bus.subscribe()

    def test_closing_ends_every_reader(self):
        reader = self.bus.subscribe()
        self.say(1)
        self.bus.close()
        self.assertEqual(numbers(reader.take(30)), [1])
        self.assertTrue(reader.over)
        self.assertFalse(reader.lost)
        with self.assertRaises(Problem) as refused:
            self.bus.subscribe()
        self.assertEqual(refused.exception.status, 503)

    def test_nothing_is_kept_while_nobody_watches(self):
        self.say(1)
        self.assertFalse(self.bus.watched)
        self.assertEqual(len(self.bus._kept), 0)
        self.bus.subscribe().close()
        self.clock.now += bus.LINGER + 1
        self.say(2, 3)
        self.assertEqual(len(self.bus._kept), 0)


class TestComingBack(BusCase):
    # what happens between leaving and coming back -> what is heard then; None: told that some was missed
    CASES = (
        ("at once", lambda self: None, []),
        ("after some news", lambda self: self.say(3, 4), [3, 4]),
        ("late, but nothing happened", lambda self: self.later(), []),
        ("late", lambda self: (self.later(), self.say(3)), None),
        ("after too many", lambda self: self.say(*range(bus.KEPT + 1)), None),
    )

    def later(self):
        self.clock.now += bus.LINGER + 1

    def test_after_an_id(self):
        for name, meanwhile, heard in self.CASES:
            with self.subTest(name):
                self.setUp()
                with self.bus.subscribe() as reader:
                    self.say(1, 2)
                    reader.take(0)
                meanwhile(self)
                with self.bus.subscribe(after=reader.last) as back:
                    self.assertEqual(back.missed, heard is None)
                    self.assertEqual(numbers(back.take(0)), heard or [])
                    self.say(99)
                    self.assertEqual(numbers(back.take(0)), [99])

    def test_an_id_that_is_none_of_ours(self):
        self.bus.subscribe()
        for after in ("", "b", "b-", "b-x", "b-7", "other-0", "b--1", "b-" + "9" * 40, "b-٣"):
            with self.subTest(after):
                self.assertTrue(self.bus.subscribe(after=after).missed)

    def test_from_before_the_first_news(self):
        with self.bus.subscribe() as reader:
            first = reader.last
        self.say(1)
        self.assertEqual(numbers(self.bus.subscribe(after=first).take(0)), [1])


if __name__ == "__main__":
    unittest.main()
