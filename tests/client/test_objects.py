"""Bodies in every wrapping, each read whole, byte by byte, and cut at every position."""

import json
import unittest
from dataclasses import replace

from metrics import bounds
from metrics.client import objects
from metrics.client.objects import Object
from metrics.records import Problem
from tests.client.arrivals import DONE, TARGET, Arrived, frame, splits

ONE, TWO = {"n": 1, "text": "棚"}, {"n": 2}
STREAM = b"event: first\n" + frame(ONE) + frame(TWO)
READ = [Object("first", ONE), Object("", TWO)]
WHOLE = json.dumps(ONE, ensure_ascii=False).encode()

# name, body, the objects in it, kind of the Problem that ends it
CASES = [
    ("events", STREAM, READ, None),
    ("crlf", STREAM.replace(b"\n", b"\r\n"), READ, None),
    ("bom, comments, pings", b"\xef\xbb\xbf: hi\n\n" + STREAM + b"data: ping\n\n", READ, None),
    ("blank lines first", b"\n\n \r\n" + STREAM, READ, None),
    ("nothing behind [DONE] counts", STREAM + DONE + frame(TWO), READ, None),
    ("a torn last one is left out", STREAM + b'data: {"n": 3', READ, None),
    ("a last one without its blank line", STREAM.rstrip(b"\n"), READ, None),
    ("one body", b"\n" + WHOLE, [Object("", ONE, whole=True)], None),
    ("one body in a list", b"[" + WHOLE + b"]", [Object("", ONE, whole=True)], None),
    (
        "several in a list",
        b"[" + WHOLE + b',\n{"n":2}]',
        [Object("", ONE, whole=True), Object("", TWO, whole=True)],
        None,
    ),
    ("a list that is not all objects", b"[" + WHOLE + b",1]", [Object("", ONE, whole=True)], "garbage"),
    (
        "half a surrogate pair",
        frame({}).replace(b"{}", b'{"t":"a\\udc4d"}'),
        [Object("", {"t": "a\ufffd"})],
        None,
    ),
    (
        "numbers that are no JSON",
        frame({}).replace(b"{}", b'{"p":[NaN,-Infinity,0.5]}'),
        [Object("", {"p": [None, None, 0.5]})],
        None,
    ),
    ("a number past all counting", STREAM + b'data: {"n":1e999}\n\n', READ, "garbage"),
    ("a page", b"<html><title>Sign in</title>", [], "garbage"),
    ("half a body", WHOLE[:-1], [], "garbage"),
    ("prose", b"upstream is away", [], "garbage"),
    ("no object", b"[1]", [], "garbage"),
    ("a broken event", b"data: {nothing}\n\n" + STREAM, [], "garbage"),
    ("nothing", b"", [], "empty"),
    ("comments only", b": hi\n\n: hi\n\n", [], "empty"),
]


def read(pieces):
    """The objects, and the kind of Problem that ended them."""
    found = []
    try:
        for one in objects.read(Arrived(pieces), TARGET, now=lambda: 0.0):
            found += [one] if one else []
    except Problem as problem:
        return found, problem.kind
    return found, None


class ObjectsTest(unittest.TestCase):
    def test_every_body_cut_anywhere(self):
        for name, body, found, kind in CASES:
            for pieces in splits(body) if body else [[]]:
                with self.subTest(name, pieces=pieces[:3]):
                    self.assertEqual(read(pieces), (found, kind))

    def test_silence_is_a_sign_of_life(self):
        for body in (STREAM, WHOLE):
            found = list(objects.read(Arrived([body[:9], b"", body[9:]]), TARGET))
            self.assertIn(None, found)

    def test_a_refusal_is_told_with_its_status(self):
        with self.assertRaises(Problem) as caught:
            list(objects.read(Arrived([b'{"error":{"message":"slow down"}}'], 429), TARGET))
        self.assertEqual((caught.exception.status, caught.exception.kind), (429, "rate_limited"))

    def test_nothing_is_nested_deeper_than_can_be_written(self):
        for levels, kind in ((bounds.DEEPEST - 1, None), (bounds.DEEPEST + 1, "garbage"), (900, "garbage")):
            body = b'{"a":' * levels + b"1" + b"}" * levels
            for pieces in ([body], [b"data: " + body + b"\n\n"]):
                with self.subTest(levels=levels, pieces=pieces[0][:9]):
                    self.assertEqual(read(pieces)[1], kind)

    def test_a_key_is_not_quoted_even_in_part(self):
        target = replace(TARGET, key="secret-key-1")
        for before in range(80, 101):
            with self.assertRaises(Problem) as caught:
                list(objects.read(Arrived([b"x" * before + b" secret-key-1 is no key"]), target))
            self.assertNotIn("secret", caught.exception.message)

    def test_an_answer_without_end_is_refused(self):
        endless = [b"{"] + [b" " * (1 << 20)] * 40
        with self.assertRaises(Problem) as caught:
            list(objects.read(Arrived(endless), TARGET))
        self.assertEqual(caught.exception.kind, "too_large")

    def test_what_the_transport_raises_passes(self):
        broken = Problem(502, "gone", kind="cut")
        with self.assertRaises(Problem) as caught:
            list(objects.read(Arrived([STREAM], broken=broken), TARGET))
        self.assertIs(caught.exception, broken)
