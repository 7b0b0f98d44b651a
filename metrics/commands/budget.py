"""`bench budget show` and `bench budget set`: what the bench, a collection or a key may spend."""

import argparse
from typing import Any

from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE
from metrics.commands.key import PERIODS
from metrics.commands.output import Console
from metrics.commands.server import Server


def show(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.get("/api/budgets")
    console.show(answer, told(console, answer))
    return DONE


def put(args: argparse.Namespace, console: Console, server: Server) -> int:
    wanted: dict[str, Any] = {"budget": args.amount}
    whom = {"key": args.key, "collection": args.collection, "unknown_cost": args.unknown_cost}
    answer = server.post("/api/budget", wanted | {name: value for name, value in whom.items() if value})
    console.show(answer, told(console, answer))
    return DONE


def told(console: Console, answer: dict[str, Any]) -> str:
    """Every budget as a table; what has none shows what it spent."""
    columns = ("of", "period", ">spent", ">set aside", ">limit", ">left", "renews", "unknown cost")
    rows = [row for subject, one in answer["budgets"].items() for row in lines(subject, one)]
    return console.table(columns, rows, drop=("unknown cost", "set aside"))


def lines(subject: str, one: dict[str, Any]) -> list[tuple[str, ...]]:
    of = "the bench" if subject == "bench" else subject.replace(":", " ")
    limited = {each["period"]: each for each in one["periods"]}
    rows = []
    for period in PERIODS:
        each = limited.get(period)
        if each is not None:
            amounts = (each["spent_usd"], each["held_usd"], each["limit_usd"], each["left_usd"])
            renews = (each["renews"] or "never")[:16]
            rows.append((of, period, *map(usd, amounts), renews, one["unknown_cost"]))
        elif not limited:
            rows.append((of, period, usd(one["spent"][f"{period}_usd"]), "", "none", "", "", ""))
    return rows


def usd(amount: float) -> str:
    return f"${amount:.2f}" if amount >= 0.1 or not amount else f"${amount:.2g}"


COMMANDS = (
    Command(
        "budget show",
        "Shows what was spent of every budget, what is left, and when it renews.",
        show,
        (),
        ("bench budget show",),
    ),
    Command(
        "budget set",
        "Sets what may be spent: by the whole bench, or by one collection or key.",
        put,
        (
            argument(
                "amount",
                metavar="AMOUNT",
                help="5usd/month, 0.50usd/day, 20usd/total, several with commas; none",
            ),
            argument("--key", one_of="whose", metavar="NAME", help="what this gateway key may spend"),
            argument("--collection", one_of="whose", metavar="NAME", help="what this collection may spend"),
            argument(
                "--unknown-cost",
                choices=("refuse", "allow"),
                help="whether calls are made whose cost cannot be told (refuse)",
            ),
        ),
        (
            "bench budget set 50usd/month",
            "bench budget set 2usd/day,20usd/month --collection review",
            "bench budget set none --key ci",
        ),
    ),
)
