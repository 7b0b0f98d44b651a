"""What each format adds to an answer, next to what OpenAI chat adds: the same question to the same members,
in every format, streamed and not, to a panel of one and in route mode.

Added latency is what a request takes through the gateway more than straight at the provider."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from scripts.bench import turns
from scripts.bench.forms import CHAT, FORMS, Question
from scripts.bench.load import Job
from scripts.bench.product import Target
from scripts.bench.results import Results

DIRECT = "direct"
SLOWER = 1.30  # times chat's added latency: what another format may add
TEXT = "x" * 880
# connections -> (requests of one look, looks for each round of the other measurements): what a busy machine
# does to a short look falls on all formats, if not in this round then over many
BURSTS = {1: (8, 20), 8: (48, 6)}

COLUMNS = (("p50 ms", 9), ("added ms", 10), ("/ chat", 8), ("req/s", 9), ("/ chat", 8), ("errors", 8))


class Way(NamedTuple):
    """How the bench is asked: the model named, and whether the answer comes as a stream."""

    model: str
    stream: bool

    def scenario(self, connections: int) -> str:
        kind = "route" if self.model.endswith(":route") else "panel"
        return f"{kind}{' streamed' if self.stream else ''} c{connections}"


WAYS = tuple(Way(model, stream) for model in ("bench/one", "bench/one:route") for stream in (False, True))


def jobs(way: Way, connections: int, provider: Target, port: int) -> dict[str, Job]:
    """The question in every format, and straight at the provider."""
    straight = Question(provider.model, TEXT, way.stream)
    asked = Question(way.model, TEXT, way.stream)
    return {
        DIRECT: FORMS[0].job(provider.port, straight, connections),
        **{form.name: form.job(port, asked, connections) for form in FORMS},
    }


def measure(provider: Target, port: int, rounds: int, note: Callable[[str], None]) -> Results:
    results = Results()
    for way in WAYS:
        for connections, (most, looks) in BURSTS.items():
            scenario = way.scenario(connections)
            turns.measure(results, scenario, jobs(way, connections, provider, port), rounds * looks, most)
            note(scenario)
    return results


def excess(results: Results, scenario: str, form: str) -> float:
    """What `form` adds to the latency, in times of what chat adds: the median over the rounds."""
    rounds = results.rounds[scenario]
    ratios = Results()
    for direct, chat, one in zip(rounds[DIRECT], rounds[CHAT], rounds[form], strict=True):
        for name, counted in ((CHAT, chat), (form, one)):
            ratios.add(scenario, name, {"added": counted["p50_ms"] - direct["p50_ms"]})
    return ratios.ratio(scenario, form, CHAT, "added")


def table(results: Results) -> Iterable[str]:
    """A line for each way and format. Latency is that of one connection, requests a second those of eight."""
    yield f"{'':<32}" + "".join(f"{head:>{width}}" for head, width in COLUMNS)
    for way in WAYS:
        one, eight = (way.scenario(connections) for connections in BURSTS)
        for name in results.rounds[one]:
            yield f"{one.removesuffix(' c1'):<16}{name:<16}{_cells(results, one, eight, name)}"


def _cells(results: Results, one: str, eight: str, name: str) -> str:
    p50, rate = results.median(one, name, "p50_ms"), results.median(eight, name, "rate")
    errors = sum(counted["errors"] for at in (one, eight) for counted in results.rounds[at][name])
    if name == DIRECT:
        return f"{p50:>9.3f}{'':>10}{'':>8}{rate:>9.0f}{'':>8}{errors:>8.0f}"
    added = results.added(one, name, DIRECT, "p50_ms")
    faster = results.ratio(eight, name, CHAT, "rate")
    return (
        f"{p50:>9.3f}{added:>10.3f}{excess(results, one, name):>8.2f}{rate:>9.0f}{faster:>8.2f}{errors:>8.0f}"
    )


def slow(results: Results) -> list[str]:
    """Sentences about formats that add too much; none when all is well."""
    return [
        f"{form.name}, {way.scenario(1)}: adds x{times:.2f} of what chat adds; x{SLOWER:.1f} is the most"
        for way in WAYS
        for form in FORMS
        if (times := excess(results, way.scenario(1), form.name)) > SLOWER
    ]


def report(results: Results) -> Mapping[str, Any]:
    return {"results": results.rounds, "errors": results.errors, "missed": slow(results)}
