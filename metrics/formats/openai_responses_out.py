"""A response as JSON, whole or as the stream of events that builds it up.

Clients keep one item open at a time, and act on an item when it is said to be done. So items stand in a
queue: the first is written as it comes, the others wait until it is over; calls whose pieces arrive mixed
come out one behind the other. The terminal event repeats everything, since many clients read only that.
"""

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from metrics.events import Burst, Chunk, Closed, Event, Failed, Text, Tick, ToolArguments, ToolStart, singly
from metrics.events import Reasoning as Thought
from metrics.formats import framing
from metrics.formats.openai_responses_items import (
    COMPLETED,
    IN_PROGRESS,
    INCOMPLETE,
    CustomCall,
    FunctionCall,
    Item,
    Message,
    Numbering,
    Reasoning,
)
from metrics.formats.openai_responses_tools import Declared, declared
from metrics.formats.protocol import Stamp, pieces
from metrics.records import Problem, Reply, Request, Usage
from metrics.values import dataclass

# A finish that is no end -> why, in Responses' words.
CUT = {"length": "max_output_tokens", "content_filter": "content_filter"}

# Kinds of Problem -> the codes of response.failed; Codex acts on the first three.
CODES = {
    "rate_limited": "rate_limit_exceeded",
    "context": "context_length_exceeded",
    "payment": "insufficient_quota",
    "refused": "invalid_prompt",
    "bad_request": "invalid_prompt",
}

ENCRYPTED = "reasoning.encrypted_content"  # of `include`

Now = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Asked(Request):
    """A Responses request. `echo` is what its response says of it: the caller's own fields, as they were
    sent; `written` is the same as JSON."""

    echo: Mapping[str, Any] = field(default_factory=dict)
    written: bytes = b"{}"


def reply(request: Request, reply: Reply, stamp: Stamp, now: Now = time.time) -> Mapping[str, Any]:
    items = list(_items(request, reply, stamp))
    output = []
    for index, item in enumerate(items):
        item.place(index)
        status = _status(item, index == len(items) - 1, reply.finish)
        if status == COMPLETED:
            item.finish()
        output.append(item.item(status))
    ended = _ended(stamp, reply.finish, reply.usage, reply.extra, now)
    echo = request.echo if isinstance(request, Asked) else {}
    return {**_lasting(request, stamp), **echo, **ended, "output": output}


def _items(request: Request, reply: Reply, stamp: Stamp) -> Iterator[Item]:
    """Its items in the order in which they were said: thoughts stand before what they led to."""
    numbering, known = Numbering(), declared(request.tools)
    said: list[tuple[tuple[int, int, int], Item, str]] = []  # with calls, characters and rank before it
    cuts = {0, *(place for _, place in reply.phases)}
    whole: list[Mapping[str, Any]] = [{"text": reply.reasoning}] if reply.reasoning else []
    for thought in reply.thoughts or whole:
        seal = _seal(request, thought.get("sealed"))
        if thought["text"] or seal:
            thinking = Reasoning(numbering, stamp.token, bare=not thought["text"])
            thinking.sealed = seal
            characters, calls = thought.get("behind", (0, 0))
            cuts |= {0 if calls else characters}
            said.append(((calls, characters, 0), thinking, thought["text"]))
    phases = {place: phase for phase, place in reply.phases}
    for start, end in itertools.pairwise([*sorted(cuts), len(reply.text)]):
        if start < end:
            message = Message(numbering, stamp.token, phases.get(start))
            said.append(((0, start, 1), message, reply.text[start:end]))
    for index, call in enumerate(reply.tool_calls):
        start_of = ToolStart(0, call["id"], call["name"], kind=call["type"], namespace=call.get("namespace"))
        called = _called(start_of, known, numbering, stamp)
        said.append(((index, len(reply.text), 2), called, call["arguments"]))
    for _, item, text in sorted(said, key=lambda one: one[0]):
        item.take(text)
        yield item


def _seal(request: Request, sealed: Any) -> str | None:
    """The encrypted content of a reasoning item, if its provider sent one and the caller asked for it."""
    if not isinstance(sealed, dict) or ENCRYPTED not in (request.native.get("include") or ()):
        return None
    content = sealed.get("encrypted_content")
    return content if isinstance(content, str) else None


def _status(item: Item, last: bool, finish: str) -> str:
    """Of the items of an answer that was cut, the last one was being written; calls may have been beside
    it."""
    return INCOMPLETE if finish in CUT and (last or not item.over()) else COMPLETED


