import json
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from metrics.limits import merging
from metrics.records import Problem
from metrics.store import disk
from tests.store.case import HomeCase

LATER = "2026-11-29T14:22:22.000Z"
HEAD = '{"$schema_version":1}\n'


def row(call: str | None, at: str = "2026-11-29T14:22:20.000Z", **more: Any) -> str:
    return json.dumps({"at": at, "call": call, "model_id": "e:m", **more}) + "\n"


class Merge(HomeCase):
    def file(self, name: str, *lines: str) -> Path:
        path = self.home / name
        path.write_text("".join((HEAD, *lines)), "utf-8")
        return path

    def merged(self, *sources: Path) -> tuple[merging.Merged, dict[str, list[Any]]]:
        out = self.home / "out"
        done = merging.merge(sources, out)
        found = {}
        for path in sorted(out.glob("*.jsonl")):
            head, *lines = path.read_text("utf-8").splitlines()
            self.assertEqual(head + "\n", HEAD)
            found[path.stem] = [json.loads(line) for line in lines]
        return done, found

    def test_every_call_once_by_month_and_time(self) -> None:
        one = self.file(
            "one.jsonl", row("a"), row("b", "2026-11-29T14:22:22.000Z"), row("x", "2026-12-01T00:00:00.000Z")
        )
        two = self.file(
            "two.jsonl", row("c", "2026-11-29T14:22:21.000Z"), row("b", "2026-11-29T14:22:22.000Z")
        )
        done, found = self.merged(one, two)
        self.assertEqual([each["call"] for each in found["2026-11"]], ["a", "c", "b"])
        self.assertEqual([each["call"] for each in found["2026-12"]], ["x"])
        self.assertEqual((done.months, done.duplicates), ({"2026-11": 3, "2026-12": 1}, 1))

    def test_who_knows_how_a_call_ended_wins(self) -> None:
        cut, ended = row("a", error="interrupted"), row("a", status="ok")
        for lines in ((cut, ended), (ended, cut), (cut, ended, cut)):
            files = [self.file(f"{number}.jsonl", line) for number, line in enumerate(lines)]
            with self.subTest(lines):
                _, found = self.merged(*files)
                self.assertEqual([each.get("status") for each in found["2026-11"]], ["ok"])

    def test_calls_without_an_id_and_other_models_are_calls_of_their_own(self) -> None:
        one = self.file("one.jsonl", row(None, n=1), row(None, n=2), row("a"), row("a", model_id="e:other"))
        done, found = self.merged(one, self.file("two.jsonl", row(None, n=1)))
        self.assertEqual((len(found["2026-11"]), done.duplicates), (4, 1))

    def test_what_is_no_row_is_counted(self) -> None:
        bent = ("{torn\n", "[]\n", '{"call": "z"}\n', '{"at": "never", "call": "y"}\n', "\n")
        done, found = self.merged(self.file("one.jsonl", *bent, row("a"), '{"at": "2026-'))
        self.assertEqual((done.unreadable, len(found["2026-11"])), (len(bent), 1))

    def test_more_than_a_piece(self) -> None:
        many = [row(f"c{number}", padding="x" * 500) for number in range(5000)]
        done, found = self.merged(self.file("one.jsonl", *many), self.file("two.jsonl", *many))
        self.assertEqual((len(found["2026-11"]), done.duplicates), (5000, 5000))

    def test_refusals(self) -> None:
        newer = self.home / "newer.jsonl"
        newer.write_text('{"$schema_version":99}\n', "utf-8")
        self.assertRaisesRegex(Problem, "newer program", self.merged, newer)
        self.assertRaisesRegex(Problem, "cannot be read", self.merged, self.home / "none.jsonl")
        one = self.file("one.jsonl", row("a"))
        self.merged(one)
        before = (self.home / "out" / "2026-11.jsonl").read_bytes()
        with mock.patch.object(disk, "write", side_effect=OSError(28, "No space left on device")):
            self.assertRaisesRegex(Problem, "disk is full", self.merged, one, self.file("b.jsonl", row("b")))
        self.assertEqual((self.home / "out" / "2026-11.jsonl").read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
