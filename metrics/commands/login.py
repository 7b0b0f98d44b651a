"""`bench login` and `bench logout`: a session with a server that asks who is there.

What the server gives is kept in logins.json in the data folder of whoever runs `bench`, by the server's
address, readable by them alone. The admin token itself is kept nowhere.
"""

import argparse
import getpass
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from metrics.commands import keys
from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE, Failure, usage
from metrics.commands.output import Console
from metrics.commands.server import Server
from metrics.store import disk, home
from metrics.store.stamps import epoch

FILE = "logins.json"
VARIABLE = "BENCHWARMERS_ADMIN_TOKEN"


def login(args: argparse.Namespace, console: Console, server: Server) -> int:
    shown = {"invitation": invitation(console)} if args.invited else {"token": token(args, console)}
    answer = server.post("/login", {**shown, "bearer": True})
    session, expires = answer.pop("session", None), answer.get("expires")
    if session is None:
        console.show(answer, f"{answer.get('note')}\n")
        return DONE
    saved = logins(console.env)
    keep(console.env, {**saved, server.base: {"session": session, "expires": expires}})
    whose = f" as {answer['name']}, {answer['role']}," if answer.get("name") else ""
    console.show(answer, f"signed in at {server.base}{whose} until {expires}\n")
    return DONE


def logout(args: argparse.Namespace, console: Console, server: Server) -> int:
    saved = logins(console.env)
    entry = saved.pop(server.base, None)
    if entry is None:
        raise Failure(
            400, f"nobody is signed in at {server.base} from here", kind="not_found", hint="bench login"
        )
    keep(console.env, saved)
    answer = replace(server, admin=entry["session"]).post("/logout", {})
    console.show(answer, f"signed out at {server.base}\n")
    return DONE


def token(args: argparse.Namespace, console: Console) -> str:
    """The admin token: from a pipe, a variable or a person; never from the line."""
    if args.token_env:
        return keys.from_variable(args.token_env, console)
    if args.token_stdin:
        given = console.stdin.read().strip() if console.stdin else ""
    elif console.env.get(VARIABLE):
        given = console.env[VARIABLE]
    elif console.interactive:
        given = getpass.getpass("admin token: ", console.stderr).strip()
    else:
        given = ""
    if not given:
        raise usage("login: the admin token is missing", f"pipe it in with --token-stdin, or set {VARIABLE}")
    return given


def invitation(console: Console) -> str:
    """The secret of an invitation: of the link or alone, from a pipe or a person; never from the line."""
    if console.interactive:
        given = getpass.getpass("link of the invitation: ", console.stderr)
    else:
        given = console.stdin.read() if console.stdin else ""
    secret = given.strip().rpartition("#invitation=")[2]
    if not secret:
        raise usage("login: the invitation is missing", "pipe its link in: bench login --invited < link.txt")
    return secret


def signed_in(server: Server, env: Mapping[str, str], now: float | None = None) -> Server:
    """The server with the session that was begun there, unless a token is given or the session is over."""
    entry = None if server.admin else logins(env).get(server.base)
    try:
        lasts = entry is not None and epoch(entry["expires"]) > (time.time() if now is None else now)
        return replace(server, admin=str(entry["session"])) if entry is not None and lasts else server
    except (TypeError, KeyError, ValueError):
        return server  # a hand was there: then nobody is signed in


def logins(env: Mapping[str, str]) -> dict[str, Any]:
    """The sessions by server; none where there is no such file or it cannot be read."""
    path = place(env)
    if not path.is_file():
        return {}
    try:
        with disk.reading(path) as fd:
            saved = json.loads(disk.read_all(fd))
    except (OSError, ValueError, RecursionError):
        return {}
    return saved if isinstance(saved, dict) else {}


def keep(env: Mapping[str, str], saved: Mapping[str, Any]) -> None:
    path = place(env)
    try:
        disk.make_folder(path.parent)
        disk.put(path, (json.dumps(saved, indent=2) + "\n").encode(), durable=True)
    except OSError as error:
        raise disk.refusal(error, str(path)) from None


def place(env: Mapping[str, str]) -> Path:
    return home.choose(None, env) / FILE


COMMANDS = (
    Command(
        "login",
        "Signs in to a server that asks for its admin token or an invitation, for a week.",
        login,
        (
            argument("--token-stdin", one_of="token", action="store_true", help="read the token from stdin"),
            argument(
                "--token-env",
                one_of="token",
                metavar="NAME",
                help=f"read the token from this variable (else {VARIABLE}, else you are asked)",
            ),
            argument(
                "--invited",
                one_of="token",
                action="store_true",
                help="with an invitation: its link is asked for, or read from stdin",
            ),
        ),
        (
            "bench login --url https://bench.example.com",
            "bench login --token-stdin < token.txt",
            "bench login --invited < link.txt",
        ),
    ),
    Command("logout", "Ends that session.", logout, (), ("bench logout",)),
)
