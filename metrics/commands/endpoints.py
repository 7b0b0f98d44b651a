"""`bench endpoints` and `bench endpoint …`: where models are reached, and with which key."""

import argparse
from typing import Any

from metrics.commands import keys
from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE, REFUSED, Failure, usage
from metrics.commands.output import Console
from metrics.commands.server import Server
from metrics.commands.tables import plural

SOME = 12  # model ids shown of a listing


def endpoints(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.get("/api/endpoints")
    rows = [
        (one["name"], kind(one), one.get("api") or "", key_of(one), str(one["models"]), one["base"])
        for one in answer["endpoints"]
    ]
    console.show(answer, console.table(("name", "kind", "api", "key", ">models", "base"), rows))
    console.remarks(answer)
    return DONE


def add(args: argparse.Namespace, console: Console, server: Server) -> int:
    key = keys.key(args, console, args.name, args.base)
    fields = {
        "name": args.name,
        "base": args.base,
        "api": args.api,
        "profile": args.profile,
        "kind": args.kind,
        "key": key,
    }
    wanted: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    if args.no_test:
        wanted["test"] = False
    if args.default:
        wanted["default"] = True
    known = {one["name"]: one for one in server.get("/api/endpoints")["endpoints"]}
    answer = server.post("/api/endpoint", wanted)
    said = f"{news(known.get(args.name), answer)}\n{listing(args.name, answer)}"
    console.show(answer, console.spelled(said))
    console.note(f"seat one of its models: bench model add ALIAS --endpoint {args.name} --served ID")
    return DONE


def news(before: dict[str, Any] | None, answer: dict[str, Any]) -> str:
    """`saved x`, or of an endpoint that was there already what is different now."""
    now = answer.get("endpoint") or {}
    if before is None:
        return f"saved {now.get('name')}"
    was, became = looks(before), looks(now)
    changes = [f"{name} was {was[name]}, is {became[name]}" for name in was if was[name] != became[name]]
    return f"changed {before['name']}: {'; '.join(changes)}" if changes else f"{before['name']}: as it was"


def looks(one: dict[str, Any]) -> dict[str, str]:
    """What there is to see of an endpoint, setting by setting."""
    settings = {name: str(one.get(name) or "none") for name in ("base", "api", "profile", "kind")}
    return {**settings, "key": key_of(one), "default": "yes" if one.get("default") else "no"}


def test(args: argparse.Namespace, console: Console, server: Server) -> int:
    """Exit 1 when the endpoint does not list its models."""
    answer = server.post("/api/endpoint/test", {"name": args.name})
    found = answer.get("listing") or {}
    if not found.get("ok", True):
        note = str(found.get("note") or "it does not list its models")
        console.show(answer, f"{args.name}: {console.spelled(note)}\n")
        return REFUSED
    console.show(answer, f"{args.name} answers\n{console.spelled(listing(args.name, answer))}")
    return DONE


def key(args: argparse.Namespace, console: Console, server: Server) -> int:
    value = keys.key(args, console, args.name)
    if value is None and not args.key_stdin:
        raise usage(
            "endpoint key: no key was given", f"pipe it in: bench endpoint key {args.name} --key-stdin < FILE"
        )
    answer = server.post("/api/endpoint/key", {"name": args.name, "key": value or ""})
    console.show(answer, f"{args.name}: key {'saved' if value else 'removed'}\n")
    return DONE


def default(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.post("/api/endpoint/default", {"name": args.name})
    console.show(answer, f"{args.name} is the default endpoint\n")
    return DONE


def remove(args: argparse.Namespace, console: Console, server: Server) -> int:
    if console.interactive and not args.yes and console.ask(f"type {args.name} to remove it: ") != args.name:
        raise Failure(
            400, f"{args.name} was not removed", kind="declined", hint="type its name, or give --yes"
        )
    answer = server.post("/api/endpoint/remove", {"name": args.name, "with_models": args.with_models})
    console.show(answer, f"removed {args.name}\n")
    return DONE


def kind(one: dict[str, Any]) -> str:
    marks = ["practice programs" if one.get("builtin") else str(one.get("kind") or "provider")]
    return ", ".join([*marks, "default"] if one.get("default") else marks)


def key_of(one: dict[str, Any]) -> str:
    """Whether there is a key and where it is kept; of the key itself only its end."""
    held = one.get("key") or {}
    if not held.get("set"):
        return "none"
    return f"…{held['hint']} ({held.get('source')})" if held.get("hint") else f"set ({held.get('source')})"


def listing(name: str, answer: dict[str, Any]) -> str:
    """What the endpoint said it serves, shortened."""
    found = answer.get("listing") or {}
    ids = [str(one) for one in found.get("models") or ()]
    note = f"{found['note']}\n" if found.get("note") else ""
    if not ids:
        return note
    total = int(found.get("total") or len(ids))
    more = f"  … and {total - SOME:,} more: bench endpoint test {name} --json\n" if total > SOME else ""
    return f"{note}{plural(total, 'model')} listed:\n" + "".join(f"  {one}\n" for one in ids[:SOME]) + more


NAME = argument("name", metavar="NAME", help="the endpoint's name: 2 to 32 of a-z, 0-9 and -")
COMMANDS = (
    Command(
        "endpoints", "Lists the endpoints and whether each has a key.", endpoints, (), ("bench endpoints",)
    ),
    Command(
        "endpoint add",
        "Adds an endpoint. Its list of models is read first; one that refuses the key is not saved.",
        add,
        (
            NAME,
            argument("--base", required=True, metavar="URL", help="such as https://api.example.com/v1"),
            argument(
                "--api",
                metavar="API",
                help="the API it speaks: chat (OpenAI-compatible chat completions, the default), anthropic, "
                "gemini, responses or ollama",
            ),
            argument(
                "--profile",
                metavar="HOST",
                help="treat it as this provider's host, for its quirks and rate limits",
            ),
            argument("--kind", help="provider, aggregator, hub or local"),
            *keys.OPTIONS,
            argument("--no-test", action="store_true", help="save it without reading its list"),
            argument("--default", action="store_true", help="make it the default endpoint"),
        ),
        (
            "bench endpoint add openai --base https://api.openai.com/v1 --key-env OPENAI_API_KEY",
            "bench endpoint add ollama --base http://127.0.0.1:11434/v1 --kind local",
            "bench endpoint add groq --base https://api.groq.com/openai/v1 --key-stdin < key.txt",
            "bench endpoint add claude --base https://api.anthropic.com --api anthropic "
            "--key-env ANTHROPIC_API_KEY",
        ),
    ),
    Command(
        "endpoint test",
        "Reads an endpoint's list of models now, by the API it speaks; exit 1 when it gives none.",
        test,
        (NAME,),
        ("bench endpoint test openai",),
    ),
    Command(
        "endpoint key",
        "Replaces an endpoint's key.",
        key,
        (NAME, *keys.OPTIONS),
        (
            "bench endpoint key openai --key-env OPENAI_API_KEY",
            "bench endpoint key openai --key-stdin < key.txt",
        ),
    ),
    Command(
        "endpoint default",
        "Makes an endpoint the default one.",
        default,
        (NAME,),
        ("bench endpoint default openai",),
    ),
    Command(
        "endpoint rm",
        "Removes an endpoint and its key. One that has models is only removed with them.",
        remove,
        (
            NAME,
            argument("--with-models", action="store_true", help="its models leave the bench too"),
            argument(
                "-y", "--yes", action="store_true", help="do not ask first (nothing is asked in a script)"
            ),
        ),
        ("bench endpoint rm old --with-models",),
    ),
)
