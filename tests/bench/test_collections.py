import json
import threading
import unittest
from pathlib import Path
from typing import Any

from metrics.bench import changes, collections, moves, roster, settings
from metrics.bench.collections import Collection
from metrics.records import Problem
from tests.bench.bench import BY, BenchCase

ROOT = Path(__file__).resolve().parents[2]
SIX = ("m1", "m2", "m3", "m4", "m5", "m6")


class Saving(BenchCase):
    def setUp(self) -> None:
        super().setUp()
        self.seat_models(*SIX)

    def refused(self, edits: dict[str, Any], name: str = "core") -> Problem:
        with self.assertRaises(Problem) as refusal:
            collections.save(name, edits, BY)
        return refusal.exception

    def test_every_field_is_kept(self) -> None:
        wanted = Collection(
            "core",
            ("m1", "m2"),
            2,
            "merged",
            "m6",
            "code",
            30,
            "Two of them",
            ("python", "review"),
            True,
            0.25,
            9,
        )
        edits = {
            "members": ["m1", "m2"],
            "explorers": 2,
            "reply": "merged",
            "merger": "m6",
            "shape": "code",
            "deadline": 30,
            "description": "Two of them",
            "tags": ["python", "review"],
            "drop_hosted_tools": True,
            "shadow": 0.25,
            "shadow_daily": 9,
        }
        self.assertEqual(collections.save("core", edits, BY), wanted)
        self.assertEqual(
            collections.save("core", {"merger": None, "shape": "", "deadline": None}, BY).shape, None
        )
        self.assertEqual(collections.get("core").deadline, None)
        self.assertEqual(collections.get("core").tags, ("python", "review"))

    def test_add_and_remove(self) -> None:
        collections.save("core", {"members": ["m1", "m2"]}, BY)
        changed = collections.save("core", {"add": ["m3", "m1"], "remove": ["m2"]}, BY)
        self.assertEqual(changed.members, ("m1", "m3"))
        self.assertEqual(collections.save("new", {"add": ["m4"]}, BY).members, ("m4",))

    def test_refused(self) -> None:
        collections.save("core", {"members": ["m1"]}, BY)
        moves.change("m5", BY, role="image")
        moves.retire("m6", "", BY)
        cases: list[tuple[dict[str, Any], str, str]] = [
            ({"members": "m1,m2"}, "members", "must be a list"),
            ({"members": [1]}, "members", "not 1"),
            ({"members": ["m1", "m1"]}, "members", "twice"),
            ({"members": []}, "members", "at least one member"),
            ({"members": ["typo"]}, "members", "no model"),
            ({"add": ["m6"]}, "add", "is retired"),
            ({"add": ["m5"]}, "add", "never sits"),
            ({"remove": ["m2"]}, "remove", "its members are: m1"),
            ({"remove": ["m1"]}, "members", "at least one member"),
            ({"explorers": -1}, "explorers", "whole number"),
            ({"explorers": 3}, "explorers", "the most is 2"),
            ({"explorers": "1"}, "explorers", "whole number"),
            ({"reply": "some"}, "reply", "all, merged, route"),
            ({"merger": "typo"}, "merger", "no model"),
            ({"merger": "m5"}, "merger", "never sits"),
            ({"merger": 5}, "merger", "not 5"),
            ({"shape": "square"}, "shape", "one of general"),
            ({"deadline": 0}, "deadline", "from 1 to 3600 seconds"),
            ({"deadline": "5"}, "deadline", "from 1 to 3600"),
            ({"description": "x" * 301}, "description", "the most is 300"),
            ({"tags": ["Upper"]}, "tags", "lower-case"),
            ({"tags": [str(n) for n in range(9)]}, "tags", "the most is 8"),
            ({"drop_hosted_tools": "yes"}, "drop_hosted_tools", "true or false"),
            ({"shadow": 1.5}, "shadow", "from 0 to 1"),
            ({"shadow": True}, "shadow", "from 0 to 1"),
            ({"shadow_daily": -1}, "shadow_daily", "whole number"),
            ({"colour": "red"}, "colour", "is not a field here"),
        ]
        for edits, field, words in cases:
            with self.subTest(edits=edits):
                problem = self.refused(edits)
                self.assertEqual((problem.status, problem.param), (400, field))
                self.assertIn(words, problem.message)
        self.assertEqual(collections.get("core"), Collection("core", ("m1",)))

    def test_a_program_does_not_merge(self) -> None:
        self.seat_squad("practice-lint")
        problem = self.refused({"members": ["practice-lint"], "merger": "practice-lint"})
        self.assertEqual((problem.status, problem.param), (400, "merger"))
        self.assertIn('"practice-lint" is a program and cannot merge', problem.message)
        self.assertEqual(collections.all(), {})

    def test_names(self) -> None:
        for name in ("x", "Core", "a b", "a" * 33, "", None, 5, "core/x"):
            with self.subTest(name=name):
                self.assertEqual(self.refused({"members": ["m1"]}, name).status, 400)  # type: ignore[arg-type]

    def test_the_numbers_of_calls(self) -> None:
        cases: list[tuple[dict[str, Any], int | str]] = [
            ({"members": list(SIX[:3])}, 1),
            ({"members": list(SIX[:3]), "explorers": 2}, 2),
            ({"members": list(SIX[:4]), "explorers": 2}, "4 members and 2 explorers make 6 calls"),
            ({"members": list(SIX[:5])}, 0),
            ({"members": list(SIX[:5]), "explorers": 1}, "5 members and 1 explorer make 6 calls"),
            ({"members": list(SIX)}, "6 members, and a panel places at most 5"),
        ]
        for n, (edits, expected) in enumerate(cases):
            with self.subTest(edits=edits):
                if isinstance(expected, str):
                    self.assertIn(expected, self.refused(edits, f"c{n}").message)
                else:
                    self.assertEqual(collections.save(f"c{n}", edits, BY).explorers, expected)

    def test_chairs_come_back_when_members_leave(self) -> None:
        self.assertEqual(collections.save("core", {"members": list(SIX[:5])}, BY).explorers, 0)
        self.assertEqual(collections.save("core", {"remove": ["m5"]}, BY).explorers, 1)
        settings.save({"max_explorers": 0}, BY)
        self.assertEqual(collections.get("core").explorers, 0)

    def test_a_member_that_is_gone_is_kept_until_changed(self) -> None:
        self.seat_squad("practice-lint")
        collections.save("core", {"members": ["practice-lint", "m1"]}, BY)
        roster.clear_builtin()
        collections.save("core", {"description": "still there"}, BY)
        shown = collections.shown(collections.save("core", {"add": ["m2"]}, BY))
        self.assertEqual(
            [(one["alias"], one["present"]) for one in shown["members"]][:2],
            [("practice-lint", False), ("m1", True)],
        )
        self.assertIn("practice-lint", self.refused({"members": ["practice-lint"]}).message)

    def test_unknown_lists_them_all(self) -> None:
        self.assertIn("`bench collection save", collections.menu())
        collections.save("core", {"members": ["m1"], "description": "Good ones", "tags": ["a", "b"]}, BY)
        collections.save("side", {"members": ["m1"]}, BY)
        with self.assertRaises(Problem) as refusal:
            collections.get("typo")
        self.assertEqual((refusal.exception.status, refusal.exception.code), (404, "model_not_found"))
        self.assertIn("There are: core (tags: a, b): Good ones; side", refusal.exception.message)

    def test_removed_and_noted(self) -> None:
        collections.save("core", {"members": ["m1"]}, BY)
        collections.remove("core", BY)
        with self.assertRaises(Problem):
            collections.remove("core", BY)
        noted = [(row["what"], row["field"], row["new"]) for row in changes.recent(2)[0]]
        self.assertEqual(
            noted, [("collection core", "removed", None), ("collection core", "members", ["m1"])]
        )


