"""A reply put together as a client of its format does: text, tool calls, why it stopped, usage; and what
broke the format's own rules on the way."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.cases.wire import Reply

# What a stream that is over has said last, by format; an error may stand in its place.
ENDS = {"openai-chat": "data: [DONE]", "anthropic": '"message_stop"', "ollama": '"done":true'}
TERMINAL = ("response.completed", "response.incomplete", "response.failed")


@dataclass
class Assembled:
    """`stop` is in the format's own words; a call is {id, name, raw, arguments}, its arguments parsed, None
    when they are no JSON. `events` are the types of the events."""

    text: str = ""
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    stop: str | None = None
    incomplete_reason: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    error: Any = None
    problems: list[str] = field(default_factory=list)

    def call(self, call_id: Any, name: str, arguments: Any) -> None:
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
        try:
            parsed = json.loads(raw) if raw.strip() else {}
        except ValueError:
            parsed = None
        self.tool_calls.append({"id": call_id, "name": name, "raw": raw, "arguments": parsed})


def assemble(reply: Reply, name: str) -> Assembled | None:
    """What `reply` says in format `name`; None for a format that has no answers."""
    if name not in WHOLE:
        return None
    said = Assembled()
    try:
        if reply.streamed:
            STREAMED[name](said, reply.text)
            if name in ENDS and ENDS[name] not in reply.text and not said.error:
                said.problems.append(f"the stream ends without {ENDS[name]}")
        else:
            WHOLE[name](said, reply.json() or {})
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        said.problems.append(f"this is no reply in the format {name}: {type(error).__name__}: {error}")
    return said


def frames(text: str) -> Iterator[tuple[str | None, str]]:
    """(name, data) of the events of a stream."""
    for block in text.split("\n\n"):
        fields = [line.partition(": ") for line in block.split("\n") if not line.startswith(":")]
        data = "\n".join(value for key, _, value in fields if key == "data")
        if data:
            yield next((value for key, _, value in fields if key == "event"), None), data


def _objects(said: Assembled, text: str, named: bool = False) -> Iterator[dict[str, Any]]:
    """The objects of a stream's events; with `named` each event has its object's type as its name."""
    for name, data in frames(text):
        if data == "[DONE]":
            continue
        try:
            value = json.loads(data)
        except ValueError:
            said.problems.append(f"an event that is no JSON: {data[:60]!r}")
            continue
        if named:
            said.events.append(value["type"])
            if name != value["type"]:
                said.problems.append(f"the event {name} is of type {value['type']}")
        yield value


# --- OpenAI chat


def _chat(said: Assembled, body: Mapping[str, Any]) -> None:
    choice = body["choices"][0]
    message = choice["message"]
    said.text, said.stop, said.usage = message["content"] or "", choice["finish_reason"], body["usage"]
    for call in message.get("tool_calls", ()):
        said.call(call["id"], call["function"]["name"], call["function"]["arguments"])


def _chat_stream(said: Assembled, text: str) -> None:
    calls: dict[int, dict[str, Any]] = {}
    for chunk in _objects(said, text):
        said.error = chunk.get("error", said.error)
        said.usage = chunk.get("usage") or said.usage
        for choice in chunk.get("choices", ()):
            delta = choice["delta"]
            said.text += delta.get("content") or ""
            said.stop = choice["finish_reason"] or said.stop
            for piece in delta.get("tool_calls", ()):
                call = calls.setdefault(piece["index"], {"id": piece.get("id"), "name": "", "raw": ""})
                call["name"] += piece["function"].get("name", "")
                call["raw"] += piece["function"].get("arguments", "")
    for call in calls.values():
        said.call(call["id"], call["name"], call["raw"])


# --- Anthropic


def _anthropic(said: Assembled, body: Mapping[str, Any]) -> None:
    said.stop, said.usage = body["stop_reason"], body["usage"]
    for block in body["content"]:
        said.text += block["text"] if block["type"] == "text" else ""
        if block["type"] == "tool_use":
            said.call(block["id"], block["name"], block["input"])


def _anthropic_stream(said: Assembled, text: str) -> None:
    block: dict[str, Any] | None = None
    due = 0
    for event in _objects(said, text, named=True):
        match event["type"]:
            case "message_start":
                said.usage = event["message"]["usage"]
            case "message_delta":
                said.stop = event["delta"]["stop_reason"]
                said.usage = {**said.usage, **event["usage"]}
            case "error":
                said.error = event["error"]
            case "content_block_start":
                if block is not None or event["index"] != due:
                    said.problems.append(
                        f"block {event['index']} opens where {due} was due, or inside another"
                    )
                block, due = {**event["content_block"], "json": ""}, event["index"] + 1
            case "content_block_delta" | "content_block_stop" if block is None or event["index"] != due - 1:
                said.problems.append(f"{event['type']} of block {event['index']}, which is not open")
            case "content_block_delta":
                assert block is not None
                said.text += event["delta"].get("text", "")
                block["json"] += event["delta"].get("partial_json", "")
            case "content_block_stop":
                assert block is not None
                if block["type"] == "tool_use":
                    said.call(block["id"], block["name"], block["json"])
                block = None


# --- Responses


def _responses(said: Assembled, body: Mapping[str, Any]) -> None:
    said.stop, said.usage = body["status"], body.get("usage") or {}
    said.error = body.get("error")
    said.incomplete_reason = (body.get("incomplete_details") or {}).get("reason")
    for item in body["output"]:
        if item["type"] == "message":
            said.text += "".join(part.get("text", "") for part in item["content"])
        elif item["type"] == "function_call":
            said.call(item["call_id"], item["name"], item["arguments"])


def _responses_stream(said: Assembled, text: str) -> None:
    deltas = ""
    final = None
    for number, event in enumerate(_objects(said, text, named=True)):
        if event["sequence_number"] != number:
            said.problems.append(f"sequence_number {event['sequence_number']} where {number} was due")
        deltas += event["delta"] if event["type"] == "response.output_text.delta" else ""
        final = event["response"] if event["type"] in TERMINAL else final
    if final is None:
        said.problems.append("the stream ends without a terminal event")
        return
    _responses(said, final)
    if said.stop == "failed":
        said.text = deltas
    elif said.text != deltas:
        said.problems.append("the deltas say another text than the response at the end")


# --- Ollama


def _ollama(said: Assembled, body: Mapping[str, Any]) -> None:
    said.error = body.get("error", said.error)
    if said.error:
        return
    if "T" not in body["created_at"] or not body["model"] or not isinstance(body["message"]["content"], str):
        said.problems.append("a line without a model, an RFC 3339 time or a text")
    said.text += body["message"]["content"]
    for call in body["message"].get("tool_calls", ()):
        if not isinstance(call["function"]["arguments"], dict):
            said.problems.append("the arguments of a call are no object")
        said.call(call.get("id"), call["function"]["name"], call["function"]["arguments"])
    if body["done"]:
        said.stop = body["done_reason"]
        said.usage = {key: value for key, value in body.items() if key.endswith("_count")}


def _ollama_stream(said: Assembled, text: str) -> None:
    for line in text.removesuffix("\n").split("\n"):
        _ollama(said, json.loads(line))


# --- Gemini


def _gemini(said: Assembled, body: Mapping[str, Any]) -> None:
    said.error = body.get("error", said.error)
    said.usage = body.get("usageMetadata", said.usage)
    for candidate in body.get("candidates", ()):
        said.stop = candidate.get("finishReason", said.stop)
        for part in candidate.get("content", {}).get("parts", ()):
            said.text += part.get("text", "") if not part.get("thought") else ""
            if "functionCall" in part:
                call = part["functionCall"]
                said.call(call.get("id"), call["name"], call.get("args", {}))


def _gemini_stream(said: Assembled, text: str) -> None:
    for chunk in _objects(said, text):
        _gemini(said, chunk)


WHOLE: Mapping[str, Callable[[Assembled, Mapping[str, Any]], None]] = {
    "openai-chat": _chat,
    "anthropic": _anthropic,
    "responses": _responses,
    "ollama": _ollama,
    "gemini": _gemini,
}
STREAMED: Mapping[str, Callable[[Assembled, str], None]] = {
    "openai-chat": _chat_stream,
    "anthropic": _anthropic_stream,
    "responses": _responses_stream,
    "ollama": _ollama_stream,
    "gemini": _gemini_stream,
}
