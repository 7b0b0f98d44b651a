"""`bench launch AGENT`: a coding agent, wired to this server for one process, and what it used when it ends.

The agent owns the terminal: its words go where they would have gone, its exit code becomes ours, and all that
is said of it goes to stderr. Under --json that is one line there; stdout holds a document only where no agent
runs (--print-env, --check, and when none could be started).
"""

import argparse
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics.commands import child, shells, starting, usage_report
from metrics.commands.agents import AGENTS, WINDOW, Agent, Link, Wiring
from metrics.commands.collections import no_such
from metrics.commands.command import Command, argument, did_you_mean
from metrics.commands.failure import DONE, REFUSED, Failure, usage
from metrics.commands.output import Console
from metrics.commands.server import LOOPBACK, Server

COLLECTION = "core"
SAY_WHO = "say it of those who do: bench model add ALIAS … --tools yes"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@dataclass(frozen=True, slots=True)
class Bench:
    """What is known of a collection: who of its members calls tools and sees, and the smallest window."""

    callers: tuple[str, ...]
    sees: bool
    window: int | None


def launch(args: argparse.Namespace, console: Console, server: Server) -> int:
    agent, args.collection = named(args.agent), plain(args.collection)
    if args.print_env:
        return printed(agent, args, console, server)
    if args.check:
        return checked(agent, args.collection, console, server)
    binary = found(agent, console)
    ready(server, console)
    bench = members(server, args.collection)
    if agent.tools and not bench.callers:
        console.warn(f"{toolless(args.collection, agent)}; {SAY_WHO}")
    token = minted()
    with folder() as place:
        wiring = agent.wire(link(server, args.collection, token, place, console, bench))
        write(wiring, place)
        console.note(f"{agent.title} is driven by {model(args.collection)} at {server.base}")
        code = child.run([binary, *wiring.words, *args.words], environment(wiring, console), console)
    usage_report.show(token, told_apart(agent, server), console, server)
    return code


def named(name: str) -> Agent:
    if name in AGENTS:
        return AGENTS[name]
    hint = f"{did_you_mean(name, AGENTS)}there are: {', '.join(AGENTS)}"
    raise usage(f"launch: there is no agent {name!r}", hint)


def plain(collection: str) -> str:
    """The collection's own name; an agent always drives a route."""
    name = collection.removeprefix("bench/").removesuffix(":route")
    if not name or ":" in name:
        hint = "agents call tools, which one member at a time answers: give the collection's name alone"
        raise usage(f"launch: {collection!r} cannot drive an agent", hint)
    return name


def found(agent: Agent, console: Console) -> str:
    """Where the agent's program is. Raises Failure "not_installed"."""
    binary = shutil.which(agent.binary, path=console.env.get("PATH"))
    if binary:
        return binary
    message = f"{agent.title} is not installed: there is no {agent.binary} on the PATH"
    raise Failure(404, message, kind="not_installed", hint=f"install it: {agent.install}")


def ready(server: Server, console: Console) -> None:
    """Have a server: the one that runs, or, where nobody said which one is meant, a new one."""
    if starting.listens(server):
        return
    if server.named or not server.local:
        raise server.nobody()
    pid = starting.start(server, console.env)
    console.note(f"started a server at {server.base} (process {pid}); it stays when the agent ends")


def members(server: Server, collection: str) -> Bench:
    """Who is in the collection. Raises Failure "not_found" with the nearest name."""
    try:
        listed = server.get(f"/v1/models/{model(collection)}")
    except Failure as failure:
        if failure.kind != "not_found":
            raise
        names = [str(one.get("collection")) for one in server.get("/v1/models").get("data") or ()]
        raise no_such(collection, dict.fromkeys(names)) from None
    together = listed.get("together") or {}
    able, aliases = together.get("capabilities") or (), listed.get("members") or ()
    try:
        facts = {one["alias"]: one for one in server.get("/api/models")["models"]}
    except Failure:  # without the admin token there is only what all members can
        everybody = tuple(aliases) if "tools" in able else ()
        return Bench(everybody, "vision" in able, together.get("context_window"))
    callers = tuple(alias for alias in aliases if facts.get(alias, {}).get("tools"))
    sees = any(facts.get(alias, {}).get("vision") for alias in aliases)
    return Bench(callers, sees, together.get("context_window"))


def model(collection: str) -> str:
    return f"bench/{collection}:route"


def minted() -> str:
    return f"bwl_{secrets.token_hex(16)}"


def link(
    server: Server, collection: str, token: str, place: Path, console: Console, bench: Bench | None
) -> Link:
    window = (bench.window if bench else None) or WINDOW
    sees = bench.sees if bench else False
    key = server.key or token
    return Link(server.base, model(collection), key, token, place, console.env, window, sees)


