"""Content codings (gzip, deflate) undone piece by piece: pure functions on bytes, for requests and for
answers.

What keeps it safe: never more than PIECE bytes come out of one step, so a small body that swells to
gigabytes is stopped at its limit and not after it.
"""

import zlib
from collections.abc import Iterator

from metrics.http1 import too_large
from metrics.records import Problem

PIECE = 65_536


class Inflate:
    """A content coding (gzip, x-gzip, deflate) undone, at most PIECE bytes at a time however far it swells.

    Problem 415 for a coding not known, 400 for bytes that are not in it. `done`: it has reached its own end.
    """

    def __init__(self, coding: str) -> None:
        if coding.lower() not in ("gzip", "x-gzip", "deflate"):
            known = "send it plain (no Content-Encoding), gzip or deflate"
            raise Problem(415, f"content coding {coding[:40]!r} is not known here: {known}")
        self._gzip = coding.lower() != "deflate"
        self._head = b""
        self.begun = False
        self._inflater = zlib.decompressobj(wbits=31) if self._gzip else None

    @property
    def done(self) -> bool:
        return self._inflater is not None and self._inflater.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        self.begun = self.begun or bool(data)
        if self._inflater is None:
            self._head += data
            if len(self._head) < 2:
                return
            data, self._inflater = self._head, zlib.decompressobj(wbits=_deflate_bits(self._head))
        while data:
            if self._inflater.eof:
                # gzip allows members one after another; nothing may follow deflate.
                if not self._gzip:
                    raise Problem(400, "bytes follow the end of the deflated body")
                self._inflater = zlib.decompressobj(wbits=31)
            try:
                piece = self._inflater.decompress(data, PIECE)
            except zlib.error as error:
                raise Problem(400, f"the body is not in the content coding it names ({error})") from error
            if piece:
                yield piece
            data = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail


def inflated(body: bytes, coding: str, limit: int) -> bytes:
    """`body` out of its content coding: at most `limit` bytes (else 413), all of it (else 400)."""
    if coding.lower() == "identity":
        return body
    inflate, pieces, total = Inflate(coding), [], 0
    for piece in inflate.feed(body):
        total += len(piece)
        if total > limit:
            raise too_large(limit)
        pieces.append(piece)
    if not inflate.done:
        raise Problem(400, f"the {coding} body is cut short")
    return b"".join(pieces)


def _deflate_bits(head: bytes) -> int:
    """Deflate should be zlib's format (RFC 9110, 8.4.1.2), and is bare deflate from some senders."""
    return 15 if head[0] & 0x0F == 8 and (head[0] << 8 | head[1]) % 31 == 0 else -15
