"""A `Line` whose other side is a list: pieces that arrive, one a read; b"" or the list's end is the
connection's end."""

from collections.abc import Sequence

from metrics.line import Line


class Played(Line):
    """An item may be an exception, which the read raises (TimeoutError: nothing came in time). `sent` is
    what we wrote."""

    __slots__ = ("closed", "coming", "finished", "limits", "sent")

    def __init__(self, coming: Sequence[bytes | Exception]) -> None:
        self.coming = list(coming)
        self.sent: list[bytes] = []
        self.limits: list[float] = []
        self.closed = self.finished = False
        self.since = 0.0

    def stand_at_most(self, writing: float) -> None:
        pass

    def wait_at_most(self, reading: float) -> None:
        self.limits.append(reading)

    def receive(self, most: int = 65_536) -> bytes:
        if not self.coming:
            return b""
        item = self.coming.pop(0)
        if isinstance(item, Exception):
            raise item
        if len(item) > most:
            self.coming.insert(0, item[most:])
        return item[:most]

    def receive_all(self, size: int) -> bytes:
        return self.receive(size)

    def send(self, buffers: Sequence[bytes]) -> None:
        if self.closed:
            raise BrokenPipeError
        self.sent.append(b"".join(buffers))

    def readable(self) -> bool:
        return bool(self.coming) and not isinstance(self.coming[0], Exception)

    def ended(self) -> bool:
        return not self.coming

    def abort(self) -> None:
        self.closed = True
        self.coming = []

    def finish(self) -> None:
        self.finished = True

    def close(self) -> None:
        self.closed = True


def every_cut(whole: bytes) -> list[list[bytes]]:
    """`whole` cut in two at every position, and byte by byte."""
    return [[whole[:at], whole[at:]] for at in range(1, len(whole))] + [
        [whole[at : at + 1] for at in range(len(whole))]
    ]
