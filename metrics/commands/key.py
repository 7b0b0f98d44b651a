"""`bench keys` and `bench key …`: who may ask the gateway, for what and for how much.

A key is shown once, alone on stdout, so that it can go into a variable; the rest goes to stderr.
"""

import argparse
from typing import Any

from metrics.commands.collections import listed
from metrics.commands.command import Argument, Command, argument, count
from metrics.commands.failure import DONE, REFUSED, Failure
from metrics.commands.output import Console
from metrics.commands.server import Server

PERIODS = ("day", "month", "total")


def keys(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.get("/api/keys")
    rows = [
        (one["name"], one["prefix"], state(one), scope(one), limits(one), one["last_used"] or "never")
        for one in answer["keys"]
    ]
    columns = ("name", "key", "state", "opens", "limits", "last used")
    console.show(answer, console.table(columns, rows, drop=("last used",)))
    console.remarks(answer)
    return DONE


def create(args: argparse.Namespace, console: Console, server: Server) -> int:
    wanted = {
        "collections": listed(args.collections),
        "models": listed(args.models),
        "modes": listed(args.modes),
        "rpm": args.rpm,
        "tpm": args.tpm,
        "budget": args.budget,
        "unknown_cost": args.unknown_cost,
        "expires": args.expires,
    }
    given = {name: value for name, value in wanted.items() if value is not None}
    answer = server.post("/api/key/create", {"name": args.name, **given})
    console.show(answer, f"{answer['key']}\n")
    console.note(f"this is the key of {args.name}; it is shown once and kept nowhere")
    return DONE


def show(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.get("/api/keys", name=args.name)
    console.show(answer, console.table(("setting", "value"), settings(answer["keys"][0])))
    return DONE


def rotate(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.post("/api/key/rotate", {"name": args.name})
    console.show(answer, f"{answer['key']}\n")
    console.note(f"this is the new key of {args.name}; the old one opens nothing any more")
    return DONE


def disable(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.post("/api/key/disable", {"name": args.name})
    console.show(answer, f"{args.name} is disabled\n")
    return DONE


def enable(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.post("/api/key/enable", {"name": args.name})
    console.show(answer, f"{args.name} is enabled\n")
    return DONE


def revoke(args: argparse.Namespace, console: Console, server: Server) -> int:
    question = f"revoke the key {args.name} for good? [y/N] "
    if console.interactive and not args.yes and console.ask(question).lower() != "y":
        raise Failure(400, f"{args.name} was not revoked", kind="declined", hint="say y, or give --yes")
    answer = server.post("/api/key/revoke", {"name": args.name})
    console.show(answer, f"revoked {args.name}\n")
    return DONE


def effective(args: argparse.Namespace, console: Console, server: Server) -> int:
    """What would happen and why; exit 1 when it would be refused."""
    answer = server.get("/api/key/effective", name=args.name, model=args.model)
    rows = [
        (one["alias"], "yes" if one["why"] is None else "no", one["why"] or "") for one in answer["members"]
    ]
    verdict = f"{args.name} asks {args.model}: {answer['status']}, {answer['why']}\n"
    members = console.table(("member", "asked", "why"), rows) if rows else ""
    purse = "".join(f"{line}\n" for line in map(budget, answer["budgets"]))
    console.show(answer, verdict + members + purse)
    return DONE if answer["allowed"] else REFUSED


def state(one: dict[str, Any]) -> str:
    return "disabled" if not one["enabled"] else "expired" if one["expired"] else "good"


def scope(one: dict[str, Any]) -> str:
    """What a key opens, in words."""
    parts = [", ".join(one["collections"]) if one["collections"] is not None else "every collection"]
    parts += [f"models {', '.join(one['models'])}"] if one["models"] is not None else []
    parts += [f"modes {', '.join(one['modes'])}"] if one["modes"] is not None else []
    return "; ".join(parts)


def limits(one: dict[str, Any]) -> str:
    parts = [f"{one[name]:,} {name}" for name in ("rpm", "tpm") if one[name]]
    parts += [f"${amount:g}/{period}" for period, amount in (one["budget"] or {}).items()]
    return ", ".join(parts) or "none"


def budget(one: dict[str, Any]) -> str:
    """A budget as it stands, in a line."""
    held = f" and ${one['held_usd']:.4g} set aside" if one["held_usd"] else ""
    renews = f"; renews {one['renews'][:16]}Z" if one["renews"] else ""
    spent = f"${one['spent_usd']:.4g} spent{held} of ${one['limit_usd']:g}"
    return f"{one['whose']}, {one['period']}: {spent}{renews}"


def settings(one: dict[str, Any]) -> list[tuple[str, str]]:
    spent = one["spent"]
    unknown = f", {spent['unknown_calls']} calls of unknown cost" if spent["unknown_calls"] else ""
    return [
        ("name", one["name"]),
        ("key", one["prefix"]),
        ("state", state(one)),
        ("created", one["created"] or "unknown"),
        ("expires", one["expires"] or "never"),
        ("last used", one["last_used"] or "never"),
        ("opens", scope(one)),
        ("limits", limits(one)),
        ("unknown cost", one["unknown_cost"] if one["budget"] else "no budget"),
        *((f"spent, {period}", f"${spent[f'{period}_usd']:.4g}") for period in PERIODS[:2]),
        ("spent, total", f"${spent['total_usd']:.4g}{unknown}"),
    ]


NAME = argument("name", metavar="NAME", help="the key's name")
LIMITS: tuple[Argument, ...] = (
    argument("--collections", metavar="A,B", help="these collections alone"),
    argument("--models", metavar="A,B", help="answers of these models alone, by alias"),
    argument("--modes", metavar="M,M", help="these ways of asking alone: all, merged, route"),
    argument("--rpm", type=count, metavar="N", help="requests a minute"),
    argument("--tpm", type=count, metavar="N", help="tokens a minute"),
    argument("--budget", metavar="AMOUNT", help="USD a day, a month or in total: 5usd/month, 0.50usd/day"),
    argument(
        "--unknown-cost",
        choices=("refuse", "allow"),
        help="with a budget: whether calls are made whose cost cannot be told (refuse)",
    ),
    argument("--expires", metavar="SPAN", help="when it ends: 90d, 12h, or a date"),
)
COMMANDS = (
    Command(
        "keys", "Lists the gateway keys: what each opens and when it was used.", keys, (), ("bench keys",)
    ),
    Command(
        "key create",
        "Makes a key and prints it, once.",
        create,
        (NAME, *LIMITS),
        (
            "bench key create ci --collections review --rpm 60 --budget 5usd/month",
            "bench key create guest --modes route --models haiku,flash --expires 7d",
        ),
    ),
    Command(
        "key show",
        "Shows what a key opens, its limits and what it spent.",
        show,
        (NAME,),
        ("bench key show ci",),
    ),
    Command(
        "key effective",
        "Says what would happen if a key asked a model now, and why; exit 1 when it would be refused.",
        effective,
        (
            NAME,
            argument("--model", required=True, metavar="M", help="as a caller writes it: bench/core:route"),
        ),
        ("bench key effective ci --model bench/core:route",),
    ),
    Command("key disable", "Lets a key open nothing for now.", disable, (NAME,), ("bench key disable ci",)),
    Command("key enable", "Lets a disabled key in again.", enable, (NAME,), ("bench key enable ci",)),
    Command(
        "key rotate",
        "Replaces a key and prints the new one; name, limits and spend stay.",
        rotate,
        (NAME,),
        ("bench key rotate ci",),
    ),
    Command(
        "key revoke",
        "Removes a key for good; its calls stay in the ledger.",
        revoke,
        (NAME, argument("-y", "--yes", action="store_true", help="do not ask first")),
        ("bench key revoke ci",),
    ),
)
