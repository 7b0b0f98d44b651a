import gzip
import unittest
import zlib

from metrics import coding
from metrics.records import Problem
from tests.lines import every_cut

TEXT = b'{"hello": "hello hello hello hello"}'
RAW = zlib.compressobj(wbits=-15)
CODED = (
    ("gzip", gzip.compress(TEXT, mtime=0)),
    ("x-gzip", gzip.compress(TEXT, mtime=0)),
    ("GZIP", gzip.compress(TEXT[:9], mtime=0) + gzip.compress(TEXT[9:], mtime=0)),
    ("deflate", zlib.compress(TEXT)),
    ("deflate", RAW.compress(TEXT) + RAW.flush()),
)


class Inflating(unittest.TestCase):
    def test_cut_anywhere(self) -> None:
        for name, coded in CODED:
            for pieces in [[coded], *every_cut(coded)]:
                inflate = coding.Inflate(name)
                text = b"".join(out for piece in pieces for out in inflate.feed(piece))
                self.assertEqual((text, inflate.done), (TEXT, True), name)

    def test_whole(self) -> None:
        for name, coded in CODED:
            self.assertEqual(coding.inflated(coded, name, 100), TEXT)
        self.assertEqual(coding.inflated(TEXT, "identity", 100), TEXT)

    def test_refused(self) -> None:
        cases = [
            ("cut", "gzip", CODED[0][1][:-12], 400),
            ("empty", "gzip", b"", 400),
            ("one byte of deflate", "deflate", b"x", 400),
            ("not gzip", "gzip", TEXT, 400),
            ("plain as deflate", "deflate", TEXT, 400),
            ("bytes after deflate", "deflate", CODED[3][1] + b"more", 400),
            ("garbage after gzip", "gzip", CODED[0][1] + b"more", 400),
            ("bad checksum", "gzip", CODED[0][1][:-8] + b"\0" * 8, 400),
            ("brotli", "br", TEXT, 415),
            ("zstd", "zstd", TEXT, 415),
            ("twice", "gzip, gzip", TEXT, 415),
        ]
        for name, how, body, status in cases:
            with self.subTest(name), self.assertRaises(Problem) as caught:
                coding.inflated(body, how, 1_000)
            self.assertEqual(caught.exception.status, status)

    def test_415_names_the_coding_and_the_way_out(self) -> None:
        with self.assertRaises(Problem) as caught:
            coding.inflated(b"", "zstd", 1)
        self.assertIn("'zstd'", caught.exception.message)
        self.assertIn("Content-Encoding", caught.exception.message)

    def test_a_bomb_never_swells_beyond_its_limit(self) -> None:
        packer = zlib.compressobj(9, wbits=31)
        bomb = b"".join(packer.compress(bytes(1_000_000)) for _ in range(50)) + packer.flush()
        with self.assertRaises(Problem) as caught:
            coding.inflated(bomb, "gzip", 200_000)
        self.assertEqual(caught.exception.status, 413)
        steps = coding.Inflate("gzip").feed(bomb)
        self.assertLessEqual(max(len(next(steps)) for _ in range(20)), coding.PIECE)
