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

    def event(self, kind: str, **fields: Any) -> bytes:
        return self.around(b"event: %b\ndata: " % kind.encode() + _opened({"type": kind, **fields}), b"")

    def around(self, before: bytes, after: bytes) -> bytes:
        """An event whose data line begins with an open object: `before`, its number, then `after`
        (`,"key":value`)."""
        number, self._next = self._next, self._next + 1
        return b'%b,"sequence_number":%d%b}\n\n' % (before, number, after)


class Item:
    """One item. `index` is its place in the output; `pieces` what was said of it, as the caller reads it."""

    PREFIX = ""  # of its id
    DELTA = ""  # the event of a piece, without "response."
    WHERE: dict[str, Any] = {}  # what such an event names beside the item

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
        kind = f"response.{self.DELTA}.delta"
        fields = {"type": kind, "item_id": self.id, "output_index": index, **self.WHERE}
        self._before = b"event: %b\ndata: " % kind.encode() + _opened(fields)
        yield self._event("output_item.added", item=self.item(IN_PROGRESS))

    def delta(self, text: str) -> bytes:
        return self._numbering.around(self._before, b',"delta":' + framing.as_bytes(text))

    def parts(self) -> Iterator[bytes]:
        """Closes what is open inside of it."""
        yield from ()

    def end(self, status: str) -> Iterator[bytes]:
        yield from self.parts()
        yield self._event("output_item.done", item=self.item(status))

    def item(self, status: str) -> dict[str, Any]:
        raise NotImplementedError

    def _event(self, kind: str, **fields: Any) -> bytes:
        return self._numbering.event(f"response.{kind}", output_index=self.index, **fields)

    def _inner(self, kind: str, **fields: Any) -> bytes:
        return self._event(kind, item_id=self.id, **self.WHERE, **fields)


class Message(Item):
    PREFIX, DELTA, WHERE = "msg", "output_text", {"content_index": 0, "logprobs": []}

    def start(self, index: int) -> Iterator[bytes]:
        yield from super().start(index)
        yield self._part("content_part.added", "")

    def parts(self) -> Iterator[bytes]:
        yield self._inner("output_text.done", text=self.text)
        yield self._part("content_part.done", self.text)

    def item(self, status: str) -> dict[str, Any]:
        content = [] if status == IN_PROGRESS and not self.pieces else [_output_text(self.text)]
        return {"id": self.id, "type": "message", "status": status, "role": "assistant", "content": content}

    def _part(self, kind: str, text: str) -> bytes:
        return self._event(kind, item_id=self.id, content_index=0, part=_output_text(text))


class Reasoning(Item):
    """What a member thought, as a summary: the form that every client shows."""

    PREFIX, DELTA, WHERE = "rs", "reasoning_summary_text", {"summary_index": 0}

    def start(self, index: int) -> Iterator[bytes]:
        yield from super().start(index)
        yield self._inner("reasoning_summary_part.added", part=_summary(""))

    def parts(self) -> Iterator[bytes]:
        yield self._inner("reasoning_summary_text.done", text=self.text)
        yield self._inner("reasoning_summary_part.done", part=_summary(self.text))

    def item(self, status: str) -> dict[str, Any]:
        summary = [] if status == IN_PROGRESS and not self.pieces else [_summary(self.text)]
        return {
            "id": self.id,
            "type": "reasoning",
            "status": status,
            "summary": summary,
            "encrypted_content": None,
        }


class FunctionCall(Item):
    """A call that was cut short is never said to be done: Codex runs whatever is."""

    PREFIX, DELTA = "fc", "function_call_arguments"
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
            fields = {"name": self._declared.name, self.GIVEN: self.text}
            yield self._inner(f"{self.DELTA}.done", **fields)
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

    PREFIX, DELTA = "ctc", "custom_tool_call_input"
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


def _opened(fields: dict[str, Any]) -> bytes:
    """An object as JSON, still open at its end."""
    return framing.as_bytes(fields)[:-1]
