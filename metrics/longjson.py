"""JSON with very long strings in it (a prompt of megabytes, a picture), read and written without holding
several copies of them.

Python's own reader wants the whole text as a str beside what it makes of it, and keeps a str for every run
between two escapes; its writer joins twice. So the long strings of a large body are cut out as bytes and read
by themselves, piece by piece, and are written piece by piece too. Everything else is left to Python's own,
which also has the last word on what is JSON.

What is long for another reason, many messages or tools, is mostly sent on as it came: a long list of a body
is read as an `AsWritten`, which has its text.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from io import BytesIO
from json import JSONDecoder
from typing import Any

LARGE = 1_000_000  # bytes of a body that is worth looking through,
MODEST = 4_000_000  # of one that can be read at once, where all is ASCII and none of its strings longer than
WINDOW = 65_536  # or twice that; and
LIST = 8_192  # of a list whose text is kept
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


# A half of a surrogate pair, which has no UTF-8 by itself: what holds one may have to be written anew.
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_BLANK = re.compile(r"[ \t\n\r]*")


# --- reading


class AsWritten(list[Any]):
    """A list as it was read, and the UTF-8 JSON that it was read from, which every reader can take. Whoever
    wants to change it makes another list."""

    __slots__ = ("text",)

    def __init__(self, items: Iterable[Any], text: bytes) -> None:
        super().__init__(items)
        self.text = text


def cut(body: bytes) -> list[bytes]:
    """A JSON text in pieces, of which every second is a long string without its quotes. Joined by quotes they
    are the text again."""
    if len(body) < LARGE or (len(body) < MODEST and body.isascii() and not _has_long(body)):
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


def _has_long(body: bytes) -> bool:
    """Whether a string in `body` may be longer than a few windows. A quote without a backslash before it
    begins or ends a string, so none is where each window holds one."""
    at = 0
    while at + WINDOW < len(body):
        end = at + WINDOW
        while (quote := body.rfind(b'"', at, end)) > at and body[quote - 1] == 0x5C:
            end = quote - 1
        if quote <= at:
            return True
        at = quote + 1
    return False


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
    body = pieces.pop()
    text = body.decode("utf-8-sig")
    if len(body) >= LIST and body[:1] == b"{":
        with suppress(IndexError, ValueError):  # it is no object after all: what is wrong, the reader says
            return _object(text, body)
    return _READER.decode(text)


def _object(text: str, body: bytes) -> dict[str, Any]:
    """The object that `text` is, `body` in UTF-8; its long lists are AsWritten."""
    value: dict[str, Any] = {}
    at = 1
    mark = ","
    while mark == ",":
        at = _past(text, at)
        name, at = _READER.raw_decode(text, at)
        at = _past(text, at)
        if text[at] != ":" or type(name) is not str:
            raise ValueError
        start = _past(text, at + 1)
        item, at = _READER.raw_decode(text, start)
        if type(item) is list and at - start >= LIST:
            item = _as_written(item, text, start, at, body)
        value[name] = item
        at = _past(text, at)
        mark, at = text[at], at + 1
    if mark != "}" or _past(text, at) != len(text):
        raise ValueError
    return value


def _past(text: str, at: int) -> int:
    """The place of what follows the blanks at `at`."""
    if text[at : at + 1] > " ":
        return at
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _as_written(items: list[Any], text: str, start: int, end: int, body: bytes) -> list[Any]:
    if len(body) > len(text):  # not all is ASCII: what is not long is counted in bytes
        start, end = len(text[:start].encode()), len(body) - len(text[end:].encode())
    written = body[start:end]
    return items if _HALF.search(written) else AsWritten(items, written)


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
