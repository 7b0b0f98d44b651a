import unittest
from typing import Any

from metrics.bench import collections as bench
from metrics.commands import collections
from tests.commands.stage import Reply, Stage

CORE: dict[str, Any] = {
    "name": "core",
    "members": [{"alias": "kimi", "present": True}, {"alias": "glm", "present": False}],
    "explorers": 1,
    "reply": "merged",
    "merger": "kimi",
    "shape": None,
    "deadline": 60,
    "description": "for everything",
    "tags": ["a", "b"],
    "drop_hosted_tools": True,
    "shadow": 0.1,
    "shadow_daily": 20,
}
LISTED = {"GET /api/collections": {"ok": True, "collections": [CORE]}}
SAVED = {"POST /api/collection": {"ok": True, "collection": CORE}}
REMOVED = {"POST /api/collection/remove": {"ok": True, "removed": "core"}}


class Collections(unittest.TestCase):
    def test_the_shapes_are_those_of_the_bench(self) -> None:
        self.assertEqual(collections.SHAPES, bench.SHAPES)

    def test_list(self) -> None:
        with Stage(LISTED) as stage:
            lines = stage.bench("collections").out.splitlines()
            self.assertEqual(lines[0].split(), ["name", "members", "explorers", "reply", "description"])
            self.assertEqual(lines[2].split("  ")[:2], ["core", "kimi, glm (missing)"])
            self.assertIn("merged by kimi", lines[2])
            self.assertEqual(stage.bench("collections", "--json").document["collections"], [CORE])

    def test_show(self) -> None:
        with Stage(LISTED) as stage:
            played = stage.bench("collection", "show", "core")
            for line in (
                r"deadline +60 s a seat",
                r"drop hosted tools +yes",
                r"shadow +0.1 of the route turns, at most 20 a day",
            ):
                self.assertRegex(played.out, line)
            self.assertEqual(stage.bench("collection", "show", "core", "--json").document["collection"], CORE)
            played = stage.bench("collection", "show", "cor")
            self.assertEqual((played.code, played.out), (1, ""))
            self.assertIn("did you mean core?", played.err)

    def test_save_sends_what_was_named_and_nothing_else(self) -> None:
        cases: list[tuple[str, dict[str, Any]]] = [
            ("--members a,b,c", {"members": ["a", "b", "c"]}),
            (
                "--members a,b --explorers 0 --reply route",
                {"members": ["a", "b"], "explorers": 0, "reply": "route"},
            ),
            ("--add a --remove b,c", {"add": ["a"], "remove": ["b", "c"]}),
            (
                "--reply merged --merger a --shape code --deadline 2.5",
                {"reply": "merged", "merger": "a", "shape": "code", "deadline": 2.5},
            ),
            ("--merger none --shape none --deadline none", {"merger": None, "shape": None, "deadline": None}),
            ("--description T --tags x,y", {"description": "T", "tags": ["x", "y"]}),
            ("--drop-hosted-tools yes", {"drop_hosted_tools": True}),
            ("--drop-hosted-tools no", {"drop_hosted_tools": False}),
            ("--shadow 0.25 --shadow-daily 9", {"shadow": 0.25, "shadow_daily": 9}),
            ("--shadow 0", {"shadow": 0.0}),
        ]
        with Stage(SAVED) as stage:
            for line, body in cases:
                with self.subTest(line):
                    played = stage.bench("collection", "save", "core", *line.split())
                    self.assertEqual((played.code, played.err), (0, ""))
                    self.assertEqual(stage.last.body, {"name": "core", **body})
            self.assertEqual(played.out, "saved core: 2 members, 1 explorer, reply merged by kimi\n")
            stage.bench(
                "collection", "save", "core", "--tags", "", "--description", "", "--members", "a, b ,"
            )
            self.assertEqual(
                stage.last.body, {"name": "core", "tags": [], "description": "", "members": ["a", "b"]}
            )

    def test_save_refused(self) -> None:
        for line in (
            "",
            "--explorers -1",
            "--explorers two",
            "--reply some",
            "--deadline 0",
            "--deadline nan",
            "--drop-hosted-tools perhaps",
            "--shadow 2",
            "--shadow nan",
            "--shadow some",
            "--shadow-daily -1",
        ):
            with self.subTest(line), Stage(SAVED) as stage:
                played = stage.bench("collection", "save", "core", *line.split())
                self.assertEqual((played.code, stage.sent), (2, []))
        reply = Reply(
            {
                "ok": False,
                "errors": ["no model x"],
                "error": {"message": "no model x", "kind": "bad_request"},
            },
            400,
        )
        with Stage({"POST /api/collection": reply}) as stage:
            played = stage.bench("collection", "save", "core", "--add", "x")
            self.assertEqual((played.code, played.out), (1, ""))

    def test_remove_asks_only_a_person(self) -> None:
        cases = [
            ("a script", [], b"", False, 0, 1),
            ("yes", [], b"y\n", True, 0, 1),
            ("no", [], b"\n", True, 1, 0),
            ("said before", ["--yes"], b"", True, 0, 1),
        ]
        for name, options, stdin, tty, code, calls in cases:
            with self.subTest(name), Stage(REMOVED) as stage:
                played = stage.bench("collection", "rm", "core", *options, stdin=stdin, tty=tty)
                self.assertEqual((played.code, len(stage.sent)), (code, calls))


if __name__ == "__main__":
    unittest.main()
