"""All we know about OpenAI-compatible chat as a client: what to send, and how to read what comes back.

The idea: whatever a server does to an answer that was asked for as a stream (events, one JSON body, an error
inside a 200, an end without [DONE]), `read` says it in the same few events, or raises one Problem.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from metrics.client import call_ids, objects, quirks, room, sse
from metrics.client.chunks import Chunks
from metrics.client.listing import list_models
from metrics.client.mould import Mould
from metrics.client.outgoing import (
    CHAT,
    EVENTS,
    JSON,
    Conversation,
    Outgoing,
    address,
    bare,
    bearer,
    model,
    to_json,
)
from metrics.client.quirks import Quirks, learn
from metrics.client.surrogates import Halves
from metrics.events import Burst, Chunk, Event, Tick, ToolArguments
from metrics.longjson import AsWritten
from metrics.records import Problem, Target

__all__ = ["Conversation", "Outgoing", "compose", "learn", "list_models", "read"]

_NOT_FORWARDED = ("model", "messages", "stream", "stream_options")
_MATTERS = re.compile(rb'"(?:error"|tool_calls|finish_reason"(?!: ?null)|usage"(?!: ?null))')
_MATTERS_OF_CALLS = re.compile(rb'"(?:error"|finish_reason"(?!: ?null)|usage"(?!: ?null))')
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


# --- sending


def compose(
    target: Target, conversation: Conversation, options: Mapping[str, Any], *, stream: bool = True
) -> Outgoing:
    """The request for one seat. `options` are chat fields to forward; None values count as unset.

    Problem(400) when the base URL, the key or the messages cannot be sent.
    """
    manners = quirks.for_target(target)
    fields, changed = _options(target, manners, options)
    if stream:
        fields["stream"] = True
        if manners.usage:
            fields["stream_options"] = {"include_usage": True}
    body = [model(target.served) + b',"messages":', conversation.bytes_for(manners, target.model_id)]
    if isinstance(tools := fields.get("tools"), AsWritten):
        body += b',"tools":', tools.text
        del fields["tools"]
    body.append(b"," + to_json(fields)[1:] if fields else b"}")
    return Outgoing(
        method="POST",
        url=address(target.base, CHAT, manners.root),
        headers=bearer(target, EVENTS if stream else JSON),
        body=body,
        changed=(*conversation.changes_for(manners), *changed),
    )


def _options(target: Target, manners: Quirks, options: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    fields: dict[str, Any] = {}
    changed: list[str] = []
    for name, value in options.items():
        if value is None or name in _NOT_FORWARDED:
            continue
        if name in ("max_tokens", "max_completion_tokens"):
            fields[manners.budget], why = room.budget(value, target, manners.reasons)
            changed += [f"{name} {why}"] if why else []
        elif name in manners.drop:
            changed.append(f"{name} left out (not accepted by this model)")
        else:
            plain = quirks.plainer(bare(value), manners) if name == "tools" else value
            fields[manners.rename.get(name, name)] = plain
    return fields, changed


# --- reading


def read(
    arrival: objects.Incoming,
    target: Target,
    *,
    relay: bool = False,
    tick: float | None = None,
    now: Callable[[], float] = time.time,
    new_id: Callable[[], str] = call_ids.new,
) -> Iterator[Event]:
    """The events of an answer: Opened, Text, Reasoning, ToolStart, ToolArguments, Burst, Tick, and at last
    Closed.

    With `relay`, Chunk events instead: every piece as one chunk to send on, with its meaning, or with others
    in a Burst. Left out are
    chunks that say nothing (an error may follow them), and usage, which Closed has.
    `tick` is passed to the transport. Raises Problem: the provider's refusal (with its status), "empty",
    "cut" and "garbage" (502), and the transport's.
    """
    objects.refuse(arrival, target, now)
    pieces = arrival.pieces(tick)
    start = b""
    for piece in pieces:
        start = (start + piece).lstrip(objects.BLANK)  # DeepSeek holds a connection open with blank lines
        if start and not sse.BOM.startswith(start):
            break
        yield Tick()
    start = start.removeprefix(sse.BOM).lstrip(objects.BLANK)
    chunks = Chunks(target, now, new_id)
    if start[:1] in (b"{", b"["):
        body, size = [start], len(start)
        for piece in pieces:
            if not piece:
                yield Tick()
            body.append(piece)
            size += len(piece)
            if size > objects.LONGEST_BODY:
                raise objects.too_large(target)
        yield from _whole(b"".join(body), chunks, target, relay)
    elif start[:1] == b"<":
        raise objects.garbage(target, start)
    else:
        yield from _stream(chain([start], pieces) if start else iter(()), chunks, target, relay)
        objects.settle(arrival)
    yield from chunks.close()


def _stream(pieces: Iterator[bytes], chunks: Chunks, target: Target, relay: bool) -> Iterator[Event]:
    """All but the end of an event stream. Returns when it ended well."""
    opening = bytearray()
    words = b""
    torn = False
    mould, halves = Mould(chunks.go_on, relay), Halves()
    try:
        for event in mould.events(objects.noting(pieces, opening)):
            if isinstance(event, Burst):
                yield event
                continue
            data = event.data.strip() if event else b""
            if not event or not data:
                yield Tick()
            elif data.startswith(objects.DONE):
                break
            elif data[:1] not in (b"{", b"["):
                words = words or data  # some servers say "ping"
            else:
                data = halves.joined(data)
                chunk = objects.decoded(data, target, event.whole)
                if chunk is None:
                    torn = True
                    break
                events = chunks.take(chunk)
                if (piece := chunks.only_piece(chunk, events)) and plain(data, piece):
                    mould.learn(piece)
                if not relay:
                    yield from events
                elif _speaks(chunk):
                    changed = chunk.pop("usage", None) or chunks.repaired or not _clean(data)
                    yield Chunk(to_json(chunk) if changed else _line(data), tuple(events))
                else:
                    yield from events
        else:
            torn = chunks.taken > 0
    except Problem:
        # Past its finish an answer is complete, whatever becomes of the connection.
        if not chunks.finished:
            raise
    if torn and not chunks.finished:
        raise objects.cut(target)
    if not chunks.taken:
        raise objects.unsaid(words, opening, target)


def _whole(body: bytes, chunks: Chunks, target: Target, relay: bool) -> list[Event]:
    """What an answer in one JSON body says, also where a stream was asked for."""
    answer = objects.decoded(body, target, whole=True)
    assert answer is not None
    choices = answer.get("choices")
    if isinstance(choices, list):
        answer["choices"] = [_as_delta(choice) for choice in choices if isinstance(choice, dict)]
    answer["object"] = "chat.completion.chunk"
    events = chunks.take(answer)
    if "choices" not in answer:
        what = "answered with JSON that is no chat completion; does its endpoint speak another API?"
        raise objects.problem(target, what, "garbage")
    if not answer["choices"]:
        raise objects.empty(target)
    if relay:
        answer.pop("usage", None)
        return [Chunk(answer, tuple(events))]
    return events


def _as_delta(choice: dict[str, Any]) -> dict[str, Any]:
    """A whole choice as a stream would say it."""
    return {"delta": choice.pop("message"), **choice} if "message" in choice else choice


def plain(data: bytes, piece: Event) -> bool:
    """Whether a chunk that means `piece` surely holds no finish, usage, error or other call, by its bytes
    alone.

    A key inside of text is written with escaped quotes and never matches; what is written unusually is not
    plain.
    """
    matters = _MATTERS_OF_CALLS if type(piece) is ToolArguments else _MATTERS
    return data.endswith(b"}") and not matters.search(data) and _clean(data)


def _clean(data: bytes) -> bool:
    """Whether every reader can take these bytes: UTF-8, no surrogate that might stand alone, no NaN."""
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
    if b"NaN" in data or b"Infinity" in data:
        return False
    return not (b"\\u" in data and _SURROGATE.search(data))


def _speaks(chunk: Mapping[str, Any]) -> bool:
    """Whether a chunk holds more than a role, which the caller has been told, and empty fields."""
    choices = chunk.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        for part in (choice, choice.get("delta")) if isinstance(choice, dict) else ():
            for name, value in part.items() if isinstance(part, dict) else ():
                if value and name not in ("index", "delta", "role"):
                    return True
    return False


def _line(data: bytes) -> bytes:
    """A chunk on one line; a line end inside of JSON stands between tokens."""
    return data.replace(b"\n", b" ") if b"\n" in data else data
