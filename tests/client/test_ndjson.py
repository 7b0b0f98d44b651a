"""JSON lines, however they come."""

import json
import unittest

from metrics.client import ndjson, objects
from metrics.records import Problem
from tests.client.arrivals import TARGET, splits

A, B = {"a": "é\n}"}, {"b": {"c": [1, {}]}}


def line(value):
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


# name, body, objects, the kind of the Problem that ends them
CASES = [
    ("lines", line(A) + line(B), [A, B], None),
    ("crlf", (line(A) + line(B)).replace(b"\n", b"\r\n"), [A, B], None),
    ("bom and blank lines", b"\xef\xbb\xbf\n" + line(A) + b"\n \n" + line(B), [A, B], None),
    ("a bom at once", b"\xef\xbb\xbf" + line(A), [A], None),
    ("no last line end", line(A) + line(B).rstrip(), [A, B], None),
    ("one body over many lines", json.dumps(B, indent=2).encode(), [B], None),
    ("and its line end", json.dumps(B, indent=2).encode() + b"\r\n", [B], None),
    ("a list of one", b"[\n" + line(A) + b"]\n", [A], None),
    (
        "as events",
        b": x\n\nevent: y\ndata: " + line(A) + b"\ndata:" + line(B) + b"\ndata: [DONE]\n\n",
        [A, B],
        None,
    ),
    ("torn", line(A) + b'{"b": {"c"', [A], None),
    ("nothing", b"", [], "empty"),
    ("blanks", b"\n \r\n", [], "empty"),
    ("a page", b"<html>\n</html>\n", [], "garbage"),
    ("words", b"404 page not found\n", [], "garbage"),
    ("nonsense", line(A) + b"{nonsense}\n" + line(B), [A], "garbage"),
    ("half of one", b'{"a": ', [], "garbage"),
    ("no object", b"5\n", [], "garbage"),
    ("half of a surrogate pair", b'{"a":"\\ud83d"}\n', [{"a": "\ufffd"}], None),
]


def read(pieces):
    found = []
    try:
        for value in ndjson.read(iter(pieces), TARGET):
            found += [] if value is None else [value]
    except Problem as problem:
        return found, problem.kind
    return found, None


class ReadTest(unittest.TestCase):
    def test_cut_anywhere(self):
        for name, body, expected, kind in CASES:
            for pieces in splits(body) if body else [[]]:
                with self.subTest(name, pieces=len(pieces)):
                    self.assertEqual(read(pieces), (expected, kind))

    def test_quiet_ticks_are_told(self):
        self.assertEqual([*ndjson.read(iter([b"", line(A), b""]), TARGET)][:2], [None, A])

    def test_a_line_without_end(self):
        piece = b'{"a":"' + b"x" * (1 << 20)
        found, kind = read([piece] * (objects.LONGEST_BODY // len(piece) + 2))
        self.assertEqual((found, kind), ([], "too_large"))

    def test_a_long_body_over_many_lines_costs_its_length_once(self):
        value = {"items": [{"n": n} for n in range(20_000)]}
        body = json.dumps(value, indent=1).encode()
        self.assertEqual(read([body]), ([value], None))
