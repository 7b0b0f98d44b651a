"""`bench disk` and `bench prune`: what the data folder weighs, what bounds it, and taking away what is past
its time.

A running server is asked, since it has the files open; where none has the folder, it is looked at where it
lies.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from metrics.commands.backup import NO_API, answering
from metrics.commands.command import Command, argument, count
from metrics.commands.failure import DONE, Failure
from metrics.commands.output import Console
from metrics.commands.server import Server
from metrics.commands.tables import UNKNOWN, plural
from metrics.store import home

COLUMNS = ("kind", ">files", ">size", "oldest", "bound", "what")
UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
HOME = argument("--home", type=Path, metavar="DIR", help="this data folder, not that of the server")


def disk(args: argparse.Namespace, console: Console, server: Server) -> int:
    there = keeper(args.home, console, server)
    if there:
        try:
            return told(there.get("/api/disk"), console)
        except Failure as failure:
            if failure.status not in NO_API:
                raise  # else: the gateway runs without the dashboard; to look harms nobody
            folder(args.home, console)
    from metrics.care import pruning

    return told({"ok": True, **pruning.weighed()}, console)


def prune(args: argparse.Namespace, console: Console, server: Server) -> int:
    wish = {
        "body_days": args.body_days,
        "log_months": args.log_months,
        "judged_too": args.judged_too,
        "dry_run": args.dry_run,
    }
    there = keeper(args.home, console, server)
    if console.interactive and not args.yes and not args.dry_run:
        planned = pruned({**wish, "dry_run": True}, there)
        console.tell("".join(f"{line}\n" for line in lines(planned)))
        if console.ask("take it away? [y/N] ").lower() not in ("y", "yes"):
            raise Failure(499, "nothing was taken away", kind="interrupted", hint="bench prune --dry-run")
    answer = pruned(wish, there)
    console.show(answer, "".join(f"{line}\n" for line in lines(answer)))
    return DONE


def pruned(wish: dict[str, Any], there: Server | None) -> dict[str, Any]:
    """What the server that has the folder did, or this process where none has it."""
    if there:
        try:
            return there.post("/api/prune", wish)
        except Failure as failure:
            if failure.status in NO_API:
                message = "the gateway runs without the dashboard and has the data folder"
                raise Failure(503, message, kind="in_use", hint="stop it first, then prune") from None
            raise
    from metrics.care import pruning

    home.use(home.current())
    with home.own():
        return {"ok": True, **pruning.prune(pruning.Wish(**wish))}


def keeper(named: Path | None, console: Console, server: Server) -> Server | None:
    """The server that has the data folder that is meant; None where none has it, and it is then the current
    one. Raises Failure where there is no such folder."""
    if named is None and answering(server) is not None:
        return server
    folder(named, console)
    owner = home.owner()
    if owner is None:
        return None
    if not owner.get("port"):
        raise Failure(503, "a server has this folder, but its port is not known yet", kind="overloaded")
    return replace(server, base=f"http://127.0.0.1:{owner['port']}")


def folder(named: Path | None, console: Console) -> Path:
    """Make the data folder that is meant the current one, to look into."""
    chosen = home.choose(named, console.env)
    if not chosen.is_dir():
        raise Failure(404, f"there is no data folder {chosen}", kind="not_found", hint="bench init")
    return home.visit(chosen)


def told(answer: dict[str, Any], console: Console) -> int:
    rows = [
        (
            row["kind"],
            f"{row['files']:,}",
            size(row["bytes"]),
            row["oldest"] or "-",
            row["bound"],
            row["what"],
        )
        for row in answer["kinds"]
        if row["files"] or row["setting"]
    ]
    table = console.table(COLUMNS, rows, ("what", ">files"))
    console.show(answer, f"{table}\n{size(answer['bytes'])} in {answer['home']}, {left(answer['free'])}\n")
    if answer["other"]:
        console.note(f"not this program's, and never touched: {', '.join(answer['other'])}")
    return DONE


def left(free: int | None) -> str:
    return f"{UNKNOWN if free is None else size(free)} free on its disk"


def lines(answer: dict[str, Any]) -> list[str]:
    """What goes or went, in sentences. What somebody may miss is always named."""
    will = "would go" if answer["dry_run"] else "went"
    bodies, months, left = answer["bodies"], answer["months"], answer["leftovers"]
    found = [
        f"prompts and answers from before {bodies['before']}: those of "
        f"{plural(bodies['panels'], 'panel')} {will}{owed(bodies)}; "
        f"those of {plural(bodies['judged_kept'], 'judged panel')} stay"
    ]
    if months["keep"]:
        files = sum(map(len, months["files"].values()))
        found.append(f"records from before {months['before']}: {plural(files, 'file')} {will}{owed(months)}")
        if months["judged"]:
            found.append(
                f"{plural(months['judged'], 'judged panel')} among them: the answers {will} with them; "
                "verdicts, claims and what they count for stay"
            )
    else:
        found.append(
            "records of every month stay: no bound is set (--log-months N, or the setting log_months)"
        )
    if left["files"]:
        found.append(f"{plural(left['files'], 'file')} of killed writers {will}")
    return [*found, f"{size(answer['bytes'])} {'would be' if answer['dry_run'] else 'are'} free again"]


def owed(part: dict[str, Any]) -> str:
    return f", {part['owed']:,} of them still owed a verdict" if part["owed"] else ""


def size(count: int) -> str:
    """Bytes as people read them: `1.5 MiB`."""
    for unit, word in UNITS:
        if count >= unit:
            return f"{count / unit:.1f} {word}"
    return f"{count} B"


def months(text: str) -> int:
    """An argparse type: a whole number, 0 included."""
    return 0 if text == "0" else count(text)


COMMANDS = (
    Command(
        "disk",
        "Shows what the data folder holds, by kind: files, bytes, the oldest, and what bounds it.",
        disk,
        (HOME,),
        ("bench disk", "bench disk --json"),
    ),
    Command(
        "prune",
        "Takes away prompts, answers and records past their time. Judged answers stay unless you say so.",
        prune,
        (
            argument("--dry-run", action="store_true", help="only say what would go"),
            argument(
                "--body-days",
                type=count,
                metavar="N",
                help="keep prompts and answers of N days (else as the setting body_days says)",
            ),
            argument(
                "--log-months",
                type=months,
                metavar="N",
                help="keep records of N full months; 0: all (else as the setting log_months says)",
            ),
            argument(
                "--judged-too", action="store_true", help="months may go although panels of theirs are judged"
            ),
            argument("-y", "--yes", action="store_true", help="ask nothing"),
            HOME,
        ),
        ("bench prune --dry-run", "bench prune --body-days 7 --log-months 12"),
    ),
)
