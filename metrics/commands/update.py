"""`bench update`: a newer version, by whatever installed this one. `--check` only says how.

Nothing is asked of any network to say so: the command is the installer's own, and it is the one that looks.
"""

import argparse
import shutil
import subprocess
from typing import Any

from metrics.commands import installed
from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE, REFUSED, Failure, usage
from metrics.commands.installed import Way
from metrics.commands.output import Console, quoted
from metrics.commands.server import Server
from metrics.version import VERSION

AFTER = "then start the server anew: the one that runs stays as it is until then"


def update(args: argparse.Namespace, console: Console, server: Server) -> int:
    place = installed.place(console.env)
    way = installed.way(place)
    report = document(way, str(place.archive or place.folder))
    if args.check:
        console.show(report, f"{line(way) or way.first}\n")
        for remark in remarks(way, report["place"]):
            console.note(remark)
        return DONE
    if not way.runs:
        message = f"this program was installed as {way.name} and is not updated from in here"
        raise Failure(409, message, kind="update", hint=" ".join(filter(None, (way.first, line(way)))))
    if not args.yes:
        confirm(way, console)
    console.note(line(way))
    # What the installer says is no part of the one document that --json promises.
    code = run(way, 2 if console.as_json else None)
    console.show({**report, "exit": code}, "")
    if code == DONE:
        console.note(AFTER)
        return DONE
    console.warn(f"{way.words[0]} ended with {code}: this program is as it was, unless it says otherwise")
    return REFUSED


def document(way: Way, place: str) -> dict[str, Any]:
    """What `--json` prints: `command` is null where there is none to run; `runs`: `bench update` runs it."""
    return {
        "version": VERSION,
        "installed": way.name,
        "place": place,
        "command": line(way) or None,
        "runs": way.runs,
        "first": way.first or None,
        "remove": way.remove,
    }


def line(way: Way) -> str:
    return " ".join(map(quoted, way.words))


def remarks(way: Way, place: str) -> list[str]:
    """What a person should know beside the command."""
    said = [f"version {VERSION}, installed by {way.name}: {place}"]
    said += [way.first] if way.first and way.words else []
    return [*said, AFTER, f"to remove it, the data folder apart: {way.remove}"]


def confirm(way: Way, console: Console) -> None:
    if not console.interactive:
        raise usage("update: a script has to say --yes", f"bench update --yes runs: {line(way)}")
    if console.ask(f"run {line(way)}? [y/N] ").lower() not in ("y", "yes"):
        raise Failure(499, "nothing was changed", kind="interrupted", hint="bench update --check")


def run(way: Way, stdout: int | None) -> int:
    program = (
        shutil.which(way.words[0]) or way.words[0]
    )  # on Windows npm is a batch file, found by its ending
    try:
        return subprocess.call((program, *way.words[1:]), stdout=stdout)
    except OSError as trouble:
        why = trouble.strerror or str(trouble)
        message = f"{way.words[0]} cannot be started: {why}"
        raise Failure(500, message, kind="not_started", hint=f"run it yourself: {line(way)}") from None


COMMANDS = (
    Command(
        "update",
        "Brings a newer version by whatever installed this one. --check only says how, and asks no network.",
        update,
        (
            argument("--check", action="store_true", help="print the command that updates, and run nothing"),
            argument("-y", "--yes", action="store_true", help="ask nothing"),
        ),
        ("bench update --check", "bench update"),
    ),
)
