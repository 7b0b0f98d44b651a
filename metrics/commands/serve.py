"""`bench serve` and `bench gateway`: hand the line on to the mains of the same name.

They are imported only when they run, so that no other command pays for the whole server. What follows the
word is theirs, `--help` included. They speak to people; under --json what they say is caught and told as the
one document: where the server is once it listens, its help, or why it did not start.
"""

import contextlib
import importlib
import io
import sys
from collections.abc import Callable
from typing import TextIO

from metrics.commands.failure import DONE, USAGE, Failure, usage
from metrics.commands.output import Console

MAINS = {
    "serve": "the whole server: dashboard and gateway on one port",
    "gateway": "the gateway alone: what programs call, without the dashboard",
}
Run = Callable[[list[str]], int | None]


def main(word: str, words: list[str], console: Console) -> int:
    """Runs serve.py or gateway.py with `words`; their exit code."""
    run: Run = importlib.import_module(word).main
    if console.as_json or "--json" in words:
        console.as_json = True
        return heard(word, run, [one for one in words if one != "--json"], console)
    return run(words) or DONE


def heard(word: str, run: Run, words: list[str], console: Console) -> int:
    """Runs it with one JSON document on stdout. Raises Failure when it does not start."""
    err = Held(sys.stderr)
    out = Announcement(console, err)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(words) or DONE
    except SystemExit as left:  # argparse: help (0) or a wrong line (2)
        code = left.code if isinstance(left.code, int) else USAGE
    if out.announced:
        return code
    if code == DONE:
        said = out.getvalue()
        console.show({"version": said.strip()} if "--version" in words else {"help": said}, "")
        return code
    why = err.getvalue().strip().rpartition("\n")[2]
    if code == USAGE:
        raise usage(f"{word}: {why.partition('error: ')[2] or why}", f"see: bench {word} --help")
    raise Failure(503, why, kind="not_started", hint="correct what it names and start it again")


class Held(io.StringIO):
    """A stderr that is kept until `pass_on`, and from then on goes where it would have gone."""

    def __init__(self, real: TextIO):
        super().__init__()
        self.real, self.open = real, False

    def write(self, text: str) -> int:
        return self.real.write(text) if self.open else super().write(text)

    def flush(self) -> None:
        if self.open:
            self.real.flush()

    def pass_on(self) -> None:
        self.open = True
        self.real.write(self.getvalue())


class Announcement(io.StringIO):
    """A stdout whose first flushed line means that the server listens."""

    def __init__(self, console: Console, err: Held):
        super().__init__()
        self.console, self.err, self.announced = console, err, False

    def flush(self) -> None:
        if not self.announced and self.getvalue():
            self.announced = True
            self.console.event({"ok": True, "started": self.getvalue().strip()})
            self.err.pass_on()
