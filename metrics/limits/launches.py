"""What each `bench launch` used: its agent's turns, calls, tokens and cost, folded from the ledger's rows.

A launch names itself with a token that its agent sends along (`token_of`). The token tells whose calls are
counted together; it opens nothing. The latest launches are kept, each in a tally of a few hundred bytes.
"""

import re
from collections.abc import Mapping
from typing import Any

from metrics.limits import cost

Row = Mapping[str, Any]
Tally = dict[str, Any]
Tallies = dict[str, Tally]  # by token, the latest that called last

KEPT = 200  # launches
TALKS = 32  # conversations of one launch, and the latest turns of each, that are told apart
MODELS = 16  # of one launch, whose latest call can be judged

SAID_IN = ("x-bench-launch", "authorization", "x-api-key", "x-goog-api-key")
PREFIX = "bwl_"
TOKEN = re.compile(rf"{PREFIX}[0-9a-f]{{16,64}}")
KINDS = ("uncached_in", "cache_read", "cache_write", "out", "reasoning")


def token_of(headers: Mapping[str, str]) -> str | None:
    """The token of the launch that a request with these headers (names in lower case) belongs to.

    An agent has one thing that it sends under every API: its key. Where the server wants a real key there,
    the token stands in a header of its own."""
    for name in SAID_IN:
        said = headers.get(name)
        if said is None or PREFIX not in said:
            continue
        scheme, _, rest = said.strip().rpartition(" ")
        if scheme.strip().lower() in ("", "bearer") and TOKEN.fullmatch(rest):
            return rest
    return None


def fold(tallies: Tallies, row: Row) -> None:
    """Count a ledger row for its launch, if it has one."""
    token = row.get("launch")
    if not isinstance(token, str):
        return
    tally = tallies.pop(token, None) or _empty(row["at"]) | {"key": row.get("key")}
    tallies[token] = tally  # at the end: who called longest ago is the first to be forgotten
    _count(tally, row)
    if len(tallies) > KEPT:
        del tallies[next(iter(tallies))]


def _empty(at: str) -> Tally:
    counts = dict.fromkeys(("calls", "turns", "failovers", "units", "unknown", "estimated", "unmetered"), 0)
    return {"since": at, "until": at, **counts, "tokens": dict.fromkeys(KINDS, 0), "talks": {}, "models": {}}


def _count(tally: Tally, row: Row) -> None:
    tally["until"] = max(tally["until"], row["at"])
    tally["calls"] += 1
    tally["units"] += cost.of_row(row)
    tally["unknown"] += row.get("cost_status") == "unknown"
    tally["estimated"] += bool(row.get("estimated"))
    tally["unmetered"] += row.get("cost_status") != "none" and row.get("out") is None
    for kind in KINDS:
        tally["tokens"][kind] += row.get(kind) or 0
    _take_turn(tally, row)
    _meet(tally, row)


def _take_turn(tally: Tally, row: Row) -> None:
    """A further call of a turn is another member's try at it: a failover. Turns of one conversation overlap,
    as an agent's helpers do."""
    purpose, talk = row.get("purpose"), row.get("conversation") or row.get("panel")
    if purpose not in ("route", "panel") or talk is None:
        return
    talks = tally["talks"]
    turns = talks.pop(talk, [])
    if row.get("turn") not in turns:
        tally["turns"] += 1
        turns = [*turns, row.get("turn")][-TALKS:]
    elif purpose == "route":
        tally["failovers"] += 1
    talks[talk] = turns
    if len(talks) > TALKS:
        del talks[next(iter(talks))]


def _meet(tally: Tally, row: Row) -> None:
    """Keep the model's calls, and the latest of them that said something."""
    models, alias = tally["models"], str(row.get("model"))
    if alias in models or len(models) < MODELS:
        before = models.get(alias, {"calls": 0, "call": None})
        spoke = row.get("status") == "ok"
        models[alias] = {"calls": before["calls"] + 1, "call": row.get("call") if spoke else before["call"]}


def told(token: str, tally: Tally | None) -> dict[str, Any]:
    """A tally as a document: {launch, since, until, turns, calls, failovers, tokens: {kind: count,
    estimated_calls, unmetered_calls}, cost: {known_usd, unknown_calls}, models: [{alias, calls, call}]}.

    `known_usd` is null where every call that could cost something is of unknown cost."""
    seen = tally or _empty("")
    dark = seen["unknown"]
    known = None if dark and not seen["units"] else cost.usd(seen["units"])
    tokens = {
        **seen["tokens"],
        "estimated_calls": seen["estimated"],
        "unmetered_calls": seen["unmetered"],
    }
    return {
        "launch": token,
        "since": seen["since"] or None,
        "until": seen["until"] or None,
        **{name: seen[name] for name in ("turns", "calls", "failovers")},
        "tokens": tokens,
        "cost": {"known_usd": known, "unknown_calls": dark},
        "models": [{"alias": alias, **met} for alias, met in seen["models"].items()],
    }


def copy(tally: Tally | None) -> Tally | None:
    """What `told` needs of a tally that goes on being counted."""
    return tally and {**tally, "tokens": dict(tally["tokens"]), "models": dict(tally["models"])}
