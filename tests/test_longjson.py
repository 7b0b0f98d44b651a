import copy
import json
import random
import tracemalloc
import unittest
from unittest import mock

from metrics import longjson
from metrics.records import Problem
from metrics.web.table import json_bytes

# What a string may hold that is awkward to cut: escapes of all kinds, pairs, halves, characters of 1 to 4
# bytes, and backslashes before quotes.
BITS = (
    *("a", "plain words ", '"', "\\", '\\"', '\\\\"', "\n", "\t", "/", "\x7f", "é", "’", "中", "🧰"),
    *("\ud83d", "\ude00", "\u2028", "\x00", "\x1f", '{"a":-Infinity}', "-Infinity", "NaN", "x" * 70),
)


def loads(body):
    return longjson.read(body, as_written=True)


def small(test, **but):
    """With so small bodies that a test can have many: all is large, and much is longer than a window."""
    sizes = {"LARGE": 1, "LIST": 12, "WINDOW": 16, "SMALL": 0, "LONG": 3, "PIECE": 5, **but}
    for name, value in sizes.items():
        test.enterContext(mock.patch.object(longjson, name, value))


class WindowsTest(unittest.TestCase):
    """Bodies that are read by windows."""

    def setUp(self):
        small(self)

    def test_as_python_reads_it(self):
        chance = random.Random(5)
        for number in range(900):
            value = _value(chance, 3)
            if number % 3 == 0:
                value = {"m": [value, *[_value(chance, 2)] * chance.randrange(6)], "é": value}
            written = json.dumps(value, ensure_ascii=chance.random() < 0.5, indent=chance.choice((None, 1)))
            try:
                body = written.encode()
            except UnicodeEncodeError:
                continue
            window = chance.choice((8, 11, 12, 13, 16, 31, 64, 200))
            with self.subTest(number, window=window), mock.patch.object(longjson, "WINDOW", window):
                self.assertEqual(longjson.read(body), json.loads(written))

    def test_without_a_whole_reading(self):
        """Whatever is longer than a window: Python's reader never gets the whole of what is sound."""
        chance = random.Random(4)
        bodies = {
            "a string": ["x" * 90],
            "escapes": ['\\"\n' * 40],
            "pairs, cut everywhere": [" " * chance.randrange(12) + "🧰" * 40 for _ in range(12)],
            "names": {"n" * 90: "v" * 90, "a": {"n" * 90: 1}, "b": "v" * 90},
            "numbers at the ends of windows": [{f"{'a' * at}": [-1.5e17, 2]} for at in range(30)],
            "items alike": [{"role": "user", "content": "x" * at} for at in range(40)],
            "items that hold others like them": [[[1, 2], [1, 3]], [[1, 4], [1, 5], [1, 6]]] * 5,
            "levels": {"a": [{"b": [{"c": {"d": ["x" * 90]}}]}]},
        }
        for name, value in bodies.items():
            for ascii_only in (True, False):
                body = json.dumps(value, ensure_ascii=ascii_only).encode()
                with self.subTest(name, ascii_only=ascii_only):
                    self.assertEqual(longjson._Reading(body).whole(as_written=False), value)

    def test_too_many_small_values_or_levels_are_read_at_once(self):
        for value, small in (([1, {}, "", 0.5] * 50, 9), ([[[[[[[[[[[[[["x" * 90]]]]]]]]]]]]]], 0)):
            body = json.dumps(value).encode()
            with self.subTest(body=body[:20]), mock.patch.object(longjson, "SMALL", small):
                with self.assertRaises(ValueError):
                    longjson._Reading(body).whole(as_written=False)
                self.assertEqual(longjson.read(body), value)

    def test_a_byte_order_mark(self):
        self.assertEqual(longjson.read(b'\xef\xbb\xbf["' + b"x" * 9000 + b'"]'), ["x" * 9000])

    def test_refused_as_python_refuses_it(self):
        """However a body is cut or spoilt: the same value, or the same words."""
        longjson.WINDOW = 500
        long = "x" * 5000
        good = json.dumps(
            {"a": long, "b": [f'{long}"\n\\ud83d', 1.5, None], "c": {"é": "🧰" * 3000}}
        ).encode()
        chance = random.Random(6)
        spoilt = [good[: chance.randrange(len(good))] for _ in range(100)]
        for _ in range(300):
            at, byte = chance.randrange(len(good)), chance.choice(b'"\\\x00\n\xff\xc3{}[],:-u')
            spoilt.append(good[:at] + bytes((byte,)) + good[at + 1 :])
        edges = [b'{"a": "%b", "b": -Infinity}', b'[NaN, "%b"]', b'["%b" "b"]', b'"%b', b'["%b\\"]', b"%b"]
        spoilt += [edge % long.encode() for edge in edges]
        spoilt += [
            b'["%b"]' % (b"x" * 9000 + tail) for tail in (b"\\u12", b"\\x", b"\xed\xa0\x80", b"\n", b"\xc3")
        ]
        spoilt.append(b"[" * 100_000 + b'"%b"' % long.encode())
        for number, body in enumerate(spoilt):
            with self.subTest(number, body=body[:80]):
                self.assertEqual(_outcome(loads, body), _outcome(_plainly, body))


