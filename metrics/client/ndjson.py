"""JSON lines as they arrive: bytes in any split come in, whole objects come out.

The idea: a line is an object (Ollama's stream), so a body written out over many lines is the one thing to
tell apart: its first line does not end in the brace that it begins with, and only a brace at the start of a
line can end it. What wraps lines as events of a stream (`data: {...}`) is taken off.
"""

from collections.abc import Iterator
from typing import Any

from metrics.client import objects, sse
from metrics.records import Target


def read(pieces: Iterator[bytes], target: Target) -> Iterator[dict[str, Any] | None]:
    """The objects in order; None is a sign of life. Ends where the body does, torn or not: whether the answer
    was finished by then only the reader knows.

    Raises Problem 502: "garbage" for what is no JSON, "empty" for nothing, "too_large".
    """
    spread: list[bytes] = []  # the lines of an object over several
    taken = False
    for line in _lines(pieces, target):
        data = _bare(line)
        if not data:
            yield None
            continue
        if not taken and not spread and data[:1] == b"<":
            raise objects.garbage(target, data)
        value = None
        if not spread and data[:1] == b"{" and data[-1:] == b"}":
            value = objects.decoded(data, target, whole=taken)
        if value is None:
            spread.append(data)
            ends = line.rstrip() in (b"}", b"]")
            value = objects.decoded(b"\n".join(spread), target, whole=False) if ends else None
        if value is not None:
            spread.clear()
            taken = True
            yield value
    if spread or not taken:
        yield from _last(b"\n".join(spread), taken, target)


def _last(rest: bytes, taken: bool, target: Target) -> Iterator[dict[str, Any]]:
    """What the end of the body left over: an object without its line end, or a torn one."""
    if not rest:
        raise objects.empty(target)
    value = objects.decoded(rest, target, whole=not taken)
    if value is not None:
        yield value


def _bare(line: bytes) -> bytes:
    """A line without what frames it; nothing for a comment."""
    data = line.strip()
    if data.startswith(b"data:"):
        data = data[len(b"data:") :].lstrip()
    return b"" if data.startswith((b":", b"event:", b"[DONE]")) else data


def _lines(pieces: Iterator[bytes], target: Target) -> Iterator[bytes]:
    """The lines without their ends; an empty one for a quiet tick."""
    held: list[bytes] = []
    size = 0
    first = True
    for piece in pieces:
        if not piece:
            yield b""
        size += len(piece)
        held.append(piece)
        if b"\n" in piece:
            *ended, rest = b"".join(held).split(b"\n")
            for line in ended:
                yield line.removeprefix(sse.BOM) if first else line
                first = False
            held, size = [rest], len(rest)
        if size > objects.LONGEST_BODY:
            raise objects.too_large(target)
    line = b"".join(held)
    yield line.removeprefix(sse.BOM) if first else line
