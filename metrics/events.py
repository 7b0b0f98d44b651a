"""A message being said, piece by piece: the one vocabulary between providers and callers.

`client/` reads a provider's stream into these events; `formats/` writes them as its caller's stream. A stream
is

    Opened? (Text | Reasoning | ToolStart | ToolArguments | Chunk | Burst | Tick)* (Closed | Failed)

and nothing follows Closed or Failed. Whoever has no use for a Burst reads `singly`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from metrics.records import Problem, Reply, Usage
from metrics.values import dataclass


@dataclass(frozen=True, slots=True)
class Opened:
    """The provider began to answer: the model, provider and fingerprint it named itself, and its own id of
    the answer, by which its invoice names it."""

    model: str | None = None
    provider: str | None = None
    fingerprint: str | None = None
    id: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer. `phase` is on the first piece of a message that has one ("commentary",
    "final_answer"): such a message is one of its own (Responses)."""

    text: str
    choice: int = 0
    logprobs: Any = None
    phase: str | None = None


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Thinking that the provider shows. A block of it ends with the piece that carries its seal, without
    which no provider takes it back: `signature` (Anthropic), or `sealed`, the provider's whole block as it
    sent it, where it wants that again (Anthropic's redacted_thinking, a Responses reasoning item)."""

    text: str
    choice: int = 0
    signature: str | None = None
    sealed: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ToolStart:
    """A tool call begins. `index` counts calls of this answer from 0; its arguments follow as
    ToolArguments."""

    index: int
    id: str
    name: str
    choice: int = 0
    kind: str = "function"
    namespace: str | None = None
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class ToolArguments:
    index: int
    text: str
    choice: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """An untouched upstream chunk (one SSE data payload, no framing) beside its meaning, for chat-to-chat
    relays. Of an answer that came whole it is not the bytes but the object that was read of them."""

    raw: bytes | dict[str, Any]
    events: tuple["Event", ...]


@dataclass(frozen=True, slots=True)
class Burst:
    """Pieces of a message that came together and differ in nothing but their text, so that they can be sent
    on together. Each means `like` with one of `texts` in it; `spelled` are the same as the provider wrote
    them in JSON, UTF-8 without the quotes; none is empty. Of chunks, each was `before`, its text and
    `behind`; both are empty where chunks are not asked for."""

    like: "Text | Reasoning | ToolArguments"
    texts: Sequence[str]
    spelled: Sequence[bytes]
    before: bytes = b""
    behind: bytes = b""


@dataclass(frozen=True, slots=True)
class Closed:
    """The answer is complete. `finish`: stop | length | tool_calls | content_filter; `stop_sequence` is the
    string that matched. `extra` is added to the reply's last object as it is (the `bench` object, which
    formats do not look into)."""

    finish: str = "stop"
    usage: Usage = field(default_factory=Usage)
    stop_sequence: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed:
    problem: Problem


@dataclass(frozen=True, slots=True)
class Tick:
    """Nothing happened for a while; each format writes it as its own keep-alive."""


Event = Opened | Text | Reasoning | ToolStart | ToolArguments | Chunk | Burst | Closed | Failed | Tick


def singly(events: Iterable[Event]) -> Iterator[Event]:
    """The same message without a Burst: its pieces one by one, as they would have come by themselves."""
    for event in events:
        if type(event) is Burst:
            yield from _pieces(event)
        else:
            yield event


def meant(event: Event) -> Sequence[Event]:
    """What kinds of things an event says: of a chunk its meaning, of a burst a piece like those in it."""
    match event:
        case Chunk(_, meanings):
            return meanings
        case Burst(like):
            return (like,)
        case _:
            return (event,)


def _pieces(burst: Burst) -> Iterator[Event]:
    for text, spelled in zip(burst.texts, burst.spelled, strict=True):
        piece = _like(burst.like, text)
        yield Chunk(burst.before + spelled + burst.behind, (piece,)) if burst.behind else piece


def _like(piece: Text | Reasoning | ToolArguments, text: str) -> Text | Reasoning | ToolArguments:
    """Such a piece with that text. dataclasses.replace takes ten times as long."""
    if isinstance(piece, Text):
        return Text(text, piece.choice, piece.logprobs, piece.phase)
    if isinstance(piece, Reasoning):
        return Reasoning(text, piece.choice, piece.signature, piece.sealed)
    return ToolArguments(piece.index, text, piece.choice)


def gather(events: Iterable[Event]) -> Reply:
    """The whole message that `events` say. A Failed event is raised as its Problem; a stream without an end
    is a 502."""
    message = _Message()
    for event in events:
        if type(event) is Chunk:
            message.chunks.append(event.raw)
            for meaning in event.events:
                message.take(meaning)
        elif type(event) is Closed:
            return message.reply(event)
        elif type(event) is Failed:
            raise event.problem
        else:
            message.take(event)
    raise Problem(502, "the answer broke off before its end", kind="upstream")


class _Message:
    """What was said of the first choice so far."""

    __slots__ = ("chunks", "_arguments", "_calls", "_length", "_phases", "_reasoning", "_text", "_thoughts")

    def __init__(self) -> None:
        self.chunks: list[bytes | str | dict[str, Any]] = []
        self._text: list[str] = []
        self._length = 0
        self._reasoning: list[str] = []
        self._thoughts: list[dict[str, Any]] = []
        self._calls: dict[int, ToolStart] = {}
        self._arguments: dict[int, list[str]] = {}
        self._phases: list[tuple[str, int]] = []

    def take(self, event: Event) -> None:
        if type(event) is Text or type(event) is Reasoning or type(event) is ToolArguments:
            self._piece(event, event.text)
        elif type(event) is Burst:
            text = "".join(event.texts)
            self._piece(event.like, text)
            if event.behind and type(event.like) is Text:
                self.chunks.append(text)  # they hold nothing new but that
            elif event.behind:
                self.chunks += [event.before + spelled + event.behind for spelled in event.spelled]
        elif type(event) is ToolStart and event.choice == 0:
            self._calls[event.index], self._arguments[event.index] = event, []

    def _piece(self, like: Text | Reasoning | ToolArguments, text: str) -> None:
        if like.choice != 0:
            return
        if isinstance(like, Text):
            if like.phase:
                self._phases.append((like.phase, self._length))
            self._text.append(text)
            self._length += len(text)
        elif isinstance(like, Reasoning):
            self._reasoning.append(text)
            self._think(like, text)
        else:
            self._arguments[like.index].append(text)

    def _think(self, piece: Reasoning, text: str) -> None:
        """Add a piece to the block that is open, or begin another: a sealed block takes no more."""
        if not self._thoughts or self._thoughts[-1]["signature"] or self._thoughts[-1]["sealed"]:
            behind = (self._length, len(self._calls))
            place = {"behind": behind} if any(behind) else {}
            self._thoughts.append({"text": [], "signature": None, "sealed": None, **place})
        block = self._thoughts[-1]
        block["text"].append(text)
        block["signature"], block["sealed"] = piece.signature, piece.sealed

    def reply(self, closed: Closed) -> Reply:
        return Reply(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            tool_calls=tuple([self._call(self._calls[index]) for index in sorted(self._calls)]),
            finish=closed.finish,
            usage=closed.usage,
            stop_sequence=closed.stop_sequence,
            extra=closed.extra,
            chunks=tuple(self.chunks),
            thoughts=tuple([{**thought, "text": "".join(thought["text"])} for thought in self._thoughts]),
            phases=tuple(self._phases),
        )

    def _call(self, start: ToolStart) -> dict[str, Any]:
        return {
            "id": start.id,
            "type": start.kind,
            "name": start.name,
            "arguments": "".join(self._arguments[start.index]),
            "namespace": start.namespace,
            "signature": start.signature,
        }
