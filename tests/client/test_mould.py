import json
import unittest

from metrics.client.mould import Mould


def chunk(text, **more):
    choices = [{"index": 0, "delta": {"content": text}, "finish_reason": None}]
    return json.dumps({"id": "c1", "choices": choices, **more}, ensure_ascii=False).encode()


class MouldTest(unittest.TestCase):
    def setUp(self):
        self.mould = Mould()

    def test_nothing_fits_before_the_first_chunk(self):
        self.assertEqual(self.mould.text(chunk("a")), "")

    FITS = ["b", "", "a longer piece, with {braces} and: colons", "é 👩‍🚀", " "]

    def test_what_fits_is_the_text(self):
        self.mould.learn(chunk("a"), "a")
        for text in self.FITS:
            with self.subTest(text):
                self.assertEqual(self.mould.text(chunk(text)), text)

    MUST_BE_DECODED = [
        ("an escape", chunk("a\nb")),
        ("a quote", chunk('say "x"')),
        ("another id", chunk("a").replace(b"c1", b"c2")),
        ("one field more behind", chunk("a", usage=None)),
        ("a finish", chunk("a").replace(b"null", b'"stop"')),
        ("two contents", chunk("a").replace(b'"delta"', b'"message": {"content": "x"}, "delta"')),
        ("no UTF-8", chunk("é").replace(b"\xa9", b"")),
        ("nothing", b""),
        ("a part of it", chunk("a")[:-3]),
        ("only what stands around", b'{"id": "c1", "choices": [{"index": 0, "delta": {"content": "'),
    ]

    def test_what_does_not_fit_is_left_to_be_decoded(self):
        self.mould.learn(chunk("a"), "a")
        for name, data in self.MUST_BE_DECODED:
            with self.subTest(name):
                self.assertEqual(self.mould.text(data), "")

    NO_MOULD = [
        ("the text is not what stands there", chunk("a"), "b"),
        ("no content", b'{"choices": []}', ""),
        ("no string", b'{"content": 5}', "5"),
        ("no ASCII", chunk("é"), "é"),
        ("not JSON", b'{"content": "a', "a"),
        ("content twice", b'{"content": "a", "x": {"content": "b"}}', "a"),
    ]

    def test_what_is_no_mould(self):
        for name, data, text in self.NO_MOULD:
            with self.subTest(name):
                mould = Mould()
                mould.learn(data, text)
                self.assertEqual(mould.text(data), "")

    def test_the_newest_mould_counts(self):
        self.mould.learn(chunk("a"), "a")
        self.mould.learn(chunk("a", created=2), "a")
        self.assertEqual(self.mould.text(chunk("b", created=2)), "b")
