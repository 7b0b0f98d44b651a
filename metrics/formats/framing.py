"""How streams are framed for callers: server-sent events and JSON as bytes."""

import json
from typing import Any

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"

SSE_HEADERS = (
    ("Content-Type", "text/event-stream; charset=utf-8"),
    ("Cache-Control", "no-cache"),
    ("X-Accel-Buffering", "no"),
)

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def as_bytes(value: Any) -> bytes:
    """Compact JSON in UTF-8. A lone surrogate, which UTF-8 cannot hold, becomes U+FFFD."""
    return _encode(value).encode("utf-8", "replace")


def sse(value: Any, event: str | None = None) -> bytes:
    """One event: `event: name` when there is one, and the data line."""
    named = b"event: %b\n" % event.encode() if event else b""
    return named + b"data: " + as_bytes(value) + b"\n\n"
