"""`bench doctor`: what could be wrong on this computer, looked at in order, each with what to do about it.

PARTS is the table: the installation, Python, the system, the ports, the server, the data folder, the
endpoints, the agents. Nothing is changed; no provider is called unless --live is given; no key is ever told.
"""

import argparse
import base64
import csv
import hashlib
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from metrics.care.finding import FAILED, PASSED, SKIPPED, Finding, failed, passed, skipped
from metrics.client import transport
from metrics.commands import installed
from metrics.commands.agents import AGENTS
from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE, REFUSED, Failure
from metrics.commands.output import Console
from metrics.commands.server import GLANCE, LOOPBACK, Server
from metrics.records import Problem
from metrics.store import home
from metrics.version import VERSION

OLDEST = (3, 11)
FILES_OPEN = 1024  # descriptors below which some hundred callers at once are too many
BORN = 1_764_460_800.0  # 2025-11-30: no clock that is right shows an earlier time
SKEW = 300.0  # seconds by which clocks may differ before signed requests and sessions suffer
PORTS = (("BENCH_PORT", 8122, "serve"), ("BENCH_GATEWAY_PORT", 8123, "gateway"))
MARKS = {PASSED: ("ok", "green"), FAILED: ("FAIL", "red"), SKIPPED: ("-", "dim")}

# What a program that lies whole has, wherever it lies.
PIECES = (
    "serve.py",
    "gateway.py",
    "ui/index.html",
    "ui/app.js",
    "examples/home/collections.json",
    "metrics/bench/catalog/snapshot.json",
)


@dataclass(frozen=True, slots=True)
class Visit:
    """What the parts are given. `status` is what the server says of itself; None where none answers."""

    args: argparse.Namespace
    console: Console
    server: Server
    status: Mapping[str, Any] | None = None


def doctor(args: argparse.Namespace, console: Console, server: Server) -> int:
    import serve  # noqa: F401 - with it come the versions of all files that are known here

    visit = Visit(args, console, server, status(server))
    rows = [(part, finding) for part, look in PARTS.items() for finding in look(visit)]
    counts = {state: sum(finding.state == state for _, finding in rows) for state in MARKS}
    document = {
        "ok": not counts[FAILED],
        "version": VERSION,
        **counts,
        "checks": [{"part": part, **asdict(finding)} for part, finding in rows],
    }
    told = "".join(line(part, finding, console) for part, finding in rows)
    sums = ", ".join(f"{count} {state}" for state, count in counts.items())
    console.show(document, console.spelled(f"{told}\n{sums}\n"))
    return REFUSED if counts[FAILED] else DONE


def line(part: str, finding: Finding, console: Console) -> str:
    mark, style = MARKS[finding.state]
    then = f"\n        {finding.then}" if finding.then else ""
    return (
        f"{console.paint(f'{mark:<5}', style, console.stdout)} {part}, {finding.name}: {finding.said}{then}\n"
    )


def status(server: Server) -> Mapping[str, Any] | None:
    try:
        return replace(server, patience=GLANCE * 2).get("/api/status")
    except Failure:
        return None


# --- the program and what runs it


def installation(visit: Visit) -> Iterator[Finding]:
    here = installed.place(visit.console.env)
    yield passed("program", f"version {VERSION}, installed by {installed.way(here).name}: {here.folder}")
    missing = [name for name in PIECES if not (here.folder / name).is_file()]
    missing += changed(here.folder.parent, installed.record(here.folder))
    if missing:
        names = ", ".join(missing[:5])
        yield failed(
            "files", f"not as they were installed: {names}", "install it again: bench update --check"
        )
    else:
        yield passed("files", "as they were installed")
    if installed.way(here).name in installed.COMMANDED:
        yield on_path(here, shutil.which("bench", path=visit.console.env.get("PATH")))


