import unittest
from collections.abc import Sequence

from metrics.client.pool import Origin, Pool, locate
from metrics.line import Line
from metrics.records import Problem
from tests.lines import Played

HERE = Origin("http", "h", 80)


class Clock:
    """The time that a test sets."""

    def __init__(self) -> None:
        self.at = 1_000.0

    def __call__(self) -> float:
        return self.at


def lines(count: int, coming: Sequence[bytes] = ()) -> list[Line]:
    return [Played(coming) for _ in range(count)]


class Locating(unittest.TestCase):
    def test_origin_and_target(self) -> None:
        cases = [
            ("http://h", ("http", "h", 80), "/", "h"),
            ("HTTP://H:80/v1", ("http", "h", 80), "/v1", "h"),
            ("https://h/v1/x?alt=sse", ("https", "h", 443), "/v1/x?alt=sse", "h"),
            ("https://h:8443", ("https", "h", 8443), "/", "h:8443"),
            ("http://[::1]:11434/v1", ("http", "::1", 11434), "/v1", "[::1]:11434"),
            ("http://[::1]/v1", ("http", "::1", 80), "/v1", "[::1]"),
            ("http://h/a%20b/caf\xe9?q=\xe9#part", ("http", "h", 80), "/a%20b/caf%C3%A9?q=%C3%A9", "h"),
            (
                "http://b\xfccher.example/",
                ("http", "xn--bcher-kva.example", 80),
                "/",
                "xn--bcher-kva.example",
            ),
            ("http://h/models/x:generate", ("http", "h", 80), "/models/x:generate", "h"),
        ]
        for url, origin, target, authority in cases:
            with self.subTest(url=url):
                found, path = locate(url)
                self.assertEqual((found[:3], path, found.authority), (origin, target, authority))

    def test_refused(self) -> None:
        for url in (
            "",
            "h/v1",
            "ftp://h/",
            "http://",
            "http:///v1",
            "http://h:99999/",
            "http://h:x/",
            "http://[::1/",
            "http://h/a b",
            "http://h/\r\nX: y",
            "http://h/\n",
            "http://h\0/",
            "http://user:pass@h/",
            "http://key@h/",
            "http://.h/",
            "http://h\u2028/",
            "file:///etc/passwd",
            "http://a..b" + "\xfc" * 70 + "/",
        ):
            with self.subTest(url=url), self.assertRaises(Problem) as caught:
                locate(url)
            self.assertEqual(caught.exception.status, 400)


class Keeping(unittest.TestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.pool = Pool(most=2, seconds=60.0, now=self.clock)

    def test_newest_first(self) -> None:
        old, new = lines(2)
        self.pool.put(HERE, old)
        self.pool.put(HERE, new)
        self.assertIsNone(self.pool.take(Origin("https", "h", 80)))
        self.assertEqual([self.pool.take(HERE) for _ in range(3)], [new, old, None])

    def test_a_public_call_does_not_get_a_private_connection(self) -> None:
        self.pool.put(HERE, *lines(1))
        self.assertIsNone(self.pool.take(HERE._replace(public=True)))

    def test_no_more_than_most(self) -> None:
        kept = lines(3)
        for line in kept:
            self.pool.put(HERE, line)
        self.assertEqual([line.closed for line in kept if isinstance(line, Played)], [False, False, True])

    def test_expired(self) -> None:
        (line,) = lines(1)
        self.pool.put(HERE, line)
        self.clock.at += 61
        self.assertIsNone(self.pool.take(HERE))
        self.assertTrue(isinstance(line, Played) and line.closed)

    def test_a_line_that_has_something_to_say_is_dead(self) -> None:
        alive, dead = *lines(1), *lines(1, [b""])
        self.pool.put(HERE, alive)
        self.pool.put(HERE, dead)
        self.assertIs(self.pool.take(HERE), alive)
        self.assertTrue(isinstance(dead, Played) and dead.closed)

    def test_the_old_ones_go_while_others_come(self) -> None:
        (old,) = lines(1)
        self.pool.put(HERE, old)
        self.clock.at += 100
        self.pool.put(HERE._replace(host="other"), *lines(1))
        self.assertTrue(isinstance(old, Played) and old.closed)
        self.assertEqual(len(self.pool), 1)

    def test_clear(self) -> None:
        kept = lines(2)
        for line in kept:
            self.pool.put(HERE, line)
        self.pool.clear()
        self.assertTrue(all(isinstance(line, Played) and line.closed for line in kept))
