"""Route mode beside direct calls: what it adds before the first byte, what it does to rates, large bodies and
streams.

Two kinds of conversations, because they go different ways: `new`, where every request begins one and somebody
has to be chosen for it, and `ongoing`, where every connection goes on with its own and stays with its member.
`new of 5` chooses among five members."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from scripts.bench import product
from scripts.bench.load import NUMBERED, Job
from scripts.bench.product import CHAT, Server, Target
from scripts.bench.results import Results, turned

DIRECT, NEW, ONGOING, OF_FIVE = "direct", "new", "ongoing", "new of 5"
ALL = (DIRECT, NEW, ONGOING)
LONG = (DIRECT, ONGOING)  # a long body is the history of a conversation that goes on
# Models, see stamped.py. A whole answer of a member that was asked for a stream comes in as many chunks, too.
BURST, LATE, SLOW = "mock-c100", "mock-d50-c100", "mock-g20-c50"
FIVE = [BURST, *(f"mock-c10{seat}" for seat in range(1, 5))]
MESSAGES = "/v1/messages"
WORDS = 'the quick brown fox jumps over a lazy dog; then "he" reads code {x: [1, 2]}\nand notes — '
TURN = 4_000  # bytes, about, of a message in a long conversation
LIMIT = 256  # tokens of an answer; Messages wants one


@dataclass(frozen=True, slots=True)
class Scenario:
    """`connections` at once, each with requests of about `size` bytes for `model`, for `least` seconds or
    more. `chunks`: of the streams that are asked for; 0: the reply is wanted whole."""

    name: str
    connections: int
    model: str = BURST
    chunks: int = 0
    size: int = 1_000
    path: str = CHAT
    targets: tuple[str, ...] = ALL
    least: float = 0.0

    def job(self, target: Target, kind: str, seconds: float) -> Job:
        """The load on `target`: conversations of the `kind`, or as direct calls the same as ongoing ones."""
        model = self.model if kind == DIRECT else f"bench/{collection(self.model, kind)}:route"
        messages = [_turn(0, self.size - 200)] if kind in (NEW, OF_FIVE) else history(self.size - 200)
        body = {
            "model": model,
            "max_tokens": LIMIT,
            "stream": bool(self.chunks),
            "messages": messages,
        }
        text = json.dumps(body, ensure_ascii=False)
        return Job(
            target.port,
            self.path,
            text,
            self.connections,
            max(seconds, self.least),
            mark="dog.",
            chunks=self.chunks,
        )


SCENARIOS = (
    Scenario("1 KB c1", 1, targets=(*ALL, OF_FIVE)),
    Scenario("1 KB c8", 8, targets=(*ALL, OF_FIVE)),
    Scenario("1 KB c32", 32),
    Scenario("1 KB c128", 128),
    Scenario("100 KB c8", 8, size=100_000, targets=LONG),
    Scenario("2 MB c4", 4, size=2_000_000, targets=LONG),
    Scenario("50 ms c32", 32, LATE),
    Scenario("burst c1", 1, chunks=100),
    Scenario("burst c8", 8, chunks=100),
    Scenario("burst c32", 32, chunks=100),
    Scenario("burst c128", 128, chunks=100),
    Scenario("Messages c8", 8, path=MESSAGES),
    Scenario("Messages burst c1", 1, chunks=100, path=MESSAGES),
    Scenario("slow c128", 128, SLOW, chunks=50, least=1.5),
)
NAMES = {scenario.name: scenario for scenario in SCENARIOS}


class Measured(NamedTuple):
    """`rss_mb`: of a server at rest, "idle", of that one "after" everything, and of another that only ever
    had the "slow" streams, while it had them; None where nothing tells."""

    results: Results
    rss_mb: Mapping[str, float | None]


def collection(model: str, kind: str) -> str:
    return "c-five" if kind == OF_FIVE else f"c-{model}"


def history(size: int) -> list[dict[str, str]]:
    """A conversation of about `size` bytes that ends with a question and has been answered before."""
    count = max(3, size // TURN | 1)
    return [_turn(number, size // count) for number in range(count)]


def _turn(number: int, size: int) -> dict[str, str]:
    begin = f"{NUMBERED}: " if number == 0 else ""
    text = WORDS * (size // len(WORDS.encode()) + 1)
    return {"role": ("user", "assistant")[number % 2], "content": begin + text[: max(1, size - len(begin))]}


def measure(
    folder: Path, provider: Target, rounds: int, seconds: float, note: Callable[[str], None]
) -> Measured:
    """Visit every scenario `rounds` times, its targets in turn, their order turned by one each round."""
    results, rss = Results(), {}
    with product.server(folder / "routed") as server:
        seat(server, provider)
        rss["idle"] = product.memory(server.pid)
        for number in range(rounds):
            for scenario in SCENARIOS:
                for name in turned(scenario.targets, number):
                    results.add(scenario.name, name, visit(scenario, provider, server, name, seconds))
            note(f"round {number + 1} of {rounds}")
        rss["after"] = product.memory(server.pid)
    with product.server(folder / "slow") as server:
        seat(server, provider)
        slow = NAMES["slow c128"].job(server.target(NEW, ""), NEW, seconds)
        rss["slow"] = product.visit(slow, server.pid, weigh=True).get("rss_mb")
    return Measured(results, rss)


def seat(server: Server, provider: Target) -> None:
    """Register the mock's models, one of each manner in a collection of its own, and five in one."""
    server.seat(provider)
    for model in (*FIVE, LATE, SLOW):
        server.model(model)
    for model in (BURST, LATE, SLOW):
        server.collect(collection(model, NEW), [model])
    server.collect(collection(BURST, OF_FIVE), FIVE)


