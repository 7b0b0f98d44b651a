#!/usr/bin/env python3
"""Real coding agents, unmodified and headless, against a real server: `python3 scripts/agents.py`.

Needs Node 20 or later, npm and PyPI. Behind the server is a scripted model that speaks chat completions only
(scripts/driven/brain.py); agents run offline, each in an empty home. Scenarios: `plain`; `limited`, where the
member that is asked first is always asked too much; `dying`, where it breaks off in the middle of the second
turn: most agents try that again, and who gives up must be done with it when the job is given again.
An agent that cannot be installed here is skipped, and that is said. The last line is `N passed, N failed`.
"""

import argparse
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.bench.product import Server
from scripts.driven import install, jobs, runs
from scripts.driven.agents import AGENTS, Row
from scripts.driven.brain import MODELS, Brain
from scripts.driven.jobs import JOBS, Job

SCENARIOS = {name: (f"{name}-a", f"{name}-b") for name in ("plain", "limited", "dying")}


def main() -> int:
    options = read_options()
    passed = failed = 0
    with folder(options.dir) as where, Brain() as brain, serving(brain) as bench:
        for row in (AGENTS[name] for name in options.agents):
            if not ready(row, where):
                continue
            for scenario in options.scenarios:
                for job in jobs_of(scenario, options.jobs):
                    well, badly = check(row, job, scenario, where, bench, brain)
                    passed, failed = passed + well, failed + badly
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def jobs_of(scenario: str, names: list[str]) -> list[Job]:
    """The jobs in which the scenario differs from the plain one: without a second turn nobody dies in it."""
    return [JOBS[name] for name in names if scenario != "dying" or JOBS[name].turns > 1]


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )

    def some_of(known: list[str]) -> Callable[[str], list[str]]:
        def taken(text: str) -> list[str]:
            wanted = text.split(",")
            if unknown := [name for name in wanted if name not in known]:
                raise argparse.ArgumentTypeError(f"there is no {unknown[0]}; there are {', '.join(known)}")
            return wanted

        return taken

    for name, known in (("agents", AGENTS), ("jobs", JOBS), ("scenarios", SCENARIOS)):
        usual = ["plain"] if name == "scenarios" else list(known)
        parser.add_argument(f"--{name}", type=some_of(list(known)), default=usual, help=",".join(known))
    parser.add_argument("--dir", type=Path, help="install here and keep it, to be used again")
    return parser.parse_args()


@contextmanager
def folder(kept: Path | None) -> Iterator[Path]:
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
    else:
        with tempfile.TemporaryDirectory(prefix="bench-agents-", ignore_cleanup_errors=True) as name:
            yield Path(name).resolve()


@contextmanager
def serving(brain: Brain) -> Iterator[Server]:
    """Our server with an empty data folder, the brain's models on its bench."""
    with tempfile.TemporaryDirectory(prefix="bench-agents-", ignore_cleanup_errors=True) as name:
        server = Server(Path(name, "home"))
        try:
            server.post("/api/endpoint", {"name": "brain", "base": brain.base, "key": "any", "test": False})
            for served in MODELS:
                able = {"tools": True, "vision": True, "context": 200_000}
                model = {"alias": served, "endpoint": "brain", "served": served}
                server.post("/api/model/add", {**model, **able})
            yield server
        finally:
            server.close()


def ready(row: Row, where: Path) -> bool:
    started = time.monotonic()
    problem = install.install(where, row.package)
    if problem:
        print(f"SKIP {row.name}: {row.package} cannot be installed here: {problem}", flush=True)
        return False
    version = install.pinned()[row.package]
    print(
        f"     {row.name}: {row.package} {version}, there in {time.monotonic() - started:.0f} s", flush=True
    )
    return True


def check(row: Row, job: Job, scenario: str, where: Path, bench: Server, brain: Brain) -> tuple[int, int]:
    """Run the job and print a line for each check; how many went well and how many did not."""
    name = f"{row.name} {job.name} {scenario}"
    if job.name in row.cannot:
        print(f"SKIP {name}: {row.cannot[job.name]}", flush=True)
        return 0, 0
    collection = f"{scenario}-{secrets.token_hex(4)}"  # of its own: what others met with must not matter
    bench.collect(collection, list(SCENARIOS[scenario]))
    programs = install.binaries(install.place(where, row.package), row.package)
    results: list[tuple[str, bool]] = []
    brain.asked.clear()
    brain.tame = False
    with tempfile.TemporaryDirectory(prefix="bench-agent-", ignore_cleanup_errors=True) as name_of_root:
        root, url = Path(name_of_root).resolve(), f"http://127.0.0.1:{bench.port}"
        errand = runs.prepared(row, job, root, url, collection)
        left = runs.do(row, errand, programs, collection, brain)
        if scenario == "dying" and row.gives_up:
            results.append(("it gives up, and says that the answer broke off", jobs.broken_off(left)))
            brain.tame = True
            left = runs.do(row, errand, programs, collection, brain)
        results += jobs.checks(job, row, left)
        for what, so in results:
            print(f"{'PASS' if so else 'FAIL'} {name}: {what}", flush=True)
        if not all(so for _, so in results):
            print(explained(left), flush=True)
    well = sum(so for _, so in results)
    return well, len(results) - well


def explained(left: jobs.Outcome) -> str:
    """The ends of what the agent said, for who looks into a failure."""
    asked = ", ".join(f"{body['model']}:{len(body['messages'])}" for body in left.asked)
    return (
        f"     exit {left.code}; asked {asked}\n     out: {left.out[-700:]!r}\n     err: {left.err[-700:]!r}"
    )


if __name__ == "__main__":
    sys.exit(main())
