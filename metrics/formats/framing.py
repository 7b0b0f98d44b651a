"""How streams are framed for callers: server-sent events and JSON as bytes."""

from typing import Any

from metrics.formats.lines import as_line as as_bytes

__all__ = ["DONE", "KEEP_ALIVE", "SSE_HEADERS", "as_bytes", "sse"]

DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"

SSE_HEADERS = (
    ("Content-Type", "text/event-stream; charset=utf-8"),
    ("Cache-Control", "no-cache"),
    ("X-Accel-Buffering", "no"),
)


def sse(value: Any, event: str | None = None) -> bytes:
    """One event: `event: name` when there is one, and the data line."""
    named = b"event: %b\n" % event.encode() if event else b""
    return named + b"data: " + as_bytes(value) + b"\n\n"
