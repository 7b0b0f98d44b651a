"""`bench route`: who of a collection would take a new conversation, and why. Nobody is asked anything."""

import argparse
import json
from typing import Any

from metrics.commands import prompt
from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE, REFUSED, usage
from metrics.commands.output import Console
from metrics.commands.server import Server

STDIN = "-"
FORMATS = ("openai-chat", "openai-responses", "openai-completions", "anthropic", "ollama", "gemini")
BY_RECORD = ("place", "alias", ">chance", ">useful", ">doubt", ">value", ">verdicts", "why")
BY_COUNTS = ("place", "alias", ">chance", ">useful", "why")
DROP = (">doubt", ">verdicts", ">value", ">useful")


def route(args: argparse.Namespace, console: Console, server: Server) -> int:
    asked: dict[str, Any] = {"collection": args.collection}
    if args.file is not None:
        asked |= {"request": body(args.file, console), "format": args.format}
    if args.seed is not None:
        asked["seed"] = args.seed
    answer = server.post("/api/route", asked)
    counted = str(answer.get("policy") or "").startswith("counts")
    columns = BY_COUNTS if counted else BY_RECORD
    rows = [row(one, counted) for one in answer["candidates"]]
    rows += [("-", one["alias"], *[""] * (len(columns) - 3), one["why"]) for one in answer["skipped"]]
    drop = tuple(column for column in DROP if column in columns)
    console.show(answer, console.table(columns, rows, drop) if rows else "")
    if answer.get("problem"):
        if not console.as_json:
            console.warn(f"refused ({answer['problem']['status']}): {answer['problem']['message']}")
        return REFUSED
    if not console.as_json:
        console.note(summary(answer, args.seed))
    return DONE


def body(name: str, console: Console) -> dict[str, Any]:
    """The request in a file, or in the pipe."""
    if name == STDIN:
        text = prompt.piped(console.stdin, lambda: console.note("reading the request from stdin"), True) or ""
    else:
        text = prompt.text_of(name)
    shown = "stdin" if name == STDIN else name
    try:
        asked = json.loads(text)
    except (ValueError, RecursionError) as trouble:
        raise usage(
            f"{shown} is not JSON: {trouble}", "give the body of a request, as an app sends it"
        ) from None
    if not isinstance(asked, dict):
        raise usage(f"{shown} is no JSON object", "give the body of a request, as an app sends it")
    return asked


def row(one: dict[str, Any], counted: bool) -> tuple[str, ...]:
    """A candidate's row. Rates are shares of verdicts that say useful."""
    first = (str(one["place"]), str(one["alias"]), percent(one["p"]))
    if counted:
        return (*first, f"{one['useful']:g}", why(one))
    figures = (percent(one["rate"]), percent(one["doubt"]), percent(one["value"]), f"{one['n']:.1f}")
    return (*first, *figures, why(one))


def why(one: dict[str, Any]) -> str:
    if one.get("rests"):
        return str(one["rests"]["why"])
    return "leads" if one["how"] == "leader" else ""


def percent(share: float) -> str:
    """A share with as many digits as it takes to tell it from nothing."""
    return f"{100 * share:.0f} %" if share >= 0.095 or not share else f"{100 * share:.1f} %"


def summary(answer: dict[str, Any], seed: int | None) -> str:
    told = f"{answer['policy']} on {answer['shape']} (by {answer['shape_by']})"
    if seed is None:
        return f"{told}; a conversation stays with whoever began it"
    return f"{told}; with the seed {seed} the first is {answer['decision']['order'][0]}"


COMMANDS = (
    Command(
        "route",
        "Explains who would take a new conversation in route mode, with what chance, and who would not.",
        route,
        (
            argument("collection", metavar="COLLECTION", help="whose members: see bench collections"),
            argument(
                "-f",
                "--file",
                metavar="FILE",
                help="the body of the request (JSON); - is stdin; else a short question without tools",
            ),
            argument(
                "--format",
                choices=FORMATS,
                default="openai-chat",
                help="the API that the body is written for (openai-chat)",
            ),
            argument("--seed", type=int, metavar="N", help="tell also whom this seed would draw"),
        ),
        ("bench route core", "bench route core -f request.json --json"),
    ),
)
