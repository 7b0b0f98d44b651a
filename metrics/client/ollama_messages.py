"""A conversation as Ollama takes it: roles, one text, pictures as bare base64, arguments as objects.

Shapes: ollama, api/types.go (Message, ToolCall) and docs/api.md. Its server decodes pictures and never
fetches one; a result names the tool that it is of, since models' templates speak of names.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from metrics.client.called import called
from metrics.client.outgoing import LEADERS
from metrics.records import Message, Problem


def written(messages: Sequence[Message]) -> list[Message]:
    """Problem 400 for a picture that is not inline."""
    names: dict[str, str] = {}  # call id -> tool, of the latest call of that id
    made = []
    for at, message in enumerate(messages):
        for call in message.get("tool_calls") or ():
            names[str(call.get("id"))] = called(call)[0]
        one = _message(message, names, f"messages[{at}]")
        if one["role"] != "assistant" or len(one) > 2 or one["content"]:
            made.append(one)
    return made


def _message(message: Message, names: Mapping[str, str], where: str) -> Message:
    role = message.get("role")
    made: Message = {
        "role": "system" if role in LEADERS else role,
        "content": "\n\n".join(_texts(message.get("content"))),
    }
    if pictures := list(_pictures(message.get("content"), where)):
        made["images"] = pictures
    if calls := [_call(call) for call in message.get("tool_calls") or ()]:
        made["tool_calls"] = calls
    if role == "tool":
        call_id = str(message.get("tool_call_id"))
        name = names.get(call_id) or message.get("name")
        made |= {"tool_name": name} if name else {}
        made["tool_call_id"] = call_id
    elif role == "assistant" and (thoughts := _thoughts(message)):
        made["thinking"] = thoughts
    return made


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        kind = part.get("type")
        if kind in ("text", "refusal") and part.get(kind):
            yield part[kind]


def _pictures(content: Any, where: str) -> Iterator[str]:
    for part in content if isinstance(content, list) else ():
        if part.get("type") != "image_url":
            continue
        image = part["image_url"]
        url: str = image["url"] if isinstance(image, dict) else image
        if not url.startswith("data:"):
            said = (
                f"{where} holds a picture's address, and Ollama takes pictures inline only (as a data: URL)"
            )
            raise Problem(400, said, kind="bad_request", param=where)
        yield url[url.index(",") + 1 :]


def _thoughts(message: Message) -> str | None:
    """The thoughts that its caller kept, in the fields that chat servers show them in."""
    for name in ("reasoning_content", "reasoning"):
        if isinstance(message.get(name), str) and message[name]:
            thoughts: str = message[name]
            return thoughts
    return None


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    name, arguments = called(call)
    return {"id": call.get("id"), "function": {"name": name, "arguments": arguments}}
