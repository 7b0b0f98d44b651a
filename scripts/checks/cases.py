"""The black-box cases of tests/cases, each a check: a real server, a scripted provider, what came of it."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from scripts.checks.tree import Check, Tree

ROOT = Path(__file__).resolve().parents[2]
PLAY = [sys.executable, "-m", "tests.cases", "--json"]
PATIENCE = 300.0  # seconds


def checks(tree: Tree, play: Iterable[str] = PLAY) -> list[Check]:
    """A check for each case of which anything can be played yet; `play` prints a JSON object for each."""
    try:
        done = subprocess.run(
            [*play], cwd=ROOT, capture_output=True, encoding="utf-8", errors="replace", timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return [Check("the cases come to an end", (f"they have not after {PATIENCE:.0f} s",))]
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    played = [
        Check(f"{result['id']} {result['title']}", tuple(result["wrong"]))
        for result in results
        if result["played"]
    ]
    broken = not played or any(check.problems for check in played) != (done.returncode != 0)
    if broken:
        played.append(Check("the cases can be played", (f"exit {done.returncode}: {done.stderr[-2000:]}",)))
    return played
