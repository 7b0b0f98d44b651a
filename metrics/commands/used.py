"""`bench usage`: calls, tokens and money, by model, key, collection, purpose, endpoint or day."""

import argparse
import csv
import io
from collections.abc import Mapping
from typing import Any

from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE
from metrics.commands.output import Console
from metrics.commands.server import Server
from metrics.commands.tables import UNKNOWN, money, number, plural

BY = ("model", "collection", "key", "purpose", "day", "endpoint")
COUNTS = (
    *("calls", "errors", "interrupted", "priced_calls", "unknown_calls", "known_usd"),
    *("estimated_calls", "unmetered_calls"),
)
KINDS = ("uncached_in", "cache_read", "cache_write", "out", "reasoning")
COLUMNS = (
    ">calls",
    ">errors",
    ">in",
    ">cached",
    ">written",
    ">out",
    ">reasoning",
    ">cost",
    ">unknown",
    "note",
)
DROP = ("note", ">reasoning", ">written", ">cached", ">errors", ">unknown")  # where a terminal is narrow


def usage(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.get("/api/usage", by=args.by, since=args.since)
    if args.csv and not console.as_json:
        console.write(as_csv(answer))
        return DONE
    rows = [row(one) for one in answer["rows"]]
    if len(rows) > 1:
        rows.append(row({**answer["total"], "name": "total"}))
    console.show(answer, console.table((f"={answer['by']}", *COLUMNS), rows, DROP) if rows else "")
    for line in notes(answer):
        console.note(line)
    return DONE


def row(one: Mapping[str, Any]) -> tuple[str, ...]:
    tokens = one["tokens"]
    return (
        str(one["name"] or "(none)"),
        number(one["calls"]),
        number(one["errors"]),
        *(number(tokens[kind]) for kind in KINDS),
        cost(one),
        number(one["unknown_calls"]),
        remarks(one),
    )


def cost(one: Mapping[str, Any]) -> str:
    """What is known; a sum that is not the whole says so, and unknown is never nothing."""
    known: float | None = one["known_usd"]
    return UNKNOWN if known is None else f"{'≥ ' if one['unknown_calls'] else ''}{money(known)}"


def remarks(one: Mapping[str, Any]) -> str:
    """What the figures rest on, where that is not the provider's own count."""
    said = (
        ("estimated_calls", "estimated"),
        ("unmetered_calls", "uncounted"),
        ("interrupted", "interrupted"),
    )
    return ", ".join(f"{one[field]:,} {word}" for field, word in said if one[field])


def notes(answer: Mapping[str, Any]) -> list[str]:
    dark = answer["total"]["unknown_calls"]
    said = [f"since {answer['since']}"] if answer["since"] else ["nothing was asked in that time"]
    if dark:  # a call that failed has a price and no tokens: another price would not help it
        uncounted = "tokens not counted, or no price: " if answer["total"]["unmetered_calls"] else ""
        price = "bench model price ALIAS in=USD,out=USD prices the next"
        said.append(f"{plural(dark, 'call')} of unknown cost: {uncounted}{price}")
    if not answer.get("complete", True):
        said.append("the ledger is being counted again: these figures are not all of it yet")
    return said


def as_csv(answer: Mapping[str, Any]) -> str:
    """A line for each, with the exact figures; an unknown cost is an empty field."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow((answer["by"], *COUNTS, *KINDS))
    for one in answer["rows"]:
        counts = [shown(one[field]) for field in COUNTS]
        lines.writerow((one["name"] or "", *counts, *(one["tokens"][kind] for kind in KINDS)))
    return text.getvalue()


def shown(value: float | None) -> str:
    """A figure as tables of other programs read it: all its digits, no exponent."""
    return "" if value is None else str(value) if isinstance(value, int) else f"{value:.12f}"


COMMANDS = (
    Command(
        "usage",
        "Shows calls, tokens and cost, by model or by something else; what is not known is said to be so.",
        usage,
        (
            argument("--by", choices=BY, default="model", help=f"one of {', '.join(BY)} (model)"),
            argument("--since", metavar="SPAN", help="12h, 7d, 4w, or a date (all that is kept)"),
            argument("--csv", action="store_true", help="comma-separated, with exact figures"),
        ),
        ("bench usage --since 7d", "bench usage --by key --since 2026-11-01 --csv"),
    ),
)
