"""`bench mcp` and `bench mcp install`: the bench for agents that speak the Model Context Protocol.

`install` writes one entry into a client's own configuration. What else stands there stays byte for byte: the
edit is checked by reading both versions, lands in one step, and is refused, with the entry to put in by hand,
where the file cannot be read or says it in another way.
"""

import argparse
import difflib
import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from metrics.commands import jsonc, starting, stdio, toml_table
from metrics.commands.command import Command, argument, did_you_mean
from metrics.commands.failure import DONE, Failure, usage
from metrics.commands.jsonc import Unreadable
from metrics.commands.mcp_clients import CLIENTS, KEY, Client, Link, home_of
from metrics.commands.output import Console
from metrics.commands.server import HERE, Server

NAME = "bench"
PROGRAMS = ("bench", "benchwarmers")  # as they are installed
NAMED = re.compile(r"[A-Za-z0-9_-]{1,64}")
TRIES = 3  # while the client itself writes its file


def mcp(args: argparse.Namespace, console: Console, server: Server) -> int:
    """Speak MCP on stdin and stdout until stdin ends."""
    if console.stdin is None:
        raise usage("mcp: there is no stdin", "an MCP client starts this; see: bench mcp install --help")
    stdio.start(server, starting.listens, lambda: starting.start(server, console.env))
    stdio.Twin(server, console.write).serve(console.stdin.buffer)
    return DONE


def install(args: argparse.Namespace, console: Console, server: Server) -> int:
    link = Link(f"{server.base}/mcp", twin(server), keyed=bool(server.key), stdio=args.stdio)
    if args.client is None:
        return printed(link, args.name, console)
    if args.client not in CLIENTS:
        near = did_you_mean(args.client, CLIENTS)
        hint = f"{near}there are: {', '.join(CLIENTS)}; for others leave --client out"
        raise usage(f"mcp install: there is no client {args.client!r}", hint)
    client = CLIENTS[args.client]
    file = client.file(console.env, home_of(console.env))
    before, after = written(client, file, args.name, link, dry=args.dry_run)
    document = {
        "client": client.name,
        "file": str(file),
        "changed": before != after,
        "dry_run": bool(args.dry_run),
        "entry": client.entry(link),
    }
    console.show(document, told(client, file, before, after, args.dry_run))
    if link.keyed and before != after:
        console.note(f"the key is not in the file: {client.title} reads it from {KEY}")
    return DONE


def twin(server: Server) -> list[str]:
    """The command that starts the stdio twin of this server: this program, in the way it was started."""
    where = [] if server.base == HERE else ["--url", server.base]
    started = Path(sys.argv[0]).absolute()
    if started.suffix == ".pyz":
        return [sys.executable, str(started), "mcp", *where]
    if started.stem in PROGRAMS and started.is_file():
        return [str(started), "mcp", *where]
    spec = importlib.util.find_spec("cli")
    folder = Path(spec.origin).parent if spec and spec.origin else Path()
    return [sys.executable, str(folder / "mcp_server.py"), *where]


def written(client: Client, file: Path, name: str, link: Link, dry: bool) -> tuple[str, str]:
    """(the file's text before, after the entry). Failure "config" with the entry where it cannot be done."""
    for _ in range(TRIES):
        raw = content(file)
        try:
            before = raw.decode("utf-8")
            after = edited(client, before, name, client.entry(link))
        except (Unreadable, UnicodeDecodeError) as why:
            raise refused(client, file, name, link, str(why)) from None
        if dry or before == after:
            return before, after
        if replaced(file, raw, after.encode("utf-8")):
            return before, after
    raise refused(client, file, name, link, f"{client.title} keeps writing it")


def edited(client: Client, text: str, name: str, entry: dict[str, Any]) -> str:
    """The text with the entry in it. Unreadable where anything else would change with it."""
    path = (*client.path, name)
    if client.toml:
        return toml_table.edited(text, path, entry)
    if client.name == "opencode" and nested(text):
        path, entry = ("mcp", "servers", name), {key: one for key, one in entry.items() if key != "enabled"}
    after = jsonc.edited(text, path, entry)
    before = jsonc.read(text) if text.removeprefix("\ufeff").strip() else {}
    if not jsonc.same_but(before, jsonc.read(after), path):
        raise Unreadable("an entry cannot be put in there without changing something else")
    return after


