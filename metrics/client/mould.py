"""The mould of a stream: events that say a piece of text and nothing else differ in that text alone, so the
text can be cut out of the bytes, and out of many events at once.

The idea: an event that was decoded and meant exactly one piece is kept as what stood before and behind its
text. Those that come behind it in the same mould, without a gap, are one Burst: a few searches and one
reading of JSON for all of them. The rule for what is in it: the very bytes of the mould, and between them a
JSON string that is not empty, is UTF-8 and holds no half of a surrogate pair. Whatever else comes (a finish,
another field, a comment) is decoded by itself, and is the next mould if it is plain.

OpenAI and Mistral end each event in a field of padding, so that its length does not betray its text: a few
letters, others each time. What fits but for these is a Burst, too, each event for itself.
"""

import json
import re
from collections.abc import Callable, Iterator

from metrics.client import sse
from metrics.client.sse import SseEvent
from metrics.events import Burst, Reasoning, Text, ToolArguments

Piece = Text | Reasoning | ToolArguments

# Where an event has the text of each kind of piece, in chat and in Messages.
_KEYS: dict[type[Piece], tuple[bytes, ...]] = {
    Text: (b'"content":', b'"text":'),
    Reasoning: (b'"reasoning_content":', b'"reasoning":', b'"thinking":'),
    ToolArguments: (b'"arguments":', b'"input":', b'"partial_json":'),
}
_END = b"\n\n"
_PADDING = re.compile(rb',\s?"(?:obfuscation|p)":\s?"([0-9A-Za-z]*)"\s*\}\s*$')
_FRAME = re.compile(rb"(?:event: ?[\w.]+\n)?data: ?(?=\{)")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_decoder = json.JSONDecoder()


class Mould:
    """One for each stream. `go_on` takes a Burst for the stream's reader, or says that its events have to be
    read one by one; with `relay` a Burst holds its chunks."""

    def __init__(self, go_on: Callable[[Burst], bool], relay: bool = False) -> None:
        self._go_on, self._relay = go_on, relay
        self._last = b""  # the event that was told last, as it came
        self._like: Piece | None = None
        self._shape = b"", b""  # what stands around the text in its data, and
        self._before = self._behind = self._between = b""  # the same with all that frames an event
        self._last_part = b""  # what stands behind the padding, and `_behind` ends before it, if there is any

    def events(self, pieces: Iterator[bytes]) -> Iterator[SseEvent | Burst | None]:
        """The events of a stream in order, as sse.read tells them; what fits and came together as a Burst,
        which `go_on` has then taken."""
        for block in sse.blocks(pieces):
            if not block:
                yield None
            at = alone = 0
            while at < len(block):
                burst = None
                if at >= alone:
                    burst, alone = self.burst(block, at)
                if burst and self._go_on(burst):
                    at = alone
                    yield burst
                else:
                    event, stop = sse.next_event(block, at)
                    self._last, at = block[at:stop], stop
                    yield event

    def learn(self, piece: Piece) -> None:
        """The event that was told last means `piece` and nothing else."""
        frame = _FRAME.match(self._last)
        if not frame or not self._last.endswith(_END):
            return
        data = self._last[frame.end() :].rstrip(b"\n")
        for key in _KEYS[type(piece)]:
            at = data.find(key)
            start = data.find(b'"', at + len(key)) + 1
            if at < 0 or not start or data.find(key, start) >= 0 or data[at + len(key) : start - 1].strip():
                continue
            try:
                rest = data[start - 1 :].decode()
                found, end = _decoder.raw_decode(rest)
            except ValueError:
                continue
            if found == piece.text and b"\n" not in data:
                self._like = piece
                before, behind = self._shape = data[:start], rest[end - 1 :].encode()
                self._before, self._behind, self._last_part = frame[0] + before, behind + _END, b""
                self._between = self._behind + self._before
                if padding := _PADDING.search(behind):
                    self._behind, self._last_part = (
                        behind[: padding.start(1)],
                        behind[padding.end(1) :] + _END,
                    )
                return

    def burst(self, block: bytes, at: int) -> tuple[Burst | None, int]:
        """The events at `at` in a block of whole events that fit, and where they end. None when there are
        none: then no event that begins before that place needs to be tried."""
        if self._like is None or not block.startswith(self._before, at):
            return None, at + 1
        start = at + len(self._before)
        stop = block.find(_END, start) + len(_END)
        if self._last_part:
            return self._padded(block, start, stop), stop
        # Where the next event is of another kind, those beyond it are not looked at each time.
        if block.startswith(self._before, stop):
            end = block.rfind(self._behind, start)
            spelled = block[start:end].split(self._between)
        else:
            end = stop - len(self._behind)
            spelled = [block[start:end]]
        if not block.startswith(self._behind, end):
            return None, at + 1
        texts = _strings(spelled)
        if texts is None:
            spelled = self._sound(spelled)
            texts = _strings(spelled)
            if texts is None:
                return None, end
            end = start + sum(map(len, spelled)) + (len(spelled) - 1) * len(self._between)
        before, behind = self._shape if self._relay else (b"", b"")
        return Burst(self._like, texts, spelled, before, behind), end + len(self._behind)

    def _padded(self, block: bytes, start: int, stop: int) -> Burst | None:
        """The one event whose text begins at `start`, if it fits but for its padding."""
        end = block.find(self._behind, start, stop)
        padded = end + len(self._behind)
        padding = block[padded : stop - len(self._last_part)]
        if end < 0 or not block.endswith(self._last_part, padded, stop) or not (padding + b"p").isalnum():
            return None
        spelled = [block[start:end]]
        texts = _strings(spelled)
        if texts is None:
            return None
        assert self._like is not None
        kept = (self._shape[0], block[end : stop - len(_END)]) if self._relay else (b"", b"")
        return Burst(self._like, texts, spelled, *kept)

    def _sound(self, spelled: list[bytes]) -> list[bytes]:
        """Those before the first that something stands behind which does not fit, so that it runs from event
        to event; none where there is no such."""
        odd = next((n for n, one in enumerate(spelled) if not one or b"\n" in one), None)
        if odd is None:
            return []
        last, fits, _ = spelled[odd].partition(self._behind)
        return [*spelled[:odd], *((last,) if last and fits else ())]


def _strings(spelled: list[bytes]) -> list[str] | None:
    """What JSON strings without their quotes mean; None when there is none, or when one of them is no string,
    is empty, or holds what only its neighbour completes."""
    if not spelled or b"" in spelled:
        return None
    try:
        inner = b'","'.join(spelled).decode()
        if len(spelled) == 1 and '"' not in inner and "\\" not in inner and inner.isprintable():
            return [inner]  # nothing is escaped, and nothing has to be: it means what it is
        # A backslash at the end of one would take the next one's quote for its own.
        if "\\" in inner and (any(one.endswith(b"\\") for one in spelled) or _SURROGATE.search(inner)):
            return None
        whole = f'["{inner}"]'
        texts, end = _decoder.raw_decode(whole)
    except ValueError:
        return None
    # A quote in one of them would have made more of it than one string.
    return texts if len(texts) == len(spelled) and end == len(whole) else None
