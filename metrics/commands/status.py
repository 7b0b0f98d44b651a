"""`bench status`, and what `bench` alone shows: is there a server, who is on the bench, what could be
added.
"""

import argparse
from dataclasses import replace
from typing import Any

from metrics.commands.command import Command
from metrics.commands.failure import DONE, Failure
from metrics.commands.output import Console
from metrics.commands.server import GLANCE, Server
from metrics.commands.tables import UNKNOWN, money, plural, span

COMMON = (
    ('bench ask core "QUESTION"', "put a question to a panel (-f FILE adds files, a pipe too)"),
    ("bench verdict CALL --useful", "say whether an answer was of use (or --not-useful)"),
    ("bench log", "what was asked, and what is owed a verdict"),
    ("bench status", "the server, and what was found to add"),
    ("bench endpoint add NAME --base URL", "reach a provider or a local runtime"),
    ("bench model add ALIAS …", "put a model of it on the bench"),
    ("bench collection save NAME …", "name a panel"),
    ("bench help", "every command"),
)


def status(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.get("/api/status")
    console.show(answer, report(answer, console))
    return DONE


def front(console: Console, server: Server) -> int:
    """What `bench` alone prints: always exit 0, with a server or without."""
    try:
        answer = replace(server, patience=GLANCE).get("/api/status")
    except Failure as failure:
        answer = {"state": "stopped", "url": server.base, "why": failure.message}
        answer["next"] = console.spelled(failure.hint)
        if failure.kind != "no_server":
            answer["state"] = "not readable"
        line = f"{answer['state']}  {failure.message}\n{failure.hint}\n"
    else:
        answer = {"state": "running", **answer}
        line = f"running  {server.base}  {counted(answer)}\n"
    wide = max(len(command) for command, _ in COMMON)
    commands = "".join(f"  {command:<{wide}}  {what}\n" for command, what in COMMON)
    console.show(answer, console.spelled(f"{line}\n{commands}"))
    return DONE


def report(answer: dict[str, Any], console: Console) -> str:
    """The lines of `bench status`."""
    lines = [
        (
            "server",
            f"{answer.get('url')}  version {answer.get('version')}, pid {answer.get('pid')}, {up(answer)}",
        ),
        ("reach", str(answer.get("exposure") or "")),
        ("home", str(answer.get("home"))),
        ("bench", counted(answer)),
        ("today", spent(answer.get("today"))),
        ("telling", told(answer.get("telemetry"))),
        *(("problem", str(one)) for one in answer.get("problems") or ()),
    ]
    text = "".join(f"{name:<8} {value}\n" for name, value in lines if value)
    return text + console.spelled("".join(map(offer, answer.get("found") or ())))


def up(answer: dict[str, Any]) -> str:
    return f"up {span(float(answer.get('uptime_s') or 0))}"


def counted(answer: dict[str, Any]) -> str:
    counts = answer.get("counts") or {}
    sizes = [size(counts.get(f"{noun}s"), noun) for noun in ("endpoint", "model", "collection")]
    practice = "; the practice squad (programs, not models) may explore" if answer.get("practice") else ""
    return ", ".join(sizes) + practice


def size(count: int | None, noun: str) -> str:
    """How many there are; unknown while their file cannot be read."""
    return f"{UNKNOWN} {noun}s" if count is None else plural(count, noun)


def spent(today: dict[str, Any] | None) -> str:
    """Calls and money of today; calls whose cost is unknown are counted, never priced at nothing."""
    if today is None:
        return UNKNOWN
    calls, dark = int(today.get("calls") or 0), int(today.get("unknown_calls") or 0)
    cost = f", {money(today.get('known_usd'))} known" if calls > dark else ""
    return plural(calls, "call") + cost + (f", {dark:,} of unknown cost" if dark else "")


def told(telemetry: dict[str, Any] | None) -> str:
    """Where telemetry goes and whether it arrives; nothing while it is off."""
    if not telemetry:
        return ""
    places = [
        *(telemetry.get("otlp") or ()),
        *(["Prometheus at /metrics"] if telemetry.get("prometheus") else ()),
    ]
    lost = int(telemetry.get("dropped") or 0) + int(telemetry.get("rejected") or 0)
    sent = f"; {telemetry.get('sent') or 0:,} spans sent, {lost:,} lost" if telemetry.get("otlp") else ""
    return ", ".join(places) + sent + (f"; {telemetry['trouble']}" if telemetry.get("trouble") else "")


def offer(found: dict[str, Any]) -> str:
    """Something found on this computer, and the one command that adds it."""
    return f"found    {found.get('name')}: {found.get('what')}\n           {found.get('command')}\n"


COMMANDS = (
    Command(
        "status",
        "Shows the server, the bench, today's calls, and what was found here with the command that adds it.",
        status,
        (),
        ("bench status", "bench status --json"),
    ),
)
