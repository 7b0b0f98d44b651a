"""Messages as Anthropic's API streams them, for tests of what reads them."""

import json
from typing import Any

from metrics.events import Closed, Event, Opened, Text
from metrics.records import Usage

SPENT = {"input_tokens": 11, "output_tokens": 7}
USAGE = Usage(uncached_in=11, out=7, raw=SPENT)
REDACTED = {"type": "redacted_thinking", "data": "cmVk"}


def event(kind: str, **fields: Any) -> bytes:
    told = json.dumps({"type": kind, **fields}, separators=(",", ":"), ensure_ascii=False)
    return f"event: {kind}\ndata: {told}\n\n".encode()


def begin(index: int, **block: Any) -> bytes:
    return event("content_block_start", index=index, content_block=block)


def piece(index: int, kind: str, **words: str) -> bytes:
    return event("content_block_delta", index=index, delta={"type": kind, **words})


def end(index: int) -> bytes:
    return event("content_block_stop", index=index)


def said(index: int, *texts: str) -> bytes:
    pieces = [piece(index, "text_delta", text=text) for text in texts]
    return b"".join([begin(index, type="text", text=""), *pieces, end(index)])


def thought(index: int, text: str, signature: str) -> bytes:
    return b"".join(
        [
            begin(index, type="thinking", thinking="", signature=""),
            piece(index, "thinking_delta", thinking=text) if text else b"",
            piece(index, "signature_delta", signature=signature) if signature else b"",
            end(index),
        ]
    )


def use(index: int, call_id: str, *pieces: str, **given: Any) -> bytes:
    parts = [piece(index, "input_json_delta", partial_json=part) for part in pieces]
    return b"".join([begin(index, type="tool_use", id=call_id, name="look", input=given), *parts, end(index)])


def stop(reason: str = "end_turn", **more: Any) -> bytes:
    delta = {"stop_reason": reason, "stop_sequence": None, **more}
    return event("message_delta", delta=delta, usage={"output_tokens": 7}) + event("message_stop")


def whole(*content: Any, reason: str = "end_turn", **more: Any) -> bytes:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content}
    return json.dumps({**message, "stop_reason": reason, "usage": SPENT, **more}).encode()


START = event("message_start", message={"model": "m", "content": [], "usage": {**SPENT, "output_tokens": 1}})
PING = event("ping")
OPEN = Opened("m")
GOOD: list[Event] = [OPEN, Text("hi"), Closed(usage=USAGE)]
CALLED = Closed("tool_calls", USAGE)