def _called(
    start: ToolStart, known: Mapping[str, Declared], numbering: Numbering, stamp: Stamp
) -> FunctionCall:
    tool = known.get(start.name) or Declared(start.name, start.namespace, start.kind == "custom")
    if tool.custom:
        return CustomCall(numbering, stamp.token, start.id, tool, plain=start.kind == "custom")
    return FunctionCall(numbering, stamp.token, start.id, tool)


# --- streaming


def stream(request: Request, events: Iterable[Event], stamp: Stamp, now: Now = time.time) -> Iterator[bytes]:
    writing = _Stream(request, stamp, now)
    yield writing.progress(b"created") + writing.progress(b"in_progress")
    yield from pieces(events, writing.said)


class _Stream:
    """A response being written: the items that are done, and the queue of those that are not. The first of
    the queue is open."""

    def __init__(self, request: Request, stamp: Stamp, now: Now) -> None:
        self._request, self._stamp, self._now = request, stamp, now
        self._lasting = framing.as_bytes(_lasting(request, stamp))[:-1]
        if isinstance(request, Asked) and request.echo:
            self._lasting += b"," + request.written[1:-1]
        self._numbering = Numbering()
        self._known = declared(request.tools)
        self._queue: deque[Item] = deque()
        self._calls: dict[int, Item] = {}
        self._output: list[bytes] = []
        self._opened = 0

    def said(self, event: Event) -> bytes:
        return self._hear_all(event) if type(event) is Burst else b"".join(self._hear(event))

    def _hear(self, event: Event) -> Iterator[bytes]:
        match event:
            case Text(text, 0) if text:
                yield from self._say(Message, text, event.phase)
            case Thought(text, 0):
                if text:
                    yield from self._say(Reasoning, text)
                yield from self._close_thought(_seal(self._request, event.sealed))
            case ToolStart(index, choice=0):
                self._calls[index] = _called(event, self._known, self._numbering, self._stamp)
                yield from self._add(self._calls[index])
            case ToolArguments(index, text, 0):
                yield from self._feed(self._calls[index], text)
            case Chunk(_, meanings):
                for meaning in meanings:
                    yield from self._hear(meaning)
            case Tick():
                # Codex counts events as a sign of life, and comments as silence.
                yield self.progress(b"in_progress")
            case Closed():
                yield from self._close(event)
            case Failed(problem):
                yield from self._fail(problem)

    def _hear_all(self, burst: Burst) -> bytes:
        """Pieces that go on with the open item, or one by one what else they are."""
        item = self._queue[0] if len(self._queue) == 1 else None
        match burst.like:
            case Text(choice=0, phase=None):
                goes_on = type(item) is Message
            case Thought(choice=0, sealed=None):
                goes_on = type(item) is Reasoning and not item.sealed
            case ToolArguments(index, choice=0):
                goes_on = item is self._calls.get(index)
            case _:
                goes_on = False
        if item is None or not goes_on:
            return b"".join(part for piece in singly((burst,)) for part in self._hear(piece))
        return b"".join([item.delta(added) for text in burst.texts if (added := item.take(text))])

    def progress(self, kind: bytes) -> bytes:
        open_now = [item.shown(IN_PROGRESS) for item in list(self._queue)[:1]]
        return self._snapshot(kind, BEGUN, [*self._output, *open_now])

    def _snapshot(self, kind: bytes, passing: bytes, output: list[bytes]) -> bytes:
        """An event that shows the whole response as it is now."""
        fields = b',"response":%b,"output":[%b],%b' % (self._lasting, b",".join(output), passing[1:])
        return self._numbering.event(b"response." + kind, fields)

    def _say(self, kind: type[Item], text: str, phase: str | None = None) -> Iterator[bytes]:
        """Goes on with the last item if it is of this kind; else, or where a phase begins, begins one."""
        last = self._queue[-1] if self._queue else None
        if type(last) is not kind or last.sealed or phase:
            token = self._stamp.token
            said = Message(self._numbering, token, phase) if kind is Message else kind(self._numbering, token)
            yield from self._add(said)
        yield from self._feed(self._queue[-1], text)

    def _close_thought(self, seal: str | None) -> Iterator[bytes]:
        """A sealed block of thoughts is over: another is another item."""
        if seal is None:
            return
        last = self._queue[-1] if self._queue else None
        if type(last) is not Reasoning or last.sealed:
            last = Reasoning(self._numbering, self._stamp.token, bare=True)
            yield from self._add(last)
        last.sealed = seal

    def _add(self, item: Item) -> Iterator[bytes]:
        self._queue.append(item)
        if len(self._queue) == 1:
            yield from self._open(item)
        else:
            yield from self._advance()

    def _feed(self, item: Item, text: str) -> Iterator[bytes]:
        if not self._queue or item is not self._queue[0]:
            item.held.append(text)  # of one that is done, a blank at most: it is left out
            return
        added = item.take(text)
        if added:
            yield item.delta(added)
        if len(self._queue) > 1:
            yield from self._advance()

    def _advance(self) -> Iterator[bytes]:
        while len(self._queue) > 1 and self._queue[0].over():
            yield from self._end(COMPLETED)
            yield from self._open(self._queue[0])

    def _open(self, item: Item) -> Iterator[bytes]:
        yield from item.start(self._opened)
        self._opened += 1
        for text in item.held:
            added = item.take(text)
            if added:
                yield item.delta(added)

    def _end(self, status: str) -> Iterator[bytes]:
        item = self._queue.popleft()
        rest = item.finish() if status == COMPLETED else ""
        if rest:
            yield item.delta(rest)
        yield from item.end(status)
        self._output.append(item.shown(status))

    def _close(self, closed: Closed) -> Iterator[bytes]:
        while self._queue:
            yield from self._end(_status(self._queue[0], len(self._queue) == 1, closed.finish))
            if self._queue:
                yield from self._open(self._queue[0])
        told = _ended(self._stamp, closed.finish, closed.usage, closed.extra, self._now)
        yield self._snapshot(told["status"].encode(), framing.as_bytes(told), self._output)

    def _fail(self, problem: Problem) -> Iterator[bytes]:
        """What is open is closed inside, and never said to be done: Codex would keep it, and its next attempt
        would end in half an answer. What waits was never announced."""
        if self._queue:
            yield from self._queue[0].parts()
            self._output.append(self._queue.popleft().shown(INCOMPLETE))
        error = failure(problem)
        yield self._numbering.event(
            b"error", b"," + framing.as_bytes({**error, "param": problem.param})[1:-1]
        )
        told = framing.as_bytes(_passing("failed") | {"error": error})
        yield self._snapshot(b"failed", told, self._output)


