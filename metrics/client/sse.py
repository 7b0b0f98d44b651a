"""The event-stream grammar: bytes in any split come in, whole events come out.

The idea: pieces are kept as they came until one of them ends an event (a blank line), and only then joined
to a block of whole events, so a long event costs its length once, and nothing here looks at single bytes.
Line ends are made LF on the way in: a CR counts at once, and an LF that opens the next piece is the rest of a
CRLF. Grammar: https://html.spec.whatwg.org/multipage/server-sent-events.html (section 9.2.5).
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
    for block in blocks(pieces, limit):
        at = 0
        if not block:
            yield None
        while at < len(block):
            event, at = next_event(block, at, limit)
            yield event


def blocks(pieces: Iterator[bytes], limit: int = LIMIT) -> Iterator[bytes]:
    """The same stream with LF line ends, as whole events that came together: each block ends in a blank
    line, but for what the stream's end cut off. b"" is a quiet tick. Raises as `read` does."""
    held: list[bytes] = []  # what came since the last event
    size = 0
    carriage = False  # the last piece ended in CR
    bom = BOM
    for piece in pieces:
        if not (held or carriage or bom) and piece.endswith(b"\n\n") and b"\r" not in piece:
            yield piece  # nearly always
            continue
        if not piece:
            yield b""
            continue
        if carriage and piece[0] == 10:
            piece = piece[1:]
            carriage = False
            if not piece:
                continue
        carriage = piece[-1] == 13
        if b"\r" in piece:
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        end = piece.rfind(b"\n\n") + 2
        if end < 2:  # the blank line may have come in two halves
            end = 1 if held and piece[0] == 10 and held[-1][-1] == 10 else 0
        if end:
            block = b"".join((*held, piece[:end])) if held else piece[:end]
            held.clear()
            size, piece = 0, piece[end:]
            yield block.removeprefix(bom)
            bom = b""
        if piece:
            held.append(piece)
            size += len(piece)
            if size > limit:
                raise _too_long(limit)
    if held:
        yield b"".join(held).removeprefix(bom)


def next_event(block: bytes, at: int, limit: int = LIMIT) -> tuple[SseEvent | None, int]:
    """The event at `at` in a block, None when it has no data, and where the next one begins."""
    end = block.find(b"\n\n", at)
    stop = end if end >= 0 else len(block)
    if stop - at > limit:
        raise _too_long(limit)
    event = _event(block[at:stop])
    if end < 0:
        return event and event._replace(whole=False), stop
    end += 2
    while block.startswith(b"\n", end):
        end += 1
    return event, end


def _event(block: bytes) -> SseEvent | None:
    """What the lines of one block say; None when they carry no data."""
    named, _, line = block.partition(b"\n") if block.startswith(b"event: ") else (b"", b"", block)
    if line.startswith(b"data: ") and b"\n" not in line:  # nearly always
        return SseEvent(named[7:].decode("utf-8", "replace"), line[6:])
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