class AtOnceTest(unittest.TestCase):
    """Bodies that are one window, and the text of the long lists in them."""

    def setUp(self):
        small(self, LARGE=1_000_000)

    BLANKS = ("", "", " ", "\n", "\r\n\t ")

    def test_as_python_reads_it(self):
        chance = random.Random(8)
        found = 0
        for number in range(1_200):
            value = {f"k{n}": _value(chance, 2) for n in range(3)} if number % 2 else _value(chance, 3)
            written = json.dumps(value, ensure_ascii=chance.random() < 0.5, indent=chance.choice((None, 1)))
            try:
                body = (written + chance.choice(self.BLANKS)).encode()
            except UnicodeEncodeError:
                continue
            with self.subTest(number, body=body):
                read = longjson.read(body, as_written=True)
                self.assertEqual(read, json.loads(written))
                for item in read.values() if isinstance(read, dict) else ():
                    if isinstance(item, longjson.AsWritten):
                        found += 1
                        self.assertEqual(json.loads(bytes(item.text)), list(item))
                        self.assertIn(item.text, body)
        self.assertGreater(found, 50)

    def test_refused_as_python_refuses_it(self):
        good = (
            b'{"a" : [1, {"b": "\xc3\xa9"}, "long enough"] ,\r\n"a":[ "a second time" ],"c":{}, "d":"\\n"} '
        )
        chance = random.Random(9)
        spoilt = [good, *(good[:end] for end in range(len(good)))]
        for _ in range(600):
            at, byte = chance.randrange(len(good)), chance.choice(b'"\\\x00\n\x0b\xff\xc3{}[],:-u5N ')
            spoilt.append(good[:at] + bytes((byte,)) + good[at + chance.randrange(2) :])
        spoilt += [b'{"a":%b' % b"[" * 100_000, b'{"a":[NaN, "long enough"]}', b'{"long enough": 1,}']
        for body in spoilt:
            with self.subTest(body=body[:80]):
                self.assertEqual(_outcome(loads, body), _outcome(_plainly, body))

    WRITTEN = [
        ("a long list", '{"m": ["long enough"], "n": 1}', b'["long enough"]'),
        (
            "behind what is wide",
            '{"é": "é🧰", "m": ["long é enough"], "n": "’"}',
            '["long é enough"]'.encode(),
        ),
        ("a short one", '{"m": ["short"], "n": 1000000}', None),
        ("no list", '{"m": "a string that is long"}', None),
        ("not of the object itself", '{"x": {"m": ["long enough"]}, "m": 1}', None),
        ("half of a pair in it", '{"m": ["long enough \\ud83d"]}', None),
        ("a pair, which might be two halves", '{"m": ["long enough \\ud83d\\ude00"]}', None),
        ("twice", '{"m": ["long enough"], "m": ["long enough too"]}', b'["long enough too"]'),
    ]

    def test_what_has_its_text(self):
        for name, body, text in self.WRITTEN:
            with self.subTest(name):
                read = longjson.read(body.encode(), as_written=True)
                self.assertEqual(read, json.loads(body))
                self.assertEqual(getattr(read["m"], "text", None), text)


