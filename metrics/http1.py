"""HTTP/1.1 as pure functions on bytes, both directions: heads, lengths, chunked coding, limits. No sockets.

Everything here is strict in what it reads, since each looseness (a bare LF, two lengths, a signed chunk
size) is a way to make two parties disagree about where a message ends. Whatever is wrong is a `Problem`
with the status a server would answer; a client maps it to "not HTTP". Heads come in as the bytes before
their blank line; the body decoder takes pieces cut anywhere.

The idea that makes it fast: header names repeat, so a name is checked and lower-cased once and remembered.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from http import HTTPStatus

from metrics.records import Problem

HEAD_LIMIT = 65_536
FIELD_LIMIT = 100
END = b"\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"

# What no head may hold: control characters but tab, and CR LF as a pair between two lines.
_CONTROLS = bytes(set(range(32)) - {9} | {127})
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_ABSOLUTE = re.compile(r"https?://([^/?#]+)([/?].*)?", re.IGNORECASE)
_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}")
_MINORS = {"HTTP/1.1": 1, "HTTP/1.0": 0}
_METHODS = frozenset({"GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"})
_NAMES_REMEMBERED = 512
_SIZES_REMEMBERED = 4_096
_names: dict[str, str] = {}
_sizes: dict[bytes, int] = {}


class RequestHead:
    """A request up to its blank line. `target` is "/path?query" or "*"; header names are lower-case."""

    __slots__ = ("chunked", "headers", "keep", "length", "method", "minor", "target")

    def __init__(self, method: str, target: str, minor: int, headers: dict[str, str]) -> None:
        self.method = method
        self.target = target
        self.minor = minor
        self.headers = headers
        self.chunked = "transfer-encoding" in headers
        self.length = length_of(headers["content-length"]) if "content-length" in headers else 0
        self.keep = minor == 1 if "connection" not in headers else _keeps(headers["connection"], minor)


class AnswerHead:
    """An answer up to its blank line. `length` is None when it does not say: chunked, or till the
    connection ends."""

    __slots__ = ("chunked", "headers", "keep", "length", "reason", "status")

    def __init__(self, status: int, reason: str, minor: int, headers: dict[str, str]) -> None:
        self.status = status
        self.reason = reason
        self.headers = headers
        self.length = length_of(headers["content-length"]) if "content-length" in headers else None
        self.keep = minor == 1 if "connection" not in headers else _keeps(headers["connection"], minor)
        self.chunked = "transfer-encoding" in headers
        if self.chunked and self.length is not None:
            # Chunked counts (RFC 9112, 6.3), but who says both is not trusted with another request.
            self.length, self.keep = None, False


# --- reading heads


def end_of_head(buffer: bytes, searched: int = 0) -> int:
    """Where the head in `buffer` ends, -1 if that has not come yet. The first `searched` bytes were seen
    before."""
    end = buffer.find(END, searched - 3 if searched > 3 else 0)
    if end > HEAD_LIMIT or (end < 0 and len(buffer) > HEAD_LIMIT):
        raise Problem(431, f"the head is larger than {HEAD_LIMIT:,} bytes: send fewer or shorter headers")
    # A head with bare line feeds may never hold the pair we wait for; refuse it now, not when time is up.
    if end < 0 and buffer.count(b"\n", searched) != buffer.count(b"\r\n", max(0, searched - 1)):
        raise Problem(400, "a line of the head ends in a bare line feed: HTTP/1.1 lines end in CR LF")
    return end


def request_head(head: bytes) -> RequestHead:
    """The request that `head` (without its blank line) says. Problems: 400, 431, 501 (coding), 505
    (version)."""
    lines = _lines(head, FIELD_LIMIT)
    words = lines[0].split(" ")
    if len(words) != 3 or not words[1]:
        raise Problem(400, "the request line is not METHOD TARGET HTTP/1.1")
    method, target, version = words
    minor = _MINORS.get(version)
    if minor is None:
        wrong = 505 if version.startswith("HTTP/") else 400
        raise Problem(wrong, "this server speaks HTTP/1.1", kind="bad_request")
    if method not in _METHODS and not _TOKEN.fullmatch(method):
        raise Problem(400, "the request's method is not a token")
    headers = _fields(lines)
    if minor and "host" not in headers:
        raise Problem(400, "an HTTP/1.1 request needs a Host header")
    if target[0] != "/":
        target = _origin_form(target, headers)
    if "transfer-encoding" in headers:
        _check_coding(headers, minor)
    return RequestHead(method, target, minor, headers)


def answer_head(head: bytes) -> AnswerHead:
    """The answer that `head` (without its blank line) says. Problem 400 when it is not HTTP/1."""
    lines = _lines(head, 5 * FIELD_LIMIT)
    status, reason, minor = _status(lines[0])
    headers = _fields(lines)
    coding = headers.get("transfer-encoding")
    if coding is not None and coding.lower() != "chunked":
        raise Problem(400, f"the answer's transfer coding is {coding[:40]!r}: only chunked is known")
    return AnswerHead(status, reason, minor, headers)


@lru_cache(maxsize=128)
def _status(line: str) -> tuple[int, str, int]:
    """Status, reason and minor version that a status line says."""
    version, _, rest = line.partition(" ")
    status, _, reason = rest.partition(" ")
    if version not in _MINORS or len(status) != 3 or not _digits(status) or status < "100":
        raise Problem(400, f"the answer does not begin like HTTP/1.1: {line[:40]!r}")
    return int(status), reason.strip(), _MINORS[version]


def _lines(head: bytes, most: int) -> list[str]:
    """The lines of a head. Latin-1 keeps every byte: text beyond ASCII (obs-text) passes through as it
    came."""
    lines = head.decode("latin-1").split("\r\n")
    breaks = len(lines) - 1
    if len(head) - len(head.translate(None, _CONTROLS)) != 2 * breaks:
        raise Problem(400, "the head holds a control character, or a line that does not end in CR LF")
    if breaks > most:
        raise Problem(431, f"more than {most} header lines")
    return lines


def _fields(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines[1:]:
        raw, colon, value = line.partition(":")
        if not colon:
            raise Problem(400, "a header line has no colon")
        name, value = _names.get(raw) or field_name(raw), value.strip(" \t")
        headers[name] = _joined(name, headers[name], value) if name in headers else value
    return headers


def field_name(raw: str) -> str:
    """`raw` in lower case, if it is a header name at all. A name with a space (or a folded line) is
    refused."""
    known = _names.get(raw)
    if known:
        return known
    if not _TOKEN.fullmatch(raw):
        raise Problem(400, f"{raw[:40]!r} is not a header name; folded header lines are not accepted")
    name = raw.lower()
    if len(_names) < _NAMES_REMEMBERED and len(raw) < 64:
        _names[raw] = name
    return name


def _joined(name: str, before: str, value: str) -> str:
    if name == "host":
        raise Problem(400, "the request has two Host headers")
    return f"{before}{'; ' if name == 'cookie' else ', '}{value}"


def _origin_form(target: str, headers: dict[str, str]) -> str:
    """A proxy's form of target brings its own authority, which then counts in place of Host (RFC 9112,
    3.2.2)."""
    if target == "*":
        return target
    absolute = _ABSOLUTE.fullmatch(target)
    if absolute is None:
        raise Problem(400, "the request's target must be a path that begins with a slash")
    headers["host"] = absolute[1]
    rest = absolute[2] or "/"
    return rest if rest[0] == "/" else f"/{rest}"


def _check_coding(headers: dict[str, str], minor: int) -> None:
    coding = headers["transfer-encoding"]
    if "content-length" in headers:
        raise Problem(400, "a request may not have both Content-Length and Transfer-Encoding")
    if coding.lower() != "chunked":
        raise Problem(
            501, f"transfer coding {coding[:40]!r} is not known here: use chunked", kind="bad_request"
        )
    if not minor:
        raise Problem(400, "an HTTP/1.0 request cannot be chunked")


def length_of(value: str) -> int:
    """A Content-Length: plain digits. The same number repeated is one number (RFC 9110, 8.6); all else is
    refused."""
    if value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    first, *others = (part.strip(" \t") for part in value.split(","))
    if _digits(first) and all(other == first for other in others):
        return int(first)
    raise Problem(400, f"Content-Length {value[:40]!r} is not one plain number")


def _digits(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) < 19


def _keeps(said: str, minor: int) -> bool:
    if said in ("keep-alive", "Keep-Alive"):
        return True
    words = [word.strip(" \t") for word in said.lower().split(",")]
    return "close" not in words and (minor == 1 or "keep-alive" in words)


# --- writing heads


@lru_cache(maxsize=256)
def status_line(status: int) -> bytes:
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = ""
    return f"HTTP/1.1 {status} {reason}\r\n".encode("ascii")


def fields(headers: Iterable[tuple[str, str]]) -> bytes:
    """Header lines for `headers`. A line break in a value would begin a header of its own: that is a
    Problem 400."""
    lines = [f"{name}: {value}\r\n" for name, value in headers if name in _names or field_name(name)]
    try:
        block = "".join(lines).encode("latin-1")
    except UnicodeEncodeError as error:
        raise Problem(400, "a header value holds a character that HTTP cannot carry") from error
    if not block.count(b"\n") == block.count(b"\r") == len(lines) or b"\0" in block:
        raise Problem(400, "a header value holds a line break or a NUL")
    return block


def chunk(piece: bytes) -> bytes:
    """`piece`, which must not be empty, as one chunk."""
    return b"%x\r\n%b\r\n" % (len(piece), piece)


# --- bodies


class Chunks:
    """The chunked coding, read from pieces cut anywhere.

    `feed` returns the payload in a piece; then `done` says whether the end has come and `rest` is what
    followed it. A body larger than `limit` bytes is a Problem 413 before its bytes are kept; any doubt
    about the framing is a 400.
    """

    # Bytes of framing that are not payload (extensions, trailers) which one body may spend beyond 16 for
    # each chunk.
    SPARE = 16_384
    LINE = 4_096

    def __init__(self, limit: int | None = None) -> None:
        self.done = False
        self.rest = b""
        self._limit = limit
        self._total = 0
        self._spent = 0
        self._held = b""
        self._left = 0
        self._phase = "size"

    def feed(self, data: bytes) -> bytes:
        if self._held:
            data, self._held = self._held + data, b""
        payload: list[bytes] = []
        at, size = 0, len(data)
        while at < size and not self.done:
            if self._phase == "size":
                # Most chunks are here whole, and have a plain size seen before.
                end = data.find(b"\r\n", at)
                known = _sizes.get(data[at:end]) if end > 0 else None
                if known is not None and data[(stop := end + 2 + known) : stop + 2] == b"\r\n":
                    if self._limit is not None:
                        self._count(known)
                    payload.append(data[end + 2 : stop])
                    at = stop + 2
                    continue
            elif self._left:
                piece = data[at : at + self._left]
                payload.append(piece)
                at += len(piece)
                self._left -= len(piece)
                continue
            reached = self._step(data, at)
            if reached < 0:
                self._held = data[at:]
                break
            at = reached
        if self.done:
            self.rest = data[at:]
        return payload[0] if len(payload) == 1 else b"".join(payload)

    def _step(self, data: bytes, at: int) -> int:
        """Past the framing that begins at `at`, or -1: more bytes are needed."""
        if self._phase == "size":
            return self._size_line(data, at)
        return self._chunk_end(data, at) if self._phase == "end" else self._trailer(data, at)

    def _size_line(self, data: bytes, at: int) -> int:
        end = self._line_end(data, at)
        if end < 0:
            return -1
        digits = data[at:end].partition(b";")[0].rstrip(b" \t")
        if not _SIZE.fullmatch(digits):
            raise Problem(400, f"{digits[:20]!r} is not a chunk size")
        self._left = int(digits, 16)
        if self._left and len(_sizes) < _SIZES_REMEMBERED and len(digits) < 5:
            _sizes[digits] = self._left
        self._count(self._left)
        self._spend(end - at - 16)
        self._phase = "end" if self._left else "trailer"
        return end + 2

    def _count(self, size: int) -> None:
        self._total += size
        if self._limit is not None and self._total > self._limit:
            raise too_large(self._limit)

    def _chunk_end(self, data: bytes, at: int) -> int:
        if len(data) - at < 2 and data[at:] == b"\r":
            return -1
        if data[at : at + 2] != b"\r\n":
            raise Problem(400, "a chunk is longer than its size says")
        self._phase = "size"
        return at + 2

    def _trailer(self, data: bytes, at: int) -> int:
        end = self._line_end(data, at)
        if end < 0:
            return -1
        if end == at:
            self.done = True
        elif data[at : at + 1] in (b" ", b"\t", b":") or b":" not in data[at:end]:
            raise Problem(400, "a trailer line is not a header")
        self._spend(end - at)
        return end + 2

    def _line_end(self, data: bytes, at: int) -> int:
        """Where the line at `at` ends, -1 if that has not come yet."""
        end = data.find(b"\n", at)
        if end < 0:
            if len(data) - at > self.LINE:
                raise Problem(400, "a line of the chunked coding is too long")
            return -1
        if end - at > self.LINE or data[end - 1 : end] != b"\r" or b"\r" in data[at : end - 1] or end == at:
            raise Problem(400, "a line of the chunked coding does not end in CR LF, or is too long")
        return end - 1

    def _spend(self, extra: int) -> None:
        self._spent += max(0, extra)
        if self._spent > self.SPARE:
            raise Problem(400, "the chunked coding holds more extensions and trailers than this server reads")


def too_large(limit: int) -> Problem:
    return Problem(413, f"the body is larger than {limit:,} bytes")
