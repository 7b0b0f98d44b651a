import json
import tracemalloc
from typing import Any

from metrics.bench import changes, settings
from metrics.care import pruning
from metrics.care.pruning import Wish
from metrics.evidence import offloads, panels, verdicts
from metrics.limits import ledger
from metrics.records import Problem
from metrics.store import bodies
from metrics.store.stamps import epoch
from tests.bench.bench import BY, BenchCase

NOW = epoch("2026-11-30T12:00:00Z")


def played(panel_id: str, status: str = "ok", judge: bool = False) -> str:
    """A panel of one seat, with its words, judged or not; the seat's call."""
    at = f"{panel_id[1:5]}-{panel_id[5:7]}-{panel_id[7:9]}T10:00:00.000Z"
    call = f"{panel_id}.member1"
    row: dict[str, Any] = {
        "collection": "core",
        "shape": "code",
        "model": "a",
        "model_id": "x:a",
        "seat": "member",
    }
    panels.record({**row, "panel": panel_id, "at": at, "seats": [{"call": call, "status": status}]})
    offloads.record({**row, "at": at, "call": call, "panel": panel_id, "status": status})
    bodies.keep(panel_id, {"text": "x" * 500})
    for log in (panels, offloads):
        log.LOG.flush()
    bodies.flush()
    if judge:
        verdicts.give(call, useful=True)
    return call


OLD, OWED, FAILED, YOUNG = (
    "p20260801-100000-00000001",
    "p20260802-100000-00000002",
    "p20260803-100000-00000003",
    "p20261129-100000-00000004",
)