def nested(text: str) -> bool:
    """Whether this is the newer form of opencode's file, with the servers one level deeper."""
    said = jsonc.read(text) if text.removeprefix("\ufeff").strip() else {}
    servers = said.get("mcp") if isinstance(said, dict) else None
    inside = servers.get("servers") if isinstance(servers, dict) else None
    return isinstance(inside, dict) and "type" not in inside


def content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as trouble:
        raise unreachable(file, trouble) from None


def replaced(file: Path, before: bytes, after: bytes) -> bool:
    """Put `after` in the place of the file, or of what its link leads to, in one step; False when it changed
    meanwhile. It keeps its mode; a new one is for its user alone."""
    target = file.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(number, "wb") as fresh:
                fresh.write(after)
                fresh.flush()
                os.fsync(fresh.fileno())
            if target.exists():
                shutil.copymode(target, name)
            if content(target) != before:
                return False
            os.replace(name, target)
            return True
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as trouble:
        raise unreachable(file, trouble) from None


def unreachable(file: Path, trouble: OSError) -> Failure:
    message = f"{file} cannot be read or written: {trouble.strerror or trouble}"
    return Failure(403, message, kind="config", hint="see who may write there, and run it again")


def refused(client: Client, file: Path, name: str, link: Link, why: str) -> Failure:
    message = f"{file} is left as it is: {why}"
    hint = f"correct it, or put this in by yourself:\n{snippet(client, name, link)}"
    return Failure(409, message, kind="config", hint=hint)


def snippet(client: Client, name: str, link: Link) -> str:
    entry = client.entry(link)
    if client.toml:
        return toml_table.edited("", (*client.path, name), entry)
    said: Any = {name: entry}
    for key in reversed(client.path):
        said = {key: said}
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def told(client: Client, file: Path, before: str, after: str, dry: bool) -> str:
    if before == after:
        return f"{client.title} knows the bench already: {file}\n"
    if not dry:
        return f"{client.title} knows the bench: {file}\nsee whether it answers: {client.check}\n"
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), str(file), str(file), lineterm="")
    return "\n".join(lines) + "\n"


def printed(link: Link, name: str, console: Console) -> int:
    """What to enter by hand, for clients that are not known here: both ways that all of them have."""
    claude = CLIENTS["claude"]
    over_http = Link(link.url, link.command, link.keyed)
    over_stdio = Link(link.url, link.command, link.keyed, stdio=True)
    document = {"url": link.url, "command": list(link.command), "clients": list(CLIENTS)}
    text = (
        f"The bench speaks MCP at {link.url} (streamable HTTP) and on stdio. In most clients' JSON:\n\n"
        f"{snippet(claude, name, over_http)}\nor\n\n{snippet(claude, name, over_stdio)}\n"
        f"By itself: bench mcp install --client {'|'.join(CLIENTS)}\n"
    )
    console.show(document, console.spelled(text))
    return DONE


def called(text: str) -> str:
    """An argparse type: a name that every client takes. Codex does not start a server with another one
    (openai/codex issue 5635), and Claude Code's own command refuses it."""
    if not NAMED.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} may have letters, digits, dashes and underscores only")
    return text


COMMANDS = (
    Command(
        "mcp",
        "Speaks the Model Context Protocol on stdin and stdout, for clients that start their servers. "
        "Clients that go to an address use /mcp of the server.",
        mcp,
        examples=("bench mcp install --client claude",),
    ),
    Command(
        "mcp install",
        "Enters the bench in the configuration of an MCP client, leaving everything else in it as it is.",
        install,
        (
            argument("--client", metavar="NAME", help=f"{', '.join(CLIENTS)}; left out: print what to enter"),
            argument("--dry-run", action="store_true", help="show the change and write nothing"),
            argument("--stdio", action="store_true", help="let the client start `bench mcp`, not go to /mcp"),
            argument(
                "--name", type=called, default=NAME, metavar="N", help=f"what the client calls it ({NAME})"
            ),
        ),
        examples=(
            "bench mcp install --client claude",
            "bench mcp install --client codex --dry-run",
            "bench mcp install --client vscode --stdio",
        ),
    ),
)
