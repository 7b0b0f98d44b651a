#!/usr/bin/env python3
"""`bench`: finds the command that the line names, runs it, and turns how it ended into an exit code.

Global options are lifted off the line first, wherever they stand; what is left is the command's name and its
own arguments, in any order. Commands live in metrics/commands/, one module a group; this frame knows only
their table.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from metrics.commands import (
    access,
    ask,
    backup,
    budget,
    catalog,
    collections,
    cost,
    disk,
    doctor,
    endpoints,
    export,
    help,
    init,
    key,
    launch,
    ledger,
    log,
    login,
    mcp,
    models,
    quota,
    route,
    selfcheck,
    serve,
    status,
    update,
    used,
    verdict,
)
from metrics.commands.command import Command
from metrics.commands.failure import DONE, PIPE_CLOSED, Failure, told, usage
from metrics.commands.output import Console, let_go, quoted, system_console
from metrics.commands.server import server
from metrics.records import Problem
from metrics.version import VERSION

TABLE: tuple[Command, ...] = (
    *init.COMMANDS,
    *status.COMMANDS,
    *ask.COMMANDS,
    *verdict.COMMANDS,
    *log.COMMANDS,
    *export.COMMANDS,
    *route.COMMANDS,
    *launch.COMMANDS,
    *mcp.COMMANDS,
    *collections.COMMANDS,
    *endpoints.COMMANDS,
    *models.COMMANDS,
    *used.COMMANDS,
    *catalog.COMMANDS,
    *cost.COMMANDS,
    *key.COMMANDS,
    *budget.COMMANDS,
    *quota.COMMANDS,
    *login.COMMANDS,
    *access.COMMANDS,
    *backup.COMMANDS,
    *ledger.COMMANDS,
    *disk.COMMANDS,
    *doctor.COMMANDS,
    *selfcheck.COMMANDS,
    *update.COMMANDS,
)
COMMANDS = {command.name: command for command in TABLE}

FLAGS = {
    "--json": "as_json",
    "--no-color": "no_color",
    "-q": "quiet",
    "--quiet": "quiet",
    "-h": "help",
    "--help": "help",
    "--version": "version",
}


@dataclass
class Line:
    """A command line taken apart: the global options, and the words that are left for the command."""

    as_json: bool = False
    no_color: bool = False
    quiet: bool = False
    help: bool = False
    version: bool = False
    url: str | None = None
    url_missing: bool = False
    words: list[str] = field(default_factory=list)


def main(argv: Sequence[str] | None = None, program: str = "bench", console: Console | None = None) -> int:
    """Runs one command line; gives its exit code. `program` is the name it goes by: "benchwarmers" serves
    when alone.
    """
    line = lifted(sys.argv[1:] if argv is None else argv)
    console = console or system_console(program)
    console.as_json, console.quiet, console.no_color = line.as_json, line.quiet, line.no_color
    try:
        try:
            return run(line, console)
        except Problem as problem:
            return console.fail(told(problem))
        except KeyboardInterrupt:
            return console.fail(Failure(499, "stopped", kind="interrupted", hint="nothing else was started"))
    except BrokenPipeError:
        # The reader of stdout is gone (`bench log | head -1`): end without a word.
        let_go(console.stdout)
        return PIPE_CLOSED


def lifted(argv: Sequence[str]) -> Line:
    """`argv` with its global options taken out, up to a `--`; what follows serve or gateway is theirs
    alone.
    """
    line = Line()
    left = list(argv)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        if word in FLAGS:
            setattr(line, FLAGS[word], True)
        elif word == "--url":
            line.url_missing = not left
            line.url = left.pop(0) if left else None
        elif name == "--url" and equals:
            line.url, line.url_missing = value, not value
        else:
            line.words.append(word)
            if word == "--" or (word in serve.MAINS and len(line.words) == 1):
                line.words += left
                break
    return line


def run(line: Line, console: Console) -> int:
    if line.version or line.words == ["version"]:
        console.show({"version": VERSION}, f"bench {VERSION}\n")
        return DONE
    if line.help or line.words[:1] == ["help"]:
        return explain(line, console)
    words = line.words
    if words and words[0] in serve.MAINS:
        return serve.main(words[0], words[1:], console)
    if console.program == "benchwarmers" and (not words or words[0].startswith("-")):
        return serve.main("serve", words, console)
    if line.url_missing:
        raise usage("--url: an address is missing", "give one such as --url http://127.0.0.1:8122")
    there = login.signed_in(server(line.url, console.env), console.env)
    if not words:
        return status.front(console, there)
    command, rest = named(words)
    return command.run(command.parse(rest, console.program), console, there)


def named(words: list[str]) -> tuple[Command, list[str]]:
    """The command that `words` begin with, and the words after its name."""
    for length in (2, 1):
        name = " ".join(words[:length])
        if name in COMMANDS:
            return COMMANDS[name], words[length:]
    raise help.no_such(words, COMMANDS)


def explain(line: Line, console: Console) -> int:
    """`bench help WORDS`, or --help anywhere: explains what the words name, and does nothing else."""
    words = line.words[1:] if line.words[:1] == ["help"] else line.words
    if words[:1] and words[0] in serve.MAINS:
        return serve.main(words[0], ["--help"], console)
    if line.help and words and words[0] != "help":
        words = nearest(words)
    text = console.spelled(help.about(console.program, words, COMMANDS))
    console.show({"help": text}, text)
    return DONE


def nearest(words: list[str]) -> list[str]:
    """The command or group that a line with --help is about; its other arguments do not matter."""
    for length in (2, 1):
        name = " ".join(words[:length])
        if name in COMMANDS or name in help.groups(COMMANDS):
            return name.split()
    return words[:1]


def called_as() -> str:
    """How the user starts this file: hints name commands the way they have to be typed."""
    if os.path.basename(sys.argv[0]) != "cli.py":
        return "bench"
    return f"{'py' if os.name == 'nt' else 'python3'} {quoted(sys.argv[0])}"


if __name__ == "__main__":
    sys.exit(main(program=called_as()))
