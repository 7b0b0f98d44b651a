"""`bench models` and `bench model …`: who is on the bench, what is known of them, and who may sit."""

import argparse
from typing import Any

from metrics.commands.command import Argument, Command, argument, count, yes_or_no
from metrics.commands.failure import DONE, usage
from metrics.commands.output import Console
from metrics.commands.prices import prices
from metrics.commands.server import Server
from metrics.commands.tables import UNKNOWN, money, number, yes_no

ROLES = ("general", "code", "light", "vision", "image", "decision")
COLUMNS = (
    "=alias",
    "endpoint",
    "served",
    "role",
    ">context",
    "tools",
    "vision",
    ">$/M in",
    ">$/M out",
    ">useful",
    "state",
)
# where a terminal is narrow
DROP = (
    *("vision", "tools", ">context", ">$/M out", ">$/M in"),
    *("endpoint", "role", ">useful", "state", "served"),
)


def models(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.get("/api/models")
    answer["models"] = [one for one in answer["models"] if wanted(one, args)]
    answer["retired"] = [one for one in answer.get("retired") or () if wanted(one, args)]
    rows = [row(one, state(one)) for one in answer["models"]]
    if args.all:
        rows += [
            row(one, f"retired: {(one.get('retired') or {}).get('why') or 'no reason'}")
            for one in answer["retired"]
        ]
    console.show(answer, console.table(COLUMNS, rows, DROP))
    console.remarks(answer)
    return DONE


def wanted(one: dict[str, Any], args: argparse.Namespace) -> bool:
    text = " ".join(str(one.get(field) or "") for field in ("alias", "served", "endpoint")).lower()
    return (args.role is None or one.get("role") == args.role) and (args.find or "").lower() in text


def row(one: dict[str, Any], how: str) -> tuple[str, ...]:
    price, record = one.get("price") or {}, one.get("record") or {}
    return (
        str(one.get("alias")),
        str(one.get("endpoint") or ""),
        str(one.get("served") or ""),
        str(one.get("role") or ""),
        number(one.get("context")),
        yes_no(one.get("tools")),
        yes_no(one.get("vision")),
        price.get("plan") or rate(price.get("input")),
        price.get("plan") or rate(price.get("output")),
        f"{record.get('useful', 0)}/{record.get('judged', 0)}",
        how,
    )


def rate(usd: float | None) -> str:
    return UNKNOWN if usd is None else money(usd).removeprefix("$")


def state(one: dict[str, Any]) -> str:
    """Whether it may be tried, and why not."""
    said = ["practice program"] if one.get("builtin") else []
    if one.get("failing"):
        said.append(f"failing: {one['failing']}")
    if one.get("resting_until"):
        said.append(f"resting until {one['resting_until']}")
    if one.get("ad_hoc"):
        said.append("only by name")
    return ", ".join(said) or ("may explore" if one.get("in_pool") else "ok")


def add(args: argparse.Namespace, console: Console, server: Server) -> int:
    said = {
        "alias": args.alias,
        "endpoint": args.endpoint,
        "served": args.served,
        "role": args.role,
        "tools": args.tools,
        "vision": args.vision,
        "context": args.context,
        "max_output": args.max_output,
        "price": args.price,
    }
    answer = server.post("/api/model/add", {name: value for name, value in said.items() if value is not None})
    console.show(answer, f"{args.alias} is on the bench: {args.served} at {args.endpoint}\n")
    console.remarks(answer)
    console.note(f"seat it: bench collection save NAME --add {args.alias}")
    return DONE


def role_of(text: str) -> str:
    """An argparse type: one of the roles."""
    if text not in ROLES:
        raise argparse.ArgumentTypeError(f"there is no role {text!r}; there are {', '.join(ROLES)}")
    return text


def rename(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.post("/api/model", {"alias": args.alias, "rename": args.new})
    console.show(answer, f"{args.alias} is now {args.new}; its record goes with it\n")
    return DONE


def role(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.post("/api/model", {"alias": args.alias, "role": args.role})
    console.show(answer, f"{args.alias}: role {args.role}\n")
    return DONE


def price(args: argparse.Namespace, console: Console, server: Server) -> int:
    wanted = None if args.price == "none" else args.price
    answer = server.post("/api/model", {"alias": args.alias, "price": wanted})
    how = (
        "has your price from now on"
        if wanted
        else "has no price of yours; the catalog's counts, if it has one"
    )
    console.show(answer, f"{args.alias} {how}\n")
    return DONE


def price_or_none(text: str) -> dict[str, Any] | str:
    """An argparse type: a price, or none, which takes it back."""
    return text if text == "none" else prices(text)


def retire(args: argparse.Namespace, console: Console, server: Server) -> int:
    if not args.reason.strip():
        raise usage(
            "model retire: the reason is empty", f'bench model retire {args.alias} --reason "why it leaves"'
        )
    answer = server.post("/api/remove", {"alias": args.alias, "reason": args.reason})
    left = ", ".join(answer.get("left") or ())
    console.show(answer, f"{args.alias} left the bench{left and f' and {left}'}; its record stays\n")
    console.note(f"undo: bench model restore {args.alias}")
    return DONE


def restore(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.post("/api/restore", {"alias": args.alias})
    back = ", ".join(answer.get("collections") or ())
    console.show(answer, f"{args.alias} is back on the bench{back and f' and in {back}'}\n")
    return DONE


ALIAS = argument("alias", metavar="ALIAS", help="the name you call it by: 2 to 64 of letters, digits, . - _")
FACTS: tuple[Argument, ...] = (
    argument("--endpoint", required=True, metavar="NAME", help="the endpoint that serves it"),
    argument("--served", required=True, metavar="ID", help="the endpoint's own name for it"),
    argument("--role", type=role_of, metavar="ROLE", help=f"one of {', '.join(ROLES)} (general)"),
    argument("--tools", type=yes_or_no, metavar="yes|no", help="whether it calls tools (unknown)"),
    argument("--vision", type=yes_or_no, metavar="yes|no", help="whether it reads images (unknown)"),
    argument("--context", type=count, metavar="N", help="tokens it can read (unknown)"),
    argument("--max-output", type=count, metavar="N", help="tokens it can write (unknown)"),
    argument(
        "--price",
        type=prices,
        metavar="in=USD,out=USD,cache_read=USD,cache_write=USD",
        help="USD per million tokens, above N input tokens as in>N=USD, or plan=free|flat; what is left out "
        "is unknown, not free",
    ),
)
COMMANDS = (
    Command(
        "models",
        "Lists the models on the bench, what is known of them, and their record.",
        models,
        (
            argument("--all", action="store_true", help="retired ones too"),
            argument("--find", metavar="TEXT", help="only those with TEXT in alias, served name or endpoint"),
            argument("--role", type=role_of, metavar="ROLE", help="only those of this role"),
        ),
        ("bench models", "bench models --find claude --json"),
    ),
    Command(
        "model add",
        "Registers a model of an endpoint; calls nothing.",
        add,
        (ALIAS, *FACTS),
        (
            "bench model add kimi --endpoint openrouter --served moonshotai/kimi-k2 --price in=0.6,out=2.5",
            "bench model add qwen --endpoint ollama --served qwen3:4b --context 32k --price in=0,out=0",
        ),
    ),
    Command(
        "model rename",
        "Gives a model another alias; its record goes with it.",
        rename,
        (ALIAS, argument("new", metavar="NEW", help="the new alias")),
        ("bench model rename kimi kimi-k2",),
    ),
    Command(
        "model role",
        "Says what a model is for: general, code, light, vision, image or decision.",
        role,
        (ALIAS, argument("role", type=role_of, metavar="ROLE", help="the role")),
        ("bench model role kimi code",),
    ),
    Command(
        "model price",
        "Says what a model costs, for calls from now on; `none` goes back to the catalog's price.",
        price,
        (
            ALIAS,
            argument(
                "price", type=price_or_none, metavar="in=USD,out=USD,…|none", help="as in model add --price"
            ),
        ),
        (
            "bench model price opus in=5,out=25,cache_read=0.5,cache_write=6.25",
            "bench model price kimi plan=flat",
        ),
    ),
    Command(
        "model retire",
        "Takes a model off the bench; its record stays.",
        retire,
        (ALIAS, argument("--reason", default="retired from the command line", metavar="TEXT", help="why")),
        ('bench model retire kimi --reason "too slow"',),
    ),
    Command("model restore", "Puts a retired model back.", restore, (ALIAS,), ("bench model restore kimi",)),
)