class Files(BenchCase):
    def test_parallel_saves_keep_all(self) -> None:
        self.seat_models("m1")
        threads = [
            threading.Thread(target=collections.save, args=(f"c{n}", {"members": ["m1"]}, BY))
            for n in range(24)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(collections.all()), 24)

    def test_a_broken_file_blocks_saving_and_stays(self) -> None:
        self.seat_models("m1")
        broken = '{\n  "core": {"members": ["m1"]},\n  oops\n}'
        self.write("collections.json", broken)
        for step in (
            lambda: collections.get("core"),
            lambda: collections.save("new", {"members": ["m1"]}, BY),
        ):
            with self.assertRaises(Problem) as refusal:
                step()
            self.assertEqual((refusal.exception.status, refusal.exception.kind), (503, "config"))
            self.assertIn("collections.json, line 3", refusal.exception.message)
        self.assertEqual(self.text("collections.json"), broken)
        self.assertEqual(list(roster.all()), ["m1"])

    def test_a_broken_entry_is_set_aside(self) -> None:
        self.seat_models("m1")
        self.write("collections.json", '{"good": {"members": ["m1"]}, "bad": {"members": "m1"}, "worse": 5}')
        self.assertEqual(list(collections.all()), ["good"])
        with self.assertRaises(Problem) as refusal:
            collections.get("bad")
        self.assertIn('collections.json: "bad": "members" must be a list', refusal.exception.message)
        for name, edits in (("bad", {"description": "x"}), ("worse", {"explorers": 0})):
            with self.assertRaises(Problem) as refusal:
                collections.save(name, edits, BY)
            self.assertEqual(refusal.exception.status, 400)
        collections.save("bad", {"members": ["m1"]}, BY)
        self.assertEqual(list(collections.SHELF.bad()), ["worse"])

    def test_an_edit_names_what_a_hand_got_wrong_and_it_does_not_mend(self) -> None:
        self.seat_models("m1")
        self.write("collections.json", '{"core": {"members": ["m1"], "reply": "some"}}')
        with self.assertRaises(Problem) as refusal:
            collections.save("core", {"explorers": 0}, BY)
        self.assertEqual((refusal.exception.status, refusal.exception.param), (400, "reply"))
        self.assertEqual(collections.save("core", {"explorers": 0, "reply": "all"}, BY).reply, "all")

    def test_an_edit_by_hand_is_seen(self) -> None:
        self.seat_models("m1", "m2")
        collections.save("core", {"members": ["m1"]}, BY)
        self.write("collections.json", '\ufeff{"core": {"members": ["m2"], "_why": "by hand"}}')
        self.assertEqual(collections.get("core").members, ("m2",))
        collections.save("core", {"explorers": 0}, BY)
        self.assertIn("_why", self.text("collections.json"))

    def test_the_starter_folder(self) -> None:
        self.seat_squad("practice-lint", "practice-paranoid", "practice-terse", "practice-counter")
        text = (ROOT / "examples" / "home" / "collections.json").read_text(encoding="utf-8")
        self.write("collections.json", text)
        core = collections.get("core")
        self.assertEqual(core.members, ("practice-lint", "practice-paranoid", "practice-terse"))
        self.assertEqual((core.explorers, core.reply), (1, "all"))
        self.assertTrue(all(one["present"] and one["builtin"] for one in collections.shown(core)["members"]))
        entry = json.loads(text)["core"]
        self.assertEqual(collections.save("copy", entry, BY).members, core.members)


if __name__ == "__main__":
    unittest.main()
