import json
import threading
from typing import Any
from unittest import mock

from metrics.evidence import claims, offloads, panels, verdicts
from metrics.records import Problem
from metrics.store import bodies, disk, home, stamps
from tests.store.case import HomeCase

PANEL = "p20261129-142220-0a1b2c3d"
CALL = f"{PANEL}.member1"
AT = "2026-11-29T14:22:20.123Z"
NOW = stamps.epoch("2026-11-29T15:00:00.987Z")
NAMES = {"x:a": "ann", "x:b": "bob"}


class VerdictCase(HomeCase):
    def setUp(self) -> None:
        super().setUp()
        self.offload("member1", "a")
        self.offload("member2", "b")

    def offload(self, seat: str, model: str, **more: Any) -> str:
        call = f"{PANEL}.{seat}"
        row = {"at": AT, "call": call, "panel": PANEL, "collection": "core", "shape": "review", "seat": seat}
        offloads.record(row | {"model": f"old-{model}", "model_id": f"x:{model}", "status": "ok"} | more)
        return call

    def give(self, call: object = CALL, useful: object = None, **more: Any) -> dict[str, Any]:
        return verdicts.give(call, useful, now=NOW, **more)

    def record(self, task: str | None = None) -> dict[str, dict[str, Any]]:
        return verdicts.record("core", task, NAMES)

    def rows(self, name: str) -> list[dict[str, Any]]:
        path = self.home / name
        return [json.loads(line) for line in path.read_bytes().splitlines()[1:]] if path.exists() else []


