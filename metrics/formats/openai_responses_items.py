"""The items of a response's output: what is said of each while it is being written, and what it is at the
end.

Four kinds with one shape: `start` announces an item, `delta` says a piece, `parts` closes what is inside and
`end` says that it is done. Every event goes through one Numbering, since each carries the number of its place
in the stream.
"""

import json
from collections.abc import Iterator
from typing import Any

from metrics.formats import framing
from metrics.formats.openai_responses_tools import CustomInput, Declared

IN_PROGRESS, COMPLETED, INCOMPLETE = "in_progress", "completed", "incomplete"


class Numbering:
    """Events with `sequence_number`s that rise by one from 0."""

    def __init__(self) -> None:
        self._next = 0

    def event(self, kind: bytes, fields: bytes) -> bytes:
        """An event of `kind`; `fields` as JSON, with a comma before each."""
        return self.around(b'event: %b\ndata: {"type":"%b"%b' % (kind, kind, fields), b"")

    def around(self, before: bytes, after: bytes) -> bytes:
        """An event whose data line begins with an open object: `before`, its number, then `after`
        (`,"key":value`)."""
        number, self._next = self._next, self._next + 1
        return b'%b,"sequence_number":%d%b}\n\n' % (before, number, after)


class Item:
    """One item. `index` is its place in the output; `pieces` what was said of it, as the caller reads it."""

    PREFIX = ""  # of its id
    DELTA = b""  # the event of a piece, without "response."
    WHERE = b""  # what such an event names beside the item
    sealed: str | None = None

    def __init__(self, numbering: Numbering, token: str) -> None:
        self.index = -1
        self.id = ""
        self.pieces: list[str] = []
        self.held: list[str] = []  # pieces that came before the item's turn
        self._numbering, self._token = numbering, token
        self._before = b""

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def place(self, index: int) -> None:
        self.index, self.id = index, f"{self.PREFIX}_{self._token}{index}"

    def over(self) -> bool:
        """Whether nothing more can belong to it once another item has begun."""
        return True

    def take(self, piece: str) -> str:
        """Keeps a piece; gives what it adds for the caller."""
        self.pieces.append(piece)
        return piece

    def finish(self) -> str:
        """What is left to say at the end of one that was not cut."""
        return ""

    def start(self, index: int) -> Iterator[bytes]:
        self.place(index)
        # Everything of a delta but its text and its number is the same each time.
        kind = b"response.%b.delta" % self.DELTA
        self._before = b'event: %b\ndata: {"type":"%b",%b' % (kind, kind, self._where() + self.WHERE)
        yield self._event(b"output_item.added", b',"item":' + self.shown(IN_PROGRESS))

    def delta(self, text: str) -> bytes:
        return self._numbering.around(self._before, b',"delta":' + framing.as_bytes(text))

    def parts(self) -> Iterator[bytes]:
        """Closes what is open inside of it."""
        yield from ()

    def end(self, status: str) -> Iterator[bytes]:
        yield from self.parts()
        yield self._event(b"output_item.done", b',"item":' + self.shown(status))

    def item(self, status: str) -> dict[str, Any]:
        raise NotImplementedError

    def shown(self, status: str) -> bytes:
        """The item as JSON."""
        return framing.as_bytes(self.item(status))

    def _where(self) -> bytes:
        return b'"output_index":%d,"item_id":"%b"' % (self.index, self.id.encode())

    def _event(self, kind: bytes, fields: bytes) -> bytes:
        return self._numbering.event(b"response." + kind, b',"output_index":%d%b' % (self.index, fields))

    def _inner(self, kind: bytes, fields: bytes) -> bytes:
        return self._numbering.event(b"response." + kind, b"," + self._where() + self.WHERE + fields)


class Message(Item):
    PREFIX, DELTA, WHERE = "msg", b"output_text", b',"content_index":0,"logprobs":[]'

    def __init__(self, numbering: Numbering, token: str, phase: str | None = None) -> None:
        super().__init__(numbering, token)
        self._phase = {"phase": phase} if phase else {}

    def start(self, index: int) -> Iterator[bytes]:
        yield from super().start(index)
        yield self._part(b"content_part.added", b'""')

    def parts(self) -> Iterator[bytes]:
        text = framing.as_bytes(self.text)
        yield self._inner(b"output_text.done", b',"text":' + text)
        yield self._part(b"content_part.done", text)

    def item(self, status: str) -> dict[str, Any]:
        content = [] if status == IN_PROGRESS and not self.pieces else [_output_text(self.text)]
        told = {"id": self.id, "type": "message", "status": status, "role": "assistant", "content": content}
        return told | self._phase

    def _part(self, kind: bytes, text: bytes) -> bytes:
        fields = (
            b',%b,"content_index":0,"part":{"type":"output_text","text":%b,"annotations":[],"logprobs":[]}'
        )
        return self._numbering.event(b"response." + kind, fields % (self._where(), text))


