"""What providers of the five APIs answer, written by hand: the same few outcomes in each API's own words, as
a stream and whole; and what a caller got, in words of no API."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metrics.client.dialects import DIALECTS, compose
from metrics.client.outgoing import Conversation
from metrics.events import gather
from metrics.records import Request, Target
from tests.client.arrivals import Arrived

Call = tuple[str, str, Mapping[str, Any]]  # id, name, arguments


@dataclass(frozen=True)
class Outcome:
    text: str = ""
    calls: tuple[Call, ...] = ()
    finish: str = "stop"


OUTCOMES: Mapping[str, Outcome] = {
    "words": Outcome("a cat, gone: é👩‍🚀"),
    "a call": Outcome("I look.", (("x1", "look", {"a": 1}),), "tool_calls"),
    "calls at once": Outcome("", (("x1", "look", {"a": 1}), ("x2", "go", {"a": 2})), "tool_calls"),
    "the limit": Outcome("half of", (), "length"),
    "a filter": Outcome("no", (), "content_filter"),
}
WRITE = json.dumps
PROMPT, CACHED, OUT = 11, 4, 7


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [half for half in (text[:middle], text[middle:]) if half]


def _sse(*events: Any) -> bytes:
    return b"".join(
        (f"event: {event['type']}\n" if "type" in event else "").encode()
        + b"data: "
        + WRITE(event, ensure_ascii=False).encode()
        + b"\n\n"
        for event in events
    )


# --- chat completions


def chat(outcome: Outcome, stream: bool) -> bytes:
    usage = {
        "prompt_tokens": PROMPT,
        "completion_tokens": OUT,
        "total_tokens": PROMPT + OUT,
        "prompt_tokens_details": {"cached_tokens": CACHED},
    }
    calls = [
        {
            "index": at,
            "id": one[0],
            "type": "function",
            "function": {"name": one[1], "arguments": WRITE(one[2])},
        }
        for at, one in enumerate(outcome.calls)
    ]
    if not stream:
        message = {"role": "assistant", "content": outcome.text or None}
        message |= {"tool_calls": calls} if calls else {}
        choice = {"index": 0, "message": message, "finish_reason": outcome.finish}
        return WRITE({"object": "chat.completion", "choices": [choice], "usage": usage}).encode()
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": half} for half in _halves(outcome.text)] + [{"tool_calls": [one]} for one in calls]
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": outcome.finish}]}
    return _sse(*chunks, end, {"choices": [], "usage": usage}) + b"data: [DONE]\n\n"


# --- Anthropic

ANTHROPIC_STOPS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}


def anthropic(outcome: Outcome, stream: bool) -> bytes:
    usage = {
        "input_tokens": PROMPT - CACHED,
        "cache_read_input_tokens": CACHED,
        "cache_creation_input_tokens": 0,
        "output_tokens": OUT,
    }
    blocks: list[dict[str, Any]] = [{"type": "text", "text": outcome.text}] if outcome.text else []
    blocks += [
        {"type": "tool_use", "id": call_id, "name": name, "input": given}
        for call_id, name, given in outcome.calls
    ]
    stop = {"stop_reason": ANTHROPIC_STOPS[outcome.finish], "stop_sequence": None}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": blocks}
    if not stream:
        return WRITE({**message, **stop, "usage": usage}).encode()
    events: list[dict[str, Any]] = [
        {
            "type": "message_start",
            "message": {**message, "content": [], "usage": {**usage, "output_tokens": 1}},
        }
    ]
    for at, block in enumerate(blocks):
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        events.append({"type": "content_block_start", "index": at, "content_block": empty})
        if block["type"] == "text":
            deltas = [{"type": "text_delta", "text": half} for half in _halves(outcome.text)]
        else:
            given = _halves(WRITE(block["input"]))
            deltas = [{"type": "input_json_delta", "partial_json": half} for half in given]
        events += [{"type": "content_block_delta", "index": at, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": at})
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": OUT}})
    return _sse(*events, {"type": "message_stop"})


# --- Gemini

GEMINI_STOPS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


def gemini(outcome: Outcome, stream: bool) -> bytes:
    usage = {
        "promptTokenCount": PROMPT,
        "cachedContentTokenCount": CACHED,
        "candidatesTokenCount": OUT,
        "totalTokenCount": PROMPT + OUT,
    }
    texts = [{"text": half} for half in _halves(outcome.text)]
    calls = [
        {"functionCall": {"id": call_id, "name": name, "args": given}, "thoughtSignature": "c2ln"}
        for call_id, name, given in outcome.calls
    ]

    def said(parts: list[Any], **more: Any) -> dict[str, Any]:
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0, **more}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"}

    end = {"finishReason": GEMINI_STOPS[outcome.finish]}
    if not stream:
        return WRITE(said([*texts, *calls], **end)).encode()
    return _sse(*(said([text]) for text in texts), said(calls or [{"text": ""}], **end))


# --- Responses


def responses(outcome: Outcome, stream: bool) -> bytes:
    usage = {
        "input_tokens": PROMPT,
        "input_tokens_details": {"cached_tokens": CACHED},
        "output_tokens": OUT,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": PROMPT + OUT,
    }
    content = [{"type": "output_text", "text": outcome.text, "annotations": []}]
    output: list[dict[str, Any]] = [
        {"id": "msg_1", "type": "message", "role": "assistant", "content": content}
    ] * bool(outcome.text)
    output += [
        {
            "id": f"fc_{call_id}",
            "type": "function_call",
            "call_id": call_id,
            "name": name,
            "arguments": WRITE(a),
        }
        for call_id, name, a in outcome.calls
    ]
    why = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(outcome.finish)
    status = "incomplete" if why else "completed"
    whole = {
        "id": "resp_1",
        "object": "response",
        "model": "m",
        "status": status,
        "error": None,
        "incomplete_details": {"reason": why} if why else None,
        "output": output,
        "usage": usage,
    }
    if not stream:
        return WRITE(whole).encode()
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for at, item in enumerate(output):
        field, kind = (
            ("arguments", "function_call_arguments") if "arguments" in item else ("content", "output_text")
        )
        pieces = _halves(item["arguments"] if field == "arguments" else outcome.text)
        empty = {**item, field: "" if field == "arguments" else []}
        place = {"output_index": at, "item_id": item["id"]}
        events.append({"type": "response.output_item.added", "output_index": at, "item": empty})
        events += [{"type": f"response.{kind}.delta", **place, "delta": piece} for piece in pieces]
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    return _sse(*events, {"type": f"response.{status}", "response": whole})


# --- Ollama


def ollama(outcome: Outcome, stream: bool) -> bytes:
    calls = [{"function": {"name": name, "arguments": given}} for _, name, given in outcome.calls]
    end = {
        "done": True,
        "done_reason": "length" if outcome.finish == "length" else "stop",
        "prompt_eval_count": PROMPT,
        "eval_count": OUT,
    }

    def line(message: dict[str, Any], **more: Any) -> bytes:
        said = {
            "model": "m",
            "message": {"role": "assistant", "content": "", **message},
            "done": False,
            **more,
        }
        return WRITE(said, ensure_ascii=False).encode() + b"\n"

    called = {"tool_calls": calls} if calls else {}
    if not stream:
        return line({"content": outcome.text, **called}, **end)
    texts = [line({"content": half}) for half in _halves(outcome.text)]
    return b"".join([*texts, line(called) if calls else b"", line({}, **end)])


ANSWERS = {"chat": chat, "anthropic": anthropic, "gemini": gemini, "responses": responses, "ollama": ollama}


# --- what callers get

# The dialect that reads what a format writes.
READERS = {
    "openai-chat": "chat",
    "openai-responses": "responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "ollama": "ollama",
}
HERE = Target("a", "e:m", "e", "e", "m", "http://127.0.0.1:1/v1")


def composed(target: Target, request: Request, stream: bool = True) -> tuple[Any, tuple[str, ...]]:
    """What a member is asked when a caller asks `request`: the body, and what was altered."""
    conversation = Conversation(request.messages, READERS.get(request.format, ""), request.native)
    options: dict[str, Any] = {**request.options, **request.passed}
    options |= {"tools": list(request.tools)} if request.tools else {}
    outgoing = compose(target, conversation, options, stream=stream)
    return json.loads(b"".join(outgoing.body), parse_constant=_no_json), outgoing.changed


def _no_json(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


@dataclass(frozen=True)
class Got:
    text: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    finish: str
    prompt: int | None
    cached: int
    out: int | None


def got(form: str, written: bytes) -> Got:
    """What a caller of `form` reads in a reply, streamed or whole."""
    if form == "openai-completions":
        return _completion(written)
    reply = gather(DIALECTS[READERS[form]].read(Arrived([written]), HERE))
    calls = tuple((call["name"], json.loads(call["arguments"])) for call in reply.tool_calls)
    spent = reply.usage
    return Got(reply.text, calls, reply.finish, spent.prompt, spent.cache_read or 0, spent.out)


def _completion(written: bytes) -> Got:
    """Legacy completions, which nobody serves to us."""
    objects = [
        json.loads(part.removeprefix(b"data: "))
        for part in written.split(b"\n\n")
        if part and part != b"data: [DONE]"
    ]
    choices = [choice for one in objects for choice in one["choices"]]
    usage = next(one["usage"] for one in reversed(objects) if one.get("usage"))
    finish = next(choice["finish_reason"] for choice in reversed(choices) if choice["finish_reason"])
    text = "".join(choice["text"] for choice in choices)
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    return Got(text, (), finish, usage["prompt_tokens"], cached, usage["completion_tokens"])
