"""Replies and streams as Anthropic writes them, their usage, and errors.

The idea: a whole reply is its content blocks in the order in which they were said; a stream says the same
blocks in pieces (anthropic_pieces) between a message's beginning and its end.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from metrics.events import (
    Burst,
    Closed,
    Event,
    Failed,
    Reasoning,
    Text,
    Tick,
    ToolArguments,
    ToolStart,
)
from metrics.formats import calls, framing
from metrics.formats.anthropic_in import THINKING
from metrics.formats.anthropic_pieces import PING, Blocks, Call, redacted, tool_use
from metrics.formats.protocol import Stamp, pieces
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

Block = dict[str, Any]

# --- whole


def reply(request: Request, reply: Reply, stamp: Stamp) -> dict[str, Any]:
    made = calls.whole(reply.tool_calls, reply.finish)
    said = {call["id"]: call["arguments"] for call in reply.tool_calls}
    uses: list[Block] = []
    for call in made:
        # What is no JSON object stays visible in one: Anthropic's own advice for broken input.
        broken = {"INVALID_JSON": said[call.id]}
        given = broken if call.arguments is None else call.arguments
        uses.append({**tool_use(call.id, call.name), "input": given})
    content = list(_in_order(reply, uses, request.framing))
    end = _stop(reply.finish, reply.stop_sequence, bool(made))
    spent = usage(reply.usage, estimate(request))
    return {**_head(request, stamp), "content": content, **end, "usage": spent, **reply.extra}


def _in_order(reply: Reply, uses: list[Block], shows: str) -> Iterator[Block]:
    """The text and the calls with the thinking that is shown where it was thought: a client sends them back,
    and sealed thinking in another place is refused."""
    thoughts = reply.thoughts or (({"text": reply.reasoning},) if reply.reasoning else ())
    at = done = 0
    for thought in thoughts:
        block = _thought(thought, shows)
        if block is not None:
            characters, told = thought.get("behind", (0, 0))
            if characters > at:
                yield {"type": "text", "text": reply.text[at:characters]}
            yield from uses[done:told]
            at, done = max(at, characters), max(done, told)
            yield block
    if reply.text[at:]:
        yield {"type": "text", "text": reply.text[at:]}
    yield from uses[done:]


def _thought(thought: Mapping[str, Any], shows: str) -> Block | None:
    """A block of thinking, if the caller asked to see it. A seal of another API is none here."""
    text, seal, sealed = thought.get("text"), thought.get("signature") or "", thought.get("sealed")
    if shows and redacted(sealed):
        return {**sealed}
    if (shows == THINKING and text) or (shows and seal):
        return {"type": "thinking", "thinking": text or "", "signature": seal}
    return None


def _head(request: Request, stamp: Stamp) -> dict[str, Any]:
    return {"id": f"msg_{stamp.token}", "type": "message", "role": "assistant", "model": request.model}


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
    beside = len(json.dumps(made, ensure_ascii=False)) if made else 0
    if request.tools:
        beside += tokens.length(request.tools)
    return max(1, tokens.estimate(request.messages) + beside // 4)


# --- streamed


def stream(request: Request, events: Iterator[Event], stamp: Stamp) -> Iterator[bytes]:
    guess = estimate(request)
    blocks = Blocks(request.framing)

    def say(event: Event) -> bytes:
        said = blocks.say_all(event) if type(event) is Burst else b""
        return said or b"".join(p for one in calls.plain((event,)) for p in _said(one, blocks, guess))

    return pieces(events, say, _start(request, stamp, guess))


def _said(event: Event, blocks: Blocks, guess: int) -> Iterator[bytes]:
    match event:
        case Text(text):
            yield from blocks.say("text", text)
        case Reasoning(text, _, seal, sealed):
            yield from blocks.think(text, seal, sealed)
        case ToolStart(index, call_id, name):
            yield from blocks.begin_call(index, Call(call_id, name))
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
