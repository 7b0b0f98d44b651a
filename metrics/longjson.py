"""JSON with very long strings in it (a prompt of megabytes, a picture), read and written without holding
several copies of them.

Python's own reader wants the whole text as a str beside what it makes of it, two or four times as large as
the body where one character is wide; its writer joins twice. So a large body is decoded a window at a time,
and Python's reader reads what is whole in it; a string that is longer is read piece by piece, and written
piece by piece too. Python's reader also has the last word on what is JSON: it gets all of a body that is odd
in any way.

What is long is mostly sent on as it came: a long list of a body is read as an `AsWritten`, which has its
text.
"""

import re
from codecs import BOM_UTF8, utf_8_decode
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from json import JSONDecoder
from typing import Any

from metrics.line import Buffer

LARGE = 524_288  # bytes of a body that is read by windows,
WINDOW = 32_768  # of one of them,
LIST = 8_192  # and of a list whose text is kept
ALIKE = 10  # characters by which one item is known to begin as another does
SMALL = 64  # bytes of a value, below which many of them weigh more than their text: they are read at once
DEEPEST = 12  # levels down to which a value is looked into that is longer than a window
LONG = 2_048  # characters of a string that is written by itself,
PIECE = 16_384  # and of what is written of one at once

_HALF = re.compile(rb"\\u[dD][89a-fA-F]")  # of a surrogate pair
_HALF_LONG = 6  # characters or bytes of it
_OPEN = 5  # characters of the longest escape that lacks its end: \u123
_GOES_ON = 2  # characters behind a number that show whether it ends there: 1 may become 1.5 or 1e+5
_ESCAPES = ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n"), (b"\r", b"\\r"), (b"\t", b"\\t"))
_CONTROL = bytes((*range(32), 127))
_PLACE = "\x00 a long string \x00"
_HOLDERS = (dict, list, tuple)
_SAID = re.compile(r"[^ \t\n\r]")


# --- reading


class AsWritten(list[Any]):
    """A list as it was read, and the UTF-8 JSON that it was read from, which every reader can take. Whoever
    wants to change it makes another list."""

    __slots__ = ("text",)

    def __init__(self, items: Iterable[Any], text: Buffer) -> None:
        super().__init__(items)
        self.text = text

    def take(self) -> Buffer:
        """The text, which is not held here any longer: it may be megabytes."""
        text, self.text = self.text, b""
        return text


def read(body: bytes, *, as_written: bool = False) -> Any:
    """The value of a JSON text; if wanted, the long lists in the object that it is are AsWritten. Raises
    ValueError (UnicodeDecodeError, JSONDecodeError) or RecursionError as json.loads does."""
    if len(body) >= (LIST if as_written else LARGE):
        with suppress(ValueError):  # what is wrong, Python's reader says
            return _Reading(body).whole(as_written)
    # What utf-8-sig does, whose codec is written in Python.
    text = (body[len(BOM_UTF8) :] if body.startswith(BOM_UTF8) else body).decode()
    try:
        value, end = _READER.raw_decode(text)
    except ValueError:
        end = -1
    # The usual text has nothing before its value and nothing behind it. Of any other its reader has the word.
    return value if end == len(text) or (end > 0 and text[end:] == "\n") else _READER.decode(text)