class WriteTest(unittest.TestCase):
    def test_as_it_is_written_at_once(self):
        small(self)
        chance = random.Random(7)
        for number in range(300):
            value = _value(chance, 3)
            before = copy.deepcopy(value)
            with self.subTest(number):
                self.assertEqual(json.loads(longjson.write(value, json_bytes)), json.loads(json_bytes(value)))
                self.assertEqual(longjson.write(value, _ascii, ascii_only=True), _ascii(value))
                self.assertEqual(value, before)

    def test_every_character(self):
        text = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x10000), 0x1F9F0)))
        for value in (text, *(text[at : at + 1] * 2_048 for at in range(300))):
            self.assertEqual(longjson.write([value], json_bytes), json_bytes([value]))
            self.assertEqual(longjson.write([value], _ascii, ascii_only=True), _ascii([value]))

    def test_what_looks_like_the_place_of_another(self):
        value = ["x" * 5_000, longjson._PLACE, {longjson._PLACE: ("y" * 5_000, None)}]
        self.assertEqual(longjson.write(value, json_bytes), json_bytes(value))

    def test_what_stands_behind_it(self):
        for value in ("x", "x" * 100_000):
            self.assertEqual(longjson.write(value, json_bytes, b"\n"), json_bytes(value) + b"\n")

    def test_a_pair_stays_together(self):
        small(self)
        for at in range(12):
            text = "x" * at + "\ud83e\uddf0" * 9 + "x"
            written = longjson.write(text, lambda value: _joining(json.dumps(value, ensure_ascii=False)))
            self.assertEqual(json.loads(written), "x" * at + "🧰" * 9 + "x")

    def test_what_is_small_is_written_at_once(self):
        asked, value = [], {"a": ["b" * 2_000] * 9}
        longjson.write(value, lambda given: asked.append(given) or b"")
        self.assertIs(asked.pop(), value)
        self.assertEqual(asked, [])

    def test_what_cannot_be_written(self):
        def refused(value):
            raise Problem(400, "no")

        deep: list = []
        for _ in range(100_000):
            deep = [deep]
        for value in (["x" * 100_000, float("nan")], deep):
            with self.assertRaises(Problem):
                longjson.write(value, refused)


class MemoryTest(unittest.TestCase):
    """In times of the body, beside what is given."""

    LINE = 'The quick brown fox, "again";\n'

    def test_reading_and_writing(self):
        for name, line, reading, writing in (
            ("plain", "x" * 30, 1.5, 1.3),
            ("escapes", self.LINE, 1.5, 1.3),
            ("wide", self.LINE.replace(",", "’"), 2.3, 1.3),
        ):
            value = {"messages": [{"role": "user", "content": line * 70_000}]}
            body = json.dumps(value, ensure_ascii=False).encode()
            with self.subTest(name, size=len(body)):
                for read in (longjson.read, loads):
                    self.assertLess(_peak(read, body) / len(body), reading)
                self.assertLess(
                    _peak(lambda held: longjson.write(held, json_bytes), value) / len(body), writing
                )


def _peak(work, held):
    tracemalloc.start()
    try:
        work(held)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _value(chance, depth):
    kind = chance.randrange(6 if depth else 3)
    if kind < 3:
        text = "".join(chance.choices(BITS, k=chance.choice((0, 1, 3, 10, 400))))
        return chance.choice((text, text, text * 20, 1.5, None, True))
    if kind < 5:
        return {f"k{number}": _value(chance, depth - 1) for number in range(chance.randrange(5))}
    return [_value(chance, depth - 1) for _ in range(chance.randrange(5))]


def _plainly(body):
    return longjson._READER.decode(body.decode("utf-8-sig"))


def _outcome(reader, body):
    try:
        return reader(body)
    except RecursionError:
        return RecursionError  # its words say in what it ran out of room, which is for Python to choose
    except ValueError as error:
        return type(error), str(error)


def _ascii(value):
    return json.dumps(value, separators=(",", ":")).encode()


def _joining(text):
    return text.encode("utf-16", "surrogatepass").decode("utf-16").encode()


if __name__ == "__main__":
    unittest.main()
