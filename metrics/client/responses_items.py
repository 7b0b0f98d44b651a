"""A conversation in chat's shape as the input items of a Responses request.

Shapes: OpenAI's API description 2.3.0 (InputMessage, FunctionToolCall, CustomToolCall, their outputs,
ReasoningItem). Items carry no ids of their own but reasoning's: with store:false nothing could be found by
them, and a call that names its id is refused without the reasoning item it was born with.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from metrics.client import call_ids, responses_seals
from metrics.records import Message, Problem

# What OpenAI takes as a call's id: github.com/decolua/9router/issues/393.
IDS = re.compile(r"[\s\S]{1,64}")
INPUT = "input"  # the one argument that a custom tool's text travels in, where it is declared as a function
OUTPUTS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}

Items = list[dict[str, Any]]


def instructions(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """The system text that the conversation begins with, and the rest of it."""
    first = messages[0] if messages else {}
    content = first.get("content")
    if first.get("role") == "system" and isinstance(content, str) and len(messages) > 1:
        return content, messages[1:]
    return "", messages


def items(messages: Sequence[Message], model_id: str) -> Items:
    """Input items in order. Reasoning that `model_id` sealed goes before what it led to. Problem 400 for a
    message that cannot be said."""
    made: Items = []
    calls: dict[str, str] = {}  # call id -> the type of its item
    for message in messages:
        match message.get("role"):
            case "assistant":
                made += _turn(message, model_id, calls)
            case "tool":
                made.append(_result(message, calls))
            case role:
                parts = list(_parts(message.get("content"), "input_text"))
                if parts:
                    made.append({"type": "message", "role": role, "content": parts})
    return made


def _turn(message: Message, model_id: str, calls: dict[str, str]) -> Iterator[dict[str, Any]]:
    listed = list(message.get("tool_calls") or ())
    before = _sealed(message, listed, model_id)
    yield from responses_seals.fit(model_id, before[0])
    said = list(_parts(message.get("content"), "output_text"))
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        said.append({"type": "refusal", "refusal": refusal})
    if said:
        phase = {"phase": message["_phase"]} if message.get("_phase") else {}
        yield {"type": "message", "role": "assistant", "content": said, **phase}
    for call, sealed in zip(listed, before[1:], strict=False):
        yield from responses_seals.fit(model_id, sealed)
        made = _call(call)
        calls[made["call_id"]] = made["type"]
        yield made


def _sealed(message: Message, calls: Items, model_id: str) -> list[Sequence[Mapping[str, Any]]]:
    """Reasoning before the turn, and before each of its calls: what the caller sent back, else what was kept
    under the calls. What stood before the first call stood before the words, too."""
    sent: list[Sequence[Mapping[str, Any]]] = [call.get("_encrypted") or () for call in calls]
    if not message.get("_encrypted") and not any(sent):
        sent = [responses_seals.of_call(model_id, str(call.get("id"))) for call in calls]
    first = sent[0] if sent else ()
    return [[*(message.get("_encrypted") or ()), *first], (), *sent[1:]]


def seals(messages: Sequence[Message], model_id: str) -> tuple[str, ...]:
    """The sealed texts that `items` puts in for this model, in order: what its items differ in from those of
    other models."""
    return tuple(
        item[responses_seals.CONTENT]
        for message in messages
        if message.get("role") == "assistant"
        for sealed in _sealed(message, list(message.get("tool_calls") or ()), model_id)
        for item in responses_seals.fit(model_id, sealed)
    )


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    call_id, custom = call_ids.fit(str(call.get("id")), IDS), call.get("custom")
    if isinstance(custom, dict):
        return _custom(call_id, custom.get("name"), custom.get("input"))
    function = call.get("function") or {}
    name, arguments = function.get("name"), function.get("arguments")
    if call.get("_custom"):
        return _custom(call_id, name, _input_of(arguments))
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments or "{}"}


def _custom(call_id: str, name: Any, text: Any) -> dict[str, Any]:
    return {"type": "custom_tool_call", "call_id": call_id, "name": name, "input": text or ""}


def _input_of(arguments: Any) -> str:
    """The text of a custom call that is written as a function's arguments."""
    try:
        value = json.loads(arguments)
        text = value.get(INPUT) if isinstance(value, dict) else None
    except (TypeError, ValueError, RecursionError):
        text = None
    return text if isinstance(text, str) else str(arguments or "")


def _result(message: Message, calls: Mapping[str, str]) -> dict[str, Any]:
    call_id = call_ids.fit(str(message.get("tool_call_id")), IDS)
    parts = list(_parts(message.get("_moved") or message.get("content"), "input_text"))
    output: Any = parts
    if all(part["type"] == "input_text" for part in parts):  # which more servers read as one text
        output = "\n".join(part["text"] for part in parts)
    kind = OUTPUTS[calls.get(call_id, "function_call")]
    return {"type": kind, "call_id": call_id, "output": output}


def _parts(content: Any, kind: str) -> Iterator[dict[str, Any]]:
    """Content in parts, its texts as `kind`; without what is shown again behind the result it belongs to."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    for part in content or ():
        if part.get("_moved"):
            continue
        match part.get("type"):
            case "text":
                yield {"type": kind, "text": part["text"]}
            case "refusal":
                yield {"type": "refusal", "refusal": part["refusal"]}
            case "image_url":
                yield _picture(part["image_url"])
            case other:
                raise Problem(400, f"a part of type {other!r} cannot be sent to a Responses model")


def _picture(image: Any) -> dict[str, Any]:
    url, detail = (image.get("url"), image.get("detail")) if isinstance(image, dict) else (image, None)
    return {"type": "input_image", "image_url": url, "detail": detail or "auto"}
