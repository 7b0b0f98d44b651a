"""What route mode is meant to reach, beside what was measured. A goal is met or missed; only what has nothing
to do with the machine, errors and ratios far from their goal, ever fails a gate.

The goals were set, and the best of other gateways measured, beside a provider written in C. Ours in Python
answers more slowly and takes more of the processors: ratios to it look kinder than those, times harsher."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from scripts.bench import routed
from scripts.bench.routed import DIRECT, NEW, ONGOING, Measured

FAR = 5.0  # times off its goal: no machine does that to a ratio
RATIO, ADDED, MEDIAN = "÷ direct", "added", "median"


class Goal(NamedTuple):
    """`what` is to be `limit` at most, or at `least`: the `field` of a scenario, by `how`. `peer`: the best
    that another gateway showed, "" when none did."""

    what: str
    scenario: str
    field: str
    how: str
    limit: float
    least: bool = False
    peer: str = ""

    def met(self, value: float) -> bool:
        return value >= self.limit if self.least else value <= self.limit

    def far(self, value: float) -> bool:
        """Whether `value` is out of reach of any excuse. A time never is."""
        if self.how != RATIO:
            return False
        return value < self.limit / FAR if self.least else value > self.limit * FAR

    @property
    def bound(self) -> str:
        return f"{'≥' if self.least else '≤'} {self.limit:g}"


GOALS = (
    Goal("1 KB c1: latency ÷ direct", "1 KB c1", "first_ms", RATIO, 7.0, peer="15"),
    Goal("1 KB c8: rate ÷ direct (1.5 × the peer's)", "1 KB c8", "pace", RATIO, 0.068, True, "0.045"),
    Goal("1 KB c128: rate ÷ direct", "1 KB c128", "pace", RATIO, 0.057, True, "0.057"),
    Goal("1 KB c8: processor µs a request", "1 KB c8", "cpu_us", MEDIAN, 150.0, peer="242"),
    Goal("100 KB c8: rate ÷ direct", "100 KB c8", "pace", RATIO, 0.10, True, "0.054"),
    Goal("2 MB c4: rate ÷ direct", "2 MB c4", "pace", RATIO, 0.10, True, "0.072"),
    Goal("50 ms upstream c32: added p50 ms", "50 ms c32", "first_ms", ADDED, 1.5, peer="1"),
    Goal("burst c1: chunks/s ÷ direct", "burst c1", "pace", RATIO, 0.4, True, "0.05"),
    Goal("burst c32: chunks/s ÷ direct", "burst c32", "pace", RATIO, 0.4, True, "0.28"),
    Goal("Messages to chat c8: rate ÷ direct", "Messages c8", "pace", RATIO, 0.02, True, "0.0058"),
    Goal("Messages burst c1: chunks/s ÷ direct", "Messages burst c1", "pace", RATIO, 0.2, True, "0.07"),
    Goal("128 slow streams: chunk delay p50 ms", "slow c128", "delay_p50_ms", MEDIAN, 0.5, peer="0.11"),
    Goal("128 slow streams: chunk delay p99 ms", "slow c128", "delay_p99_ms", MEDIAN, 10.0, peer="38"),
    Goal("128 slow streams: first chunk p50 ms", "slow c128", "first_ms", MEDIAN, 20.0, peer="30"),
)
WEIGHTS = (("RSS at rest, MB", "idle", 40.0, "47"), ("RSS with 128 slow streams, MB", "slow", 60.0, "52"))
CAVEAT = "Goals and peers are those of a provider in C; beside this one ratios look kinder, times harsher."
KINDS = (NEW, ONGOING)
WIDTHS = (44, 10, 9, 10, 10)


def reached(goal: Goal, measured: Measured, kind: str) -> float | None:
    """None when the scenario has no such target, when nothing came of it, or when nothing tells."""
    targets = measured.results.rounds.get(goal.scenario, {})
    rounds = [counted for name in (DIRECT, kind) for counted in targets.get(name, [{}])]
    if not all(counted.get("ok") for counted in rounds) or goal.field not in rounds[-1]:
        return None
    if goal.how == MEDIAN:
        return measured.results.median(goal.scenario, kind, goal.field)
    compared = measured.results.ratio if goal.how == RATIO else measured.results.added
    return compared(goal.scenario, kind, DIRECT, goal.field)


def table(measured: Measured) -> Iterable[str]:
    """A line for each goal: what is to be reached, what the best peer showed, what was measured."""
    yield _line("", "goal", "peer", *KINDS, "")
    for goal in GOALS:
        values = [reached(goal, measured, kind) for kind in KINDS]
        known = [value for value in values if value is not None]
        yield _line(goal.what, goal.bound, goal.peer, *map(_figure, values), _word(map(goal.met, known)))
    for what, moment, most, peer in WEIGHTS:
        size = measured.rss_mb.get(moment)
        word = _word([size <= most] if size is not None else [])
        yield _line(what, f"≤ {most:g}", peer, _figure(size), "", word)
    yield _line("errors", "0", "0", f"{measured.results.errors}", "", _word([not measured.results.errors]))
    yield CAVEAT


def _line(what: str, *cells: str) -> str:
    *figures, word = cells
    row = "".join(f"{cell:>{width}}" for cell, width in zip(figures, WIDTHS[1:], strict=True))
    return f"{what:<{WIDTHS[0]}}{row}  {word}".rstrip()


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _word(met: Iterable[bool]) -> str:
    each = list(met)
    return "unknown" if not each else "met" if all(each) else "missed"


def missed(measured: Measured) -> list[str]:
    """Sentences about ratios that are far off, and loads that nothing came of; none when all is well."""
    found = [
        f"route: nothing came of {scenario}, {name}"
        for scenario, targets in measured.results.rounds.items()
        for name, rounds in targets.items()
        if not all(counted["ok"] for counted in rounds)
    ]
    for goal in GOALS:
        for kind in KINDS:
            value = reached(goal, measured, kind)
            if value is not None and goal.far(value):
                found.append(f"route, {kind}: {goal.what} is {value:.3g}; {goal.bound} is the goal")
    return found


def report(measured: Measured) -> Mapping[str, Any]:
    reach = {goal.what: {kind: reached(goal, measured, kind) for kind in KINDS} for goal in GOALS}
    return routed.told(measured) | {"goals": reach, "missed": missed(measured)}
