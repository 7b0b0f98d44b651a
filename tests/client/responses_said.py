"""Answers of the Responses API, without a network: events, and whole responses."""

import json
from collections.abc import Sequence
from typing import Any

from metrics.client import responses_read
from metrics.events import Event, Tick
from metrics.records import Problem
from tests.client.arrivals import TARGET, ids

USAGE = {
    "input_tokens": 11,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 18,
}


def event(kind: str, **fields: Any) -> bytes:
    kind = kind if kind == "error" else f"response.{kind}"
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\n\n".encode()


def response(status: str, output: Sequence[Any] = (), **more: Any) -> dict[str, Any]:
    told = {"id": "resp_1", "object": "response", "model": "m-1", "status": status, "error": None}
    return {**told, "incomplete_details": None, "output": list(output), "usage": None, **more}


def text(words: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": words, "annotations": []}]
    return {"id": "msg_1", "type": "message", "role": "assistant", "content": content, **more}


def call(name: str, arguments: str, call_id: str, **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, **more}


def custom(name: str, given: str, call_id: str) -> dict[str, Any]:
    return {"id": "ctc_1", "type": "custom_tool_call", "call_id": call_id, "name": name, "input": given}


def thought(summary: str, sealed: str | None = None) -> dict[str, Any]:
    parts = [{"type": "summary_text", "text": summary}] if summary else []
    return {"id": "rs_1", "type": "reasoning", "summary": parts, "encrypted_content": sealed}


CREATED = event("created", response=response("in_progress"))


def completed(*output: Any, **more: Any) -> bytes:
    return event("completed", response=response("completed", list(output), usage=USAGE, **more))


def added(place: int, item: dict[str, Any]) -> bytes:
    return event("output_item.added", output_index=place, item=item)


def done(place: int, item: dict[str, Any]) -> bytes:
    return event("output_item.done", output_index=place, item=item)


def delta(kind: str, place: int, piece: str, **more: Any) -> bytes:
    return event(f"{kind}.delta", output_index=place, delta=piece, **more)


def said(arrived: Any, **more: Any) -> tuple[list[Event], Problem | None]:
    """The events of an answer without ticks, and the Problem that ended it."""
    events: list[Event] = []
    try:
        for one in responses_read.read(arrived, TARGET, now=lambda: 0.0, new_id=ids(), **more):
            events += [] if isinstance(one, Tick) else [one]
    except Problem as problem:
        return events, problem
    return events, None
