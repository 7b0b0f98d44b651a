"""/api/status: the server at a glance, and what is wrong with its files.

It answers whatever else is broken: a part that cannot be read is null, and its reason is among the problems.
"""

import os
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from metrics.bench import allowances, collections, credentials, endpoints, keys, membership, roster, settings
from metrics.bench.catalog import kept
from metrics.care import discover
from metrics.dashboard import frame
from metrics.limits import ledger
from metrics.records import Problem
from metrics.store import home, writer
from metrics.telemetry import exporter
from metrics.version import VERSION
from metrics.web import door, invitations, public, sessions
from metrics.web.door import LOOPBACK
from metrics.web.table import Call, Response

FILES = (
    settings.FILE,
    endpoints.FILE,
    credentials.FILE,
    roster.FILE,
    membership.FILE,
    keys.FILE,
    allowances.FILE,
    sessions.FILE,
    invitations.FILE,
    *kept.FILES.values(),
    kept.LISTINGS,
)
SHELVES = (endpoints.SHELF, roster.SHELF, roster.RETIRED, collections.SHELF, keys.SHELF)

_started = time.monotonic()  # a server imports this once, as it starts

T = TypeVar("T")


def show(call: Call) -> Response:
    host = call.headers.get("host", "")
    return frame.ok(
        version=VERSION,
        url=public.address(os.environ) or f"http://{host}",
        home=str(home.current()),
        pid=os.getpid(),
        uptime_s=round(time.monotonic() - _started, 1),
        practice=_or_none(lambda: any(model.builtin for model in roster.pool())),
        counts={
            "endpoints": _or_none(lambda: len(endpoints.all())),
            "models": _or_none(lambda: len(roster.all())),
            "collections": _or_none(lambda: len(collections.all())),
        },
        exposure=exposure(os.environ),
        login=bool(os.environ.get("BENCHWARMERS_ADMIN_TOKEN")),
        you={"name": call.who.name, "role": call.who.role},
        today=_or_none(ledger.totals),
        telemetry=_telemetry(),
        found=_or_none(lambda: discover.found(own_port=_port(host))) or [],
        problems=problems(),
    )


def _telemetry() -> dict[str, Any] | None:
    """What is told to monitoring programs; None when nothing is."""
    running = exporter.running()
    wanted = running is not None and (running.options.otlp or running.options.prometheus)
    return running.told() if running is not None and wanted else None


def exposure(env: Mapping[str, str]) -> str:
    """Who can reach this server, in plain words."""
    bind = env.get("BENCH_BIND") or LOOPBACK[0]
    try:
        who = door.from_environment(env)
    except Problem as problem:
        return problem.message
    reach = "this computer only" if bind in LOOPBACK else f"whoever reaches {bind}"
    return (
        reach + ("; callers need a key" if who.required else "") + ("; the page a login" if who.token else "")
    )


def problems() -> list[str]:
    """What a hand got wrong in the data folder and what the disk refuses, one sentence each."""
    found = [file.problem for file in FILES]
    for shelf in SHELVES:
        found += (_or_none(shelf.bad) or {}).values()
    found += settings.problems()
    found.append(writer.trouble())
    return list(dict.fromkeys(filter(None, found)))


def _or_none(part: Callable[[], T]) -> T | None:
    try:
        return part()
    except Problem:
        return None


def _port(host: str) -> int | None:
    port = host.rpartition(":")[2]
    return int(port) if port.isascii() and port.isdigit() else None


HANDLERS = (
    frame.get(
        "/api/status",
        show,
        says="""version, url, home, counts, exposure (who can reach it), `login` (whether it asks to
            sign in), `you: {name, role}`, today's calls and spend, `telemetry` (null when off; else
            where to, `waiting`, `sent`, `dropped`, `rejected`, `reports`, `trouble`), `found` (keys
            and runtimes that could be added, each with its command), `problems`""",
    ),
)
