#!/usr/bin/env python3
"""A month of traffic that nobody had, and whether `bench usage` and the page answer about it quickly and
rightly.

    python3 scripts/traffic.py                             1,000,000 calls of 40 models for 12 keys
    python3 scripts/traffic.py --calls 50000 --home DIR    fewer, in DIR/ledger, where they stay

The lines are written as the ledger writes them and counted as it counts them; then a server starts on the
folder and is asked each question of `bench usage` and of the page Usage over a day, a week and the whole
month. Each answer is
compared, figure by figure, with a recount of the lines by a plain loop that shares nothing with the product
but the lines. Exit 1 when one differs, or takes longer than its goal.
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:1] = [str(ROOT)]

from scripts.bench import history  # noqa: E402

GOAL = 0.1  # seconds for an answer
BY = ("model", "collection", "key", "purpose", "endpoint", "day")
KINDS = ("uncached_in", "cache_read", "cache_write", "out", "reasoning")
START = datetime(2026, 10, 31, tzinfo=UTC)
DAYS = 30
SPANS = (1, 7, DAYS)
ROUTES = {"usage": BY, "usage/series": BY[:-1], "usage/worth": ("model",)}  # route -> by what it tells

Row = dict[str, Any]


# --- the traffic


def traffic(calls: int, seed: int = 20) -> Iterator[Row]:
    """`calls` ledger rows in the order of time: working days are busier than nights, a few models get most of
    it, one in twenty-five fails, some models have no price."""
    draw = random.Random(seed)
    models = [f"model-{number:02d}" for number in range(40)]
    weights = [1 / (1 + number) for number in range(40)]
    keys = [f"team-{number:02d}" for number in range(12)]
    step = DAYS * 86_400 / calls
    for number in range(calls):
        seconds = number * step
        model = draw.choices(models, weights)[0]
        yield _row(draw, START + timedelta(seconds=seconds), model, draw.choice(keys), number)


def _row(draw: random.Random, at: datetime, model: str, key: str, number: int) -> Row:
    place = int(model[-2:])
    failed, purpose = draw.random() < 0.04, draw.choice(("panel", "panel", "route", "merge"))
    fresh, cached = draw.randrange(50, 20_000), draw.choice((0, 0, 0, 4096, 65_536))
    out = draw.randrange(1, 4_000)
    tokens = (
        dict.fromkeys(KINDS) if failed else dict(zip(KINDS, (fresh, cached, 0, out, out // 5), strict=True))
    )
    dark = place % 10 == 9  # nobody knows what these cost
    units = (
        None
        if failed or dark
        else fresh * (place + 1) * 50_000 + cached * 10_000 + out * (place + 1) * 200_000
    )
    status = "none" if failed else "unknown" if dark else "computed"
    return {
        "at": f"{at.isoformat(timespec='milliseconds')[:23]}Z",
        "purpose": purpose,
        "model": model,
        "model_id": f"box-{place % 5}:{model}",
        "endpoint": f"box-{place % 5}",
        "connection": f"box-{place % 5}",
        "served": model,
        "status": "error" if failed else "ok",
        "attempts": 3 if failed else 1,
        "seconds": round(draw.random() * 20, 4),
        "first_token_s": None if failed else round(draw.random(), 4),
        **tokens,
        "estimated": not failed and number % 50 == 0,
        "usage_raw": None,
        "cost_usd": None if units is None else units / 10**12,
        "cost_status": status,
        "price_version": None if dark else "0123456789ab",
        "provider": None,
        "fingerprint": None,
        "call": f"p{at:%Y%m%d-%H%M%S}-{number:08x}.member1",
        "panel": f"p{at:%Y%m%d-%H%M%S}-{number:08x}",
        "conversation": None,
        "collection": draw.choice(("core", "code", "light", None)),
        "key": key,
        "launch": None,
        "finish": None if failed else "stop",
        "error": draw.choice(("overloaded", "timeout", "caller_left")) if failed else None,
    }


def write(home: Path, calls: int) -> None:
    """The ledger's files with that traffic."""
    folder = home / "ledger"
    folder.mkdir(parents=True)
    files: dict[str, Any] = {}
    try:
        for row in traffic(calls):
            month = row["at"][:7]
            if month not in files:
                files[month] = (folder / f"{month}.jsonl").open("w", encoding="ascii")
                files[month].write('{"$schema_version":1}\n')
            files[month].write(json.dumps(row, separators=(",", ":")) + "\n")
    finally:
        for file in files.values():
            file.close()


# --- the plain loop


