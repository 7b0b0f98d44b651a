"""How large a conversation is, by guess: no tokenizer fits every model, so one estimate serves all and is
marked as such.

The contract's rule: characters / 4, a tenth more for safety, 2,500 for an image.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from metrics.longjson import AsWritten
from metrics.records import Message

PER_IMAGE = 2500
LOOKED_AT = 4_000  # characters of a text, for its first words


def of_text(text: str) -> int:
    """Tokens that `text` probably takes; at least 1 unless it is empty."""
    return (len(text) + 3) // 4


def estimate(messages: Sequence[Message]) -> int:
    """Input tokens of `messages`, generously."""
    return measured(messages)[0]


def images(messages: Sequence[Message]) -> int:
    return measured(messages)[1]


def measured(messages: Sequence[Message]) -> tuple[int, int]:
    """Input tokens of `messages`, generously, and how many images are among them."""
    characters = pictures = 0
    for message in messages:
        content = message.get("content")
        if isinstance(content, str):
            characters += len(content)
        elif content:
            for part in _parts(content):
                text = part.get("text")
                characters += len(text) if isinstance(text, str) else 0
                pictures += part.get("type") == "image_url"
        for call in message.get("tool_calls") or ():
            characters += _called(call)
    return int(characters / 4 * 1.1) + PER_IMAGE * pictures + 4 * len(messages), pictures


def _called(call: Mapping[str, Any]) -> int:
    """Characters of a tool call: what an agent writes to files is in its arguments."""
    said = 0
    for value in (call.get("function") or call.get("custom") or {}).values():
        said += len(value) if isinstance(value, str) else 0
    return said


def of_tools(tools: Sequence[Mapping[str, Any]]) -> int:
    """Input tokens that the definitions of `tools` take, generously."""
    return int(length(tools) / 4 * 1.1) if tools else 0


def length(tools: Sequence[Mapping[str, Any]]) -> int:
    """Characters, more or less, that `tools` are written in."""
    return len(tools.text if isinstance(tools, AsWritten) else json.dumps(tools, ensure_ascii=False))


def texts(messages: Sequence[Message]) -> Iterator[str]:
    """Every piece of text in the conversation, in order."""
    for message in messages:
        content = message.get("content")
        if isinstance(content, str):
            yield content
        elif content:
            for part in _parts(content):
                if isinstance(part.get("text"), str):
                    yield part["text"]


def _parts(content: Any) -> list[dict[str, Any]]:
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def task(messages: Sequence[Message], limit: int = 120) -> str:
    """The first words of the newest user message: how a record is recognised in a list."""
    words, beginning = "", limit + limit // 2  # which is mostly enough
    for text in texts(_newest(messages)):
        known, words = words, _joined(words, text[:beginning])
        if len(words) <= limit and len(text) > beginning:
            words = _joined(known, text[:LOOKED_AT])
        if len(words) > limit:
            return words[: limit - 1].rstrip() + "…"
    return words


def _joined(words: str, more: str) -> str:
    return " ".join((words + " " + more).split())


def _newest(messages: Sequence[Message]) -> Sequence[Message]:
    """The newest message of the user, if there is one."""
    for message in reversed(messages):
        if message.get("role") == "user":
            return (message,)
    return ()