def on_path(here: installed.Place, found: str | None) -> Finding:
    """Whether `bench`, typed anywhere, is this program."""
    if found is None:
        then = "add the folder it is in to PATH (pipx ensurepath, uv tool update-shell)"
        return skipped("command", "bench is not on the PATH", then)
    if installed.owns(here, Path(found)):
        return passed("command", found)
    return skipped(
        "command", f"bench is another one: {found}", "remove that one, or call this one by its path"
    )


def changed(top: Path, record: str) -> list[str]:
    """Names of the files of an installed wheel that are not what its RECORD says (PEP 376, PEP 427)."""
    found = []
    for name, digest, _ in (row for row in csv.reader(record.splitlines()) if len(row) == 3):
        kind, _, expected = digest.partition("=")
        if kind != "sha256" or not name.startswith(f"{installed.NAME}/"):
            continue
        try:
            content = (top / name).read_bytes()
        except OSError:
            content = b""
        actual = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        found += [] if actual == expected else [name]
    return found


def python(visit: Visit) -> Iterator[Finding]:
    version = platform.python_version()
    if sys.version_info >= OLDEST:
        yield passed("version", f"{version}, {sys.executable}")
    else:
        yield failed("version", f"{version} is too old", "install Python 3.11 or newer")
    if sys.maxsize > 2**32:
        yield passed("bits", "64")
    else:
        yield failed("bits", "32: large requests will not fit", "install a 64-bit Python")


def system(visit: Visit) -> Iterator[Finding]:
    yield passed("platform", platform.platform())
    yield descriptors()
    yield clock(time.time())


def descriptors() -> Finding:
    """How many files and connections may be open at once; the server raises the soft limit by itself."""
    try:
        import resource
    except ImportError:
        return skipped("open files", "Windows has no such limit")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard >= FILES_OPEN:
        return passed("open files", "unlimited" if hard == resource.RLIM_INFINITY else f"up to {hard:,}")
    return failed(
        "open files", f"only {hard:,} at once", "raise it: ulimit -Hn 4096, or LimitNOFILE in systemd"
    )


def clock(now: float) -> Finding:
    if now < BORN:
        then = "set the clock: costs, budgets and limits go by it"
        return failed("clock", f"it shows {time.strftime('%Y-%m-%d', time.gmtime(now))}", then)
    return passed("clock", f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime(now))} UTC")


# --- what runs already


def ports(visit: Visit) -> Iterator[Finding]:
    for variable, usual, command in PORTS:
        said = visit.console.env.get(variable) or str(usual)
        if not (said.isascii() and said.isdigit() and 0 < int(said) < 65536):
            yield failed(variable, f"{said!r} is not a port", f"unset {variable}, or give a number to 65535")
            continue
        yield port(replace(visit.server, base=f"http://127.0.0.1:{said}", patience=GLANCE), said, command)


def port(server: Server, number: str, command: str) -> Finding:
    try:
        ours = server.get("/health").get("name") == installed.NAME
    except Failure as failure:
        if failure.kind == "no_server" and failure.status == 503:
            return passed(number, "free")
        ours = False
    if ours:
        return passed(number, "a Benchwarmers answers")
    then = f"stop that program, or take another port: bench {command} --port N"
    return failed(number, "another program answers there", then)


def running(visit: Visit) -> Iterator[Finding]:
    base = visit.server.base
    if visit.status is None:
        yield why_not(visit.server)
        return
    theirs = visit.status.get("version")
    yield passed("reach", f"{base}: {visit.status.get('exposure')}")
    if theirs == VERSION:
        yield passed("version", f"{theirs}, as this program")
    else:
        yield failed(
            "version", f"it is {theirs}, this program {VERSION}", "stop it and start it anew: bench serve"
        )
    for problem in visit.status.get("problems") or ():
        yield failed("problem", str(problem), "repair what it names")