class _Reading:
    """A JSON text while it is read. `_text` is what is decoded of it, read up to `_at`; the byte `_next` is
    the first that is not. All methods raise ValueError where it might be no JSON."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._window = WINDOW if len(body) >= LARGE else len(body)
        self._next = len(BOM_UTF8) if body.startswith(BOM_UTF8) else 0
        self._begins = self._next  # the byte at which `_text` does; below 0 where that is not known
        self._all = False  # whether all is decoded
        self._text = ""
        self._at = 0
        self._fresh = False  # whether no list was looked through since more was decoded
        self._depth = 0
        self._values = 0

    def whole(self, as_written: bool) -> Any:
        """The value of all of it."""
        fields = self._as_written if as_written else self._value
        value = self._object(fields) if self._mark() == "{" else self._value()
        if self._mark():
            raise ValueError
        return value

    def _more(self) -> bool:
        """Decode another window. Whether there was one."""
        if self._all:
            return False
        window = memoryview(self._body)[self._next : self._next + self._window]
        self._all = self._next + len(window) == len(self._body)
        text, used = utf_8_decode(window, "strict", self._all)
        self._begins = self._next if self._at == len(self._text) else -1
        self._next += used
        self._text = self._text[self._at :] + text
        self._at = 0
        self._fresh = True
        return True

    def _mark(self) -> str:
        """The next character that is not blank, which is at `_at` then; "" at the end."""
        while (mark := self._text[self._at : self._at + 1]) in " \t\n\r":
            said = _SAID.search(self._text, self._at)
            self._at = said.start() if said else len(self._text)
            if not said and not self._more():
                return ""
        return mark

    def _value(self) -> Any:
        """What is at `_at`: by Python's reader if a window holds all of it."""
        self._mark()
        self._values += 1
        if self._values * SMALL > self._next:
            raise ValueError
        while True:
            try:
                value, end = _READER.raw_decode(self._text, self._at)
            except ValueError:
                if self._all:
                    raise
            else:
                if end + _GOES_ON < len(self._text) or self._all or not _number(value):
                    self._at = end
                    return value
            if len(self._text) - self._at >= self._window:
                return self._looked_into()
            self._more()

    def _looked_into(self) -> Any:
        """A value that is longer than a window."""
        kinds: dict[str, Callable[[], Any]] = {'"': self._string, "[": self._list, "{": self._object}
        read = kinds.get(self._text[self._at])
        if read is None or self._depth == DEEPEST:
            raise ValueError
        self._depth += 1
        value = read()
        self._depth -= 1
        return value

    def _object(self, part: Callable[[], Any] | None = None) -> dict[str, Any]:
        part = part or self._value
        value: dict[str, Any] = {}
        mark = ","
        while mark == ",":
            self._at += 1
            name = self._value()
            if type(name) is not str or self._mark() != ":":
                raise ValueError
            self._at += 1
            value[name] = part()
            mark = self._mark()
        self._end("}", mark)
        return value

    def _list(self) -> list[Any]:
        items: list[Any] = []
        mark = ","
        while mark == ",":
            if items and (more := self._several()):
                items += more
                continue
            self._at += 1
            items.append(self._value())
            mark = self._mark()
        self._end("]", mark)
        return items

    def _several(self) -> list[Any]:
        """The items of a list from the comma at `_at` to the last that begins as the first of them does; none
        where that one is of another list, or was tried. They are read at once, as nothing between two commas
        is a list's inside but whole items of it."""
        if not self._fresh:
            return []
        self._fresh = False
        last = self._text.rfind(self._text[self._at : self._at + ALIKE], self._at + 1)
        try:
            items: list[Any] = _READER.decode(f"[{self._text[self._at + 1 : last]}]") if last > 0 else []
        except ValueError:
            return []
        if items:
            self._at = last
            self._more()
        return items

    def _end(self, wanted: str, mark: str) -> None:
        if mark != wanted:
            raise ValueError
        self._at += 1

    def _as_written(self) -> Any:
        """A value of the whole object: with its text where it is a long list."""
        if self._mark() != "[":
            return self._value()
        start = self._place()
        items = self._value()
        end = self._place()
        if end - start < LIST or _has_half(self._body, start, end):
            return items
        # A view holds on to all of the body, which it should not for a small part.
        large = 2 * (end - start) > len(self._body)
        return AsWritten(items, memoryview(self._body)[start:end] if large else self._body[start:end])

    def _place(self) -> int:
        """How many bytes of the body are read."""
        if self._begins >= 0 and 2 * self._at < len(self._text):
            return self._begins + len(self._text[: self._at].encode())
        return self._next - len(self._text[self._at :].encode())

    def _string(self) -> str:
        """A string that is longer than a window. Formatting asks for a piece, adds it to what it has, and
        then for the next; `join` would hold all of them beside what they make."""
        pieces = self._pieces()
        most = 3 + (len(self._body) - self._next) // (self._window - 3)  # which may end within a character
        said = "%s" * most % ((_Next(pieces),) * most)
        if next(pieces, None) is not None:
            raise ValueError
        return said

    def _pieces(self) -> Iterator[str]:
        self._at += 1
        while True:
            end = len(self._text) if self._all else self._unbroken()
            piece, stop = _READER.raw_decode(f'"{self._text[self._at : end]}"')
            if self._at + stop < end + 2:  # it ends before our second quote
                self._at += stop - 1
                yield piece
                return
            if "\ud800" <= piece[-1:] <= "\udbff":  # a half that waits for the other
                piece, end = piece[:-1], end - _HALF_LONG
            self._at = end
            yield piece
            if not self._more():
                raise ValueError

    def _unbroken(self) -> int:
        """The end of what is decoded, or where an escape begins there that may go on."""
        slash = self._text.rfind("\\", max(self._at, len(self._text) - _OPEN))
        before = self._text[self._at : slash + 1]
        slashes = len(before) - len(before.rstrip("\\"))
        return slash if slashes % 2 else len(self._text)


