"""`bench cost`: what a provider's invoice says beside the ledger.

The ledger is read where it lies, by this process: it may be long, and the server has others to serve.
"""

import argparse
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE, REFUSED, Failure
from metrics.commands.output import Console
from metrics.commands.server import Server
from metrics.commands.tables import UNKNOWN, money, plural
from metrics.limits import reconcile
from metrics.limits.cost import UNITS
from metrics.store import lines

COLUMNS = ("=key", ">billed", ">ledger", ">calls", ">unknown", "why")
SHOWN = 50  # of what differs, for people; --json has all
LARGEST = 200_000_000  # bytes of a file
MONTH = re.compile(r"\d{4}-\d\d\.jsonl")


def cost(args: argparse.Namespace, console: Console, server: Server) -> int:
    billed = reconcile.invoice(reconcile.rows_of(content(args.reconcile), args.reconcile))
    folder = args.home or Path(server.get("/api/status")["home"])
    rows = (row for row in ledger(folder, billed) if args.endpoint in (None, row.get("endpoint")))
    found = reconcile.compare(billed, rows, args.tolerance)
    console.show(found, report(found, console))
    for line in notes(found):
        console.note(line)
    return REFUSED if found["differ"] else DONE


def content(name: str) -> str:
    """The file's text. Raises Failure "usage" where there is none that could be read."""
    try:
        with open(name, "rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise Failure(400, f"{name} cannot be read: {error.strerror}", kind="usage") from None
    if len(raw) > LARGEST:
        raise Failure(400, f"{name} is larger than {LARGEST // 10**6} MB: split it by day", kind="usage")
    return raw.decode("utf-8-sig", "replace")


def ledger(folder: Path, billed: dict[reconcile.Key, reconcile.Line]) -> Iterator[reconcile.Row]:
    """The rows of the months that could hold what was billed."""
    place = folder / "ledger"
    months = sorted(file for file in place.glob("*.jsonl") if MONTH.fullmatch(file.name))
    if not months:
        raise Failure(
            404,
            f"there is no ledger in {place} on this computer",
            kind="not_found",
            hint="run it where the server runs, or name the data folder with --home DIR",
        )
    days = [key[0] for key in billed if len(key) == 2]
    for file in months:
        if days and not min(days)[:7] <= file.stem <= max(days)[:7]:
            continue
        for piece in lines.forwards(file, 0, lines.size_of(file)):
            yield from filter(None, (lines.decode(line) for _, line in piece))


def report(found: dict[str, Any], console: Console) -> str:
    rows = [
        (
            one["key"],
            money(one["billed_usd"]) if one["billed_usd"] is not None else "-",
            money(one["ledger_usd"]) if one["calls"] else "-",
            f"{one['calls']:,}",
            f"{one['unknown_calls']:,}",
            one["why"],
        )
        for one in found["differ"][:SHOWN]
    ]
    return console.table(COLUMNS, rows, (">unknown", ">calls")) if rows else ""


def notes(found: dict[str, Any]) -> list[str]:
    totals, differ = found["totals"], len(found["differ"])
    said = [
        f"by {found['by']}: {found['agree']:,} agree, {differ:,} differ",
        f"billed {money(totals['billed_usd'])}, in the ledger {money(totals['ledger_usd'])}",
    ]
    dark = sum(one["unknown_calls"] for one in found["differ"])
    if dark:
        said.append(
            f"{plural(dark, 'call')} of {UNKNOWN} cost; for the next: bench model price ALIAS in=USD,out=USD"
        )
    if differ > SHOWN:
        said.append(f"{SHOWN} of {differ:,} are shown, the dearest first; --json has all of them")
    return said


def tolerance(text: str) -> int:
    """An argparse type: USD that two figures may differ by, in exact units."""
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        amount = Decimal(-1)
    if not (amount.is_finite() and 0 <= amount < 10**6):
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount of USD such as 0.01")
    return int(amount * UNITS)


COMMANDS = (
    Command(
        "cost",
        "Compares an invoice or export with the ledger and lists what differs; exit 1 when something does.",
        cost,
        (
            argument(
                "--reconcile",
                required=True,
                metavar="FILE",
                help="CSV or JSON lines: request id and cost, or day, model and cost",
            ),
            argument("--endpoint", metavar="NAME", help="only the calls of this endpoint"),
            argument(
                "--tolerance",
                type=tolerance,
                default=0,
                metavar="USD",
                help="what two figures may differ by, beside the rounding of the file's own digits (0)",
            ),
            argument("--home", type=Path, metavar="DIR", help="the data folder (the server's)"),
        ),
        (
            "bench cost --reconcile invoice.csv",
            "bench cost --reconcile usage.jsonl --endpoint openrouter --json",
        ),
    ),
)