class Pruning(BenchCase):
    def setUp(self) -> None:
        super().setUp()
        played(OLD, judge=True)
        played(OWED)
        played(FAILED, status="error")
        played(YOUNG)

    def kept(self) -> list[str]:
        return [panel_id for panel_id in (OLD, OWED, FAILED, YOUNG) if bodies.read(panel_id)]

    def test_words_past_their_days_go_but_those_of_judged_panels(self) -> None:
        planned = pruning.prune(Wish(dry_run=True), NOW)
        told = pruning.prune(Wish(), NOW)
        for said in (planned, told):
            self.assertEqual(
                said["bodies"] | {"bytes": 0},
                {
                    "days": 30,
                    "before": "2026-10-31",
                    "bytes": 0,
                    "panels": 2,
                    "owed": 1,
                    "judged_kept": 1,
                },
            )
            self.assertEqual(said["months"]["files"], {})
        self.assertEqual(self.kept(), [OLD, YOUNG])
        self.assertGreater(planned["bodies"]["bytes"], 1000)
        self.assertGreater(told["bytes"], 1000)
        self.assertEqual(pruning.prune(Wish(), NOW)["bodies"]["panels"], 0)

    def test_a_dry_run_takes_nothing(self) -> None:
        pruning.prune(Wish(body_days=1, log_months=1, dry_run=True), NOW)
        self.assertEqual(self.kept(), [OLD, OWED, FAILED, YOUNG])
        self.assertIsNotNone(panels.find(OLD))

    def test_months_with_judged_panels_only_go_when_that_is_said(self) -> None:
        with self.assertRaisesRegex(Problem, "judged: 1.*--judged-too") as refused:
            pruning.prune(Wish(log_months=2), NOW)
        self.assertEqual(refused.exception.status, 409)
        self.assertEqual(self.kept(), [OLD, OWED, FAILED, YOUNG])  # nothing went before the refusal
        planned = pruning.prune(Wish(log_months=2, dry_run=True), NOW)["months"]
        self.assertEqual((planned["before"], planned["judged"], planned["owed"]), ("2026-09", 1, 1))
        self.assertEqual(planned["files"], {"offloads": ["2026-08.jsonl"], "panels": ["2026-08.jsonl"]})
        told = pruning.prune(Wish(log_months=2, judged_too=True), NOW)
        self.assertEqual(told["months"], planned)
        self.assertEqual(self.kept(), [YOUNG])  # with the row goes what was judged
        self.assertIsNone(panels.find(OLD))
        self.assertIsNotNone(panels.find(YOUNG))
        self.assertEqual(verdicts.record("core")["a"]["useful"], 1)  # what it counts for stays
        (noted, *_), _ = changes.recent(5)
        self.assertEqual((noted["by"], noted["old"]), ("local", "1 judged, 1 owed a verdict"))

    def test_months_without_judged_panels_go(self) -> None:
        settings.save({"log_months": 1}, BY)
        verdicts.withdraw(f"{OLD}.member1")
        ledger.LOG.append(
            {"at": "2026-08-01T10:00:00.000Z", "model": "a"} | dict.fromkeys(("status", "purpose"), "ok")
        )
        told = pruning.prune(Wish(), NOW)
        self.assertEqual((told["months"]["keep"], told["months"]["judged"]), (1, 0))
        self.assertIn("ledger", told["months"]["files"])
        self.assertEqual(pruning.drop_months(1, NOW, "daily job"), 0)
        self.assertEqual(self.kept(), [YOUNG])

    def test_the_rows_of_a_month_are_not_held_together(self) -> None:
        seats = [{"call": f"p20260701-100000-0a1b2c3d.member{n}", "status": "ok"} for n in range(4)]
        row = {"at": "2026-07-01T10:00:00.000Z", "collection": "core", "seats": seats, "task": "x" * 500}
        lines = [json.dumps({**row, "panel": f"p20260701-100000-{n:08x}"}) + "\n" for n in range(2000)]
        panels.LOG.open()
        self.write("panels/2026-07.jsonl", "".join(lines))
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        planned = pruning.prune(Wish(log_months=2, dry_run=True), NOW)["months"]
        self.assertEqual(planned["owed"], 2001)
        self.assertLess(tracemalloc.get_traced_memory()[1], sum(map(len, lines)))

    def test_the_daily_job_says_what_it_took(self) -> None:
        self.assertEqual(pruning.drop_months(0, NOW, "daily job"), 0)
        self.assertEqual(pruning.drop_months(2, NOW, "daily job"), 2)
        (noted, *_), _ = changes.recent(5)
        self.assertEqual((noted["by"], noted["field"]), ("daily job", "panels before 2026-09"))

    def test_no_bound_keeps_every_month(self) -> None:
        settings.save({"log_months": 1}, BY)
        self.assertEqual(pruning.prune(Wish(log_months=0), NOW)["months"]["files"], {})
        self.assertIsNotNone(panels.find(OLD))

    def test_leftovers(self) -> None:
        self.write(".models.json.draft", "{}")
        self.assertEqual(pruning.prune(Wish(), NOW)["leftovers"]["files"], 0)  # as fresh as that: at work
        self.assertEqual(pruning.prune(Wish(dry_run=True), NOW * 2)["leftovers"], {"files": 1, "bytes": 2})
        self.assertEqual(pruning.prune(Wish(), NOW * 2)["leftovers"]["files"], 1)
        self.assertEqual(pruning.prune(Wish(), NOW * 2)["leftovers"]["files"], 0)

    def test_what_it_weighs_and_what_bounds_it(self) -> None:
        self.write("mine.txt", "mine")
        settings.save({"body_days": 7}, BY)
        said = pruning.weighed()
        rows = {row["kind"]: row for row in said["kinds"]}
        self.assertEqual(
            (rows["bodies"]["oldest"], rows["bodies"]["bound"]), ("2026-08-01", "7 days, but for judged ones")
        )
        self.assertEqual(rows["panels"]["bound"], "no bound (setting log_months)")
        self.assertEqual((rows["verdicts"]["bound"], rows["verdicts"]["setting"]), ("kept for good", None))
        self.assertEqual(said["other"], ["mine.txt"])
        self.assertEqual(said["bytes"], sum(row["bytes"] for row in said["kinds"]))
        settings.save({"log_months": 3}, BY)
        self.assertEqual(pruning.bound("log_months"), "3 months")
