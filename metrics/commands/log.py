"""`bench log`: the panels of late, newest first, with each answer's call id and verdict."""

import argparse
import time
from typing import Any

from metrics.commands.command import Command, argument, count
from metrics.commands.failure import DONE
from metrics.commands.output import Console, terminal
from metrics.commands.server import Server
from metrics.commands.tables import ago, seconds

COLUMNS = ("when", "collection", "=call", "alias", "status", ">seconds", "verdict", "task")
DROP = ("task", "collection", ">seconds", "when", "status", "alias")  # where a terminal is narrow


def log(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.get("/api/log", limit=args.limit, before=args.before, collection=args.collection)
    now = time.time() if terminal(console.stdout) else None
    rows = [row for panel in answer["panels"] for row in rows_of(panel, now)]
    console.show(answer, console.table(COLUMNS, rows, DROP) if rows else "")
    if not rows:
        console.note('nothing was asked yet: bench ask core "your question"')
    elif answer.get("next"):
        console.note(f"older ones: bench log --before {answer['next']}")
    return DONE


def rows_of(panel: dict[str, Any], now: float | None) -> list[tuple[str, ...]]:
    """A row per seat. `now` turns times into "5 min ago", for terminals; a pipe gets ISO times."""
    at = str(panel.get("at") or "")
    return [
        (
            at if now is None else ago(at, now),
            str(panel.get("collection") or ""),
            str(seat.get("call") or ""),
            str(seat.get("alias") or ""),
            str(seat.get("status") or ""),
            seconds(seat.get("seconds")),
            judged(seat),
            str(panel.get("task") or ""),
        )
        for seat in panel.get("seats") or ()
    ]


def judged(seat: dict[str, Any]) -> str:
    """The verdict in a word; an answer nobody judged is "owed", and a seat without an answer owes none."""
    given = seat.get("verdict")
    useful = given.get("useful") if isinstance(given, dict) else given
    if useful is None:
        return "owed" if seat.get("status") in ("ok", "cut") and seat.get("seat") != "merger" else "-"
    return "useful" if useful else "not useful"


COMMANDS = (
    Command(
        "log",
        "Lists what was asked, newest first: one row an answer, with its call id and verdict.",
        log,
        (
            argument("--limit", type=count, default=20, metavar="N", help="how many panels (20)"),
            argument("--collection", metavar="NAME", help="only panels of this collection"),
            argument("--before", metavar="CURSOR", help="go on from where the last page ended"),
        ),
        ("bench log", "bench log --collection core --limit 5 --json"),
    ),
)