def failure(problem: Problem) -> dict[str, Any]:
    """{code, message} of a response that failed. Codex reads from the words when it may try again."""
    lasting = "invalid_prompt" if problem.status < 500 and not problem.retryable else "server_error"
    code = problem.code if problem.code in CODES.values() else CODES.get(problem.kind, lasting)
    message = problem.message
    if code == "rate_limit_exceeded" and problem.retry_after is not None and "try again in" not in message:
        message = f"{message.rstrip('. ')}. Please try again in {max(0, -int(-problem.retry_after // 1))}s."
    return {"code": code, "message": message}


# --- the response object


def _lasting(request: Request, stamp: Stamp) -> dict[str, Any]:
    """What stays the same in all that is shown of a response. With the echo, the output and `_passing` these
    are all its fields: clients drop a turn whose snapshots leave some out."""
    return {
        "id": f"resp_{stamp.token}",
        "object": "response",
        "created_at": stamp.created,
        "background": False,
        "model": request.model,
        "previous_response_id": None,
        "store": False,
        "truncation": "disabled",
    }


def _passing(status: str) -> dict[str, Any]:
    return {
        "status": status,
        "completed_at": None,
        "error": None,
        "incomplete_details": None,
        "usage": None,
    }


BEGUN = framing.as_bytes(_passing(IN_PROGRESS))


def _ended(stamp: Stamp, finish: str, spent: Usage, extra: Mapping[str, Any], now: Now) -> dict[str, Any]:
    """What is known of a response when it has come to its end."""
    cut = CUT.get(finish)
    told = _passing(INCOMPLETE if cut else COMPLETED)
    if cut:
        told["incomplete_details"] = {"reason": cut}
    else:
        told["completed_at"] = max(stamp.created, int(now()))
    return {**told, "usage": usage(spent), **extra}


def usage(spent: Usage) -> dict[str, Any]:
    """Usage as Responses count it: input includes what was cached, output the reasoning."""
    prompt, out = spent.prompt or 0, spent.out or 0
    return {
        "input_tokens": prompt,
        "input_tokens_details": {
            "cached_tokens": spent.cache_read or 0,
            "cache_write_tokens": spent.cache_write or 0,
        },
        "output_tokens": out,
        "output_tokens_details": {"reasoning_tokens": spent.reasoning or 0},
        "total_tokens": prompt + out,
    }