class Reasoning(Item):
    """What a member thought, as a summary: the form that every client shows. `sealed` is what its model wants
    back, where the caller asked for it."""

    PREFIX, DELTA, WHERE = "rs", b"reasoning_summary_text", b',"summary_index":0'

    def __init__(self, numbering: Numbering, token: str, bare: bool = False) -> None:
        """`bare`: it has no words, only a seal."""
        super().__init__(numbering, token)
        self._bare = bare

    def start(self, index: int) -> Iterator[bytes]:
        yield from super().start(index)
        if not self._bare:
            yield self._inner(b"reasoning_summary_part.added", b',"part":' + framing.as_bytes(_summary("")))

    def parts(self) -> Iterator[bytes]:
        if self._bare:
            return
        yield self._inner(b"reasoning_summary_text.done", b',"text":' + framing.as_bytes(self.text))
        yield self._inner(b"reasoning_summary_part.done", b',"part":' + framing.as_bytes(_summary(self.text)))

    def item(self, status: str) -> dict[str, Any]:
        silent = self._bare or (status == IN_PROGRESS and not self.pieces)
        summary = [] if silent else [_summary(self.text)]
        return {
            "id": self.id,
            "type": "reasoning",
            "status": status,
            "summary": summary,
            "encrypted_content": self.sealed,
        }


class FunctionCall(Item):
    """A call that was cut short is never said to be done: Codex runs whatever is."""

    PREFIX, DELTA = "fc", b"function_call_arguments"
    KIND, GIVEN = "function_call", "arguments"  # the item's type, and the name of what the tool is given

    def __init__(self, numbering: Numbering, token: str, call_id: str, declared: Declared) -> None:
        super().__init__(numbering, token)
        self._call_id, self._declared = call_id, declared
        self._arguments: list[str] = []  # as the member writes them

    def over(self) -> bool:
        arguments = "".join(self._arguments).rstrip()
        if not arguments.endswith("}"):
            return False
        try:
            json.loads(arguments)
        except (ValueError, RecursionError):
            return False
        return True

    def take(self, piece: str) -> str:
        self._arguments.append(piece)
        return super().take(piece)

    def finish(self) -> str:
        """A call without arguments is given none, which is written `{}`."""
        return "" if any(map(str.strip, self.pieces)) else super().take("{}")

    def end(self, status: str) -> Iterator[bytes]:
        if status == COMPLETED:
            fields = framing.as_bytes({"name": self._declared.name, self.GIVEN: self.text})
            yield self._inner(self.DELTA + b".done", b"," + fields[1:-1])
            yield from super().end(status)

    def item(self, status: str) -> dict[str, Any]:
        space = self._declared.namespace
        return {
            "id": self.id,
            "type": self.KIND,
            "status": status,
            "call_id": self._call_id,
            **({"namespace": space} if space is not None else {}),
            "name": self._declared.name,
            self.GIVEN: self.text,
        }


class CustomCall(FunctionCall):
    """A call of a tool that takes text: a member writes it as JSON, unless it knows such tools (`plain`)."""

    PREFIX, DELTA = "ctc", b"custom_tool_call_input"
    KIND, GIVEN = "custom_tool_call", "input"

    def __init__(
        self, numbering: Numbering, token: str, call_id: str, declared: Declared, plain: bool = False
    ) -> None:
        super().__init__(numbering, token, call_id, declared)
        self._reading = None if plain else CustomInput()

    def over(self) -> bool:
        # Of plain text nobody can tell whether it is all.
        return self._reading is not None and super().over()

    def take(self, piece: str) -> str:
        if self._reading is None:
            return Item.take(self, piece)
        self._arguments.append(piece)
        return Item.take(self, self._reading.take(piece))

    def finish(self) -> str:
        return "" if self._reading is None else Item.take(self, self._reading.rest())


def _output_text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _summary(text: str) -> dict[str, Any]:
    return {"type": "summary_text", "text": text}
