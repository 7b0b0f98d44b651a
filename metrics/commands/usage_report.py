"""What a launch used, in a few lines on stderr when its agent has ended."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from metrics.commands.failure import Failure
from metrics.commands.output import Console
from metrics.commands.server import Server
from metrics.commands.tables import UNKNOWN, money, plural

PATIENCE = 10.0  # seconds; the agent has ended, and nobody wants to wait for a figure


def show(token: str, apart: bool, console: Console, server: Server) -> None:
    """Tell on stderr what the launch with this token used; one JSON line under --json. `apart`: its calls can
    be told from others'. Raises nothing: the exit code is the agent's."""
    try:
        used = replace(server, patience=PATIENCE).get("/bench/launch", token=token) if apart else {}
    except Failure as failure:
        used = {"launch": token, "error": {"kind": failure.kind, "message": failure.message}}
    if console.as_json:
        console.tell(json.dumps(used or {"launch": None}, ensure_ascii=False) + "\n")
        return
    for line in lines(used):
        console.note(line)


def lines(used: Mapping[str, Any]) -> list[str]:
    """The report for people; nothing known is said to be so."""
    if "error" in used:
        return [f"what this launch used is not known: {used['error']['message']}"]
    if not used:
        return ["what this launch used is not known: it sent your own key, as other calls do"]
    if not used["calls"]:
        return ["this launch asked the server nothing"]
    return [
        f"turns   {turns(used)}",
        f"tokens  {tokens(used['tokens'])}",
        f"cost    {cost(used)}",
        f"models  {', '.join(map(counted, used['models']))}",
        *judge(used["models"]),
    ]


def turns(used: Mapping[str, Any]) -> str:
    calls, failovers = plural(used["calls"], "call"), plural(used["failovers"], "failover")
    return f"{used['turns']:,} ({calls}, {failovers})"


def tokens(counted: Mapping[str, int]) -> str:
    """By kind. What nobody counted is said, so that a sum is never taken for the whole."""
    parts = [f"in {counted['uncached_in']:,}"]
    parts += [f"read from the cache {counted['cache_read']:,}"] if counted["cache_read"] else []
    parts += [f"written to the cache {counted['cache_write']:,}"] if counted["cache_write"] else []
    thought = f" (reasoning {counted['reasoning']:,})" if counted["reasoning"] else ""
    parts += [f"out {counted['out']:,}{thought}"]
    parts += [f"{plural(counted['estimated_calls'], 'call')} estimated"] if counted["estimated_calls"] else []
    parts += [f"{plural(counted['unmetered_calls'], 'call')} uncounted"] if counted["unmetered_calls"] else []
    return ", ".join(parts)


def cost(used: Mapping[str, Any]) -> str:
    """Unknown is never nothing."""
    known, dark = used["cost"]["known_usd"], used["cost"]["unknown_calls"]
    if known is None:
        return UNKNOWN
    return f"{money(known)} known, {plural(dark, 'call')} of unknown cost" if dark else money(known)


def judge(models: list[dict[str, Any]]) -> list[str]:
    """The command that judges the latest answer of the model that was called most."""
    spoke = [one for one in models if one["call"]]
    best = max(spoke, key=lambda one: one["calls"], default=None)
    return [f"\njudge it: bench verdict {best['call']} --useful   (or --not-useful)"] if best else []


def counted(one: Mapping[str, Any]) -> str:
    return f"{one['alias']} {one['calls']:,}"
