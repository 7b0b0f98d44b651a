"""`bench ask`: a question to a panel; each answer on stdout as it is done, everything about them on stderr.

Two ways to the same panel: people (and --json --stream) read the server's events line by line; `--json` alone
waits for the one reply document that any OpenAI client gets. The panel belongs to the server: leaving early
stops nothing.
"""

import argparse
from collections.abc import Iterator
from typing import Any

from metrics.commands import prompt
from metrics.commands.collections import no_such
from metrics.commands.command import Command, argument, count, positive
from metrics.commands.failure import DONE, PARTIAL, REFUSED, Failure, usage
from metrics.commands.output import Console, width
from metrics.commands.progress import Progress
from metrics.commands.seats import ANSWERED, COLUMNS, DROP, PENDING, Chair, Seats
from metrics.commands.server import Server
from metrics.commands.tables import plural, table
from metrics.records import KINDS

SAMPLING = ("temperature", "top_p", "max_tokens", "seed")
STDIN = "-"
PREFIX = "bench/"  # how callers of other clients spell a collection
WHOLE = ("ok", PENDING)  # what --strict lets pass: a straggler has not failed


def ask(args: argparse.Namespace, console: Console, server: Server) -> int:
    if args.stream and not console.as_json:
        hint = "give --json too, or leave --stream out: answers are printed as they are done"
        raise usage("ask: --stream is for --json: the events as they come, one JSON object a line", hint)
    question, seats = body(args, console), Seats()
    try:
        if console.as_json and not args.stream:
            return whole(args, console, server, question)
        events = server.stream("/bench/ask", question, Progress(console, seats).tick)
        read = relayed if console.as_json else read_out
        return read(args, console, events, seats)
    except KeyboardInterrupt:
        raise left(args.collection, seats) from None
    except Failure as failure:
        raise nearer(failure, args.collection, server) from None


def nearer(failure: Failure, asked: str, server: Server) -> Failure:
    """`failure`; where there is no such collection the nearest name, in place of the server's list of all."""
    if failure.kind != "not_found":
        return failure
    name = asked.strip().removeprefix(PREFIX).partition(":")[0]
    try:
        listed = [str(one.get("id")) for one in server.get("/v1/models").get("data") or ()]
    except Failure:
        return failure
    names = [one.removeprefix(PREFIX) for one in listed if one.startswith(PREFIX) and ":" not in one]
    return failure if name in names else no_such(name, names)


def left(collection: str, seats: Seats) -> Failure:
    """Ctrl-C. The panel is the server's and goes on; the log lists it once it has ended."""
    panel = f"panel {seats.panel}" if seats.panel else "a panel that has begun"
    hint = f"when it is done its answers are in: bench log --collection {collection}"
    return Failure(499, f"you left; {panel} goes on in the server", kind="interrupted", hint=hint)


