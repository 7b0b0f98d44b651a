"""Where a command's words go: stdout for what was asked for, stderr for everything about it.

One Console per run. Under `--json` stdout carries exactly one JSON document (or one event a line), so a
command hands over both forms at once: `show(document, text)`. Colour and widths are decided per stream, and
only for terminals.
"""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from metrics.commands import tables
from metrics.commands.failure import Failure

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

# "bench ask", but not "the bench is": only where a command's name follows.
OWN_COMMANDS = re.compile(
    r"\bbench (?=(?:serve|gateway|init|status|ask|verdict|log|export|route|launch|mcp|help|version"
    r"|login|logout|invite|invitations?|sessions?|backup|restore|ledger|disk|prune|doctor|update|selfcheck"
    r"|budget|usage|cost|catalog|quota|limit|rest|wake|probe|keys?|collections?|endpoints?|models?)\b)"
)


@dataclass
class Console:
    """The streams of one run and how to write on them. `program` is how the user called us ("bench")."""

    program: str
    env: Mapping[str, str]
    stdin: TextIO | None
    stdout: TextIO
    stderr: TextIO
    as_json: bool = False
    quiet: bool = False
    no_color: bool = False

    def show(self, document: Any, text: str) -> None:
        """The result: `document` under --json, `text` (with its own line end) for people."""
        if self.as_json:
            self.event(document, indent=2 if terminal(self.stdout) else None)
        else:
            self.say(text)

    def event(self, document: Any, indent: int | None = None) -> None:
        """One JSON value on stdout, on one line unless `indent`."""
        self.write(json.dumps(document, ensure_ascii=False, indent=indent) + "\n")

    def say(self, text: str) -> None:
        """Text on stdout. A terminal is never steered by what a model wrote."""
        self.write(tables.harmless(text) if terminal(self.stdout) else text)

    def write(self, text: str) -> None:
        """`text` on stdout as it is. Raises Failure "output" when it has no room for it."""
        try:
            self.stdout.write(text)
            self.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as trouble:
            let_go(self.stdout)
            why = trouble.strerror or str(trouble)
            raise Failure(507, f"the output cannot be written: {why}", kind="output") from None

    def tell(self, text: str) -> None:
        """`text` on stderr as it is. Where stderr takes nothing there is nobody to tell that."""
        try:
            self.stderr.write(text)
            self.stderr.flush()
        except BrokenPipeError:
            raise
        except OSError:
            let_go(self.stderr)

    def table(
        self, columns: tuple[str, ...], rows: Sequence[Sequence[str]], drop: tuple[str, ...] = ()
    ) -> str:
        """A table for stdout, as wide as its terminal; `drop` as in tables.table."""
        return tables.table(columns, rows, width(self.stdout), drop)

    def note(self, text: str) -> None:
        """A line on stderr beside the result; --quiet leaves it out."""
        if not self.quiet:
            self.warn(text)

    def warn(self, text: str) -> None:
        """A line on stderr that --quiet does not leave out."""
        self.tell(tables.harmless(self.spelled(text)) + "\n")

    def remarks(self, answer: Mapping[str, Any]) -> None:
        """What the server says beside its answer: a note, or files that do not parse. JSON holds it
        anyway.
        """
        if not self.as_json:
            for remark in filter(None, (answer.get("note"), *(answer.get("problems") or ()))):
                self.note(str(remark))

    def fail(self, failure: Failure) -> int:
        """Reports `failure` (as JSON on stdout under --json, in words on stderr otherwise); gives its exit
        code.
        """
        error = {name: self.spelled(text) for name, text in failure.document()["error"].items()}
        if self.as_json and failure.kind != "output":
            try:
                self.event({"error": error})
            except Failure as unwritable:
                return self.fail(unwritable)
        else:
            message, hint = tables.harmless(error["message"]), tables.harmless(error["hint"])
            more = "" if hint in message else f"{hint}\n"
            self.tell(f"{self.paint('error:', 'red', self.stderr)} {message}\n{more}")
        return failure.exit

    def paint(self, text: str, style: str, stream: TextIO) -> str:
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colourful(stream) else text

    def colourful(self, stream: TextIO) -> bool:
        """NO_COLOR and --no-color always win; then FORCE_COLOR; then whether `stream` is a terminal that
        can.
        """
        if self.no_color or self.env.get("NO_COLOR"):
            return False
        if any(self.env.get(name, "0") not in ("", "0") for name in ("CLICOLOR_FORCE", "FORCE_COLOR")):
            return True
        return self.steerable(stream)

    def steerable(self, stream: TextIO) -> bool:
        """Whether escape sequences work there. An old Windows console prints them as they are."""
        modern = os.name != "nt" or any(name in self.env for name in ("WT_SESSION", "ANSICON", "TERM"))
        return terminal(stream) and modern and self.env.get("TERM") != "dumb"

    @property
    def interactive(self) -> bool:
        """Whether a question can be put to a person: both the question's and the answer's side are
        terminals.
        """
        return self.stdin is not None and terminal(self.stdin) and terminal(self.stderr)

    def ask(self, question: str) -> str:
        """One line from the person. Only when `interactive`."""
        assert self.stdin is not None
        self.tell(question)
        return self.stdin.readline().strip()

    def spelled(self, text: str) -> str:
        """Our own commands in `text` as this user has to type them (`python3 cli.py ask` in a checkout)."""
        return text if self.program == "bench" else OWN_COMMANDS.sub(lambda _: f"{self.program} ", text)


def let_go(stream: TextIO) -> None:
    """Points `stream` at nothing, so that the end of the process finds nothing it cannot write."""
    with contextlib.suppress(OSError):  # one that is no file of the system holds nothing back
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def quoted(word: str) -> str:
    """`word` as one word of a command line that can be copied into this system's shell."""
    if os.name == "nt":
        return f'"{word}"' if " " in word else word
    return shlex.quote(word)


def terminal(stream: TextIO) -> bool:
    return not stream.closed and stream.isatty()


def width(stream: TextIO) -> int | None:
    """Columns of the terminal behind `stream`; None when it is none."""
    return shutil.get_terminal_size().columns if terminal(stream) else None


def system_console(program: str) -> Console:
    """The Console of this process. Text leaves as UTF-8 and never fails on a character that a code page
    lacks; a stream that was closed before we started (`2>&-`) swallows what it is given."""
    out, err = (sys.stdout or nowhere()), (sys.stderr or nowhere())
    for stream in (out, err):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if terminal(stream) else "utf-8", errors="replace")
    return Console(program, os.environ, sys.stdin, out, err)


def nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # as long as the process lives