def visit(
    scenario: Scenario, provider: Target, server: Server, kind: str, seconds: float
) -> Mapping[str, float]:
    """What one load counted; "first_ms" is to the first byte of content, "pace" the requests or chunks a
    second."""
    target = provider if kind == DIRECT else server.target(kind, "")
    counted = product.visit(scenario.job(target, kind, seconds), target.pid)
    whole = {"first_ms": counted["p50_ms"], "pace": counted["rate"]}
    return whole | counted | ({"pace": counted["chunk_rate"]} if scenario.chunks else {})


HEADS = (
    ("first ms", 10),
    ("added ms", 10),
    ("x", 7),
    ("req/s, chunks/s", 17),
    ("x", 7),
    ("cpu us", 9),
    ("errors", 8),
)


def table(results: Results) -> Iterable[str]:
    """Medians, a line for each scenario and kind; ratios are to direct calls in the same round. What is added
    to a slow stream, its chunks tell."""
    yield f"{'':<30}" + "".join(f"{head:>{width}}" for head, width in HEADS)
    for scenario in SCENARIOS:
        for name in scenario.targets:
            yield f"{scenario.name:<20}{name:<10}" + _cells(results, scenario.name, name)
    yield ""
    slow = "slow c128"
    yield f"{slow:<20}{'':<10}{'chunk p50 ms':>14}{'added ms':>10}{'chunk p99 ms':>14}{'added ms':>10}"
    for name in NAMES[slow].targets:
        cells = ""
        for field in ("delay_p50_ms", "delay_p99_ms"):
            added = "" if name == DIRECT else f"{results.added(slow, name, DIRECT, field):.3f}"
            cells += f"{results.median(slow, name, field):>14.3f}{added:>10}"
        yield f"{'':<20}{name:<10}{cells}"


def _cells(results: Results, scenario: str, name: str) -> str:
    first, pace = (results.median(scenario, name, field) for field in ("first_ms", "pace"))
    rounds = results.rounds[scenario][name]
    spent = f"{results.median(scenario, name, 'cpu_us'):.0f}" if "cpu_us" in rounds[0] else ""
    added, slower, rate = "", "", ""
    if name != DIRECT:
        added = f"{results.added(scenario, name, DIRECT, 'first_ms'):.3f}"
        slower = f"{results.ratio(scenario, name, DIRECT, 'first_ms'):.1f}"
        rate = f"{results.ratio(scenario, name, DIRECT, 'pace'):.3f}"
    errors = sum(counted["errors"] for counted in rounds)
    values = (f"{first:.3f}", added, slower, f"{pace:.0f}", rate, spent, f"{errors:.0f}")
    return "".join(f"{value:>{width}}" for value, (_, width) in zip(values, HEADS, strict=True))


def told(measured: Measured) -> dict[str, Any]:
    return {
        "results": measured.results.rounds,
        "errors": measured.results.errors,
        "rss_mb": dict(measured.rss_mb),
    }
