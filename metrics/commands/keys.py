"""Where a key comes from: a pipe, a variable or a prompt that does not show it.

Never from the command line, which every process on the computer can read.
"""

import argparse
import getpass
from urllib.parse import urlsplit

from metrics.commands.command import argument
from metrics.commands.failure import usage
from metrics.commands.output import Console
from metrics.commands.server import LOOPBACK

OPTIONS = (
    argument(
        "--key-stdin", one_of="key", action="store_true", help="read the key from stdin (empty: no key)"
    ),
    argument("--key-env", one_of="key", metavar="NAME", help="read the key from this environment variable"),
)


def key(args: argparse.Namespace, console: Console, name: str, base: str = "") -> str | None:
    """The key that the line points at, or that a person types for the endpoint `name`: "" when that is
    empty, which means no key; None when nobody was asked.

    A runtime on this computer (`base` on loopback) seldom has a key, so nobody is asked for one.
    """
    if args.key_env or (args.key_stdin and not console.interactive):
        return given(args, console)
    if console.interactive and (args.key_stdin or urlsplit(base).hostname not in LOOPBACK):
        return checked(getpass.getpass(f"key for {name} (Enter: none): ", console.stderr))
    return None


def given(args: argparse.Namespace, console: Console) -> str | None:
    """The key that the line points at ("": none), or None where it points at nothing; nobody is asked."""
    if args.key_env:
        return checked(from_variable(args.key_env, console))
    if args.key_stdin:
        return checked(console.stdin.read() if console.stdin else "")
    return None


def from_variable(name: str, console: Console) -> str:
    value = console.env.get(name, "").strip()
    if not value:
        raise usage(
            f"the variable {name} is not set here", f"set {name} first, or pipe the key in with --key-stdin"
        )
    return value


def checked(text: str) -> str:
    """`text` without the line end around it; a key is one word of visible ASCII, as a header needs it."""
    text = text.removeprefix("\ufeff").strip()
    if text and not (text.isascii() and text.isprintable() and " " not in text):
        raise usage(
            "what was given is not a key: it holds spaces, line ends or other characters that no key has",
            "give the key alone, on one line",
        )
    return text
