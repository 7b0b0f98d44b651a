"""What `ask` sends: the argument, the pipe and the files, joined into one user message.

The order is argument, pipe, files. Each file stands under its name in a fence that nothing inside it can
close, so that an answer can point at a file by name. Images go as parts of their own.
"""

import base64
import os
import re
import stat
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

from metrics.commands.failure import usage
from metrics.records import Message

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp")

# suffix -> the word models know the language by; a suffix that is that word itself needs no row
LANGUAGES = {
    **dict.fromkeys(("bash", "sh"), "bash"),
    **dict.fromkeys(("cc", "cxx", "hpp"), "cpp"),
    **dict.fromkeys(("txt", "log"), ""),
    **dict.fromkeys(("py", "pyi"), "python"),
    "bat": "batch",
    "cs": "csharp",
    "h": "c",
    "hs": "haskell",
    "htm": "html",
    "jsonl": "json",
    "kt": "kotlin",
    "md": "markdown",
    "mjs": "js",
    "patch": "diff",
    "pl": "perl",
    "ps1": "powershell",
    "rb": "ruby",
    "rs": "rust",
    "yml": "yaml",
}

# how the bytes of a picture begin, and what it is then, whatever its name says
BEGINNINGS = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
)

SLOW_PIPE = 2.0  # seconds without a word from the pipe before we say what we wait for


def messages(
    prompt: str | None, piped: str | None, files: Iterable[str], system: str | None
) -> list[Message]:
    """The conversation to send. `files` are paths as they were typed; images become image parts."""
    blocks = [prompt] if prompt else []
    if piped:
        blocks.append(fenced("stdin", piped) if blocks else piped)
    images = []
    for name in files:
        if Path(name).suffix.lower() in IMAGES:
            images.append(picture(name))
        else:
            blocks.append(fenced(name, text_of(name)))
    text = "\n\n".join(blocks)
    words = [{"type": "text", "text": text}] if text else []
    user: Message = {"role": "user", "content": [*words, *images] if images else text}
    return [{"role": "system", "content": system}, user] if system else [user]


def fenced(name: str, text: str) -> str:
    """`text` under its file name, in a fence longer than any in it."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    ending = "" if text.endswith("\n") else "\n"
    return f"File: {name}\n{fence}{language(name)}\n{text}{ending}{fence}"


def language(name: str) -> str:
    suffix = Path(name).suffix.lower().removeprefix(".")
    return LANGUAGES.get(suffix, suffix if suffix.isascii() and suffix.isalnum() else "")


def text_of(name: str) -> str:
    return decoded(name, content_of(name))


def picture(name: str) -> Message:
    content = content_of(name)
    kind = next((kind for beginning, kind in BEGINNINGS if beginning.match(content)), None)
    if kind is None:
        kinds = ", ".join(IMAGES)
        raise usage(f"{name} is not a picture: its bytes are not those of {kinds}", "check the file after -f")
    data = base64.b64encode(content).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}


def content_of(name: str) -> bytes:
    """The bytes of a file; a usage failure names the one that cannot be read."""
    try:
        if special(Path(name).stat().st_mode):  # reading it might wait for ever
            raise usage(f"{name} is not a file with an end", "pipe it in instead, with -f -")
        return Path(name).read_bytes()
    except FileNotFoundError:
        raise usage(f"there is no file {name}", "check the path after -f") from None
    except IsADirectoryError:
        raise usage(f"{name} is a folder", "give the files in it, one -f each") from None
    except OSError as trouble:
        raise usage(f"{name} cannot be read: {trouble.strerror}", "check the path after -f") from None


def special(mode: int) -> bool:
    """Whether it is a named pipe, a socket or a device."""
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def decoded(name: str, data: bytes) -> str:
    """`data` as text: UTF-8, or UTF-16 where it says so (PowerShell's `>` writes that). Anything else is
    refused.
    """
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as trouble:
        place = f"byte {trouble.start} is not {encoding.upper().removesuffix('-SIG')}"
        raise usage(f"{name} is not text: {place}", "convert it to UTF-8, or leave it out") from None
    if "\0" in text:
        raise usage(
            f"{name} is a binary file", f"leave it out; files may be text or images ({', '.join(IMAGES)})"
        )
    return text


def promised(stdin: TextIO | None) -> bool:
    """Whether stdin is a pipe or a file: somebody meant something to come. /dev/null promises nothing."""
    try:
        mode = os.fstat(stdin.fileno()).st_mode if stdin else 0
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def piped(stdin: TextIO | None, waiting: Callable[[], None], typed: bool = False) -> str | None:
    """What comes through the pipe; None when stdin is empty, closed, or a terminal (unless it is to be
    `typed` there).

    A pipe that nobody writes to and nobody closes cannot be told from a slow one: `waiting` is called when
    nothing has come for a while, so that it can be said what we wait for.
    """
    if stdin is None or stdin.closed or (stdin.isatty() and not typed):
        return None
    timer = threading.Timer(SLOW_PIPE, waiting)
    timer.daemon = True
    timer.start()
    try:
        data = stdin.buffer.read()
    except OSError:  # stdin was closed before we were started
        return None
    finally:
        timer.cancel()
    return decoded("stdin", data) or None
