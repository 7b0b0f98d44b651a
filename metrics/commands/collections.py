"""`bench collections` and `bench collection …`: the named panels, who sits in them and how they reply."""

import argparse
from collections.abc import Iterable
from typing import Any

from metrics.commands.command import Argument, Command, argument, did_you_mean, positive, yes_or_no
from metrics.commands.failure import DONE, Failure, usage
from metrics.commands.output import Console
from metrics.commands.server import Server
from metrics.commands.tables import plural, yes_no

REPLIES = ("all", "merged", "route")
SHAPES = ("general", "design", "prose", "review", "code", "enumeration", "quick", "vision")
NOTHING = ("", "none")  # how an option takes a setting away


def collections(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.get("/api/collections")
    rows = [
        (one["name"], members(one), str(one["explorers"]), reply(one), one.get("description") or "")
        for one in answer["collections"]
    ]
    console.show(answer, console.table(("name", "members", ">explorers", "reply", "description"), rows))
    console.remarks(answer)
    return DONE


def show(args: argparse.Namespace, console: Console, server: Server) -> int:
    """One collection; under --json {"ok": true, "collection": {...}}."""
    known = {one["name"]: one for one in server.get("/api/collections")["collections"]}
    if args.name not in known:
        raise no_such(args.name, known)
    one = known[args.name]
    console.show({"ok": True, "collection": one}, console.table(("setting", "value"), settings(one)))
    return DONE


def no_such(name: str, names: Iterable[str]) -> Failure:
    """The failure for a collection that is not among `names`."""
    hint = f"{did_you_mean(name, names)}see: bench collections"
    return Failure(404, f"there is no collection {name}", kind="not_found", hint=hint)


def save(args: argparse.Namespace, console: Console, server: Server) -> int:
    wanted = changes(args)
    if not wanted:
        raise usage(
            "collection save: nothing to save", f"bench collection save {args.name} --members ALIAS,ALIAS"
        )
    answer = server.post("/api/collection", {"name": args.name, **wanted})
    one = answer["collection"]
    summary = (
        f"{plural(len(one['members']), 'member')}, {plural(one['explorers'], 'explorer')}, reply {reply(one)}"
    )
    console.show(answer, f"saved {one['name']}: {summary}\n")
    return DONE


def remove(args: argparse.Namespace, console: Console, server: Server) -> int:
    if (
        console.interactive
        and not args.yes
        and console.ask(f"remove the collection {args.name}? [y/N] ").lower() != "y"
    ):
        raise Failure(400, f"{args.name} was not removed", kind="declined", hint="say y, or give --yes")
    answer = server.post("/api/collection/remove", {"name": args.name})
    console.show(answer, f"removed {args.name}\n")
    return DONE


def changes(args: argparse.Namespace) -> dict[str, Any]:
    """The settings that the line names; one that it takes away is null."""
    said = {
        "members": listed(args.members),
        "add": listed(args.add),
        "remove": listed(args.remove),
        "explorers": args.explorers,
        "reply": args.reply,
        "description": args.description,
        "tags": listed(args.tags),
        "drop_hosted_tools": args.drop_hosted_tools,
        "shadow": args.shadow,
        "shadow_daily": args.shadow_daily,
    }
    wanted = {name: value for name, value in said.items() if value is not None}
    for name in ("merger", "shape", "deadline"):
        value = getattr(args, name)
        if value is not None:
            wanted[name] = None if value in NOTHING else value
    return wanted


def listed(text: str | None) -> list[str] | None:
    """`a, b,c` as its parts; None stays None."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def limit(text: str) -> float | str:
    """An argparse type: seconds, or "none"."""
    return "none" if text in NOTHING else positive(text)


def some(text: str) -> int:
    """An argparse type: a whole number, none included."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def share(text: str) -> float:
    """An argparse type: a share of all, from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return value


def members(one: dict[str, Any]) -> str:
    """The members by name; one that is gone from the bench says so."""
    return ", ".join(
        who["alias"] + ("" if who.get("present", True) else " (missing)") for who in one["members"]
    )


def reply(one: dict[str, Any]) -> str:
    return (
        f"{one['reply']} by {one['merger']}"
        if one["reply"] == "merged" and one.get("merger")
        else str(one["reply"])
    )


def settings(one: dict[str, Any]) -> list[tuple[str, ...]]:
    deadline = one.get("deadline")
    return [
        ("name", one["name"]),
        ("members", members(one)),
        ("explorers", str(one["explorers"])),
        ("reply", one["reply"]),
        ("merger", one.get("merger") or "chosen for each panel"),
        ("shape", one.get("shape") or "found for each request"),
        ("deadline", f"{deadline:g} s a seat" if deadline else "the server's"),
        ("description", one.get("description") or ""),
        ("tags", ", ".join(one.get("tags") or ())),
        ("drop hosted tools", yes_no(bool(one.get("drop_hosted_tools")))),
        ("shadow", shadow(one)),
    ]


def shadow(one: dict[str, Any]) -> str:
    rate = one.get("shadow") or 0
    return f"{rate:g} of the route turns, at most {one.get('shadow_daily')} a day" if rate else "none"


NAME = argument("name", metavar="NAME", help="the collection")
YES = argument("-y", "--yes", action="store_true", help="do not ask first (nothing is asked in a script)")
SETTINGS: tuple[Argument, ...] = (
    argument("--members", metavar="A,B,C", help="exactly these models, by alias"),
    argument("--add", metavar="A,B", help="these members too"),
    argument("--remove", metavar="A,B", help="without these members"),
    argument("--explorers", type=some, metavar="N", help="how many others are tried beside the members (1)"),
    argument("--reply", choices=REPLIES, help="every answer, one merged answer, or one model's"),
    argument("--merger", metavar="ALIAS", help="who merges; none: chosen each time"),
    argument("--shape", metavar="S", help=f"the task it is for ({', '.join(SHAPES)}); none: found each time"),
    argument("--deadline", type=limit, metavar="S", help="seconds a seat may take; none: the server's"),
    argument("--description", metavar="T", help="what it is for, up to 300 characters"),
    argument("--tags", metavar="A,B", help="lower-case words"),
    argument(
        "--drop-hosted-tools",
        type=yes_or_no,
        metavar="yes|no",
        help="answer without the tools that run at a vendor, instead of refusing them (no)",
    ),
    argument(
        "--shadow",
        type=share,
        metavar="RATE",
        help="of the route turns, how many another member answers too, unseen: 0 to 1 (0)",
    ),
    argument("--shadow-daily", type=some, metavar="N", help="the most such turns a day (50)"),
)
COMMANDS = (
    Command(
        "collections", "Lists the collections: name, members, reply.", collections, (), ("bench collections",)
    ),
    Command("collection show", "Shows one collection.", show, (NAME,), ("bench collection show core",)),
    Command(
        "collection save",
        "Makes a collection or changes the settings named; the others stay.",
        save,
        (NAME, *SETTINGS),
        (
            "bench collection save review --members opus,gpt,kimi --explorers 1",
            "bench collection save review --add glm --remove kimi",
            "bench collection save fast --members haiku,flash --reply route --deadline 20",
        ),
    ),
    Command(
        "collection rm",
        "Removes a collection; its panels and verdicts stay.",
        remove,
        (NAME, YES),
        ("bench collection rm old",),
    ),
)
