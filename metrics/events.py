"""A message being said, piece by piece: the one vocabulary between providers and callers.

`client/` reads a provider's stream into these events; `formats/` writes them as its caller's stream. A stream
is

    Opened? (Text | Reasoning | ToolStart | ToolArguments | Chunk | Burst | Tick)* (Closed | Failed)

and nothing follows Closed or Failed. Whoever has no use for a Burst reads `singly`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
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
    relays. `plain` says that it holds nothing new but its text."""

    raw: bytes
    events: tuple["Event", ...]
    plain: bool = False


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
        piece = replace(burst.like, text=text)
        if burst.behind:
            raw = burst.before + spelled + burst.behind
            yield Chunk(raw, (piece,), plain=type(piece) is Text)
        else:
            yield piece


def gather(events: Iterable[Event]) -> Reply:
    """The whole message that `events` say. A Failed event is raised as its Problem; a stream without an end
    is a 502."""
    text: list[str] = []
    reasoning: list[str] = []
    thoughts: list[dict[str, Any]] = []
    calls: dict[int, dict[str, Any]] = {}
    chunks: list[bytes | str] = []
    phases: list[tuple[str, int]] = []
    length = 0
    for event in _each(events):
        match event:
            case Chunk(raw, (Text(piece),), True):
                chunks.append(piece)
            case Chunk(raw):
                chunks.append(raw)
            case Text(piece, 0):
                if event.phase:
                    phases.append((event.phase, length))
                text.append(piece)
                length += len(piece)
            case Reasoning(piece, 0):
                reasoning.append(piece)
                _think(thoughts, event, (length, len(calls)))
            case ToolStart(index, call_id, name, 0):
                calls[index] = {
                    "id": call_id,
                    "type": event.kind,
                    "name": name,
                    "arguments": "",
                    "namespace": event.namespace,
                    "signature": event.signature,
                }
            case ToolArguments(index, piece, 0):
                calls[index]["arguments"] += piece
            case Closed():
                return Reply(
                    text="".join(text),
                    reasoning="".join(reasoning),
                    tool_calls=tuple(calls[index] for index in sorted(calls)),
                    finish=event.finish,
                    usage=event.usage,
                    stop_sequence=event.stop_sequence,
                    extra=event.extra,
                    chunks=tuple(chunks),
                    thoughts=tuple(thoughts),
                    phases=tuple(phases),
                )
            case Failed(problem):
                raise problem
    raise Problem(502, "the answer broke off before its end", kind="upstream")


def _think(thoughts: list[dict[str, Any]], piece: Reasoning, behind: tuple[int, int]) -> None:
    """Add a piece to the block that is open, or begin another: a sealed block takes no more."""
    if not thoughts or thoughts[-1]["signature"] or thoughts[-1]["sealed"]:
        place = {"behind": behind} if any(behind) else {}
        thoughts.append({"text": "", "signature": None, "sealed": None, **place})
    thoughts[-1]["text"] += piece.text
    thoughts[-1] |= {"signature": piece.signature, "sealed": piece.sealed}


def _each(events: Iterable[Event]) -> Iterator[Event]:
    """The events, and behind each chunk those that it means."""
    for event in singly(events):
        yield event
        if isinstance(event, Chunk):
            yield from event.events
