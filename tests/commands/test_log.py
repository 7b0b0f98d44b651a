import unittest
from typing import Any
from unittest import mock

from metrics.commands import log
from tests.commands.stage import Reply, Stage

SEAT: dict[str, Any] = {
    "call": "p1.member1",
    "seat": "member",
    "alias": "kimi",
    "status": "ok",
    "seconds": 0.0,
}
PANEL = {
    "panel": "p1",
    "at": "2026-11-29T14:22:20.123Z",
    "collection": "core",
    "task": "why?\nnow",
    "seats": [SEAT],
}
SHADOW = {
    "at": "2026-11-29T14:22:20.123Z",
    "call": "r20261129-142220-1a2b3c4d.2",
    "collection": "core",
    "model": "kimi",
    "shadow": "glm",
    "agreement": "arguments",
    "differs": ["read.path", "read.lines"],
}
TALLY = {"collection": "core", "model": "kimi", "shadow": "glm", "turns": 9, "same": 7, "arguments": 2}
LISTED = {"GET /api/log": {"ok": True, "panels": [PANEL], "next": "c1"}}


class Log(unittest.TestCase):
    def test_rows(self) -> None:
        with Stage(LISTED) as stage:
            played = stage.bench("log")
            cells = [cell.strip() for cell in played.out.splitlines()[2].split("  ") if cell.strip()]
            wanted = [
                "2026-11-29T14:22:20.123Z",
                "core",
                "p1.member1",
                "kimi",
                "ok",
                "0.0",
                "owed",
                "why? now",
            ]
            self.assertEqual(cells, wanted)
            self.assertIn("bench log --before c1", played.err)
            self.assertEqual(stage.bench("log", "--json").document["panels"], [PANEL])

    def test_conversations(self) -> None:
        turn = {
            "at": "2026-11-29T14:22:20.123Z",
            "call": "r20261129-142220-1a2b3c4d.1",
            "collection": "core",
            "alias": "kimi",
            "turn": 12,
            "status": "ok",
            "verdict": None,
            "task": "fix it",
        }
        reply = {"ok": True, "panels": [], "next": None, "conversations": [turn]}
        with Stage({"GET /api/log": reply}) as stage:
            played = stage.bench("log")
            cells = [turn[name] for name in ("at", "collection", "call", "alias")]
            self.assertIn(
                [*cells, "12", "ok", "owed", "fix", "it"], [line.split() for line in played.out.splitlines()]
            )
            self.assertNotIn("nothing was asked", played.err)

    def test_shadow_seats(self) -> None:
        reply = {"ok": True, "panels": [], "next": None, "shadows": [SHADOW], "agreement": [TALLY]}
        with Stage({"GET /api/log": reply}) as stage:
            lines = [line.split() for line in stage.bench("log").out.splitlines()]
            turn = [SHADOW[name] for name in ("at", "collection", "call", "model", "shadow", "agreement")]
            self.assertIn([*turn, "read.path,", "read.lines"], lines)
            self.assertIn(["core", "kimi", "glm", "9", "7", "2", "0", "0", "0"], lines)
            self.assertEqual(stage.bench("log", "--json").document["shadows"], [SHADOW])

    def test_a_call_id_is_never_cut(self) -> None:
        call = "p20261129-142220-1a2b3c4d.explorer2"
        panel = PANEL | {"seats": [SEAT | {"call": call, "alias": "claude-sonnet-latest"}]}
        with Stage({"GET /api/log": {"ok": True, "panels": [panel], "next": None}}) as stage:
            for columns in ("30", "60", "80", "100", "140"):
                with self.subTest(columns), mock.patch.dict("os.environ", {"COLUMNS": columns}):
                    played = stage.bench("log", tty=True)
                    self.assertIn(call, played.out)
                    self.assertLessEqual(max(map(len, played.out.splitlines())), max(int(columns), 47))

    def test_the_question(self) -> None:
        with Stage(LISTED) as stage:
            stage.bench("log")
            self.assertEqual(stage.last.path, "/api/log?limit=20")
            stage.bench("log", "--limit", "5", "--collection", "my core", "--before", "a&b")
            self.assertEqual(stage.last.path, "/api/log?limit=5&before=a%26b&collection=my+core")

    def test_nothing_yet(self) -> None:
        with Stage({"GET /api/log": {"ok": True, "panels": [], "next": None}}) as stage:
            played = stage.bench("log")
        self.assertEqual((played.code, played.out), (0, ""))
        self.assertIn("bench ask core", played.err)

    def test_a_collection_that_is_not_there(self) -> None:
        listed = {"ok": True, "collections": [{"name": "core"}]}
        empty = {"GET /api/log": {"ok": True, "panels": [], "next": None}, "GET /api/collections": listed}
        with Stage(empty) as stage:
            cases = [
                ("cor", 1, "there is no collection cor\ndid you mean core?"),
                ("core", 0, "nothing was asked yet: bench ask core"),
            ]
            for name, code, words in cases:
                with self.subTest(name):
                    played = stage.bench("log", "--collection", name)
                    self.assertEqual((played.code, played.out), (code, ""))
                    self.assertIn(words, played.err)
        with Stage(LISTED) as stage:  # one that is gone keeps its panels
            self.assertEqual(stage.bench("log", "--collection", "gone").code, 0)

    def test_pages(self) -> None:
        refused = Reply({"error": {"message": '"before" is not a cursor', "param": "before"}}, 400)
        none = {"ok": True, "panels": [], "next": None}
        cases: list[tuple[Reply | dict[str, Any], list[str], int, str]] = [
            (LISTED["GET /api/log"], ["--collection", "core"], 0, "bench log --collection core --before c1"),
            (none, ["--before", "c1"], 0, "there are no older ones"),
            (refused, ["--before", "x"], 1, "is not a cursor"),
            (none, ["--before", ""], 2, "it is empty"),
        ]
        for reply, options, code, words in cases:
            with self.subTest(words), Stage({"GET /api/log": reply}) as stage:
                played = stage.bench("log", *options)
                self.assertEqual(played.code, code)
                self.assertIn(words, played.err)

    def test_a_person_reads_how_long_ago(self) -> None:
        self.assertEqual(log.rows_of(PANEL, 1796048600.0)[0][0], "1 d ago")

    def test_verdicts_in_a_word(self) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({}, "owed"),
            ({"verdict": None}, "owed"),
            ({"verdict": {"useful": True}}, "useful"),
            ({"verdict": {"useful": False}}, "not useful"),
            ({"verdict": True}, "useful"),
            ({"status": "cut"}, "owed"),
            ({"status": "error"}, "-"),
            ({"seat": "merger"}, "-"),
            ({"verdict": {"useful": None}}, "owed"),
        ]
        for more, wanted in cases:
            with self.subTest(more):
                self.assertEqual(log.judged(SEAT | more), wanted)


if __name__ == "__main__":
    unittest.main()