class _Next:
    """Each time that it is written, the next piece."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces

    def __str__(self) -> str:
        return next(self._pieces, "")


def _has_half(body: bytes, start: int, end: int) -> bool:
    """Whether half of a surrogate pair is written there: it has no UTF-8 by itself, and may have to be
    written anew. A picture has no backslash, which is quickly seen."""
    while (start := body.find(b"\\", start, end)) >= 0:
        if _HALF.search(body, start, min(end, start + WINDOW)):
            return True
        start += WINDOW - _HALF_LONG
    return False


def _number(value: Any) -> bool:
    return type(value) is int or type(value) is float


def _refused(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_READER = JSONDecoder(parse_constant=_refused)


# --- writing

Encode = Callable[[Any], bytes]


def write(value: Any, encode: Encode, end: bytes = b"", *, ascii_only: bool = False) -> bytes:
    """`value` as JSON, and `end`: what `encode` makes of it, which has to write UTF-8 (or ASCII, as said)
    and put nothing but quotes around a str. It does not get to see the long strings."""
    long: list[str] = []
    try:
        (frame,) = _framed((value,), long)
    except RecursionError:
        long = []  # `encode` has a word for that
    parts = encode(frame).split(encode(_PLACE)) if long else []
    if len(parts) != len(long) + 1:  # none is long, or something else looks like their places
        return encode(value) + end
    out = BytesIO()
    for part, text in zip(parts, long, strict=False):
        out.write(part)
        _put_string(text, encode, ascii_only, out)
    out.write(parts[-1])
    out.write(end)
    return out.getvalue()


def _framed(value: Any, long: list[str]) -> Any:
    """A list or an object with a mark in the place of each long string, all of which go into `long`: itself
    if it holds none."""
    of_names = isinstance(value, dict)
    made = value
    for name, part in value.items() if of_names else enumerate(value):
        held = part
        if type(part) is str:
            if len(part) >= LONG:
                long.append(part)
                held = _PLACE
        elif part and isinstance(part, _HOLDERS):
            held = _framed(part, long)
        if held is not part:
            if made is value:
                made = dict(value) if of_names else list(value)
            made[name] = held
    return made


def _put_string(text: str, encode: Encode, ascii_only: bool, out: BytesIO) -> None:
    out.write(b'"')
    at = 0
    while at < len(text):
        end = at + PIECE
        if "\ud800" <= text[end - 1 : end] <= "\udbff":
            end += 1  # a pair that was written apart is one character: it stays together
        piece = text[at:end]
        out.write(_spelled(piece, ascii_only) or encode(piece)[1:-1])
        at = end
    out.write(b'"')


def _spelled(text: str, ascii_only: bool) -> bytes:
    """`text` between a JSON string's quotes, made three times as fast as an encoder does; nothing where that
    takes rarer escapes."""
    if ascii_only and not text.isascii():
        return b""
    try:
        said = text.encode()
    except UnicodeEncodeError:
        return b""
    for plain, escaped in _ESCAPES:
        if plain in said:
            said = said.replace(plain, escaped)
    return b"" if len(said.translate(None, _CONTROL)) < len(said) else said