def recount(home: Path, questions: Iterable[tuple[str, str]]) -> dict[tuple[str, str], dict[str | None, Row]]:
    """What the lines come to for each question (by which field, since which moment), by the names there."""
    answers: dict[tuple[str, str], dict[str | None, Row]] = {question: {} for question in questions}
    for path in sorted((home / "ledger").glob("*.jsonl")):
        with path.open(encoding="ascii") as lines:
            for row in filter(lambda row: "at" in row, map(json.loads, lines)):
                usd = Decimal(str(row["cost_usd"] or 0))
                for (by, since), cells in answers.items():
                    if row["at"][:19] >= since[:19]:
                        name = row["at"][:10] if by == "day" else row[by]
                        _add(cells.setdefault(name, _nothing()), row, usd)
    return answers


def _add(cell: Row, row: Row, usd: Decimal) -> None:
    cell["calls"] += 1
    cell["errors"] += row["status"] != "ok" and row["error"] != "caller_left"
    cell["priced_calls"] += row["cost_usd"] is not None
    cell["unknown_calls"] += row["cost_status"] == "unknown"
    cell["known_usd"] += usd
    cell["estimated_calls"] += row["estimated"]
    for kind in KINDS:
        cell["tokens"][kind] += row[kind] or 0


def _nothing() -> Row:
    counts = dict.fromkeys(("calls", "errors", "priced_calls", "unknown_calls", "estimated_calls"), 0)
    return {**counts, "known_usd": Decimal(0), "tokens": defaultdict(int)}


def differences(told: list[Row], counted: dict[str | None, Row]) -> list[str]:
    """Where an answer and the recount disagree, one sentence each."""
    found = []
    names = {one["name"] for one in told} ^ set(counted)
    if names:
        found.append(f"only one of the two knows {', '.join(sorted(map(str, names)))}")
    for one in told:
        cell = counted.get(one["name"], {})
        for field, value in cell.items():
            if field == "known_usd":
                same = one[field] is None and not value or one[field] == float(value)
            else:
                same = one[field] == value
            if not same:
                found.append(f"{one['name']}: {field} is {one[field]}, by the plain loop {value}")
    return found


# --- asking


def asked(url: str, route: str, by: str, days: int) -> tuple[list[float], Row]:
    """([seconds of the first time, and of two more], the answer) of one question."""
    until = START + timedelta(days=DAYS)
    since = until - timedelta(days=days)
    target = f"{url}/api/{route}?by={by}&since={since:%Y-%m-%dT%H:00:00Z}&until={until:%Y-%m-%d}"
    times = []
    for _ in range(3):
        started = time.perf_counter()
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(target, timeout=60) as answer:
            document = json.load(answer)
        times.append(time.perf_counter() - started)
    return times, document


def serving(home: Path) -> tuple["subprocess.Popen[str]", str]:
    """A server on that folder, and its URL."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BENCH")}
    words = [sys.executable, str(ROOT / "serve.py"), "--port", "0", "--home", str(home), "--no-browser"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
    assert server.stdout
    for line in server.stdout:
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return server, found[0]
    raise RuntimeError("the server did not start")


def main(argv: list[str] | None = None) -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--calls", type=int, default=1_000_000, help="ledger lines (1,000,000)")
    words.add_argument("--home", type=Path, help="an empty data folder to fill and keep (a temporary one)")
    options = words.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        return run(options.home or Path(folder) / "home", options.calls)


def run(home: Path, calls: int, goal: float = GOAL) -> int:
    started = time.perf_counter()
    write(home, calls)
    print(f"{calls:,} lines written in {time.perf_counter() - started:.0f} s")
    started = time.perf_counter()
    history.settle(home)
    print(f"counted in {time.perf_counter() - started:.0f} s")
    server, url = serving(home)
    try:
        asked(url, "usage", "day", 1)  # a server that has answered nothing yet still has things to load
        questions = [(route, by, days) for route, bys in ROUTES.items() for days in SPANS for by in bys]
        told = {question: asked(url, *question) for question in questions}
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)
        if server.stdout:
            server.stdout.close()
    bad = compared(home, told, goal)
    print("every answer is the plain loop's" if not bad else f"{bad} answers are wrong or slow")
    return 1 if bad else 0


def compared(home: Path, told: dict[tuple[str, str, int], tuple[list[float], Row]], goal: float) -> int:
    """Print each answer's times and where it differs from the plain loop; how many are wrong or slow."""
    counted = recount(home, {(by, answer["since"]) for (_, by, _), (_, answer) in told.items()})
    bad = 0
    for (route, by, days), (times, answer) in told.items():
        wrong = differences(answer.get("rows") or answer.get("models") or [], counted[by, answer["since"]])
        slow = sorted(times)[1] > goal  # of three: one that another program held up says nothing
        bad += bool(wrong) or slow
        took = f"{times[0] * 1000:6.1f} ms, again {min(times[1:]) * 1000:6.1f} ms"
        print(
            f"{route:<12} by {by:<10} {days:>2} days  {took}{'  SLOW' if slow else ''}", *wrong[:3], sep="  "
        )
    return bad


if __name__ == "__main__":
    sys.exit(main())
