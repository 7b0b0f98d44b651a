"""`bench quota`, `limit set`, `rest`, `wake` and `probe`: what may still be sent to whom, and until when."""

import argparse
import re
import time
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from metrics.commands.command import Command, argument, did_you_mean
from metrics.commands.failure import DONE, Failure, usage
from metrics.commands.output import Console
from metrics.commands.server import Server
from metrics.commands.tables import ago, number, span

WORDS = {
    "rps": "requests a second",
    "rpm": "requests a minute",
    "rph": "requests an hour",
    "rpd": "requests a day",
    "rpmo": "requests a month",
    "tpm": "tokens a minute",
    "tph": "tokens an hour",
    "tpd": "tokens a day",
    "tpmo": "tokens a month",
    "itpm": "input tokens a minute",
    "otpm": "output tokens a minute",
    "concurrency": "calls at once",
    "usd_day": "USD a day",
    "usd_month": "USD a month",
}
COLUMNS = ("=connection", "model", "limit of", ">limit", ">used", ">left", "resets", "source", "said")
DROP = ("said", "source", ">used")
NOTHING = "-"
PLURAL = re.compile(r"\b(request|token|call)s\b")
TAKEN_AWAY = ("", "none", "off", "null")


def quota(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.get("/api/quotas")
    if args.connection is not None:
        answer["quotas"] = [one for one in answer["quotas"] if named(one, args.connection)]
        answer["resting"] = [one for one in answer["resting"] if named(one, args.connection)]
        if not answer["quotas"] and not answer["resting"]:
            must_be_there(args.connection, server)
    now = time.time()
    rows = [row(one, now) for one in answer["quotas"]]
    console.show(answer, console.table(COLUMNS, rows, DROP) if rows else "")
    console.remarks(answer)
    if not console.as_json:
        if not rows:
            name = args.connection or "CONNECTION"
            console.note(f"no limit is known yet; set one: bench limit set {name} rpm=20")
        for one in answer["resting"]:
            console.note(f"{one['model']} rests: {one['why']}, another {until(one['until'], now)[3:]}")
        for one in answer["quotas"]:
            if (one.get("forecast") or {}).get("empty_at"):
                empty = until(one["forecast"]["empty_at"], now)
                console.note(f"{one['connection']}: at this pace its {what(one)} are used up {empty}")
    return DONE


def rest(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.post("/api/rest", {"name": args.name, "for": args.how_long})
    again = until(answer["until"], time.time())
    console.show(answer, f"{args.name} rests: nothing goes out to it. It is back {again}.\n")
    return DONE


def wake(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.post("/api/wake", {"name": args.name})
    console.show(answer, f"{args.name} is awake: the next call will tell.\n")
    return DONE


def probe(args: argparse.Namespace, console: Console, server: Server) -> int:
    answer = server.post("/api/probe", {"name": args.name})
    if answer["reached"]:
        console.show(answer, f"{answer['model']} answers, in {answer['seconds']:.1f} s.\n")
        return DONE
    why, kind = answer["message"] or answer["status"], answer["error"] or "upstream"
    raise Failure(502, f"{answer['model']} does not answer: {why}", kind=kind)


def named(one: dict[str, Any], name: str) -> bool:
    return name in (one.get("connection"), one.get("model"))


def must_be_there(name: str, server: Server) -> None:
    """Of what nobody has, no limit is known either: a slip of the pen is not to pass for a free rein."""
    endpoints = server.get("/api/endpoints")["endpoints"]
    names = {one["name"] for one in endpoints} | {one.get("connection") for one in endpoints}
    names |= {one["alias"] for one in server.get("/api/models")["models"]}
    if name not in names:
        near = did_you_mean(name, sorted(filter(None, names)))
        hint = f"{near}see what there is: bench quota, bench endpoints, bench models"
        problem = f"{name!r} is neither a connection nor a model on the bench"
        raise Failure(404, problem, kind="not_found", hint=hint)


def row(one: dict[str, Any], now: float) -> tuple[str, ...]:
    said = ago(one["observed_at"], now) if one.get("observed_at") else NOTHING
    return (
        str(one["connection"]),
        str(one.get("model") or one.get("model_id") or "all"),
        what(one),
        figure(one.get("limit")),
        figure(one.get("used")),
        figure(one.get("remaining")),
        until(one["reset_at"], now) if one.get("reset_at") else NOTHING,
        str(one["source"]),
        said,
    )


def what(one: dict[str, Any]) -> str:
    """What a limit counts: "requests a minute"."""
    if one.get("why"):
        return str(one["why"])
    metric, window = str(one["metric"]).replace("_", " "), str(one["window"])
    if metric == "concurrency":
        return "calls at once"
    if window == "unknown":
        return f"{metric}, window unknown"
    return f"{'USD' if metric == 'usd' else metric} {'an' if window == 'hour' else 'a'} {window}"


def figure(value: float | None) -> str:
    return NOTHING if value is None else number(int(value) if value == int(value) else round(value, 4))


def until(at: str, now: float) -> str:
    """A stamp ahead as "in 42 s"."""
    return f"in {span(datetime.fromisoformat(at).timestamp() - now)}"


def set_limits(args: argparse.Namespace, console: Console, server: Server) -> int:
    limits = dict(args.limits)
    answer = server.post("/api/connection-limits", {"connection": args.name, "limits": limits})
    held = ", ".join(counted(word, value) for word, value in answer["limits"].items())
    console.show(answer, f"{args.name}: {held or 'no limits of your own'}\n")
    return DONE


def counted(word: str, value: float) -> str:
    """A limit in words: "20 requests a minute", "1 request a minute"."""
    words = WORDS.get(word, word)
    said = PLURAL.sub(r"\1", words) if value == 1 else words
    return f"{value:,} {said}"


def limit(text: str) -> tuple[str, float | None]:
    """An argparse type: `rpm=20`, or `rpm=none` to take it away."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if name not in WORDS or not equals:
        hint = did_you_mean(name, WORDS)
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a limit such as rpm=20; {hint}there are {', '.join(WORDS)}"
        )
    if value.lower() in TAKEN_AWAY:
        return name, None
    amount = scaled(value)
    if amount is None or (not name.startswith("usd") and amount != int(amount)):
        raise argparse.ArgumentTypeError(
            f"{text!r}: {value!r} is not a number above zero, such as 20 or 100k"
        )
    return name, amount if name.startswith("usd") else int(amount)


def scaled(text: str) -> float | None:
    """`100k`, `1m`, `2.5`; None for what is no number above zero."""
    digits = text.lower().replace(",", "").replace("_", "")
    scale = {"k": 1_000, "m": 1_000_000}.get(digits[-1:], 1)
    try:
        amount = float(digits[:-1] if scale > 1 else digits) * scale
    except ValueError:
        return None
    return amount if 0 < amount < float("inf") else None


def limits(words: Iterable[str]) -> list[tuple[str, float | None]]:
    """The limits of a command line: apart, or with commas between."""
    return [limit(part) for word in words for part in word.split(",") if part.strip()]


def set_words(args: argparse.Namespace, console: Console, server: Server) -> int:
    try:
        args.limits = limits(args.words)
    except argparse.ArgumentTypeError as trouble:
        raise usage(f"limit set: {trouble}", "see: bench limit set --help") from None
    return set_limits(args, console, server)


COMMANDS = (
    Command(
        "quota",
        "Shows the limits of every connection: what is used and left, until when, and who said so.",
        quota,
        (argument("connection", nargs="?", metavar="CONNECTION|MODEL", help="only this one's"),),
        ("bench quota", "bench quota groq --json"),
    ),
    Command(
        "rest",
        "Lets a connection or a model rest: nothing goes out to it until then.",
        rest,
        (
            argument("name", metavar="CONNECTION|MODEL", help="an endpoint's name or a model's alias"),
            argument(
                "--for",
                dest="how_long",
                metavar="TIME",
                default="1h",
                help="how long: 90s, 20m, 6h or 2d (1h)",
            ),
        ),
        ("bench rest groq --for 6h", "bench rest kimi"),
    ),
    Command(
        "wake",
        "Ends what a connection or a model rests for, whatever it is.",
        wake,
        (argument("name", metavar="CONNECTION|MODEL", help="an endpoint's name or a model's alias"),),
        ("bench wake groq",),
    ),
    Command(
        "probe",
        "Asks a model one small question now, to see whether it answers; a call like any other.",
        probe,
        (argument("name", metavar="CONNECTION|MODEL", help="of a connection the model that rests longest"),),
        ("bench probe groq", "bench probe kimi"),
    ),
    Command(
        "limit set",
        "Sets limits of a connection or of one model on it; calls wait for room or are refused unsent.",
        set_words,
        (
            argument("name", metavar="CONNECTION|MODEL", help="an endpoint's name or a model's alias"),
            argument(
                "words",
                nargs="+",
                metavar="LIMIT=N",
                help=f"any of {', '.join(WORDS)}; none takes one away; 100k and 1m are understood",
            ),
        ),
        ("bench limit set groq rpm=30 rpd=14400", "bench limit set kimi tpm=100k,concurrency=none"),
    ),
)
