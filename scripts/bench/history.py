#!/usr/bin/env python3
"""A data folder with a long past: a million ledger lines and a hundred thousand panels, made from a real one.

    python scripts/bench/history.py HOME [--calls N] [--panels N]

HOME has answered at least one panel; its rows are the pattern, so that nothing here knows what a row looks
like. They are copied with other ids and times, over the year before, and the store then makes its indexes and
counters as it would after a restore, only without resting between pieces."""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
if __name__ == "__main__":
    sys.path[:1] = [str(ROOT)]

from metrics.evidence import offloads, panels  # noqa: E402
from metrics.limits import ledger  # noqa: E402
from metrics.store import bodies, home, openlog  # noqa: E402
from metrics.store.log import JsonLog, close_all  # noqa: E402
from metrics.store.stamps import part, stamp  # noqa: E402

CALLS, PANELS = 1_000_000, 100_000
YEAR = 365 * 86_400.0
BODY_DAYS = 30 * 86_400.0  # older bodies would have been swept
PIECE = 5_000  # lines written at once


def fill(folder: Path, calls: int, panels_: int, now: float) -> None:
    """Give the data folder its past, up to an hour before `now` (epoch seconds)."""
    end = now - 3600.0
    for name, count in (("ledger", calls), ("panels", panels_), ("offloads", panels_)):
        write(folder / name, copies(pattern(folder / name), count, end), "month")
    if (folder / "bodies").exists():
        rows = copies(pattern(folder / "bodies"), panels_, end)
        write(folder / "bodies", (row for row in rows if row[0] > stamp(end - BODY_DAYS)), "day")
    settle(folder)


def pattern(folder: Path) -> str:
    """The latest row of a log that names a panel."""
    newest = max(folder.glob("*.jsonl"))
    lines = newest.read_text(encoding="utf-8").splitlines()
    return next(line for line in reversed(lines) if '"panel"' in line and json.loads(line)["panel"])


def copies(line: str, count: int, end: float) -> Iterator[tuple[str, str]]:
    """(time, line) of `count` rows like `line`, evenly over the year before `end`, oldest first."""
    row = json.loads(line)
    head, middle, tail = _parts(line, row["at"])
    for number in range(count):
        at = stamp(end - YEAR * (count - number) / count)
        text = f"{head}{at}{middle}" if tail is None else f"{head}{at}{middle}{at}{tail}"
        yield at, text.replace(row["panel"], panel_id(at, number))


def _parts(line: str, at: str) -> tuple[str, str, str | None]:
    """`line` around the first time `at` stands in it, and the second if there is one."""
    parts = line.split(at, 2)
    return parts[0], parts[1], parts[2] if len(parts) > 2 else None


def panel_id(at: str, number: int) -> str:
    """The id of the panel of that time: "2026-11-29T14:22:20.123Z" -> p20261129-142220-0000002a."""
    day, clock = at[:10].replace("-", ""), at[11:19].replace(":", "")
    return f"p{day}-{clock}-{number:08x}"


def write(folder: Path, rows: Iterator[tuple[str, str]], partition: str) -> None:
    """Write the rows before those that the log has, in a file each "month" or "day". Its indexes and counters
    no longer fit and go."""
    kept = {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}
    for path in folder.iterdir():
        if not path.name.endswith(".lock"):
            path.unlink()
    for name, lines in _pieces((part(at, partition), line) for at, line in rows):
        with open(folder / f"{name}.jsonl", "a", encoding="utf-8", newline="\n") as file:
            file.write("\n".join(lines) + "\n")
    for name, content in kept.items():
        with open(folder / name, "ab") as raw:
            raw.write(content)
    for path in folder.glob("*.jsonl"):
        os.chmod(path, 0o600)


def _pieces(rows: Iterator[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Rows gathered by the file they belong to, a piece at a time."""
    name = ""
    held: list[str] = []
    for row_name, line in rows:
        if held and (row_name != name or len(held) >= PIECE):
            yield name, held
            held = []
        name = row_name
        held.append(line)
    if held:
        yield name, held


def settle(folder: Path) -> None:
    """Have the store index and count what was written."""
    openlog.REST = 0.0  # nobody is waiting for an answer of this process
    home.use(folder)
    logs: tuple[JsonLog, ...] = (ledger.LOG, panels.LOG, offloads.LOG, bodies.LOG)
    with home.own():
        for log in logs:
            log.open()
        while not all(log.open().ready for log in logs):
            time.sleep(0.1)
        close_all()


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Give a data folder a long past.")
    parser.add_argument("home", type=Path)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--panels", type=int, default=PANELS)
    options = parser.parse_args(argv)
    fill(options.home, options.calls, options.panels, time.time())


if __name__ == "__main__":
    main()
