"""What the dashboard costs on a data folder: how long what its pages ask takes to answer, how soon they are
painted, how smoothly a panel is written, what the server weighs after an hour of it."""

import http.client
import itertools
import json
import os
import statistics
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scripts.bench import product

SCRIPT = Path(__file__).resolve().parent / "paint.mjs"
ANSWER, PAINT, GROWN = 100.0, 1000.0, 20.0  # goals: ms, ms, MB
FRAMES, TASK = 55.0, 50.0  # frames a second that pass for 60, and ms of a task
TIMES = 5
PATIENCE = 600.0  # seconds for the browser
VIEWS, PANELS = 900, 60  # of an hour: a page each 4 s, which is also the page's pulse, and a panel a minute

Seen = Mapping[str, Any]


class Timed(NamedTuple):
    """One address: milliseconds of the first answer, of the middle one of those after it, and its bytes."""

    path: str
    first: float
    middle: float
    size: int


def look(where: Path, chromium: str, port: int) -> Seen:
    """What Chromium saw of every page and of a panel; `where` has SCRIPT and what it imports."""
    environment = {**os.environ, "CHROMIUM": chromium, "BASE": f"http://127.0.0.1:{port}"}
    done = subprocess.run(
        ["node", SCRIPT.name],
        cwd=where,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    seen: Seen = json.loads(done.stdout)
    return seen


def asked(seen: Seen) -> dict[str, list[str]]:
    """What each page asked: the addresses of /api under the page's name."""
    return {name: page["asked"] for name, page in seen["pages"].items() if "asked" in page}


def timed(port: int, paths: Iterable[str], times: int = TIMES) -> list[Timed]:
    return [_timed(port, path, times) for path in dict.fromkeys(paths) if readable(path)]


def readable(path: str) -> bool:
    """Whether an address is read by GET; /api/seats is a question with a body."""
    return path != "/api/seats"


def _timed(port: int, path: str, times: int) -> Timed:
    took, size = [], 0
    for _ in range(times + 1):
        begun = time.perf_counter()
        size = len(get(port, path))
        took.append((time.perf_counter() - begun) * 1e3)
    return Timed(path, took[0], statistics.median(took[1:]), size)


def get(port: int, path: str) -> bytes:
    """The answer; RuntimeError when it is none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    if answer.status != 200:
        raise RuntimeError(f"{path} answered {answer.status}: {content[:200]!r}")
    return content


def hour(
    server: product.Server, pages: Mapping[str, Sequence[str]], views: int, panels: int
) -> dict[str, float]:
    """Megabytes of the server before and after an hour's use, pressed together: page views, each with a
    pulse, and panels asked. What a first look at every page loads counts as before."""
    rounds = [[path for path in paths if readable(path)] for paths in pages.values()]
    for path in itertools.chain.from_iterable(rounds):
        get(server.port, path)
    server.ask("team-01")
    before, begun = product.memory(server.pid), time.perf_counter()
    for number, paths in zip(range(views), itertools.cycle(rounds), strict=False):
        for path in (*paths, "/api/status"):
            get(server.port, path)
        if number * panels // views != (number + 1) * panels // views:
            server.ask("team-01")
    after = product.memory(server.pid)
    seconds = time.perf_counter() - begun
    return {"before": before or 0.0, "after": after or 0.0, "seconds": seconds}


def misses(seen: Seen, answers: Iterable[Timed], weight: Mapping[str, float]) -> list[str]:
    """What missed its goal, one sentence each."""
    found = [f"{one.path} answers in {one.middle:.0f} ms" for one in answers if one.middle > ANSWER]
    for name, page in seen["pages"].items():
        if "error" in page:
            found.append(f"{name} was not drawn: {page['error']}")
        elif page["paint"] is None or page["paint"] > PAINT:
            found.append(f"{name} is first painted after {page['paint']} ms")
    panel = seen["panel"]
    if "error" in panel:
        found.append(f"a panel was not written: {panel['error']}")
    else:
        if panel["fps"] < FRAMES:
            found.append(f"a panel is written at {panel['fps']:.0f} frames a second")
        if panel["longest_at_work"] > TASK:
            found.append(f"a task of {panel['longest_at_work']:.0f} ms while a panel is written")
    grown = weight["after"] - weight["before"] if weight else 0.0
    if grown > GROWN:
        found.append(f"the server grows by {grown:.0f} MB in an hour")
    return found
