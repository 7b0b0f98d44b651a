"""Logs whose writer dies, or whose disk fills, in another process: the real thing, where the other tests use
a seam."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from metrics.store import home, lines
from metrics.store.log import JsonLog
from tests.store.case import HomeCase

ROOT = Path(__file__).resolve().parents[2]

WRITER = """
import sys, threading
from pathlib import Path
from metrics.store import home
from metrics.store.log import JsonLog

def fold(state, row):
    state["rows"] = state.get("rows", 0) + 1

home.use(Path(sys.argv[1]))
ledger = JsonLog("ledger", key="id", partition="month", fold=fold)
verdicts = JsonLog("verdicts.jsonl", key="id", durable=True, fold=fold)
for number in range(int(sys.argv[3]), 1_000_000):
    row = {"id": f"k{number}", "at": "2026-11-29T14:22:20.123Z", "text": "x" * (number % 700)}
    ledger.submit(row)
    verdicts.append(row)
    if number % 10 == 0:
        ledger.open().save()
        verdicts.open().save()
    print(number, flush=True)
"""

LIMITED = """
import resource, sys
from pathlib import Path
from metrics.records import Problem
from metrics.store import home
from metrics.store.files import JsonFile
from metrics.store.log import JsonLog

home.use(Path(sys.argv[1]))
log = JsonLog("verdicts.jsonl", key="id", durable=True)
file = JsonFile("collections.json")
with file.edit() as saved:
    saved["small"] = {}
log.append({"id": "before"})
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
said = []
for number in range(100):
    try:
        log.append({"id": f"k{number}", "text": "x" * 300})
    except Problem as problem:
        said.append(problem.status)
        break
try:
    with file.edit() as saved:
        saved["large"] = "x" * 20_000
except Problem as problem:
    said.append(problem.status)
print(number, *said)
"""


def fold(state: dict[str, int], row: dict[str, object]) -> None:
    state["rows"] = state.get("rows", 0) + 1


def kill_while_writing(case: HomeCase, kills: int) -> None:
    """Kill a process that writes in a loop, again and again: what it said is durable must be there, the rest
    be whole."""
    told = 0
    for kill in range(kills):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(case.home), "x", str(told)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        for _ in range(2 + 7 * (kill % 4)):
            told = int(child.stdout.readline()) + 1
        child.kill()
        for line in child.communicate()[0].split("\n"):
            told = int(line) + 1 if line.isdigit() else told
        check_after_kill(case, told)
    torn = sum(
        lines.decode(line) is None for line in (case.home / "verdicts.jsonl").read_bytes().splitlines()[1:]
    )
    case.assertLessEqual(torn, kills)


def check_after_kill(case: HomeCase, told: int) -> None:
    home.use(case.home)
    for log in (
        JsonLog("verdicts.jsonl", key="id", durable=True, fold=fold),
        JsonLog("ledger", key="id", partition="month", fold=fold),
    ):
        log.open()
        folder = case.home if log.name == "verdicts.jsonl" else case.home / "ledger"
        rows = []
        for path in folder.glob("*.jsonl"):
            case.assertTrue(path.read_bytes().endswith(b"\n"))
            rows += [row for row in map(lines.decode, path.read_bytes().splitlines()) if row]
        case.assertEqual(log.state.get("rows", 0), len(rows), log.name)
        for row in (*rows[:3], *rows[-3:]):
            case.assertEqual(log.find(row["id"]), row)
        if log.name == "verdicts.jsonl":
            case.assertLessEqual({f"k{number}" for number in range(told)}, {row["id"] for row in rows})


class Killed(HomeCase):
    def test_three_kills(self) -> None:
        kill_while_writing(self, 3)


@unittest.skipIf(os.environ.get("BENCH_QUICK"), "slow")
class SlowKilled(HomeCase):
    def test_25_kills(self) -> None:
        kill_while_writing(self, 25)


@unittest.skipIf(os.name == "nt", "Windows has no such limit")
class Limited(HomeCase):
    def test_a_file_that_may_not_grow(self) -> None:
        ran = subprocess.run(
            [sys.executable, "-c", LIMITED, str(self.home)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        written, *statuses = map(int, ran.stdout.split())
        self.assertEqual(statuses, [507, 507])
        self.assertGreater(written, 5)
        whole = (self.home / "verdicts.jsonl").read_bytes()
        rows = [json.loads(line) for line in whole.splitlines()[1:]]
        self.assertEqual(
            [row["id"] for row in rows], ["before", *(f"k{number}" for number in range(written))]
        )
        self.assertEqual(
            json.loads((self.home / "collections.json").read_bytes()), {"$schema_version": 1, "small": {}}
        )
        home.use(self.home)
        log = JsonLog("verdicts.jsonl", key="id", durable=True)
        log.append({"id": "after"})
        self.assertEqual(log.find("after"), {"id": "after"})
