#!/usr/bin/env python3
"""What the page costs in a large house: 300 models, 100,000 panels, 1,000,000 ledger lines on disk.

    python3 scripts/bench_pages.py                 make the folder, look at everything, hold it to its goals
    python3 scripts/bench_pages.py --home DIR      keep the folder in DIR, and use it again
    python3 scripts/bench_pages.py --calls 20000 --panels 2000 --models 40       a smaller house

Chromium opens every page with nothing cached, and the goal is a first paint within 1 s; whatever it asked of
/api is asked again, several times, and must answer within 100 ms; a panel of eight seats that say 100 tokens
a second each is traced while it is written, and must do without tasks of over 50 ms on the page's main
thread; then an hour of page views and panels is pressed together, and the server may grow by 20 MB. Exit 1
when a goal is missed. Needs Node, npm and Chromium, as `python3 -m tests.browser` does. Times are this
machine's: on one that is busy with other things they say little.
"""

import argparse
import json
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:1] = [str(ROOT)]

from scripts.bench import crowd, history, pages, product  # noqa: E402
from scripts.driven import browser  # noqa: E402

MODELS = 300


def main(argv: list[str] | None = None) -> int:
    given = options(argv)
    if why := browser.missing():
        print(f"{why}. Nothing was measured.")
        return 1
    with ExitStack() as end:
        scratch = Path(end.enter_context(tempfile.TemporaryDirectory(prefix="bench-pages-")))
        where = given.dir or scratch / "browser"
        browser.install(where, [pages.SCRIPT])
        provider = end.enter_context(product.mock())
        speaking = end.enter_context(product.mock("voices.py"))
        home = house(given.home or scratch / "home", provider, given)
        server = end.enter_context(product.server(home))
        server.post("/api/endpoint", {"name": "mock", "base": f"http://127.0.0.1:{provider.port}/v1"})
        crowd.voices(server, speaking)
        return told(server, where, given)


def options(argv: list[str] | None) -> argparse.Namespace:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--calls", type=int, default=history.CALLS, metavar="N", help="ledger lines")
    words.add_argument("--panels", type=int, default=history.PANELS, metavar="N")
    words.add_argument("--models", type=int, default=MODELS, metavar="N")
    words.add_argument("--views", type=int, default=pages.VIEWS, metavar="N", help="page views of the hour")
    words.add_argument("--home", type=Path, help="a data folder to make and keep, or that was made so")
    words.add_argument("--dir", type=Path, help="install what drives the browser here and keep it")
    words.add_argument("--json", type=Path, help="write all that was seen here")
    return words.parse_args(argv)


def house(home: Path, provider: product.Target, given: argparse.Namespace) -> Path:
    """The furnished and filled folder, which is made unless it is there."""
    if home.with_suffix(".made").exists():
        return home
    begun = time.perf_counter()
    with product.server(home) as server:
        crowd.furnish(server, provider, given.models)
    crowd.fill(home, given.calls, given.panels, time.time())
    home.with_suffix(".made").touch()
    size = f"{given.models} models, {given.panels:,} panels, {given.calls:,} ledger lines"
    print(f"{size}: made in {time.perf_counter() - begun:.0f} s", flush=True)
    return home


def told(server: product.Server, where: Path, given: argparse.Namespace) -> int:
    """Measure, print, and judge."""
    seen = pages.look(where, browser.chromium() or "", server.port)
    drawn(seen)
    asked = pages.asked(seen)
    answers = pages.timed(server.port, (path for paths in asked.values() for path in paths))
    for one in sorted(answers, key=lambda one: -one.middle):
        print(f"{one.middle:8.1f} ms  first {one.first:7.1f} ms  {one.size / 1e3:8.1f} kB  {one.path}")
    weight = pages.hour(server, asked, given.views, pages.PANELS * given.views // pages.VIEWS)
    hours = f"{given.views} views in {weight['seconds']:.0f} s"
    print(f"memory: {weight['before']:.1f} MB, {weight['after']:.1f} MB after an hour ({hours})")
    if given.json:
        report = {**seen, "answers": [one._asdict() for one in answers], "weight": weight}
        given.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    missed = pages.misses(seen, answers, weight)
    print(*(missed or ["every goal is met"]), sep="\n")
    return 1 if missed else 0


def drawn(seen: pages.Seen) -> None:
    for name, page in seen["pages"].items():
        if "error" in page:
            print(f"{name:24} {page['error']}")
        else:
            figures = f"first paint {page['paint'] or 0:6.0f} ms, its data {page['drawn']:6.0f} ms"
            print(f"{name:24} {figures}, {page['bytes'] / 1e3:6.1f} kB")
    panel = seen["panel"]
    if "error" in panel:
        print(f"a panel of eight: {panel['error']}")
    else:
        print(
            f"a panel of eight: {panel['fps']:.1f} frames a second over {panel['seconds']:.1f} s, the "
            f"slowest {panel['slowest_frame']:.0f} ms, each {panel['frame']:.1f} ms of work; "
            f"{panel['over_50']} of {panel['tasks']} tasks over 50 ms, the longest "
            f"{panel['longest']:.0f} ms, {panel['longest_at_work']:.0f} ms of it at work"
        )
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
