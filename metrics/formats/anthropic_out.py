"""Replies and streams as Anthropic writes them: content blocks, strictly one open at a time.

The idea: chat models may say the arguments of several calls in turns, and text between them; here a call's
block stays open until its arguments are a whole JSON object, and what is said meanwhile waits for it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeGuard

from metrics.events import Closed, Event, Failed, Reasoning, Text, Tick, ToolArguments, ToolStart
from metrics.formats import calls, framing
from metrics.formats.anthropic_in import SEALED, THINKING
from metrics.formats.protocol import Stamp
from metrics.limits import tokens
from metrics.records import Problem, Reply, Request, Usage

STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}

ERROR_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}

# By these words in a 400 or 413 Claude Code knows that it must compact: github.com/raine/claude-code-proxy,
# pull request 29.
TOO_LONG = "prompt is too long"

PING = framing.sse({"type": "ping"}, "ping")
# Thinking that is not shown still keeps the connection alive: one ping for so many pieces.
HIDDEN = 8


# --- whole


def reply(request: Request, reply: Reply, stamp: Stamp) -> dict[str, Any]:
    content = _thoughts(reply, request.framing)
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    made = calls.whole(reply.tool_calls, reply.finish)
    said = {call["id"]: call["arguments"] for call in reply.tool_calls}
    for call in made:
        # What is no JSON object stays visible in one: Anthropic's own advice for broken input.
        broken = {"INVALID_JSON": said[call.id]}
        given = broken if call.arguments is None else call.arguments
        content.append({**_tool_use(call.id, call.name), "input": given})
    end = _stop(reply.finish, reply.stop_sequence, bool(made))
    spent = usage(reply.usage, estimate(request))
    return {**_head(request, stamp), "content": content, **end, "usage": spent, **reply.extra}


def _thoughts(reply: Reply, framing: str) -> list[dict[str, Any]]:
    """The blocks of its thinking that the caller asked to see. Those that are sealed come back with the next
    turn, so they are told to the letter; a seal of another API is none here."""
    thoughts = reply.thoughts or ({"text": reply.reasoning},) if reply.reasoning or reply.thoughts else ()
    blocks: list[dict[str, Any]] = []
    for thought in thoughts:
        text, seal, sealed = thought.get("text"), thought.get("signature") or "", thought.get("sealed")
        if framing and _redacted(sealed):
            blocks.append({**sealed})
        elif (framing == THINKING and text) or (framing and seal):
            blocks.append({"type": "thinking", "thinking": text or "", "signature": seal})
    return blocks


def _redacted(sealed: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(sealed, Mapping) and sealed.get("type") == "redacted_thinking"


def _head(request: Request, stamp: Stamp) -> dict[str, Any]:
    return {"id": f"msg_{stamp.token}", "type": "message", "role": "assistant", "model": request.model}


def _tool_use(call_id: str, name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def _whole(arguments: str) -> bool:
    """Whether `arguments` are a JSON object from end to end."""
    if not arguments.rstrip().endswith("}"):
        return False
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _stop(finish: str, sequence: str | None, called: bool) -> dict[str, Any]:
    if finish == "stop" and called:
        finish, sequence = "tool_calls", None
    matched = sequence if finish == "stop" else None
    return {
        "stop_reason": "stop_sequence" if matched else STOP_REASONS.get(finish, "end_turn"),
        "stop_sequence": matched,
    }


def usage(spent: Usage, guess: int) -> dict[str, Any]:
    """Usage as Anthropic counts it: input_tokens are those beside the cache's. All fields are there: Claude
    Code fails on a sparse object (BerriAI/litellm issue 24176). `guess` stands in for an unknown input."""
    written = spent.cache_write or 0
    return {
        "input_tokens": guess if spent.uncached_in is None else spent.uncached_in,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": spent.cache_read or 0,
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": spent.out or 0,
        "output_tokens_details": {"thinking_tokens": spent.reasoning or 0},
        "service_tier": "standard",
    }


def estimate(request: Request) -> int:
    """Input tokens by guess: the conversation, its tool calls, and the tools that may be called."""
    made = [message["tool_calls"] for message in request.messages if message.get("tool_calls")]
    beside = json.dumps([made, request.tools], ensure_ascii=False) if made or request.tools else ""
    return max(1, tokens.estimate(request.messages) + len(beside) // 4)


# --- streamed


def stream(request: Request, events: Iterator[Event], stamp: Stamp) -> Iterator[bytes]:
    guess = estimate(request)
    blocks = _Blocks(request.framing)
    yield _start(request, stamp, guess)
    for event in calls.plain(events):
        # What one event comes to goes out together: each piece by itself would wake the caller.
        said = b"".join(_said(event, blocks, guess))
        if said:
            yield said


def _said(event: Event, blocks: "_Blocks", guess: int) -> Iterator[bytes]:
    match event:
        case Text(text):
            yield from blocks.say("text", text)
        case Reasoning(text, _, seal, sealed):
            yield from blocks.think(text, seal, sealed)
        case ToolStart(index, call_id, name):
            yield from blocks.begin_call(index, _Call(call_id, name))
        case ToolArguments(index, text):
            yield from blocks.go_on(index, text)
        case Tick():
            yield PING
        case Closed():
            yield from blocks.finish(cut=event.finish == "length")
            yield _end(event, guess, blocks.called)
        case Failed(problem):
            yield framing.sse(error_object(problem), "error")


def _start(request: Request, stamp: Stamp, guess: int) -> bytes:
    """The message as it is before its first word. One token of output counts as said: none at all is taken
    for a fault."""
    begun = usage(Usage(uncached_in=guess, out=1), guess)
    message = {
        **_head(request, stamp),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": begun,
    }
    return framing.sse({"type": "message_start", "message": message}, "message_start")


def _end(closed: Closed, guess: int, called: bool) -> bytes:
    delta = _stop(closed.finish, closed.stop_sequence, called)
    told = {"type": "message_delta", "delta": delta, "usage": usage(closed.usage, guess), **closed.extra}
    return framing.sse(told, "message_delta") + framing.sse({"type": "message_stop"}, "message_stop")


class _Call:
    """A tool call on its way: `open` once its block has begun. `text` are its arguments so far, `unsaid`
    those not yet written."""

    __slots__ = ("id", "name", "open", "text", "unsaid")

    def __init__(self, call_id: str, name: str) -> None:
        self.id, self.name, self.open = call_id, name, False
        self.text: list[str] = []
        self.unsaid: list[str] = []

    def whole(self) -> bool:
        return bool(self.text) and self.text[-1].rstrip().endswith("}") and _whole("".join(self.text))


class _Blocks:
    """The content blocks of one stream, numbered as they are opened."""

    def __init__(self, shows: str) -> None:
        """`shows` is the framing: how much of the thinking is told."""
        self.called = False
        self._shows = shows
        self._number = -1  # of the block opened last
        self._kind = ""  # of the block that is open
        self._before = self._after = b""  # what stands around a piece of it
        self._calls: dict[int, _Call] = {}  # not closed yet, in order; only the first can be open
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

    def think(self, text: str, seal: str | None, sealed: Mapping[str, Any] | None) -> Iterator[bytes]:
        """Thinking, as far as it is shown; `seal` signs the block, which ends with it."""
        if self._shows and _redacted(sealed):
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

    def begin_call(self, index: int, call: _Call) -> Iterator[bytes]:
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

    def _tell(self, call: _Call) -> Iterator[bytes]:
        """Open the call's block with what is known of its arguments."""
        yield from self._close()
        self.called = call.open = True
        yield self._open("tool_use", _tool_use(call.id, call.name))
        if call.unsaid:
            yield self._before + framing.as_bytes("".join(call.unsaid)) + self._after
            call.unsaid.clear()

    def _first(self) -> _Call:
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


# --- errors


def error_object(problem: Problem, request_id: str | None = None) -> dict[str, Any]:
    """Anthropic's error; `details` only where its SDKs act on them."""
    fallback = "invalid_request_error" if problem.status < 500 else "api_error"
    message = problem.message
    if "context_length_exceeded" in (problem.code, problem.kind) or problem.kind == "context":
        message = f"{TOO_LONG}: {message}"
    told: dict[str, Any] = {"type": ERROR_TYPES.get(problem.status, fallback), "message": message}
    if problem.code == "thread_not_found":
        told["details"] = {"error_code": problem.code}
    return {"type": "error", "error": told, "request_id": request_id}
