"""`bench invite`, `bench invitation(s)`, `bench session(s)`: who may come to the dashboard, and who is there.

The link of an invitation is shown once, alone on stdout, so that it can be handed on; the rest goes to
stderr.
"""

import argparse
from typing import Any
from urllib.parse import urlsplit

from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE
from metrics.commands.output import Console
from metrics.commands.server import LOOPBACK, Server

ROLES = ("judge", "admin")
MAY = {"judge": "may read, and give verdicts and claims", "admin": "may do everything"}


def invite(args: argparse.Namespace, console: Console, server: Server) -> int:
    given = {"name": args.name, "role": args.role, "expires": args.expires}
    wanted = {name: value for name, value in given.items() if value is not None}
    answer = server.post("/api/invitation", wanted)
    console.show(answer, f"{answer['link']}\n")
    console.note(
        f"whoever opens this link first comes in as {answer['name']}, who {MAY[answer['role']]}; it is shown "
        f"once and good until {minute(answer['expires'])}"
    )
    if urlsplit(answer["link"]).hostname in LOOPBACK:
        console.note(
            "it leads to this computer: for others, start the server with BENCHWARMERS_PUBLIC_URL set"
        )
    return DONE


def invitations(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.get("/api/invitations")
    rows = [
        (one["name"], one["role"], minute(one["made"]), one["by"], minute(one["expires"]))
        for one in answer["invitations"]
    ]
    table = console.table(("name", "role", "made", "by", "good until"), rows, drop=("by", "made"))
    console.show(answer, table if rows else "no invitation is open\n")
    return DONE


def withdraw(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.post("/api/invitation/withdraw", {"name": args.name})
    console.show(answer, f"the invitation of {args.name} lets nobody in any more\n")
    return DONE


def sessions(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.get("/api/sessions")
    rows = [
        (
            one["id"],
            one["name"] + (" (you)" if one["yours"] else ""),
            one["role"],
            one["address"],
            minute(one["begun"]),
            minute(one["seen"]),
        )
        for one in answer["sessions"]
    ]
    columns = ("session", "name", "role", "from", "since", "last seen")
    table = console.table(columns, rows, drop=("since",)) if rows else "nobody is signed in\n"
    console.show(answer, table)
    for one in answer["refused"]:
        console.note(refused(one))
    return DONE


def refused(one: dict[str, Any]) -> str:
    wait = f", the next is looked at in {one['wait_s']:.0f} s" if one["wait_s"] else ""
    tries = "1 wrong" if one["times"] == 1 else f"{one['times']} wrong"
    return f"{one['address']}: {tries} {one['what']}, last {minute(one['at'])}{wait}"


def end(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.post("/api/session/end", {"id": args.id})
    console.show(answer, f"{answer['ended']} is signed out there\n")
    return DONE


def minute(at: str) -> str:
    """A moment as a list shows it: UTC, to the minute."""
    return f"{at[:10]} {at[11:16]}Z"


NAME = argument("name", metavar="NAME", help="who is invited: 2 to 64 letters, digits, dots, dashes")

COMMANDS = (
    Command(
        "invite",
        "Makes a link, good once, that lets somebody in to the dashboard.",
        invite,
        (
            NAME,
            argument("--role", choices=ROLES, help="judge: reads and gives verdicts (default); admin: all"),
            argument("--expires", metavar="WHEN", help="how long the link is good: 12h, 30d, or a date (3d)"),
        ),
        ("bench invite anna", "bench invite bert --role admin --expires 1h"),
    ),
    Command(
        "invitations", "Lists the links that nobody has used yet.", invitations, (), ("bench invitations",)
    ),
    Command(
        "invitation withdraw",
        "Takes an open invitation back.",
        withdraw,
        (NAME,),
        ("bench invitation withdraw anna",),
    ),
    Command("sessions", "Lists who is signed in, and who was refused.", sessions, (), ("bench sessions",)),
    Command(
        "session end",
        "Signs somebody out.",
        end,
        (argument("id", metavar="ID", help="the session, as `bench sessions` names it"),),
        ("bench session end 0a1b2c3d4e5f6a7b",),
    ),
)
