#!/usr/bin/env python3
"""What the gateway costs: the same load straight at a mock provider and through a panel, in one interleaved
run.

Every round visits each scenario, and in it each target in turn, so that a busy machine slows all of them
alike: read the ratios, not the milliseconds. With --history a second server carries a year of records, and
the question is whether that costs a call anything. --route measures what drives an agent, route mode;
--limits what keys, budgets and pacing add, --formats compares callers' formats, --memory weighs large
requests."""

import argparse
import json
import platform
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(ROOT)]

from scripts.bench import formats, goals, history, limited, product, routed, weights  # noqa: E402
from scripts.bench.product import Target  # noqa: E402
from scripts.bench.results import Counted, Results, turned  # noqa: E402

STARTS = 5
SLOWER = 1.10  # what a long past may cost a call
TURNS = 4  # rounds with a past, for each round without: a small difference takes many short looks

COLUMNS = (
    ("p50 ms", 9),
    ("added ms", 10),
    ("p50 x", 8),
    ("req/s", 9),
    ("rate x", 8),
    ("cpu us", 8),
    ("errors", 8),
)

Measuring = Callable[[Path, Target, argparse.Namespace], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """`connections` at once, streamed or not. `targets` are the names of those that it is for."""

    name: str
    connections: int
    stream: bool = False
    targets: tuple[str, ...] = ("direct", "panel of 1")


SCENARIOS = (
    Scenario("c1", 1, targets=("direct", "panel of 1", "panel of 5")),
    Scenario("c8", 8, targets=("direct", "panel of 1", "panel of 5")),
    Scenario("c32", 32),
    Scenario("c128", 128),
    Scenario("c1 streamed", 1, stream=True),
    Scenario("c32 streamed", 32, stream=True),
)
PAST = (Scenario("c1", 1, targets=("empty", "history")), Scenario("c8", 8, targets=("empty", "history")))


def measure(
    scenarios: Sequence[Scenario], targets: Mapping[str, Target], rounds: int, seconds: float
) -> Results:
    """Visit every scenario `rounds` times, each target in turn, the order turned by one each round."""
    results = Results()
    for number in range(rounds):
        for scenario in scenarios:
            for name in turned(scenario.targets, number):
                results.add(scenario.name, name, visit(targets[name], scenario, seconds))
        note(f"round {number + 1} of {rounds}")
    return results


def visit(target: Target, scenario: Scenario, seconds: float) -> Counted:
    """One load on one target."""
    job = target.job(stream=scenario.stream, connections=scenario.connections, seconds=seconds)
    return product.visit(job, target.pid)


def starts(home: Path, times: int) -> dict[str, float]:
    """Medians over `times` starts, in seconds: to the line that says the address, and to the first answer."""
    lines, answers = [], []
    for _ in range(times):
        with product.server(home) as server:
            lines.append(server.first_line)
            server.ask()
            answers.append(time.perf_counter() - server.begun)
    return {
        "line_s": statistics.median(lines),
        "answer_s": statistics.median(answers),
        "worst_s": max(answers),
    }


def overhead(folder: Path, provider: Target, options: argparse.Namespace) -> dict[str, Any]:
    """Direct and through panels of one and five, on an empty data folder."""
    home = folder / "empty"
    with product.server(home) as server:
        server.seat(provider)
        server.ask()
        idle = product.memory(server.pid)
        targets = {
            "direct": provider,
            "panel of 1": server.target("panel of 1", "one"),
            "panel of 5": server.target("panel of 5", "five"),
        }
        results = measure(SCENARIOS, targets, options.rounds, options.seconds)
        after = product.memory(server.pid)
    table(results, SCENARIOS, "direct")
    cold = starts(fresh(folder / "cold", provider), STARTS)
    print(f"\nRSS {_mb(idle)} idle, {_mb(after)} after; start to first answer {cold['answer_s']:.2f} s")
    return {"results": results.rounds, "errors": results.errors, "rss_mb": [idle, after], "start": cold}


def with_history(folder: Path, provider: Target, options: argparse.Namespace) -> dict[str, Any]:
    """The same calls and starts with an empty data folder and with a year of records."""
    empty, full = fresh(folder / "without", provider), fresh(folder / "with", provider)
    note(f"writing {options.calls:,} calls and {options.panels:,} panels")
    history.fill(full, options.calls, options.panels, time.time())
    with product.server(empty) as without, product.server(full) as laden:
        targets = {"empty": without.target("empty", "one"), "history": laden.target("history", "one")}
        results = measure(PAST, targets, options.rounds * TURNS, options.seconds / 2)
        memories = [product.memory(without.pid), product.memory(laden.pid)]
    table(results, PAST, "empty")
    begun = [starts(home, STARTS) for home in (empty, full)]
    ratio = results.ratio("c1", "history", "empty", "p50_ms")
    print(
        f"\nwith {options.calls:,} calls and {options.panels:,} panels on disk a call takes x{ratio:.2f}; "
        f"RSS {_mb(memories[0])} and {_mb(memories[1])}; "
        f"start to first answer {begun[0]['answer_s']:.2f} s and {begun[1]['answer_s']:.2f} s"
    )
    return {
        "results": results.rounds,
        "errors": results.errors,
        "ratio": ratio,
        "rss_mb": memories,
        "start": begun,
    }


def by_format(folder: Path, provider: Target, options: argparse.Namespace) -> Mapping[str, Any]:
    """What every format adds, next to what chat adds."""
    with product.server(folder / "formats") as server:
        server.seat(provider)
        results = formats.measure(provider, server.port, options.rounds, note)
    print("", *formats.table(results), sep="\n")
    return formats.report(results)


def by_limits(folder: Path, provider: Target, options: argparse.Namespace) -> Mapping[str, Any]:
    """What keys, budgets and pacing add."""

    def fill(home: Path) -> None:
        note(f"writing {options.calls:,} calls and {options.panels:,} panels")
        history.fill(home, options.calls, options.panels, time.time())

    rounds = options.rounds * TURNS
    results = limited.measure(folder, provider, fill, rounds, options.seconds / 2, note)
    print("", *limited.table(results), sep="\n")
    return limited.report(results)


def by_weight(folder: Path, provider: Target, options: argparse.Namespace) -> Mapping[str, Any]:
    """What large requests take of memory."""
    loads = weights.measure(folder, provider, note)
    print("", *weights.table(loads), sep="\n")
    return weights.report(loads)


def by_route(folder: Path, provider: Target, options: argparse.Namespace) -> Mapping[str, Any]:
    """Route mode beside direct calls, and beside its targets."""
    measured = routed.measure(folder, provider, options.rounds, options.seconds, note)
    print("", *routed.table(measured.results), "", *goals.table(measured), sep="\n")
    return goals.report(measured)


def fresh(home: Path, provider: Target) -> Path:
    """A new data folder with the mock on its bench, whose server has answered once and has ended."""
    with product.server(home) as server:
        server.seat(provider)
        server.ask()
    return home


def table(results: Results, scenarios: Sequence[Scenario], base: str) -> None:
    """Medians of each scenario and target; ratios are to `base` in the same round."""
    heads = "".join(f"{head:>{width}}" for head, width in COLUMNS)
    print(f"\n{'':<26}{heads}")
    for scenario in scenarios:
        for name in scenario.targets:
            rounds = results.rounds[scenario.name][name]
            p50 = results.median(scenario.name, name, "p50_ms")
            cells = f"{scenario.name:<14}{name:<12}{p50:>9.3f}"
            if name == base:
                cells += f"{'':>10}{'':>8}{results.median(scenario.name, name, 'rate'):>9.0f}{'':>8}"
            else:
                cells += f"{p50 - results.median(scenario.name, base, 'p50_ms'):>10.3f}"
                cells += f"{results.ratio(scenario.name, name, base, 'p50_ms'):>8.1f}"
                cells += f"{results.median(scenario.name, name, 'rate'):>9.0f}"
                cells += f"{results.ratio(scenario.name, name, base, 'rate'):>8.3f}"
            spent = f"{results.median(scenario.name, name, 'cpu_us'):.0f}" if "cpu_us" in rounds[0] else ""
            print(f"{cells}{spent:>8}{sum(counted['errors'] for counted in rounds):>8.0f}")


def gate(report: Mapping[str, Any]) -> list[str]:
    """What is not as it must be: sentences, none when all is well."""
    found = []
    errors = sum(part["errors"] for part in report.values() if isinstance(part, Mapping) and "errors" in part)
    if errors:
        found.append(f"{errors} requests failed")
    past = report.get("history")
    if past and past["ratio"] > SLOWER:
        found.append(f"a call takes x{past['ratio']:.2f} with a long history; x{SLOWER} is the most")
    for name in ("route", "limits", "formats", "memory"):
        found += report.get(name, {}).get("missed", ())
    return found


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _mb(size: float | None) -> str:
    return "unknown" if size is None else f"{size:.0f} MB"


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM ends this as Ctrl-C does, so that every `with` gets to end its process."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench_gateway.py",
        description="Measure what the gateway costs, against a mock provider on loopback.",
    )
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="seconds of each load (1)")
    parser.add_argument(
        "--rounds", type=int, default=5, metavar="N", help="times every scenario is visited (5)"
    )
    parser.add_argument("--history", action="store_true", help="measure with a year of records on disk too")
    parser.add_argument(
        "--calls", type=int, default=history.CALLS, metavar="N", help="ledger lines of that year"
    )
    parser.add_argument("--panels", type=int, default=history.PANELS, metavar="N", help="panels of that year")
    parser.add_argument("--only-history", action="store_true", help="measure nothing else")
    parser.add_argument(
        "--route",
        action="store_true",
        help="measure instead route mode beside direct calls, in new conversations and in ones that go on: "
        "first byte, rate, processor time, large bodies, streams and slow streams, next to the targets",
    )
    parser.add_argument(
        "--limits",
        action="store_true",
        help="measure instead what pacing, a key with rates and a budget add, with and without a year of "
        "records",
    )
    parser.add_argument(
        "--formats",
        action="store_true",
        help="measure instead what each format of callers adds, next to OpenAI chat: latency with one "
        "connection, requests a second with eight",
    )
    parser.add_argument(
        "--memory",
        action="store_true",
        help="measure instead how far a long prompt and a picture raise the server's memory, in every format "
        "(Linux only)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument(
        "--gate",
        action="store_true",
        help=f"exit 1 on errors, if history makes calls slower, if a ratio of route mode is more than "
        f"x{goals.FAR:g} off its target, if a format adds more than x{formats.SLOWER:.1f} of what chat adds, "
        f"if limits add more than x{limited.MOST:g} of what a call adds, "
        f"or if a request takes x{weights.MOST:g} of its body",
    )
    return parser.parse_args(argv)


def wanted(options: argparse.Namespace) -> dict[str, Measuring]:
    """What to measure, by the name of its part in the report."""
    instead = options.route or options.limits or options.formats or options.memory or options.only_history
    parts: tuple[tuple[str, Measuring, bool], ...] = (
        ("overhead", overhead, not instead),
        ("history", with_history, options.history or options.only_history),
        ("route", by_route, options.route),
        ("limits", by_limits, options.limits),
        ("formats", by_format, options.formats),
        ("memory", by_weight, options.memory),
    )
    return {name: measuring for name, measuring, chosen in parts if chosen}


def main(argv: list[str] | None = None) -> int:
    given = options(argv)
    report: dict[str, Any] = {"python": platform.python_version(), "machine": platform.machine()}
    with ExitStack() as end:
        end.enter_context(ended_by_signals())
        folder = Path(end.enter_context(tempfile.TemporaryDirectory(prefix="bench-gateway-")))
        provider = end.enter_context(product.mock())
        for name, measuring in wanted(given).items():
            report[name] = measuring(folder, provider, given)
    if given.json:
        given.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    missed = gate(report) if given.gate else []
    for sentence in missed:
        print(sentence)
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
