"""A program run in our place: it has the terminal, gets our signals, and its exit code is ours."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from metrics.commands.failure import Failure
from metrics.commands.output import Console, terminal

FORWARDED = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
BATCH = (".bat", ".cmd")  # what npm installs on Windows
UNSAFE = '"%!^&|<>\r\n'  # means something to the command interpreter that runs a batch file


def run(words: Sequence[str], env: Mapping[str, str], console: Console) -> int:
    """Run `words` with our own stdin, stdout and stderr; its exit code, or 128 and the signal that ended it.
    Raises Failure when it cannot be started."""
    refuse_unsafe(words, os.name == "nt")
    try:
        process = subprocess.Popen(list(words), env=dict(env))
    except OSError as trouble:
        why = trouble.strerror or str(trouble)
        hint = "run it by itself, to see whether it works at all"
        raise Failure(500, f"{words[0]} cannot be started: {why}", kind="not_started", hint=hint) from None
    with passing_on(process, shared=console.stdin is not None and terminal(console.stdin)):
        code = process.wait()
    return 128 - code if code < 0 else code


def refuse_unsafe(words: Sequence[str], windows: bool) -> None:
    """A batch file's arguments are read again by the command interpreter, for which no quoting is safe."""
    if not windows or not words[0].lower().endswith(BATCH):
        return
    for word in words[1:]:
        if any(sign in word for sign in UNSAFE):
            message = f"on Windows this argument cannot be handed to {words[0]} as it is: {word!r}"
            hint = "give it on stdin or in a file, or write it without quotes, line ends and % ! ^ & | < >"
            raise Failure(400, message, kind="usage", hint=hint)


@contextmanager
def passing_on(process: "subprocess.Popen[Any]", shared: bool) -> Iterator[None]:
    """Signals sent to us go on to `process`. A terminal that is `shared` sends Ctrl-C to both by itself, and
    what it means there is the program's to say."""

    def forward(number: int, frame: FrameType | None) -> None:
        process.send_signal(number)

    def ignore(number: int, frame: FrameType | None) -> None:
        pass

    handlers = {getattr(signal, name): forward for name in FORWARDED if hasattr(signal, name)}
    handlers[signal.SIGINT] = ignore if shared or os.name == "nt" else forward
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