class Give(VerdictCase):
    def test_the_row(self) -> None:
        given = self.give(useful=True, note="found it", by="app")
        self.assertTrue(given["recorded"])
        [row] = self.rows("verdicts.jsonl")
        self.assertEqual(given["verdict"], row)
        expected = {
            "id": f"v.{CALL}",
            "call": CALL,
            "useful": True,
            "note": "found it",
            "by": "app",
            "was": None,
        }
        self.assertEqual({field: row[field] for field in expected}, expected)
        self.assertEqual(row["at"], stamps.stamp(NOW))
        self.assertEqual(verdicts.of(CALL), row)

    def test_an_identical_repeat_writes_nothing(self) -> None:
        said = {"useful": False, "note": "no", "real": ["one"], "false": ["two"], "best": False}
        self.assertTrue(self.give(**said)["recorded"])
        for repeat in (said, {"useful": False}, {"note": "no"}, {"real": ["one"]}, said | {"by": "other"}):
            with self.subTest(repeat):
                self.assertFalse(self.give(**repeat)["recorded"])
        self.assertEqual((len(self.rows("verdicts.jsonl")), len(self.rows("claims.jsonl"))), (1, 2))

    def test_what_is_left_out_stays(self) -> None:
        self.give(useful=True, note="good", best=True, real=["one"])
        self.give(useful=False)
        verdict = verdicts.of(CALL) or {}
        self.assertEqual((verdict["useful"], verdict["note"], verdict["best"]), (False, "good", True))
        self.assertEqual([claim["quote"] for claim in claims.of(CALL)], ["one"])
        self.give(note="")
        self.assertNotIn("note", verdicts.of(CALL) or {})

    def test_claims_alone_are_no_verdict_yet(self) -> None:
        self.assertTrue(self.give(real=["one"])["recorded"])
        self.assertIsNone((verdicts.of(CALL) or {})["useful"])
        self.assertEqual(verdicts.pending([CALL]), [CALL])
        self.assertEqual(self.record(), {})

    def test_refusals(self) -> None:
        for name, status, said in (
            ("an unknown call", 404, {"call": f"{PANEL}.member9", "useful": True}),
            ("no call's id", 404, {"call": "../../etc/passwd", "useful": True}),
            ("no call", 400, {"call": None, "useful": True}),
            ("a number as call", 400, {"call": 5, "useful": True}),
            ("an empty call", 400, {"call": "", "useful": True}),
            ("nothing said", 400, {}),
            ("a word as useful", 400, {"useful": "yes"}),
            ("a number as useful", 400, {"useful": 1}),
            ("a list as note", 400, {"useful": True, "note": ["x"]}),
            ("a text as claims", 400, {"useful": True, "real": "one"}),
            ("a number among claims", 400, {"useful": True, "false": ["one", 2]}),
            ("an empty claim", 400, {"useful": True, "real": [" "]}),
            ("both real and false", 400, {"useful": True, "real": ["one"], "false": ["one"]}),
            ("an endless note", 400, {"useful": True, "note": "x" * 20_001}),
            ("a word as best", 400, {"best": "yes"}),
        ):
            with self.subTest(name), self.assertRaises(Problem) as raised:
                self.give(**said)
            self.assertEqual(raised.exception.status, status, name)
        self.assertEqual((self.rows("verdicts.jsonl"), self.rows("claims.jsonl")), ([], []))

    def test_a_full_disk_records_nothing(self) -> None:
        with mock.patch.object(disk, "write", side_effect=OSError(28, "No space left on device")):
            with self.assertRaises(Problem) as raised:
                self.give(useful=True)
        self.assertEqual(raised.exception.status, 507)
        self.assertIsNone(verdicts.of(CALL))
        self.assertEqual(self.record(), {})
        self.assertTrue(self.give(useful=True)["recorded"])

    def test_many_at_once_are_recorded_once(self) -> None:
        threads = [threading.Thread(target=self.give, args=(CALL, True)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(self.rows("verdicts.jsonl")), 1)
        self.assertEqual(self.record()["ann"]["judged"], 1)


class Withdraw(VerdictCase):
    def test_as_if_it_had_not_been_given(self) -> None:
        self.assertFalse(verdicts.withdraw(CALL)["recorded"])
        self.give(useful=True, note="good", real=["one"])
        self.assertTrue(verdicts.withdraw(CALL)["recorded"])
        self.assertIsNone(verdicts.of(CALL))
        self.assertEqual(self.record(), {})
        self.assertEqual(verdicts.pending([CALL]), [CALL])
        self.assertFalse(verdicts.withdraw(CALL)["recorded"])
        self.give(useful=False)
        self.assertNotIn("note", verdicts.of(CALL) or {})
        self.assertEqual(
            self.record()["ann"], {"useful": 0, "notUseful": 1, "judged": 1, "lastAt": "2026-11-29T15:00:00Z"}
        )
        self.assertTrue(self.rows("verdicts.jsonl")[1]["withdrawn"])


class Record(VerdictCase):
    def test_changes_of_mind_count_once(self) -> None:
        for useful in (True, False, True, True, False):
            self.give(useful=useful)
        self.assertEqual(
            self.record()["ann"], {"useful": 0, "notUseful": 1, "judged": 1, "lastAt": "2026-11-29T15:00:00Z"}
        )
        self.assertEqual(verdicts.revision(), 4)

    def test_by_the_aliases_of_today(self) -> None:
        self.give(useful=True)
        self.give(f"{PANEL}.member2", False)
        for name, names, expected in (
            ("renamed", NAMES, ["ann", "bob"]),
            ("gone from the bench", {}, ["old-a", "old-b"]),
            ("another model has the name now", {"x:b": "old-a"}, ["old-a", "x:a"]),
        ):
            with self.subTest(name):
                self.assertEqual(sorted(verdicts.record("core", None, names)), expected)
        self.assertEqual(verdicts.record("core", None, {"x:b": "old-a"})["old-a"]["notUseful"], 1)
        self.assertEqual(
            sorted(verdicts.record("core")), ["old-a", "old-b"]
        )  # the roster's names: there are none

    def test_one_shape_of_task(self) -> None:
        self.give(useful=True)
        self.give(self.offload("member3", "a", shape="prose"), False)
        self.assertEqual(self.record()["ann"]["judged"], 2)
        self.assertEqual(self.record("prose")["ann"]["notUseful"], 1)
        self.assertEqual(self.record("quick"), {})
        self.assertEqual(verdicts.record("other", None, NAMES), {})

    def test_never_a_scan_and_the_same_after_any_restart(self) -> None:
        self.give(useful=True)
        self.give(useful=False)
        self.give(f"{PANEL}.member2", True)
        expected = self.record()
        home.close()
        self.assertEqual(self.record(), expected)
        home.close()
        (self.home / "verdicts.counters").unlink()
        self.assertEqual(self.record(), expected)

    def test_a_seat_that_failed_is_no_matter_of_usefulness(self) -> None:
        failed = self.offload("member3", "c", status="timeout")
        self.give(failed, useful=False)
        self.give(failed, useful=True)
        self.assertEqual((self.record(), verdicts.days("2000", "3000")), ({}, {}))
        self.assertIs((verdicts.of(failed) or {})["useful"], True, "it is kept all the same")

    def test_it_outlives_the_offload(self) -> None:
        self.give(useful=True)
        offloads.retain("2026-12")
        self.assertEqual(self.record()["ann"]["useful"], 1)


class Pending(VerdictCase):
    def test_answered_and_not_judged(self) -> None:
        other = f"{PANEL}.member2"
        failed = self.offload("member3", "c", status="timeout")
        cut = self.offload("member4", "d", status="cut")
        asked = [other, CALL, failed, cut, CALL, "nonsense", f"{PANEL}.member9"]
        self.assertEqual(verdicts.pending(asked), [other, CALL, cut])
        self.give(useful=False)
        self.assertEqual(verdicts.pending(asked), [other, cut])

    def test_refusals(self) -> None:
        for calls in (None, CALL, [1], [CALL] * 1001):
            with self.subTest(str(calls)[:20]), self.assertRaises(Problem) as raised:
                verdicts.pending(calls)
            self.assertEqual(raised.exception.status, 400)

    def test_judged_panels(self) -> None:
        panels.record(
            {"panel": PANEL, "at": AT, "collection": "core", "seats": [{"call": CALL, "status": "ok"}]}
        )
        self.assertFalse(verdicts.judged(PANEL))
        self.give(useful=False)
        self.assertTrue(verdicts.judged(PANEL))
        self.assertFalse(verdicts.judged("p20261129-142220-ffff"))


class Compare(VerdictCase):
    def test_pairs(self) -> None:
        other = f"{PANEL}.member2"
        self.assertTrue(verdicts.compare(CALL, other, "left", now=NOW)["recorded"])
        self.assertFalse(verdicts.compare(CALL, other, "left", now=NOW)["recorded"])
        self.assertTrue(verdicts.compare(CALL, other, "tie", now=NOW)["recorded"])
        row = self.rows("verdicts.jsonl")[-1]
        self.assertEqual((row["pair"], row["choice"]), ([CALL, other], "tie"))
        self.assertEqual(self.record(), {})
        for left, right, choice, status in (
            (CALL, CALL, "left", 400),
            (CALL, other, "middle", 400),
            (CALL, "x", "left", 404),
        ):
            with self.assertRaises(Problem) as raised:
                verdicts.compare(left, right, choice)
            self.assertEqual(raised.exception.status, status)


class Claims(VerdictCase):
    def test_placed_in_the_stored_answer(self) -> None:
        bodies.keep(PANEL, {"answers": {CALL: "The käse is old. The bread is not."}})
        self.give(useful=True, real=["käse is old"], false=["no such words"])
        placed = {
            claim["quote"]: (claim["start"], claim["end"], claim["decision"]) for claim in claims.of(CALL)
        }
        self.assertEqual(placed, {"käse is old": (4, 15, "real"), "no such words": (None, None, "false")})

    def test_a_list_replaces_the_list_before(self) -> None:
        self.give(real=["one", "two"], false=["three"])
        self.assertTrue(self.give(real=["two", "three"])["recorded"])
        self.assertEqual(
            {c["quote"]: c["decision"] for c in claims.of(CALL)}, {"two": "real", "three": "real"}
        )
        self.give(real=[])
        self.assertEqual(claims.of(CALL), [])
        ids = {row["id"] for row in self.rows("claims.jsonl")}
        self.assertEqual(len(ids), 3)

    def test_marked_one_by_one(self) -> None:
        first = claims.mark(CALL, "one", 0, 3, "real", "local", NOW)
        self.assertEqual(claims.mark(CALL, "one", 0, 3, "real", "other", NOW), first)
        claims.mark(CALL, "one", 0, 3, "false", "local", NOW)
        claims.mark(CALL, "one", 9, 12, "real", "local", NOW)
        self.assertEqual(
            [(claim["start"], claim["decision"]) for claim in claims.of(CALL)], [(0, "false"), (9, "real")]
        )
        claims.mark(CALL, "one", 0, 3, None, "local", NOW)
        self.assertEqual([claim["start"] for claim in claims.of(CALL)], [9])
        self.assertEqual(claims.of("nothing"), [])

    def test_what_was_never_counted_is_not_taken_from_the_count(self) -> None:
        """A claim from before rows named whose answer it was."""
        first = claims.mark(CALL, "one", 0, 3, "real", "local", NOW)
        claims.LOG.append({name: part for name, part in first.items() if name not in ("model_id", "was")})
        before = claims.days("2000", "3000")
        claims.mark(CALL, "one", 0, 3, None, "local", NOW)
        self.assertEqual(claims.days("2000", "3000"), before)

    def test_refusals(self) -> None:
        for name, status, said in (
            ("an unknown call", 404, (f"{PANEL}.member9", "one", 0, 3, "real")),
            ("another decision", 400, (CALL, "one", 0, 3, "maybe")),
            ("no quote", 400, (CALL, "", 0, 3, "real")),
            ("half a place", 400, (CALL, "one", 0, None, "real")),
            ("a place backwards", 400, (CALL, "one", 3, 0, "real")),
            ("a place before the start", 400, (CALL, "one", -1, 3, "real")),
            ("a place in words", 400, (CALL, "one", "0", "3", "real")),
        ):
            with self.subTest(name), self.assertRaises(Problem) as raised:
                claims.mark(*said)  # type: ignore[arg-type]
            self.assertEqual(raised.exception.status, status)
