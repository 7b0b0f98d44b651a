"""What a command is: its words, its arguments as rows, and a function that runs it.

The frame in cli.py needs nothing else. Arguments are rows instead of calls on a parser, so that a parser is
only built for the one command that runs and the options of each are known to the "did you mean".
"""

import argparse
import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from metrics.commands.failure import Failure, usage
from metrics.commands.output import Console
from metrics.commands.server import Server

Run = Callable[[argparse.Namespace, Console, Server], int]

GLOBAL_OPTIONS = """\
global options, anywhere on the line:
  --json       one JSON document on stdout, failures included
  --url URL    the server (else BENCHWARMERS_URL, else http://127.0.0.1:8122)
  --no-color   plain text
  -q, --quiet  only the result and errors
  --version    the version of this program
  -h, --help   this help
"""


@dataclass(frozen=True, slots=True)
class Argument:
    """One row for argparse. Rows with the same `one_of` exclude each other."""

    flags: tuple[str, ...]
    options: Mapping[str, Any]
    one_of: str = ""

    @property
    def required(self) -> bool:
        return bool(self.options.get("required"))

    @property
    def dest(self) -> str:
        return str(self.options.get("dest") or self.flags[-1].lstrip("-").replace("-", "_"))

    @property
    def unforced(self) -> "Argument":
        """The same, but not required: what is missing is told all at once, after the line was read."""
        return replace(self, options={**self.options, "required": False}) if self.required else self


def argument(*flags: str, one_of: str = "", **options: Any) -> Argument:
    return Argument(flags, options, one_of)


@dataclass(frozen=True, slots=True)
class Command:
    """`name` is the words on the line ("endpoint add"). `run` gets the parsed arguments and returns an
    exit code.
    """

    name: str
    summary: str
    run: Run
    arguments: tuple[Argument, ...] = ()
    examples: tuple[str, ...] = ()

    def parse(self, words: list[str], program: str) -> argparse.Namespace:
        """`words` (what follows the name) in any order of options and positionals; Failure "usage" otherwise.

        Options are read first and positionals from what they leave: argparse would give up on an optional
        positional at the first option that stands before it."""
        at = words.index("--") if "--" in words else len(words)
        options = tuple(row for row in self.arguments if row.flags[0].startswith("-"))
        positionals = tuple(row for row in self.arguments if row not in options)
        parsed, left = self.parser(program, tuple(row.unforced for row in options)).parse_known_args(
            words[:at]
        )
        for word in left:
            if word.startswith("-") and word != "-" and " " not in word:
                raise self.no_option(word.partition("=")[0])
        left += words[at + 1 :]
        missing = [
            str(row.options["metavar"]) for row in positionals[len(left) :] if "nargs" not in row.options
        ]
        missing += [row.flags[0] for row in options if row.required and getattr(parsed, row.dest) is None]
        if missing:
            names = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
            raise usage(f"{self.name}: {names}", f"see: bench {self.name} --help")
        if positionals:
            parsed, left = self.parser(program, positionals).parse_known_args(["--", *left], parsed)
        if left:
            raise self.too_many(left[0])
        return parsed

    def parser(self, program: str, rows: tuple[Argument, ...] | None = None) -> "Parser":
        """A parser of these rows, or of all of them."""
        parser = Parser(
            prog=f"{program} {self.name}",
            description=self.story(program),
            epilog=GLOBAL_OPTIONS,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            add_help=False,
            allow_abbrev=False,
        )
        parser.command = self.name
        groups: dict[str, Any] = {"": parser}
        for row in self.arguments if rows is None else rows:
            if row.one_of not in groups:
                groups[row.one_of] = parser.add_mutually_exclusive_group()
            groups[row.one_of].add_argument(*row.flags, **row.options)
        return parser

    def story(self, program: str) -> str:
        """Summary and examples: what help begins with."""
        examples = "".join(f"\n  {line.replace('bench', program, 1)}" for line in self.examples)
        return f"{self.summary}\n{examples and f'{chr(10)}examples:'}{examples}"

    def no_option(self, word: str) -> Failure:
        options = [flag for row in self.arguments for flag in row.flags if flag.startswith("-")]
        near = did_you_mean(word, options)
        return usage(f"{self.name} has no option {word}", f"{near}see: bench {self.name} --help")

    def too_many(self, word: str) -> Failure:
        hint = f"quote what belongs together; see: bench {self.name} --help"
        return usage(f"{self.name}: {word!r} is one argument too many", hint)


class Parser(argparse.ArgumentParser):
    """argparse that reports instead of exiting. `command` is the words that help is found under."""

    command = ""

    def error(self, message: str) -> NoReturn:
        raise usage(f"{self.command}: {message}", f"see: bench {self.command} --help")


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """ "did you mean X? " with the nearest of `names`, or nothing."""
    near = difflib.get_close_matches(word, list(names), n=1, cutoff=0.6)
    return f"did you mean {near[0]}? " if near else ""


def positive(text: str) -> float:
    """An argparse type: seconds or another number above zero."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above zero")
    return value


def count(text: str) -> int:
    """An argparse type: a whole number of one or more (`128k`, `1m` and `128,000` are understood)."""
    digits = text.lower().replace(",", "").replace("_", "")
    scale = {"k": 1_000, "m": 1_000_000}.get(digits[-1:], 1)
    digits = digits[:-1] if scale > 1 else digits
    if not (digits.isascii() and digits.isdigit() and int(digits)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above zero")
    return int(digits) * scale


def yes_or_no(text: str) -> bool:
    """An argparse type: yes or no."""
    answers = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}
    if text.lower() not in answers:
        raise argparse.ArgumentTypeError(f"{text!r} is neither yes nor no")
    return answers[text.lower()]
