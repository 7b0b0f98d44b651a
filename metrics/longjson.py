"""JSON with very long strings in it (a prompt of megabytes, a picture), read and written without holding
several copies of them.

Python's own reader wants the whole text as a str beside what it makes of it, and keeps a str for every run
between two escapes; its writer joins twice. So the long strings of a large body are cut out as bytes and read
by themselves, piece by piece, and are written piece by piece too. Everything else is left to Python's own,
which also has the last word on what is JSON.
"""

import re
from collections.abc import Callable
from io import BytesIO
from json import JSONDecoder
from typing import Any

LARGE = 1_000_000  # bytes of a body that is worth looking through
LONG = 4_096  # bytes of a string in it that is read by itself, or
WIDE = 1_024  # where not all is ASCII: one such character makes all of its str two or four times as large
PIECE = 65_536  # characters that are written at once

# Before 3.11.5 a possessive group ("(...)*+") keeps what its last, failed round has eaten. So only single
# characters repeat that way here, and a group that can fail part way only at the end of the text.

# What stands between long strings: anything outside of strings, and strings of few escapes and short runs.
_BETWEEN = re.compile(
    rb'(?:[^"]++|"[^"\\]{0,1024}+(?:\\.[^"\\]{0,64}+){0,16}"){1,1024}',
    re.DOTALL,
)
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)

# Pieces of a string that can be read by themselves: they end neither within a character nor within an escape
# or a pair of them.
_RUN = rb"[^\\]{1,1024}+[\x80-\xbf]*+"
_PAIR = rb"\\u[dD][89abAB]..\\u[dD][c-fC-F].."
_PIECES = re.compile(rb"(?:%b|%b|\\u....|\\.){1,256}" % (_RUN, _PAIR), re.DOTALL)

_PLACE = "-Infinity"


# --- reading


def cut(body: bytes) -> list[bytes]:
    """A JSON text in pieces, of which every second is a long string without its quotes. Joined by quotes they
    are the text again."""
    if len(body) < LARGE:
        return [body]
    pieces: list[bytes] = []
    least = LONG if body.isascii() else WIDE
    done = at = 0
    while at < len(body):
        end = _end(_BETWEEN, body, at)
        if end == at:
            end = _closed(body, at)
            if end < 0:
                break
            if end - at > least:
                pieces += (body[done:at], body[at + 1 : end - 1])
                done = end
        at = end
    return [*pieces, body[done:]]


def _end(pattern: re.Pattern[bytes], body: bytes, at: int) -> int:
    match = pattern.match(body, at)
    return match.end() if match else at


def _closed(body: bytes, at: int) -> int:
    """The end of the string that begins at `at`; below 0 when it has none."""
    quote = body.find(b'"', at + 1)
    if quote >= 0 and body.find(b"\\", at + 1, quote) < 0:
        return quote + 1
    match = _STRING.match(body, at)
    return match.end() if match else -1


def read(pieces: list[bytes]) -> Any:
    """The value of what was cut. Empties the list on the way, so that nothing is held longer than it is of
    use. Raises ValueError (UnicodeDecodeError, JSONDecodeError) or RecursionError as json.loads does."""
    if len(pieces) > 1:
        try:
            return _put_together(pieces)
        except _Doubt:
            pieces[:] = [b'"'.join(pieces)]
    text = pieces.pop().decode("utf-8-sig")
    return _READER.decode(text)


class _Doubt(Exception):
    """It does not read as it should: Python's reader may say why."""


def _put_together(pieces: list[bytes]) -> Any:
    """In the place of each long string stands a number that is none, and the reader asks what it means, in
    order. A first reading shows that all is well; only then are the pieces let go."""
    asked: list[str] = []
    try:
        frame = _PLACE.encode().join(pieces[::2]).decode("utf-8-sig")
        JSONDecoder(parse_constant=asked.append).decode(frame)
        strings = [_said(piece) for piece in pieces[1::2]]
    except (ValueError, RecursionError) as error:
        raise _Doubt from error
    if asked != [_PLACE] * len(strings):
        raise _Doubt
    pieces.clear()
    strings.reverse()
    return JSONDecoder(parse_constant=lambda _: strings.pop().decode("utf-8", "surrogatepass")).decode(frame)


def _said(string: bytes) -> bytearray:
    """What a string without its quotes means, in UTF-8. ValueError when it means nothing."""
    said = bytearray()
    at = 0
    while at < len(string):
        end = _end(_PIECES, string, at)
        said += _READER.decode(f'"{string[at:end].decode()}"').encode("utf-8", "surrogatepass")
        if end == at:
            raise ValueError("the string ends within an escape")
        at = end
    return said


def _refused(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_READER = JSONDecoder(parse_constant=_refused)


# --- writing

Encode = Callable[[Any], bytes]


def write(value: Any, encode: Encode, end: bytes = b"") -> bytes:
    """`value` as JSON, and `end`: what `encode` makes of it, which is asked for a piece at a time. It must
    write compactly and put nothing but quotes around a str."""
    try:
        large = _size(value) > PIECE
    except RecursionError:
        large = False  # `encode` has a word for that
    if not large:
        return encode(value) + end
    out = BytesIO()
    _put(value, encode, out)
    out.write(end)
    return out.getvalue()


def _size(value: Any) -> int:
    """Characters of all strings in it, but for names of fields."""
    kind = type(value)
    if kind is str:
        return len(value)
    if kind is not dict and kind is not list and kind is not tuple:
        return 0
    size = 0
    for part in value.values() if kind is dict else value:
        if type(part) is str:
            size += len(part)
        elif part is not None:
            size += _size(part)
    return size


def _put(value: Any, encode: Encode, out: BytesIO) -> None:
    if _size(value) <= PIECE:
        out.write(encode(value))
    elif type(value) is str:
        _put_string(value, encode, out)
    elif type(value) is dict:
        _put_items(b"{", value, b"}", encode, out)
    else:
        _put_items(b"[", value, b"]", encode, out)


def _put_items(before: bytes, items: Any, after: bytes, encode: Encode, out: BytesIO) -> None:
    for item in items:
        out.write(before)
        before = b","
        if after == b"}":
            out.write(encode(str(item)) + b":")
            item = items[item]
        _put(item, encode, out)
    out.write(after)


def _put_string(text: str, encode: Encode, out: BytesIO) -> None:
    out.write(b'"')
    at = 0
    while at < len(text):
        end = at + PIECE
        if "\ud800" <= text[end - 1 : end] <= "\udbff":
            end += 1  # a pair that was written apart is one character: it stays together
        out.write(encode(text[at:end])[1:-1])
        at = end
    out.write(b'"')
