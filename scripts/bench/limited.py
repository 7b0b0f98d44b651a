"""What limits cost a call: the same turns on a bench without any, on one where the connection is paced, the
key has rates and a budget and the bench a budget too, and on that one again with a year of records.

All limits are far beyond what is asked: what is measured is the asking, not the waiting."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from scripts.bench import product
from scripts.bench.product import Server, Target
from scripts.bench.results import Results, turned

DIRECT, FREE, LIMITED, LADEN = "direct", "no limits", "limits", "limits, a year"
TARGETS = (DIRECT, FREE, LIMITED, LADEN)
CONNECTIONS = (1, 8)
MOST = 1.15  # times the latency that a bench without limits adds

LIMITS = {"rpm": 50_000_000, "rpd": 5_000_000_000, "tpm": 50_000_000_000, "concurrency": 10_000}
KEY = {"name": "measured", "rpm": 1_000_000, "tpm": 1_000_000_000, "budget": "1000000usd/month"}
BENCH = {"budget": "1000000usd/day"}


@contextmanager
def servers(folder: Path, provider: Target, fill: Callable[[Path], None]) -> Iterator[dict[str, Target]]:
    """The targets by name; `fill` writes a year of records into a data folder."""
    homes = {name: folder / name.replace(", ", "-").replace(" ", "-") for name in TARGETS[1:]}
    for home in homes.values():
        with product.server(home) as server:
            server.seat(provider)
            server.ask()
    fill(homes[LADEN])
    with (
        product.server(homes[FREE]) as free,
        product.server(homes[LIMITED]) as limited,
        product.server(homes[LADEN]) as laden,
    ):
        targets = {FREE: _routed(free, FREE), DIRECT: provider}
        for name, server in ((LIMITED, limited), (LADEN, laden)):
            targets[name] = replace(_routed(server, name), key=limit(server))
        yield targets


def limit(server: Server) -> str:
    """Set every kind of limit; the key to ask with."""
    server.post("/api/connection-limits", {"connection": "mock", "limits": LIMITS})
    server.post("/api/budget", BENCH)
    return str(server.post("/api/key/create", KEY)["key"])


def _routed(server: Server, name: str) -> Target:
    return replace(server.target(name, "one"), model="bench/one:route")


def measure(
    folder: Path,
    provider: Target,
    fill: Callable[[Path], None],
    rounds: int,
    seconds: float,
    note: Callable[[str], None],
) -> Results:
    """Visit every number of connections `rounds` times, each target in turn."""
    results = Results()
    with servers(folder, provider, fill) as targets:
        for number in range(rounds):
            for connections in CONNECTIONS:
                for name in turned(TARGETS, number):
                    job = targets[name].job(stream=False, connections=connections, seconds=seconds)
                    results.add(f"c{connections}", name, product.visit(job, targets[name].pid))
            note(f"round {number + 1} of {rounds}")
    return results


def ratios(results: Results) -> dict[str, float]:
    """How many times the latency that a bench without limits adds is added with them; and with a year."""
    free = results.added("c1", FREE, DIRECT, "p50_ms")
    return {name: results.added("c1", name, DIRECT, "p50_ms") / (free or 1e-9) for name in (LIMITED, LADEN)}


def table(results: Results) -> list[str]:
    lines = [f"{'':<6}{'':<16}{'p50 ms':>9}{'added ms':>10}{'req/s':>8}{'cpu us':>8}{'errors':>8}"]
    for scenario in results.rounds:
        for name in TARGETS:
            rounds = results.rounds[scenario][name]
            cells = f"{scenario:<6}{name:<16}{results.median(scenario, name, 'p50_ms'):>9.3f}"
            cells += f"{results.added(scenario, name, DIRECT, 'p50_ms'):>10.3f}"
            cells += f"{results.median(scenario, name, 'rate'):>8.0f}"
            spent = f"{results.median(scenario, name, 'cpu_us'):.0f}" if "cpu_us" in rounds[0] else ""
            lines.append(f"{cells}{spent:>8}{sum(one['errors'] for one in rounds):>8.0f}")
    told = ", ".join(f"{name} x{ratio:.2f}" for name, ratio in ratios(results).items())
    return [*lines, "", f"added latency beside no limits: {told} (at most x{MOST:g})"]


def report(results: Results) -> Mapping[str, Any]:
    found = ratios(results)
    missed = [
        f"{name} add x{ratio:.2f} of what a call takes without; x{MOST:g} is the most"
        for name, ratio in found.items()
        if ratio > MOST
    ]
    return {"results": results.rounds, "errors": results.errors, "ratios": found, "missed": missed}
