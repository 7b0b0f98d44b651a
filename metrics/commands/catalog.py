"""`bench catalog …`: what is publicly known of models and their prices, and reading it again."""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE, REFUSED
from metrics.commands.output import Console
from metrics.commands.server import Server
from metrics.commands.tables import UNKNOWN, money, number, yes_no

FEEDS = ("models.dev", "openrouter", "listings")
PATIENCE = 600.0  # seconds: every endpoint is asked for its list, and some are slow to say that they are down
OFFERS = ("=served", "provider", ">context", "tools", "vision", ">$/M in", ">$/M out")


def refresh(args: argparse.Namespace, console: Console, server: Server) -> int:
    wanted = {"feeds": [args.feed]} if args.feed else {}
    answer = replace(server, patience=max(server.patience, PATIENCE)).post("/api/catalog/refresh", wanted)
    rows = [
        (one["feed"], "read" if one["ok"] else "failed", number(one["models"]), one["note"])
        for one in answer["feeds"]
    ]
    console.show(answer, console.table(("=feed", "", ">models", "note"), rows) if rows else "")
    if not rows:
        console.note("there is no endpoint whose list could be read: bench endpoint add NAME --base URL")
    return DONE if answer["read"] or not rows else REFUSED


def show(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.get("/api/catalog", model=args.model)
    console.show(answer, report(answer, console))
    console.note(", ".join(map(_age, FEEDS[:2], map(answer["catalogs"].get, FEEDS))))
    return DONE


def _age(feed: str, read: str | None) -> str:
    return f"{feed} as of {read}" if read else f"{feed} not read yet"


def report(answer: Mapping[str, Any], console: Console) -> str:
    model = answer["model"]
    if model is None:
        return console.table(
            OFFERS, [offer(one) for one in answer["offers"]], ("vision", "tools", ">context")
        )
    rows = [(name, shown(one["value"]), one["source"]) for name, one in model["facts"].items()]
    said = [] if "price" in model["facts"] else [("price", UNKNOWN, "")]
    return f"{model['alias']}  {model['model_id']}\n\n" + console.table(
        ("fact", "value", "source"), rows + said
    )


def offer(one: Mapping[str, Any]) -> tuple[str, ...]:
    facts = one["facts"]
    price = facts.get("price") or {}
    return (
        one["served"],
        one["provider"],
        number(facts.get("context")),
        yes_no(facts.get("tools")),
        yes_no(facts.get("vision")),
        rate(price.get("input")),
        rate(price.get("output")),
    )


def rate(usd: float | None) -> str:
    return money(usd).removeprefix("$")


def shown(value: Any) -> str:
    match value:
        case bool():
            return yes_no(value)
        case int():
            return number(value)
        case list():
            return ", ".join(map(str, value))
        case Mapping():
            return ", ".join(part for name, said in value.items() for part in priced(name, said))
        case _:
            return str(value)


def priced(name: str, said: Any) -> list[str]:
    """A part of a price in words: `input $3`, or `above 200,000 input $6`."""
    if not isinstance(said, list):
        return [f"{name} {money(said) if isinstance(said, int | float) else said}"]
    return [
        f"above {tier['above']:,} {part} {money(usd)}"
        for tier in said
        for part, usd in tier.items()
        if part != "above"
    ]


COMMANDS = (
    Command(
        "catalog show",
        "Shows what is known of a model, and who says so; or who offers a model that is not on the bench.",
        show,
        (argument("model", metavar="MODEL", help="an alias of the bench, or a provider's name for a model"),),
        ("bench catalog show kimi", "bench catalog show gpt-5.5 --json"),
    ),
    Command(
        "catalog refresh",
        "Reads models.dev, OpenRouter and the endpoints' own lists again; exit 1 when none could be read.",
        refresh,
        (argument("--feed", choices=FEEDS, help=f"only one of {', '.join(FEEDS)}"),),
        ("bench catalog refresh", "bench catalog refresh --feed models.dev"),
    ),
)