def why_not(server: Server) -> Finding:
    """Why the server does not say how it is."""
    try:
        replace(server, patience=GLANCE * 2).get("/api/status")
    except Failure as failure:
        if failure.kind == "no_server" and not server.named:
            return skipped("reach", "none runs", failure.hint)
        return failed("reach", failure.message, failure.hint)
    return passed("reach", f"{server.base} answers, slowly")


def folder(visit: Visit) -> Iterator[Finding]:
    theirs = (visit.status or {}).get("home") if not visit.args.home else None
    place = Path(theirs) if theirs else home.choose(visit.args.home, visit.console.env)
    if place.is_dir() and (visit.server.local or not theirs):
        from metrics.care import checkup  # here, so that no other command pays for loading the rooms below it

        yield from checkup.folder(place)
    elif theirs:
        yield skipped("folder", f"{place} is on the server's computer", "run this there")
    else:
        yield skipped("folder", f"{place} is not there yet", "the first start makes it: bench serve")


# --- what is called, and what calls


def live(visit: Visit) -> Iterator[Finding]:
    if not visit.args.live:
        yield skipped("calls", "nothing was called", "bench doctor --live reads the list of each endpoint")
        return
    if visit.status is None:
        yield skipped("calls", "no server runs that could call them", visit.server.starter)
        return
    try:
        rows = [row for row in visit.server.get("/api/endpoints")["endpoints"] if not row.get("builtin")]
    except Failure as failure:
        yield failed("calls", failure.message, failure.hint)
        return
    for row in rows:
        yield called(visit.server, str(row["name"]))
        yield from skewed(str(row["name"]), str(row["base"]))
    if not rows:
        yield skipped("calls", "there is no endpoint yet", "bench status shows what could be added")


def called(server: Server, name: str) -> Finding:
    begun = time.monotonic()
    try:
        listing = server.post("/api/endpoint/test", {"name": name})["listing"]
    except Failure as failure:
        return failed(name, failure.message, failure.hint)
    took = f"in {time.monotonic() - begun:.1f} s"
    if listing.get("ok"):
        return passed(name, f"lists {listing.get('total')} models {took}")
    return failed(name, str(listing.get("note")), f"bench endpoint test {name}")


def skewed(name: str, base: str, now: Callable[[], float] = time.time) -> Iterator[Finding]:
    """Whether this computer's clock agrees with the one of an endpoint elsewhere, which dates its replies."""
    if urlsplit(base).hostname in LOOPBACK:
        return
    try:
        with transport.shared().open(
            "GET", base, timeouts=transport.Timeouts(5.0, 5.0, 5.0, 10.0)
        ) as arrival:
            there = parsedate_to_datetime(arrival.headers["date"]).timestamp()
    except (Problem, KeyError, ValueError):
        return  # whether it can be reached is told above
    off = now() - there
    if abs(off) > SKEW:
        yield failed(f"clock of {name}", f"ours is {off:+.0f} s from it", "have the clock set by the network")
    else:
        yield passed(f"clock of {name}", "agrees with ours")


def agents(visit: Visit) -> Iterator[Finding]:
    for agent in AGENTS.values():
        found = shutil.which(agent.binary, path=visit.console.env.get("PATH"))
        if found:
            yield passed(agent.title, f"{found}; bench launch {agent.name}")
        else:
            yield skipped(agent.title, "not here", agent.install)


PARTS: Mapping[str, Callable[[Visit], Iterator[Finding]]] = {
    "install": installation,
    "python": python,
    "system": system,
    "port": ports,
    "server": running,
    "data": folder,
    "endpoint": live,
    "client": agents,
}

COMMANDS = (
    Command(
        "doctor",
        "Looks for what could be wrong: program, ports, server, data folder, keys, endpoints, agents.",
        doctor,
        (
            argument("--live", action="store_true", help="call every endpoint too: its list of models"),
            argument("--home", type=Path, metavar="DIR", help="this data folder, not that of the server"),
        ),
        ("bench doctor", "bench doctor --live --json"),
    ),
)
