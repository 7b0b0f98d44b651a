"""The content blocks of a Messages stream, strictly one open at a time.

The idea: chat models may say the arguments of several calls in turns, and text between them; here a call's
block stays open until its arguments are a whole JSON object, and what is said meanwhile waits for it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeGuard

from metrics.events import Burst, Reasoning, Text, ToolArguments
from metrics.formats import framing, lines
from metrics.formats.anthropic_in import SEALED, THINKING

PING = framing.sse({"type": "ping"}, "ping")
# Thinking that is not shown still keeps the connection alive: one ping for so many pieces.
HIDDEN = 8


def redacted(sealed: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(sealed, dict) and sealed.get("type") == "redacted_thinking"


def tool_use(call_id: str, name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def _whole(arguments: str) -> bool:
    """Whether `arguments` are a JSON object from end to end."""
    if not arguments.rstrip().endswith("}"):
        return False
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


class Call:
    """A tool call on its way: `open` once its block has begun. `text` are its arguments so far, `unsaid`
    those not yet written."""

    __slots__ = ("id", "name", "open", "text", "unsaid")

    def __init__(self, call_id: str, name: str) -> None:
        self.id, self.name, self.open = call_id, name, False
        self.text: list[str] = []
        self.unsaid: list[str] = []

    def whole(self) -> bool:
        return bool(self.text) and self.text[-1].rstrip().endswith("}") and _whole("".join(self.text))


class Blocks:
    """The content blocks of one stream, numbered as they are opened."""

    def __init__(self, shows: str) -> None:
        """`shows` is the framing: how much of the thinking is told."""
        self.called = False
        self._shows = shows
        self._number = -1  # of the block opened last
        self._kind = ""  # of the block that is open
        self._before = self._after = b""  # what stands around a piece of it
        self._calls: dict[int, Call] = {}  # not closed yet, in order; only the first can be open
        self._waiting: list[Callable[[], Iterator[bytes]]] = []  # what was said while a call was half told
        self._hidden = 0
        self._thought: list[str] = []  # what is told only once it is sealed

    def say(self, kind: str, text: str) -> Iterator[bytes]:
        """A piece of text or thinking, in a block of its kind."""
        if not text:
            return
        if kind != self._kind:
            if self._busy():
                self._waiting.append(partial(self.say, kind, text))
                return
            yield from self._close()
            yield self._open(kind, _EMPTY[kind])
        yield self._before + framing.as_bytes(text) + self._after

    def say_all(self, burst: Burst) -> bytes:
        """Pieces that go on with the block that is open, as their provider spelled them; b"" where they must
        be said one by one."""
        match burst.like:
            case Text(choice=0):
                goes_on = self._kind == "text"
            case ToolArguments(index, choice=0):
                call = self._calls.get(index)
                goes_on = call is not None and call.open and len(self._calls) == 1 and not self._waiting
                if call is not None and goes_on:
                    call.text += burst.texts
            case Reasoning(choice=0, signature=None, sealed=None):
                goes_on = self._kind == "thinking" and self._shows == THINKING
            case _:
                goes_on = False
        if not goes_on:
            return b""
        return lines.between(self._before + b'"', burst.spelled, b'"' + self._after)

    def think(self, text: str, seal: str | None, sealed: Mapping[str, Any] | None) -> Iterator[bytes]:
        """Thinking, as far as it is shown; `seal` signs the block, which ends with it."""
        if self._shows and redacted(sealed):
            yield from self._apart(sealed)
        elif self._shows == THINKING:
            yield from self.say("thinking", text)
            yield from self._seal(seal) if seal else ()
        else:
            self._hidden += 1
            if self._hidden % HIDDEN == 0:
                yield PING
            if self._shows == SEALED:
                self._thought.append(text)
                yield from self._sealed(seal) if seal else ()

    def _sealed(self, seal: str) -> Iterator[bytes]:
        text = "".join(self._thought)
        self._thought.clear()
        yield from self.say("thinking", text)
        yield from self._seal(seal)

    def _seal(self, seal: str) -> Iterator[bytes]:
        """Sign the thinking that is open, or a block of it without a word."""
        if self._busy():
            self._waiting.append(partial(self._seal, seal))
            return
        if self._kind != "thinking":
            yield from self._close()
            yield self._open("thinking", _EMPTY["thinking"])
        yield from self._close(seal)

    def _apart(self, block: Mapping[str, Any]) -> Iterator[bytes]:
        """A block that is told whole."""
        if self._busy():
            self._waiting.append(partial(self._apart, block))
            return
        yield from self._close()
        self._number += 1
        told = {"type": "content_block_start", "index": self._number, "content_block": block}
        yield framing.sse(told, "content_block_start")
        yield framing.sse({"type": "content_block_stop", "index": self._number}, "content_block_stop")

    def _busy(self) -> bool:
        return self._kind == "tool_use" and not self._first().whole()

    def begin_call(self, index: int, call: Call) -> Iterator[bytes]:
        """Its block opens with its first arguments: one that was cut before them must not look like a call
        without any."""
        if index not in self._calls:
            self._calls[index] = call
        yield from self._advance()

    def go_on(self, index: int, text: str) -> Iterator[bytes]:
        call = self._calls.get(index)
        if call is None or not text:
            return
        call.text.append(text)
        if call.open:
            yield self._before + framing.as_bytes(text) + self._after
        else:
            call.unsaid.append(text)
        if not call.open or len(self._calls) > 1 or self._waiting:
            yield from self._advance()

    def _advance(self) -> Iterator[bytes]:
        """Close the open call if it is told and others wait; then open those whose turn it is."""
        while self._calls:
            call = self._first()
            if not call.open and not call.unsaid:
                return
            if not call.open:
                yield from self._tell(call)
            if not (len(self._calls) > 1 or self._waiting) or not call.whole():
                return
            yield from self._close()

    def finish(self, cut: bool) -> Iterator[bytes]:
        """What is left to say. Of an answer that was `cut`, a call that is neither open nor whole is left
        out; only the last can have been cut before its first argument."""
        while self._calls:
            call = self._first()
            half = not call.whole() if call.text else len(self._calls) == 1
            if cut and half and not call.open:
                self._drop()
                continue
            if not call.open:
                yield from self._tell(call)
            yield from self._close()
        yield from self._close()

    def _tell(self, call: Call) -> Iterator[bytes]:
        """Open the call's block with what is known of its arguments."""
        yield from self._close()
        self.called = call.open = True
        yield self._open("tool_use", tool_use(call.id, call.name))
        if call.unsaid:
            yield self._before + framing.as_bytes("".join(call.unsaid)) + self._after
            call.unsaid.clear()

    def _first(self) -> Call:
        return next(iter(self._calls.values()))

    def _drop(self) -> None:
        del self._calls[next(iter(self._calls))]

    def _open(self, kind: str, block: Mapping[str, Any]) -> bytes:
        self._number += 1
        self._kind = kind
        delta, field = _DELTAS[kind]
        self._before = (
            b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,' % self._number
        )
        self._before += b'"delta":{"type":"%b","%b":' % (delta, field)
        self._after = b"}}\n\n"
        told = {"type": "content_block_start", "index": self._number, "content_block": block}
        return framing.sse(told, "content_block_start")

    def _close(self, seal: str = "") -> Iterator[bytes]:
        """End the open block, if any; behind a call, what waited for it is said."""
        kind, self._kind = self._kind, ""
        if kind == "thinking":
            signed = {"type": "signature_delta", "signature": seal}
            told = {"type": "content_block_delta", "index": self._number, "delta": signed}
            yield framing.sse(told, "content_block_delta")
        if kind:
            yield framing.sse({"type": "content_block_stop", "index": self._number}, "content_block_stop")
        if kind == "tool_use":
            self._drop()
            waiting, self._waiting = self._waiting, []
            for again in waiting:
                yield from again()


# kind of block -> the type of its deltas and the field with the piece
_DELTAS = {
    "text": (b"text_delta", b"text"),
    "thinking": (b"thinking_delta", b"thinking"),
    "tool_use": (b"input_json_delta", b"partial_json"),
}
_EMPTY = {
    "text": {"type": "text", "text": ""},
    "thinking": {"type": "thinking", "thinking": "", "signature": ""},
}
