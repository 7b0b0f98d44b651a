"""JSON that stays on one line for every reader of lines.

JSON leaves three line breaks of Unicode unescaped in strings (U+0085, U+2028, U+2029), and httpx ends a line
at each of them, as `str.splitlines` does. Clients built on its `iter_lines` (ollama and google-genai for
Python) would read half an object. They are written as escapes, which mean the same.
"""

from collections.abc import Sequence

from metrics.web.table import json_bytes

BREAKS = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))


def as_line(value: object) -> bytes:
    """Compact UTF-8 JSON without any line break, and without one at its end."""
    return unbroken(json_bytes(value))


def between(before: bytes, spelled: Sequence[bytes], after: bytes) -> bytes:
    """JSON strings as somebody else spelled them, without their quotes, each with the same around it."""
    written = before + (after + before).join(spelled) + after
    return written if written.isascii() else unbroken(written)


def unbroken(written: bytes) -> bytes:
    """JSON that somebody else wrote, without the line breaks of Unicode."""
    if not written.isascii():
        for raw, escaped in BREAKS:
            written = written.replace(raw, escaped)
    return written
