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
WINDOW = 65_536  # characters that are taken at once: no second copy of a long text is made


def key(request: Request) -> str:
    """The key of the conversation that `request` is a turn of: 24 hex digits."""
    digest = hashlib.blake2b(digest_size=12)
    marks: tuple[str, ...] = (request.collection, request.key, *_marks(request))
    if sum(map(len, marks)) < WINDOW:  # in one piece they come to the same, and sooner
        marks = ("\0".join(marks),)
    for mark in marks:
        for at in range(0, len(mark), WINDOW):
            digest.update(mark[at : at + WINDOW].encode("utf-8", "replace"))
        digest.update(b"\0")
    return digest.hexdigest()


def begins(request: Request) -> bool:
    """Whether this can only be a first turn: no session is named and nobody has answered yet. Two tasks that
    begin with the same words are two conversations."""
    return not request.session and not any(message.get("role") in REPLIES for message in request.messages)


def _marks(request: Request) -> list[str]:
    if request.session:
        return ["session", request.session]
    marks = ["words"]
    for message in request.messages:
        role = message.get("role")
        if role == "user":
            return marks + _texts(message)
        if role in LEADERS:
            marks += [_lasting(text) if BILLING in text else text for text in _texts(message)]
    return marks


def _lasting(text: str) -> str:
    """What of a system text does not change with each request."""
    return "\n".join(line for line in text.split("\n") if not line.startswith(BILLING))


def _texts(message: Message) -> list[str]:
    content: Any = message.get("content")
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else ()
    return [text for part in parts if isinstance(part, dict) for text in _told(part)]


def _told(part: Mapping[str, Any]) -> Iterator[str]:
    """What of a part tells it from others: its text, or of a picture its beginning."""
    if isinstance(part.get("text"), str):
        yield part["text"]
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    if isinstance(url, str):
        yield url[:500]
