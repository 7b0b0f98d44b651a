"""Which turns are of one conversation: a client's own session id says it, else what the conversation began
with.

A key is a digest, so that no record holds what was asked. It is scoped by collection and gateway key: two
users who say the same thing never share a conversation.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from metrics.records import Message, Request

# Claude Code up to 2.1.180 begins its system text with a line that changes with each request (formats.md,
# trap 3).
BILLING = "x-anthropic-billing-header:"
LEADERS = ("system", "developer")
REPLIES = ("assistant", "tool", "function")


def key(request: Request) -> str:
    """The key of the conversation that `request` is a turn of: 24 hex digits."""
    digest = hashlib.blake2b(digest_size=12)
    for part in (request.collection, request.key, *_marks(request)):
        digest.update(part.encode("utf-8", "replace"))
        digest.update(b"\0")
    return digest.hexdigest()


def begins(request: Request) -> bool:
    """Whether this can only be a first turn: no session is named and nobody has answered yet. Two tasks that
    begin with the same words are two conversations."""
    return not request.session and not any(message.get("role") in REPLIES for message in request.messages)


def _marks(request: Request) -> Iterator[str]:
    if request.session:
        yield "session"
        yield request.session
        return
    yield "words"
    for message in request.messages:
        role = message.get("role")
        if role in LEADERS:
            yield from _lines(message)
        elif role == "user":
            yield from _texts(message)
            return


def _lines(message: Message) -> Iterator[str]:
    for text in _texts(message):
        if BILLING in text:
            text = "\n".join(line for line in text.split("\n") if not line.startswith(BILLING))
        yield text


def _texts(message: Message) -> Iterator[str]:
    content: Any = message.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, Mapping):
                yield from _told(part)


def _told(part: Mapping[str, Any]) -> Iterator[str]:
    """What of a part tells it from others: its text, or of a picture its beginning."""
    if isinstance(part.get("text"), str):
        yield part["text"]
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, Mapping) else image
    if isinstance(url, str):
        yield url[:500]
