"""`bench backup` and `bench restore`: the data folder as one file, and back.

A running server gives the copy, since it alone knows what it has not written yet; where none has the folder,
it is read where it lies. A restore is made without a server, into a folder that none has.
"""

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE, Failure, usage
from metrics.commands.output import Console, quoted
from metrics.commands.server import GLANCE, Server
from metrics.commands.tables import plural
from metrics.records import Problem
from metrics.store import backup, disk, home, restore

NO_API = (404, 405)  # what the gateway alone says of /api
INSTEAD = {
    "conflict": "--into FOLDER restores elsewhere; --replace sets aside what is there",
    "in_use": "stop the server of that folder first, or restore elsewhere: --into FOLDER",
}


def save(args: argparse.Namespace, console: Console, server: Server) -> int:
    target = args.file
    if target.exists():
        raise usage(f"{target} is there already", "give a name that is not, or remove that file first")
    if not target.absolute().parent.is_dir():
        raise usage(f"there is no folder {target.parent}", "make it first, or name another")
    part = target.with_name(f".{target.name}.part")
    folder, pieces = source(args, console, server)
    try:
        try:
            disk.put(part, pieces, durable=True)
            if args.with_secrets:
                backup.seal(part, folder)
            found = restore.check(part)
            os.rename(part, target)
        except OSError as error:
            raise disk.refusal(error, str(target)) from None
    finally:
        with suppress(OSError):
            part.unlink()
    report = told(found) | {"file": str(target), "action": "backup", "compressed": target.stat().st_size}
    console.show(report, f"saved {amount(report)} to {target}\n")
    if not args.with_secrets:
        console.note(WITHOUT)
    foreign = [name for name in found.left_out if name not in backup.SECRETS]
    if foreign:
        console.note(f"not of the data folder, and left out: {', '.join(foreign)}")
    return DONE


WITHOUT = (
    "no secret is in it: providers' keys, sessions and invitations are left out; --with-secrets takes them "
    "along, then keep the file as you keep a password"
)


def source(args: argparse.Namespace, console: Console, server: Server) -> tuple[Path, Iterator[bytes]]:
    """The data folder that is meant, and the pieces of its copy. Raises Failure where it is on another
    computer and its secrets are asked for."""
    chosen = home.choose(args.home, console.env)
    there = None if args.home else answering(server)
    if there is None:
        if not chosen.is_dir():
            raise Failure(404, f"there is no data folder {chosen}", kind="not_found", hint="bench init")
        home.use(chosen)
        return chosen, _local(console, server)
    chosen = Path(there["home"])
    if args.with_secrets and not _has(chosen, there):
        raise Failure(
            403,
            f"secrets do not leave the computer of the server at {server.base}",
            kind="forbidden",
            hint="run it there, or leave --with-secrets out",
        )
    return chosen, server.download("/api/backup")


def answering(server: Server) -> dict[str, Any] | None:
    """What the server says of itself; None where nobody named one and none answers."""
    try:
        return replace(server, patience=min(server.patience, GLANCE * 5)).get("/api/status")
    except Failure as failure:
        if failure.kind == "no_server" and not server.named:
            return None
        raise


def _has(folder: Path, status: dict[str, Any]) -> bool:
    """Whether that server's folder is this one, here."""
    return folder.is_dir() and (home.owner(folder) or {}).get("pid") == status.get("pid")


def _local(console: Console, server: Server) -> Iterator[bytes]:
    """The copy of the current folder: by the server that has it, else by this process."""
    owner = home.owner()
    if owner and owner.get("port"):
        try:
            yield from replace(server, base=f"http://127.0.0.1:{owner['port']}").download("/api/backup")
            return
        except Failure as failure:
            if failure.status not in NO_API:
                raise
        console.note("the gateway runs without the dashboard: what it did in the last second may be left out")
    with nullcontext() if owner else home.own():
        yield from backup.packed(backup.cut(time.time()))


def bring_back(args: argparse.Namespace, console: Console, server: Server) -> int:
    import serve  # noqa: F401 - with it comes every file's version, by which a newer program's is refused

    found = restore.check(args.file)
    report = told(found) | {"file": str(args.file), "action": "check" if args.check else "restore"}
    if args.check:
        console.show(report, f"{args.file} is whole: {amount(report)}, of {found.at}\n")
        return DONE
    folder = home.choose(args.into, console.env)
    try:
        aside = restore.put(found, folder, args.replace, time.time())
    except Problem as problem:
        hint = INSTEAD.get(problem.kind, "")
        raise Failure(problem.status, problem.message, kind=problem.kind, hint=hint) from None
    report |= {"home": str(folder), "set_aside": str(aside) if aside else None}
    start = console.spelled(f"bench serve --home {quoted(str(folder))}" if args.into else "bench serve")
    said = f"restored {amount(report)}, of {found.at}, to {folder}\n"
    console.show(report | {"next": start}, f"{said}start the server: {start}\n")
    for line in remarks(found, aside):
        console.note(line)
    return DONE


def remarks(found: restore.Found, aside: Path | None) -> list[str]:
    said = [f"what was there is in {aside}: remove it once all is well"] if aside else []
    if "credentials.json" not in found.files:
        said.append(
            "no provider's key was in it: bench endpoints tells which are missing; "
            "give one with: bench endpoint key NAME --key-stdin"
        )
    return said


def told(found: restore.Found) -> dict[str, Any]:
    """What `--json` prints of a backup."""
    return {
        "at": found.at,
        "program": found.program,
        "files": len(found.files),
        "bytes": found.size,
        "secrets": list(found.secrets),
        "left_out": list(found.left_out),
    }


def amount(report: dict[str, Any]) -> str:
    secrets = f", {plural(len(report['secrets']), 'of them')} secret" if report["secrets"] else ""
    return f"{plural(report['files'], 'file')} ({report['bytes']:,} bytes{secrets})"


COMMANDS = (
    Command(
        "backup",
        "Saves the data folder in one file, also while the server works, and reads that file once through.",
        save,
        (
            argument("file", type=Path, metavar="FILE", help="where to; a zip file that is not there yet"),
            argument(
                "--with-secrets",
                action="store_true",
                help="providers' keys and sessions too; only on the server's own computer",
            ),
            argument("--home", type=Path, metavar="DIR", help="this data folder, not that of the server"),
        ),
        ("bench backup monday.zip", "bench backup --with-secrets --home ./data full.zip"),
    ),
    Command(
        "restore",
        "Makes a data folder from a backup, after looking all of it through. No server may have the folder.",
        bring_back,
        (
            argument("file", type=Path, metavar="FILE", help="what bench backup saved"),
            argument("--into", type=Path, metavar="FOLDER", help="the data folder (else yours)"),
            argument(
                "--replace",
                action="store_true",
                help="although the folder is not empty; what is in it is set aside in it",
            ),
            argument("--check", action="store_true", help="only say whether the backup is whole"),
        ),
        ("bench restore monday.zip --check", "bench restore monday.zip --into ./data"),
    ),
)
