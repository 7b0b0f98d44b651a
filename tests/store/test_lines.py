import json
import tracemalloc
from unittest import mock

from metrics.store import lines
from tests.store.case import HomeCase

ROWS = [b'{"a":1}', b'{"b":"two"}', b"torn {", b"", b'{"c":3}']
CONTENT = b"".join(row + b"\n" for row in ROWS)
PLACES = [0, 8, 20, 27, 28]


class Lines(HomeCase):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.home / "x.jsonl"

    def test_encode_and_decode(self) -> None:
        for row in ({"a": "käse\u2028\n\x85"}, {"a": "\ud800"}, {"a": [1, 2.5, None, True, {"b": []}]}):
            with self.subTest(row=row):
                line = lines.encode(row)
                self.assertEqual(len(line.decode("ascii").splitlines()), 1)
                self.assertEqual(lines.decode(line), row)

    def test_numbers_that_json_cannot_say_are_null(self) -> None:
        row = {"a": float("nan"), "b": [float("inf"), 1.0], "c": {"d": (float("-inf"),)}}
        self.assertEqual(lines.decode(lines.encode(row)), {"a": None, "b": [None, 1.0], "c": {"d": [None]}})

    def test_any_row_is_written_what_json_has_no_word_for_as_null(self) -> None:
        deep: list[object] = []
        for _ in range(100_000):
            deep = [deep]
        circle: dict[str, object] = {"a": 1}
        circle["b"] = circle
        for row in ({"a": 1, "b": {2, 3}}, {"a": 1, "b": deep}, {"a": 1, (5,): deep}, circle):
            for encode in (lines.encode, lines.encode_large):
                self.assertEqual((lines.decode(encode(row)) or {})["a"], 1)

    def test_a_long_text_is_written_without_copies(self) -> None:
        for text in ("x\n" * 500_000, "\ud83e\uddf0\ud800" * 40_000, ["a" * 90_000, float("nan")]):
            with self.subTest(size=len(text)):
                line = lines.encode_large({"a": {"b": text}})
                self.assertEqual(line, lines.encode({"a": {"b": text}}))
                self.assertEqual(line.count(b"\n"), 1)
                self.assertEqual(lines.decode(line), json.loads(json.dumps(lines._plain({"a": {"b": text}}))))
        row = {"a": "x" * 2_000_000}
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        line = lines.encode_large(row)
        self.assertLess(tracemalloc.get_traced_memory()[1], 1.3 * len(line))

    def test_what_is_no_row(self) -> None:
        for line in (
            b"",
            b"{",
            b"[1]",
            b"5",
            b"\x00\x00",
            b'"\xff"',
            b'{"$schema_version":1}',
            b"[" * 100_000,
        ):
            with self.subTest(line=line[:20]):
                self.assertIsNone(lines.decode(line))

    def test_forwards_and_backwards_however_the_pieces_fall(self) -> None:
        self.path.write_bytes(CONTENT)
        there = [(place, row + b"\n") for place, row in zip(PLACES, ROWS, strict=True)]
        back = [(place, row) for place, row in reversed(list(zip(PLACES, ROWS, strict=True))) if row]
        for piece in range(1, len(CONTENT) + 8):
            with self.subTest(piece=piece), mock.patch.object(lines, "PIECE", piece):
                found = [each for found in lines.forwards(self.path, 0, len(CONTENT)) for each in found]
                self.assertEqual(found, there)
                if piece >= 8:
                    self.assertEqual(list(lines.backwards(self.path, len(CONTENT))), back)

    def test_a_file_cut_anywhere_gives_its_whole_lines(self) -> None:
        for cut in range(len(CONTENT) + 1):
            self.path.write_bytes(CONTENT[:cut])
            with self.subTest(cut=cut):
                found = [line for found in lines.forwards(self.path, 0, cut) for _, line in found]
                self.assertEqual(b"".join(found), CONTENT[: CONTENT.rfind(b"\n", 0, cut) + 1])
                self.assertEqual(
                    [line for _, line in lines.backwards(self.path, cut)],
                    [line for line in reversed(CONTENT[:cut].split(b"\n")) if line],
                )

    def test_at(self) -> None:
        rows = [{"n": number, "text": "x" * (3000 * number)} for number in range(6)]
        self.path.write_bytes(b"".join(map(lines.encode, rows)) + b"no end")
        place = 0
        for row in rows:
            self.assertEqual(json.loads(lines.at(self.path, place)), row)
            place += len(lines.encode(row))
        self.assertEqual(lines.at(self.path, place), b"no end")
        self.assertEqual(lines.at(self.path, place + 100), b"")