def body(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """The request: messages, who else sits, how to reply, and the sampling options that were given."""
    said = {name: getattr(args, name) for name in ("reply", "deadline", "quorum", "only", "without")}
    sampling = {name: getattr(args, name) for name in SAMPLING}
    asked: dict[str, Any] = {"model": args.collection, "messages": conversation(args, console)}
    if args.invited:
        asked["with"] = args.invited
    asked["bench"] = {name: value for name, value in said.items() if value is not None}
    return {**asked, **{name: value for name, value in sampling.items() if value is not None}}


def conversation(args: argparse.Namespace, console: Console) -> list[dict[str, Any]]:
    def waiting() -> None:
        console.note("reading the pipe; end it, or give < /dev/null when nothing is to come")

    files = [name for name in args.files if name != STDIN]
    typed = STDIN in args.files or args.prompt == STDIN
    text = None if args.prompt == STDIN else args.prompt
    piped = prompt.piped(console.stdin, waiting, typed)
    if not ((text or "").strip() or (piped or "").strip() or files):
        raise usage(
            "ask: there is no question", f'bench ask {args.collection} "your question" (-f FILE adds a file)'
        )
    if not piped and (typed or prompt.promised(console.stdin)):
        console.warn("nothing came through the pipe; asking without it")
    return prompt.messages(text, piped, files, args.system)


def whole(args: argparse.Namespace, console: Console, server: Server, question: dict[str, Any]) -> int:
    """--json: one document, the chat completion with its `bench` object."""
    answer = server.post("/v1/chat/completions", question)
    console.show(answer, "")
    seats = (answer.get("bench") or {}).get("seats") or []
    return PARTIAL if args.strict and any(seat.get("status") not in WHOLE for seat in seats) else DONE


def relayed(
    args: argparse.Namespace, console: Console, events: Iterator[dict[str, Any] | None], seats: Seats
) -> int:
    """--json --stream: the server's events, one a line."""
    for event in events:
        if event is not None:
            console.event(event)
            seats.hear(event)
    if seats.failed is None and seats.ended is None:
        raise broken_off()
    if seats.failed is not None or not seats.answered:
        return REFUSED
    return PARTIAL if args.strict and troubled(seats) else DONE


def read_out(
    args: argparse.Namespace, console: Console, events: Iterator[dict[str, Any] | None], seats: Seats
) -> int:
    """For people: sections (or the merged answer) on stdout, progress and the table of calls on stderr."""
    progress = Progress(console, seats)
    reader = Reader(console, seats, progress, args.collection)
    try:
        for event in events:
            if event is not None:
                reader.hear(event)
            progress.draw(force=event is None)
    finally:
        progress.clear()
    reader.end()
    if seats.chairs:
        report(console, seats)
    return outcome(args, console, seats)


class Reader:
    """Writes what is heard to stdout. In merged mode the seats' own answers are held back, unless merging
    fails.
    """

    def __init__(self, console: Console, seats: Seats, progress: Progress, collection: str):
        self.console, self.seats, self.progress, self.collection = console, seats, progress, collection
        self.merging = False  # part of the merged answer is on stdout
        self.merged = False

    def hear(self, event: dict[str, Any]) -> None:
        chair = self.seats.hear(event)
        match event.get("event"), chair:
            case "panel.started", _:
                self.progress.started_line(self.collection)
            case "seat.done", Chair():
                self.progress.done_line(chair)
                if self.seats.reply != "merged":
                    self.say(chair.section())
            case "merge.delta", _:
                self.merging = True
                self.say(str(event.get("text") or ""))
            case "merge.done", Chair():
                self.progress.done_line(chair)
                self.merge_done(chair)

    def merge_done(self, chair: Chair) -> None:
        self.merged = chair.status in ANSWERED
        if self.merging:
            self.say("\n\n")
        elif self.merged:
            self.say(f"{str((chair.done or {}).get('answer') or '').rstrip()}\n\n")

    def end(self) -> None:
        """Without a merged answer everybody's own is what there is."""
        if self.seats.reply == "merged" and not self.merged:
            for chair in self.seats.finished:
                if chair.who.get("seat") != "merger":
                    self.say(chair.section())

    def say(self, text: str) -> None:
        self.progress.clear()
        self.console.say(text)


def report(console: Console, seats: Seats) -> None:
    """The call ids, and the command that judges the first seat, in their order, that answered."""
    rows = [chair.row() for chair in seats.chairs.values()]
    console.note(table(COLUMNS, rows, width(console.stderr), DROP).rstrip("\n"))
    note = ((seats.ended or {}).get("bench") or {}).get("note")
    if note:
        console.note(str(note))
    judged = next((chair for chair in seats.answered if chair.who.get("seat") != "merger"), None)
    if judged:
        console.note(f"\njudge it: bench verdict {judged.who['call']} --useful   (or --not-useful)")


def outcome(args: argparse.Namespace, console: Console, seats: Seats) -> int:
    """The exit code, or the Failure, that the panel's end means."""
    if seats.failed is not None:
        raise refused(seats.failed)
    if seats.ended is None:
        raise broken_off()
    if not seats.answered:
        raise Failure(502, "no seat answered", kind="upstream", hint="who is failing, and why: bench models")
    if args.strict and troubled(seats):
        console.note(
            f"strict: {plural(len(troubled(seats)), 'seat')} of {len(seats.chairs)} gave no whole answer"
        )
        return PARTIAL
    return DONE


def troubled(seats: Seats) -> list[Chair]:
    return [chair for chair in seats.chairs.values() if chair.status not in WHOLE]


def refused(event: dict[str, Any]) -> Failure:
    """A `failed` event as a Failure. A provider's 401 is not ours: the user's key for this server was
    good.
    """
    error, status = event.get("error") or {}, int(event.get("status") or 502)
    kind = KINDS.get(status, "upstream")
    kind = f"upstream_{kind}" if kind in ("auth", "forbidden") else kind
    return Failure(
        status,
        str(error.get("message") or "the panel failed"),
        kind=kind,
        hint="who is failing, and why: bench models",
    )


def broken_off() -> Failure:
    return Failure(502, "the server went away before the panel's end", kind="cut")


COMMANDS = (
    Command(
        "ask",
        "Puts a question to a collection. A pipe is part of it; answers go to stdout, the rest to stderr.",
        ask,
        (
            argument("collection", metavar="COLLECTION", help="who to ask: see bench collections"),
            argument("prompt", nargs="?", metavar="PROMPT", help="the question; - reads it from stdin"),
            argument(
                "-f",
                "--file",
                action="append",
                default=[],
                dest="files",
                metavar="FILE",
                help="a text file or image to send along (repeats); - is stdin",
            ),
            argument("--system", metavar="TEXT", help="a system message"),
            argument(
                "--merged",
                one_of="reply",
                action="store_const",
                const="merged",
                dest="reply",
                help="one answer that says where they agree and differ",
            ),
            argument(
                "--all", one_of="reply", action="store_const", const="all", dest="reply", help="every answer"
            ),
            argument(
                "--with",
                action="append",
                default=[],
                dest="invited",
                metavar="ALIAS",
                help="seat this model in an explorer's chair (repeats)",
            ),
            argument("--only", action="append", metavar="ALIAS", help="seat nobody but this model (repeats)"),
            argument("--without", action="append", metavar="ALIAS", help="leave this model out (repeats)"),
            argument("--deadline", type=positive, metavar="S", help="seconds a seat may take"),
            argument("--quorum", type=count, metavar="K", help="reply when K seats have answered"),
            argument("--temperature", type=float, metavar="T", help="passed on to every seat, as are:"),
            argument("--top-p", type=float, metavar="P", help="…"),
            argument("--max-tokens", type=count, metavar="N", help="…"),
            argument("--seed", type=int, metavar="N", help="…"),
            argument("--stream", action="store_true", help="with --json: events as they come, one a line"),
            argument("--strict", action="store_true", help="exit 5 when a seat gave no whole answer"),
        ),
        (
            'bench ask core "What is wrong with this?" -f app.py',
            'git diff | bench ask review "Find the bugs" --merged',
            'bench ask core "Compare both" -f old.py -f new.py --with kimi --deadline 60',
            'bench ask core --json "Why is the sky blue?"',
        ),
    ),
)
