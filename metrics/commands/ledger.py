"""`bench ledger merge`: the ledgers of several gateways as one, for the tools that read ledgers. It reads and
writes files where it runs, and asks no server."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE, usage
from metrics.commands.output import Console
from metrics.commands.server import Server
from metrics.commands.tables import plural
from metrics.limits import merging


def merge(args: argparse.Namespace, console: Console, server: Server) -> int:
    sources = list(dict.fromkeys(path.resolve() for name in args.file for path in files(name)))
    out = args.out.absolute()
    check(out, sources, args.replace)
    merged = merging.merge(sources, out)
    calls = sum(merged.months.values())
    if merged.unreadable and not calls:
        raise usage(
            "no line of these files is a call", "name a gateway's ledger, such as ledger/2026-11.jsonl"
        )
    report = {
        "out": str(out),
        "files": len(sources),
        "rows": calls,
        "months": merged.months,
        "duplicates": merged.duplicates,
        "unreadable": merged.unreadable,
    }
    rows = [(month, f"{count:,}") for month, count in merged.months.items()]
    console.show(report, console.table(("month", ">calls"), rows) if rows else "")
    console.note(
        f"{plural(calls, 'call')} of {plural(len(sources), 'file')} in {out}; "
        f"{plural(merged.duplicates, 'duplicate')} left out"
    )
    if merged.unreadable:
        console.warn(f"{plural(merged.unreadable, 'line')} could not be read and are left out")
    return DONE


def files(name: Path) -> Iterator[Path]:
    """The ledger's files that `name` means: itself, or those of a data folder or of its ledger."""
    if name.is_file():
        yield name
        return
    place = name / "ledger" if (name / "ledger").is_dir() else name
    found = sorted(place.glob("*.jsonl")) if place.is_dir() else []
    if not found:
        raise usage(
            f"there is no ledger in {name}", "name files such as 2026-11.jsonl, or folders that hold them"
        )
    yield from found


def check(out: Path, sources: Sequence[Path], replace: bool) -> None:
    """Raises Failure "usage" where the merged files would take the place of what they are made of, or of a
    gateway's own."""
    if out.is_file():
        raise usage(f"{out} is a file", "name a folder: it gets a file a month")
    if (out / "counters").exists() or any(path.parent == out.resolve() for path in sources):
        raise usage(f"{out} holds a ledger that is read or in use", "name another folder")
    if not replace and any(out.glob("*.jsonl")):
        raise usage(f"{out} has files already", "--replace writes them anew, or name another folder")


COMMANDS = (
    Command(
        "ledger merge",
        "Makes one ledger of those of several gateways: every call once, in a file a month.",
        merge,
        (
            argument("file", type=Path, nargs="+", metavar="FILE", help="ledger files, or data folders"),
            argument("-o", "--out", type=Path, required=True, metavar="FOLDER", help="where to"),
            argument("--replace", action="store_true", help="write over the files that are there"),
        ),
        (
            "bench ledger merge gateway-1 gateway-2 -o merged",
            "bench ledger merge */2026-11.jsonl -o merged --replace",
        ),
    ),
)
