"""`bench verdict`: whether an answer was of use, and which of its claims were real."""

import argparse

from metrics.commands.command import Command, argument
from metrics.commands.failure import DONE, usage
from metrics.commands.output import Console
from metrics.commands.server import Server


def verdict(args: argparse.Namespace, console: Console, server: Server) -> int:
    if args.useful is None and not args.undo:
        raise usage(
            f"verdict: say whether {args.call} was useful",
            f"bench verdict {args.call} --useful, or --not-useful, or --undo to take a verdict back",
        )
    answer = server.post(door(server), given(args))
    console.show(
        answer,
        f"{args.call}: {in_words(args)}: {'recorded' if answer.get('recorded', True) else 'known already'}\n",
    )
    return DONE


def door(server: Server) -> str:
    """Who is signed in and has no key judges as a person: the dashboard's door, which knows their name."""
    return "/api/verdict" if server.admin and not server.key else "/bench/verdict"


def given(args: argparse.Namespace) -> dict[str, object]:
    """The verdict's body; what was not said is left out, so that earlier words stay."""
    if args.undo:
        return {"call": args.call, "withdrawn": True}
    said = {
        "call": args.call,
        "useful": args.useful,
        "note": args.note,
        "real": args.real,
        "false": args.false,
        "best": args.best or None,
    }
    return {name: value for name, value in said.items() if value is not None}


def in_words(args: argparse.Namespace) -> str:
    if args.undo:
        return "taken back"
    claims = [
        f"{len(quotes)} {what} {'claim' if len(quotes) == 1 else 'claims'}"
        for quotes, what in ((args.real, "real"), (args.false, "false"))
        if quotes
    ]
    words = ["useful" if args.useful else "not useful", *(["the best"] if args.best else []), *claims]
    return ", ".join(words)


COMMANDS = (
    Command(
        "verdict",
        "Records whether an answer was useful. Call ids are printed by ask and listed by log.",
        verdict,
        (
            argument(
                "call",
                metavar="CALL",
                help="the call id of the answer, such as p20261129-142220-1a2b3c4d.member1",
            ),
            argument(
                "--useful", one_of="v", action="store_const", const=True, dest="useful", help="it was of use"
            ),
            argument(
                "--not-useful",
                one_of="v",
                action="store_const",
                const=False,
                dest="useful",
                help="it was not",
            ),
            argument("--undo", one_of="v", action="store_true", help="take the verdict on this call back"),
            argument("--note", metavar="TEXT", help="why, in your words"),
            argument(
                "--real", action="append", metavar="TEXT", help="a claim that turned out real (repeats)"
            ),
            argument(
                "--false", action="append", metavar="TEXT", help="a claim that was a false alarm (repeats)"
            ),
            argument("--best", action="store_true", help="it was the best answer of its panel"),
        ),
        (
            "bench verdict p20261129-142220-1a2b3c4d.member1 --useful",
            'bench verdict p20261129-142220-1a2b3c4d.explorer --not-useful --false "line 3 leaks"',
        ),
    ),
)
