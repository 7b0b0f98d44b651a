"""The data folder of a large house: hundreds of models, and a year of panels, conversations, verdicts and
calls of all of them.

A few dozen panels are really asked; their rows are the pattern (history.py), turned through, so that nothing
here knows what a row looks like. The one thing it knows is that a call is named after its panel."""

import itertools
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from metrics.evidence import routes, verdicts
from metrics.store import home
from metrics.store.log import close_all
from metrics.store.stamps import stamp
from scripts.bench import history
from scripts.bench.product import Server, Target

SEATS = 5
COLLECTIONS = 12
ROUNDS = 4  # panels of each collection that are really asked
QUIET = 3600.0  # seconds before now in which nothing happened
VOICES = 8  # models of voices.py

Row = dict[str, Any]
Deed = list[Row]  # the rows of one panel or conversation in one log


def furnish(server: Server, provider: Target, models: int) -> None:
    """Seat that many models, make collections of some, ask each, judge every other answer, route a little."""
    server.post("/api/endpoint", {"name": "mock", "base": f"http://127.0.0.1:{provider.port}/v1"})
    names = [f"model-{number:03d}" for number in range(models)]
    for name in names:
        server.model(name)
    for number in range(COLLECTIONS):
        team = f"team-{number:02d}"
        server.collect(team, [names[(number * SEATS + seat) % models] for seat in range(SEATS)])
        for _ in range(ROUNDS):
            judge(server, server.ask(team)["bench"]["panel"])
        server.ask(f"{team}:route")


def voices(server: Server, provider: Target) -> None:
    """Seat the models of voices.py and make a collection of them all, or lead them to where it is now."""
    server.post("/api/endpoint", {"name": "voices", "base": f"http://127.0.0.1:{provider.port}/v1"})
    names = [f"voice-{number}" for number in range(1, VOICES + 1)]
    there = {model["alias"] for model in server.get("/api/models")["models"]}
    for name in names if not there.issuperset(names) else ():
        facts = {"context": 100_000, "price": {"input": 1.0, "output": 2.0}}
        server.post("/api/model/add", {"alias": name, "endpoint": "voices", "served": name, **facts})
    server.post("/api/settings", {"max_calls": VOICES})
    server.collect("voices", names)


def judge(server: Server, panel: str) -> None:
    """A verdict on the first two answers of a panel, the one useful and the other not."""
    for seat, useful in ((1, True), (2, False)):
        server.post("/api/verdict", {"call": f"{panel}.member{seat}", "useful": useful})


def fill(folder: Path, calls: int, panels: int, now: float) -> None:
    """Give the furnished folder its year, up to an hour before `now`: `calls` ledger lines, `panels` panels
    with bodies for the last month, verdicts on half of them, a conversation for every fifth."""
    end = now - QUIET
    ledger = deeds(folder / "ledger", "panel")
    write(folder / "ledger", ledger, calls // SEATS, end)
    for name in ("panels", "offloads"):
        write(folder / name, deeds(folder / name, "panel"), panels, end)
    write(folder / "routes", deeds(folder / "routes", "conversation"), panels // 5, end)
    young = end - history.BODY_DAYS
    write(folder / "bodies", deeds(folder / "bodies", "panel"), panels, end, since=young)
    said = list(like(judged(folder / "verdicts.jsonl"), panels, end))
    history.settle(folder)
    remember(folder, said[::2])


def remember(folder: Path, said: Iterable[Deed]) -> None:
    """Write the verdicts, and have the log of turns counted."""
    home.use(folder)
    with home.own():
        for rows in pieces(itertools.chain.from_iterable(said)):
            verdicts.LOG.append_all(rows)
        while not all(log.open().ready for log in (verdicts.LOG, routes.LOG)):
            time.sleep(0.1)
        close_all()


def pieces(rows: Iterable[Row]) -> Iterator[list[Row]]:
    rows = iter(rows)
    while piece := list(itertools.islice(rows, history.PIECE)):
        yield piece


def deeds(folder: Path, key: str) -> list[Deed]:
    """The rows of the log in `folder`, those of one panel (or what `key` names) together."""
    found: dict[str, Deed] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if (row := json.loads(line)).get(key):
                found.setdefault(row[key], []).append(row)
    return list(found.values())


def judged(path: Path) -> list[Deed]:
    """The verdicts on the answers of one panel together."""
    found: dict[str, Deed] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if call := (row := json.loads(line)).get("call"):
            found.setdefault(call.split(".")[0], []).append(row)
    return list(found.values())


def write(folder: Path, pattern: list[Deed], count: int, end: float, since: float = 0.0) -> None:
    """The log with `count` deeds before those that it has; none from before `since`."""
    partition = "day" if folder.name == "bodies" else "month"
    rows = (row for deed in like(pattern, count, end, since) for row in deed)
    lines = ((row["at"], json.dumps(row, separators=(",", ":"), ensure_ascii=False)) for row in rows)
    history.write(folder, lines, partition)


def like(pattern: list[Deed], count: int, end: float, since: float = 0.0) -> Iterator[Deed]:
    """`count` deeds like those of the pattern, in turn, evenly over the year before `end`, oldest first."""
    prepared = [_cut(deed) for deed in pattern]
    for number in range(count):
        moment = end - history.YEAR * (count - number) / count
        if moment < since:
            continue
        at = stamp(moment)
        name, text = prepared[number % len(prepared)]
        text = text.replace(name, history.panel_id(at, number)[1:])
        yield [row | {"at": at} for row in json.loads(text)]


def _cut(deed: Deed) -> tuple[str, str]:
    """(the panel's or conversation's id without its first letter, the rows as JSON)."""
    first = deed[0]
    name = first.get("panel") or first.get("conversation") or first["call"].split(".")[0]
    return name[1:], json.dumps(deed, separators=(",", ":"), ensure_ascii=False)
