import tempfile
import unittest
from pathlib import Path
from typing import Any

from metrics.commands import route
from metrics.dashboard.route import READ
from tests.commands.stage import Reply, Stage


def candidate(place: int, alias: str, **more: Any) -> dict[str, Any]:
    figures = {"p": 0.0125, "rate": 0.5, "doubt": 0.2236, "value": 0.7236, "n": 0.0}
    return {"place": place, "alias": alias, "how": "next", "rests": None, **figures, **more}


RESTING = {"until": None, "why": "is failing: 3 failures in a row"}
TOLD: dict[str, Any] = {
    "ok": True,
    "collection": "core",
    "shape": "code",
    "shape_by": "collection",
    "policy": "record/1",
    "candidates": [
        candidate(1, "kimi", how="leader", p=0.9625, rate=0.81, n=14.25),
        candidate(2, "gpt"),
        candidate(3, "glm", how="rests", p=0.0, rests=RESTING),
    ],
    "skipped": [{"alias": "tiny", "why": "reads only 2,048 tokens, this needs about 4,000"}],
    "problem": None,
    "decision": {"order": ["gpt", "kimi", "glm"]},
}
COUNTED = TOLD | {"policy": "counts/1", "candidates": [candidate(1, "kimi", useful=5.0, p=1.0, how="leader")]}
NOBODY = TOLD | {
    "policy": None,
    "candidates": [],
    "decision": None,
    "problem": {"status": 413, "message": "too long"},
}


def at(reply: Reply | dict[str, Any]) -> Stage:
    return Stage({"POST /api/route": reply})


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


class Table(unittest.TestCase):
    def test_rows(self) -> None:
        with at(TOLD) as stage:
            played = stage.bench("route", "core")
            self.assertEqual(stage.last.body, {"collection": "core"})
        lines = played.out.splitlines()
        self.assertEqual((played.code, len(lines)), (0, 6))
        self.assertEqual(cells(lines[2]), ["1", "kimi", "96 %", "81 %", "22 %", "72 %", "14.2", "leads"])
        self.assertEqual(cells(lines[3]), ["2", "gpt", "1.2 %", "50 %", "22 %", "72 %", "0.0"])
        self.assertEqual(cells(lines[4])[2], "0 %")
        self.assertIn("is failing: 3 failures in a row", lines[4])
        self.assertEqual(cells(lines[5]), ["-", "tiny", "reads only 2,048 tokens, this needs about 4,000"])
        self.assertIn("record/1 on code (by collection)", played.err)

    def test_counts(self) -> None:
        with at(COUNTED) as stage:
            lines = stage.bench("route", "core").out.splitlines()
        self.assertEqual(cells(lines[0]), ["place", "alias", "chance", "useful", "why"])
        self.assertEqual(cells(lines[2]), ["1", "kimi", "100 %", "5", "leads"])
        self.assertEqual(cells(lines[3])[:2], ["-", "tiny"])

    def test_nobody_can(self) -> None:
        with at(NOBODY) as stage:
            played = stage.bench("route", "core")
            document = stage.bench("route", "core", "--json")
        self.assertEqual((played.code, document.code), (1, 1))
        self.assertIn("tiny", played.out)
        self.assertIn("refused (413): too long", played.err)
        self.assertEqual((document.document, document.err), (NOBODY, ""))

    def test_one_document(self) -> None:
        with at(TOLD) as stage:
            played = stage.bench("route", "core", "--json")
        self.assertEqual((played.code, played.document, played.err), (0, TOLD, ""))

    def test_whom_a_seed_draws(self) -> None:
        with at(TOLD) as stage:
            played = stage.bench("route", "core", "--seed", "5")
            self.assertEqual(stage.last.body, {"collection": "core", "seed": 5})
        self.assertIn("with the seed 5 the first is gpt", played.err)

    def test_percent(self) -> None:
        cases = [
            (0.0, "0 %"),
            (0.0125, "1.2 %"),
            (0.0004, "0.0 %"),
            (0.095, "10 %"),
            (0.5, "50 %"),
            (1.0, "100 %"),
        ]
        for share, words in cases:
            with self.subTest(share):
                self.assertEqual(route.percent(share), words)


class Request(unittest.TestCase):
    def test_a_file_and_the_pipe(self) -> None:
        body = b'{"messages": []}'
        with tempfile.TemporaryDirectory() as folder, at(TOLD) as stage:
            file = Path(folder) / "request.json"
            file.write_bytes(body)
            for words, stdin in ((["-f", str(file)], b""), (["-f", "-"], body), (["--file", "-"], body)):
                with self.subTest(words):
                    self.assertEqual(stage.bench("route", "core", *words, stdin=stdin).code, 0)
                    sent = {"collection": "core", "request": {"messages": []}, "format": "openai-chat"}
                    self.assertEqual(stage.last.body, sent)
            stage.bench("route", "core", "-f", "-", "--format", "gemini", stdin=body)
            self.assertEqual(stage.last.body["format"], "gemini")

    def test_what_is_no_request(self) -> None:
        cases = [
            (b"", "stdin is not JSON"),
            (b"{", "stdin is not JSON"),
            (b"[" * 100_000, "stdin is not JSON"),
            (b"[]", "stdin is no JSON object"),
            (b"\xff", "stdin is not text"),
        ]
        with at(TOLD) as stage:
            for stdin, words in cases:
                with self.subTest(words):
                    played = stage.bench("route", "core", "-f", "-", stdin=stdin)
                    self.assertEqual((played.code, played.out), (2, ""))
                    self.assertIn(words, played.err)
            self.assertEqual(stage.bench("route", "core", "-f", "/nowhere/x.json").code, 2)
            self.assertEqual(stage.bench("route", "core", "--format", "telegram").code, 2)
            self.assertEqual(stage.bench("route").code, 2)
            self.assertEqual(stage.sent, [])

    def test_the_formats_are_those_that_the_server_reads(self) -> None:
        self.assertEqual(set(route.FORMATS), set(READ))


if __name__ == "__main__":
    unittest.main()
