"""`bench log`: the panels of late, newest first, with each answer's call id and verdict; then the agents'
conversations, and what shadow seats did with their turns, and how often they agreed."""

import argparse
import time
from typing import Any

from metrics.commands.collections import no_such
from metrics.commands.command import Command, argument, count
from metrics.commands.failure import DONE
from metrics.commands.output import Console, terminal
from metrics.commands.server import Server
from metrics.commands.tables import ago, seconds

COLUMNS = ("when", "collection", "=call", "alias", "status", ">seconds", "verdict", "task")
TURNS = ("when", "collection", "=call", "alias", ">turn", "status", "verdict", "task")
SHADOWS = ("when", "collection", "=call", "alias", "shadow", "agreement", "differs")
AGREEMENT = ("collection", "alias", "shadow", ">turns", ">same", ">arguments", ">tools", ">kind", ">failed")
DROP = ("task", "collection", ">seconds", "when", "status", "alias")  # where a terminal is narrow


def log(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.get("/api/log", limit=args.limit, before=args.before, collection=args.collection)
    if not answer["panels"] and args.collection:
        known(args.collection, server)
    now = time.time() if terminal(console.stdout) else None
    rows = [row for panel in answer["panels"] for row in rows_of(panel, now)]
    tables = [console.table(COLUMNS, rows, DROP)] if rows else []
    tables += turns_of(answer, now, console) + shadows_of(answer, now, console)
    console.show(answer, "\n".join(tables))
    if answer.get("next"):
        same = f" --collection {args.collection}" if args.collection else ""
        console.note(f"older ones: bench log{same} --before {answer['next']}")
    elif args.before and not rows:
        console.note("there are no older ones")
    elif not tables:
        console.note(f'nothing was asked yet: bench ask {args.collection or "core"} "your question"')
    return DONE


def known(collection: str, server: Server) -> None:
    """Raises Failure "not_found" for a collection that there is not; one that is gone keeps its panels."""
    names = [one["name"] for one in server.get("/api/collections")["collections"]]
    if collection not in names:
        raise no_such(collection, names)


def cursor(text: str) -> str:
    """An argparse type; an empty one (an unset variable) would begin again at the newest."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty; take the cursor from the end of the page before")
    return text


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


def turns_of(answer: dict[str, Any], now: float | None, console: Console) -> list[str]:
    """The table of conversations, each by its latest turn; none where there were none."""
    rows = [
        (
            str(one.get("at") or "") if now is None else ago(str(one.get("at") or ""), now),
            *(str(one.get(name) or "") for name in ("collection", "call", "alias", "turn", "status")),
            judged(one),
            str(one.get("task") or ""),
        )
        for one in answer.get("conversations") or ()
    ]
    return [console.table(TURNS, rows, ("task", "collection", "when", "status", "alias"))] if rows else []


def shadows_of(answer: dict[str, Any], now: float | None, console: Console) -> list[str]:
    """The tables of shadow seats: the latest ones, and what they come to; none where there were none."""
    latest, tallies = answer.get("shadows"), answer.get("agreement")
    if not latest or not tallies:
        return []
    rows = [
        (
            str(one.get("at") or "") if now is None else ago(str(one.get("at") or ""), now),
            *(str(one.get(name) or "") for name in ("collection", "call", "model", "shadow", "agreement")),
            ", ".join(one.get("differs") or ()),
        )
        for one in latest
    ]
    sums = [
        (
            *(str(tally.get(name) or "") for name in ("collection", "model", "shadow")),
            *(str(tally.get(column.lstrip(">"), 0)) for column in AGREEMENT[3:]),
        )
        for tally in tallies
    ]
    return [
        console.table(SHADOWS, rows, ("differs", "collection", "when", "alias", "shadow")),
        console.table(AGREEMENT, sums, ("collection",)),
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
        "Lists what was asked, newest first: one row an answer, with its call id and verdict; then the "
        "conversations of agents, and shadow seats.",
        log,
        (
            argument("--limit", type=count, default=20, metavar="N", help="how many panels (20)"),
            argument("--collection", metavar="NAME", help="only panels of this collection"),
            argument("--before", type=cursor, metavar="CURSOR", help="go on from where the last page ended"),
        ),
        ("bench log", "bench log --collection core --limit 5 --json"),
    ),
)
