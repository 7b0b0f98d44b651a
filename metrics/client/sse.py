"""The event-stream grammar: bytes in any split come in, whole events come out.

The idea: pieces are kept as they came until one of them ends an event (a blank line), and only then joined
and split, so a long event costs its length once, and nothing here looks at single bytes. Line ends are made
LF on the way in: a CR counts at once, and an LF that opens the next piece is the rest of a CRLF. Grammar:
https://html.spec.whatwg.org/multipage/server-sent-events.html (section 9.2.5).
"""

from collections.abc import Iterator
from typing import NamedTuple

from metrics.records import Problem

LIMIT = 16 << 20  # bytes of one event
BOM = b"\xef\xbb\xbf"


class SseEvent(NamedTuple):
    """One event: its name ("" when unnamed) and its data, lines joined with LF. `whole` is False for a last
    event that the stream's end cut off before its blank line: many servers end that way, and so does a broken
    connection."""

    event: str
    data: bytes
    whole: bool = True


def read(pieces: Iterator[bytes], limit: int = LIMIT) -> Iterator[SseEvent | None]:
    """Events of a stream. None is a sign of life without meaning: a quiet tick (b"") or a comment.

    Raises Problem(502, kind="too_large") when one event is longer than `limit`; whatever `pieces` raises
    passes through.
    """
    held: list[bytes] = []  # what came since the last event
    size = 0
    carriage = False  # the last piece ended in CR
    first = True
    for piece in pieces:
        if not piece:
            yield None
            continue
        if carriage and piece[0] == 10:
            piece = piece[1:]
            carriage = False
            if not piece:
                continue
        carriage = piece[-1] == 13
        if b"\r" in piece:
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n\n" in piece or (piece[0] == 10 and held and held[-1][-1] == 10):
            if held:
                piece = b"".join((*held, piece))
            *blocks, piece = piece.split(b"\n\n")
            held.clear()
            size = 0
            for block in blocks:
                if first:
                    block, first = block.removeprefix(BOM), False
                if len(block) > limit:
                    raise _too_long(limit)
                if block:
                    yield _event(block)
        if piece:
            held.append(piece)
            size += len(piece)
            if size > limit:
                raise _too_long(limit)
    if held:
        last = _event(b"".join(held).removeprefix(BOM) if first else b"".join(held))
        if last:
            yield last._replace(whole=False)


def _event(block: bytes) -> SseEvent | None:
    """What the lines of one block say; None when they carry no data."""
    if block.startswith(b"data: ") and b"\n" not in block:  # nearly always
        return SseEvent("", block[6:])
    name = ""
    data: list[bytes] = []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace")
    return SseEvent(name, b"\n".join(data)) if data else None


def _too_long(limit: int) -> Problem:
    return Problem(
        502,
        f"the provider sent one stream event of more than {limit >> 20} MB",
        kind="too_large",
        retryable=False,
    )
