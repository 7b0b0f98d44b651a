import unittest

from metrics.play.practice import pace
from metrics.play.practice.pace import Flaky, slow
from metrics.records import Problem
from tests.play.practice.conversations import ask

SECONDS = [
    ("slow 3", 3),
    ("go slow: 2.5 s", 2.5),
    ("slowly, in 7", 7),
    ("slow 9999", 600),
    ("slow", 20),
    ("hello 3", 20),
    ("", 20),
]


class Slow(unittest.TestCase):
    def test_seconds(self):
        for text, seconds in SECONDS:
            with self.subTest(text):
                self.assertEqual(slow(ask(text)).seconds, seconds)


class Refusing(unittest.TestCase):
    def test_every_odd_call_of_a_conversation(self):
        flaky = Flaky()
        for text in ("a", "b", "a", "b"):
            with self.subTest(text):
                if text not in getattr(self, "seen", set()):
                    self.seen = getattr(self, "seen", set()) | {text}
                    with self.assertRaises(Problem) as caught:
                        flaky(ask(text))
                    self.assertEqual((caught.exception.status, caught.exception.retry_after), (429, 1.0))
                else:
                    self.assertIn("call 2", flaky(ask(text)).text)

    def test_it_forgets_the_oldest(self):
        flaky = Flaky()
        for number in range(pace.REMEMBERED + 1):
            with self.assertRaises(Problem):
                flaky(ask(str(number)))
        with self.assertRaises(Problem):
            flaky(ask("0"))
        self.assertIn("call 2", flaky(ask(str(pace.REMEMBERED))).text)
