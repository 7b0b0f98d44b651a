"""What a practice player is asked and what it says: two values, so that every player is a pure function.

A player never sees HTTP, ids or tokens; it reads an `Ask` and returns a `Said`.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Message = Mapping[str, Any]
IMAGES = ("image_url", "image", "input_image")


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the caller offers: its name, what it says it does and the JSON schema of its arguments."""

    name: str
    about: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """One conversation put to a player. `choice` is "auto", "none", "required" or the name of the tool to
    call."""

    messages: Sequence[Message]
    tools: tuple[Tool, ...] = ()
    choice: str = "auto"
    parallel: bool = True

    @property
    def text(self) -> str:
        """The newest user message in words, "" when there is none."""
        return next(
            (words(message) for message in reversed(self.messages) if message.get("role") == "user"), ""
        )

    @property
    def images(self) -> int:
        return sum(1 for message in self.messages for part in parts(message) if part.get("type") in IMAGES)

    def digest(self, *more: object) -> str:
        """32 hex digits that only the conversation (and `more`) decides: ids and turns that can be played
        again."""
        said = json.dumps([list(self.messages), *more], sort_keys=True, default=str)
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of one of the caller's tools; `arguments` is a JSON object as text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Said:
    """An answer: text or tool calls. `seconds` is how long saying it takes; only practice-slow takes any."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    seconds: float = 0.0


def parts(message: Message) -> Iterator[Mapping[str, Any]]:
    """The parts of a message whose content is a list; nothing for plain text."""
    content = message.get("content")
    if isinstance(content, list):
        yield from (part for part in content if isinstance(part, dict))


def words(message: Message) -> str:
    """A message's text, its text parts joined by blank lines."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    texts = [part.get("text") for part in parts(message)]
    return "\n\n".join(text for text in texts if isinstance(text, str))
