"""The room's own functions behind the four that a simulator of benches calls: init, seat, route, observe.

The evidence is kept as the server keeps it, in cells folded from verdict rows, and read as the server reads
it; only the log in between is left out. Days are counted from an arbitrary date.
"""

from datetime import date
from typing import Any

from metrics.evidence import cells, standing
from metrics.play import policy, route_policy

START = date(2026, 3, 1).toordinal()
POLICY = "record"

State = dict[str, Any]


def init(config: State) -> State:
    return {"cells": {}, "last": {}, "waits": {}, "counts": {}}


def seat(state: State, ctx: State, seed: str) -> State:
    return policy.seat(state, ctx, seed)  # type: ignore[arg-type]


def route(state: State, ctx: State, seed: str) -> State:
    day = START + int(ctx["day"])
    panel = route_policy.OPTIONS["panel_in_route"]
    stands = standing.relative(state["cells"].get("core", {}), ctx["shape"], day, panel)
    rows = [_row(alias, state, stands.records.get(alias, standing.Record())) for alias in ctx["candidates"]]
    return route_policy.POLICIES[POLICY][2](stands.level, rows, seed)


def _row(alias: str, state: State, found: standing.Record) -> State:
    """A candidate as a turn's record has it."""
    return {
        "alias": alias,
        "record": [found.own, found.own_n, found.all, found.all_n],
        "last": state["last"].get(alias),
        "useful": state["counts"].get(alias, 0),
    }


def observe(state: State, event: State) -> None:
    match event["kind"]:
        case "panel":
            for alias in event["seats"]:
                state["last"][alias] = float(event["panel"])
        case "verdict":
            alias = event["alias"]
            state["counts"][alias] = state["counts"].get(alias, 0) + event["useful"]
            cells.fold(state["cells"], row(event))


def row(event: State) -> State:
    """The row of the verdicts' log that the server would write."""
    day = date.fromordinal(START + int(event["day"]))
    routed = event["seat"] == "route"
    return {
        "call": f"{'r' if routed else 'p'}{day:%Y%m%d}-120000-00000000.{'1' if routed else event['seat']}",
        "collection": "core",
        "shape": event["shape"],
        "model_id": event["alias"],
        "seat": event["seat"],
        "was": None,
        "useful": event["useful"],
    }
