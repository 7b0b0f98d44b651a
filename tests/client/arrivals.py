"""Answers without a network, for tests of what reads them."""

from collections.abc import Iterable, Iterator, Mapping

from metrics.records import Problem, Target

TARGET = Target(
    alias="a", model_id="e:m", endpoint="e", connection="e", served="m", base="http://127.0.0.1:1/v1"
)


class Arrived:
    """An answer whose pieces are given; `broken` is raised after the last one, as a transport would."""

    def __init__(
        self,
        pieces: Iterable[bytes],
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        broken: Problem | None = None,
    ) -> None:
        self.status = status
        self.headers = dict(headers or {})
        self._pieces = iter(pieces)
        self._broken = broken

    def pieces(self, tick: float | None = None) -> Iterator[bytes]:
        yield from self._pieces
        if self._broken:
            raise self._broken

    def read(self, limit: int = 1 << 20) -> bytes:
        return b"".join(self.pieces())

    def close(self) -> None:
        pass


def splits(stream: bytes) -> Iterator[list[bytes]]:
    """Whole, byte by byte, and cut in two at every position with a quiet tick between."""
    yield [stream]
    yield [stream[i : i + 1] for i in range(len(stream))]
    yield from ([stream[:i], b"", stream[i:]] for i in range(1, len(stream)))