def told_apart(agent: Agent, server: Server) -> bool:
    """Whether the agent's calls can be told from others': not where it can send only a real key."""
    return server.key is None or agent.tells


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that only this user reads, for as long as the agent runs."""
    with tempfile.TemporaryDirectory(prefix="bench-launch-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def write(wiring: Wiring, place: Path) -> None:
    """Lay down the files. Where a system lets nobody make links, the agent does without what they lead to."""
    for name, content in wiring.files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content, encoding="utf-8")
    for name, target in wiring.links.items():
        with suppress(OSError):
            os.symlink(target, place / name)


def environment(wiring: Wiring, console: Console) -> dict[str, str]:
    kept = {name: value for name, value in console.env.items() if name not in wiring.unset}
    return {**kept, **unproxied(console.env), **wiring.env}


def unproxied(env: Mapping[str, str]) -> dict[str, str]:
    """A proxy is not asked for what is on this computer; most agents would."""
    if not any(env.get(name) for name in PROXIES):
        return {}
    named = ",".join(filter(None, (env.get("NO_PROXY") or env.get("no_proxy"), *LOOPBACK)))
    return {"NO_PROXY": named, "no_proxy": named}


def printed(agent: Agent, args: argparse.Namespace, console: Console, server: Server) -> int:
    """--print-env: what the agent would be told, as lines for a shell. Starts nothing, writes nothing."""
    token = minted()
    try:
        bench: Bench | None = members(server, args.collection)
    except Failure as failure:
        if failure.kind != "no_server":
            raise
        bench = None
    place = Path(tempfile.gettempdir(), f"bench-launch-{token[-8:]}")
    wiring = agent.wire(link(server, args.collection, token, place, console, bench))
    words = [agent.binary, *wiring.words, *args.words]
    document = {
        "agent": agent.name,
        "launch": token,
        "server": server.base,
        "model": model(args.collection),
        "env": dict(wiring.env),
        "unset": list(wiring.unset),
        "files": {str(place / name): content for name, content in wiring.files.items()},
        "links": {str(place / name): target for name, target in wiring.links.items()},
        "command": words,
    }
    console.show(document, shells.script(document, windows=os.name == "nt"))
    return DONE


def checked(agent: Agent, collection: str, console: Console, server: Server) -> int:
    """--check: what a launch needs, each with what to do where it is missing. Starts nothing."""
    rows = list(needs(agent, collection, console, server))
    good = all(row["ok"] for row in rows)
    lines = [f"{'ok  ' if row['ok'] else 'NOT '} {row['what']}\n{after(row)}" for row in rows]
    console.show({"ok": good, "agent": agent.name, "checks": rows}, console.spelled("".join(lines)))
    return DONE if good else REFUSED


def after(row: dict[str, Any]) -> str:
    return f"     {row['do']}\n" if row["do"] else ""


def needs(agent: Agent, collection: str, console: Console, server: Server) -> Iterable[dict[str, Any]]:
    """{what, ok, do} of each thing, the later ones only where the earlier ones are there."""
    try:
        yield row(f"{agent.title} is installed: {found(agent, console)}")
    except Failure as failure:
        yield row(failure.message, failure.hint)
    try:
        if not starting.listens(server):
            ours = server.local and not server.named
            if ours:
                yield row(f"no server answers at {server.base} yet: launch starts one")
            else:
                yield row(f"no server answers at {server.base}", server.nobody().hint)
            return
        yield row(f"a server answers at {server.base}")
        bench = members(server, collection)
    except Failure as failure:
        yield row(failure.message, failure.hint)
        return
    yield row(f"the collection {collection} is there")
    if agent.tools and not bench.callers:
        yield row(toolless(collection, agent), SAY_WHO)
    elif agent.tools:
        yield row(f"members that call tools: {', '.join(bench.callers)}")


def toolless(collection: str, agent: Agent) -> str:
    return f"no member of {collection} is known to call tools, which {agent.title} needs"


def row(what: str, do: str = "") -> dict[str, Any]:
    """`do` is the next step for what is missing; without one all is well."""
    return {"what": what, "ok": not do, "do": do}


COMMANDS = (
    Command(
        "launch",
        "Starts a coding agent that is driven by a collection. What follows -- is the agent's.",
        launch,
        (
            argument("agent", metavar="AGENT", help=f"one of {', '.join(AGENTS)}"),
            argument("words", nargs=argparse.REMAINDER, metavar="-- ARGUMENTS", help="the agent's own"),
            argument("--collection", default=COLLECTION, metavar="C", help=f"who drives it ({COLLECTION})"),
            argument(
                "--print-env",
                one_of="instead",
                action="store_true",
                help="print what it would be told, for a shell",
            ),
            argument(
                "--check",
                one_of="instead",
                action="store_true",
                help="say what is missing, if anything, and start nothing",
            ),
        ),
        (
            "bench launch claude",
            'bench launch codex --collection review -- exec "Fix the tests"',
            "bench launch opencode --check",
            'eval "$(bench launch pi --print-env)"',
        ),
    ),
)
