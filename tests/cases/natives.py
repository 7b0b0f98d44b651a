"""Providers' own APIs, as members of a case speak them: where each is found, and a whole answer of it as the
stream that says the same.

A case writes an answer down once, as the JSON of an unstreamed reply; whoever asks for a stream gets it in
the events that the API has for it. Shapes: the API references of Anthropic (Messages), Google (Gemini
v1beta), OpenAI (Responses) and Ollama.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Whole = Mapping[str, Any]

BASES = {"gemini": "/v1beta"}  # of the endpoint, "/v1" for all others
STREAM = {"gemini": "streamGenerateContent"}  # APIs that say in the path whether to stream


def asks_to_stream(api: str, path: str, asked: Mapping[str, Any]) -> bool:
    return STREAM[api] in path if api in STREAM else bool(asked.get("stream"))


def is_answer(whole: Any) -> bool:
    """Whether it can be streamed: it has what an answer is made of."""
    return isinstance(whole, Mapping) and any(
        whole.get(key) is not None for key in ("content", "candidates", "promptFeedback", "output", "message")
    )


def streamed(api: str, whole: Whole) -> Iterator[bytes]:
    return STREAMED[api](whole)


def event(value: Any, named: bool = False, ascii_only: bool = True) -> bytes:
    """A value as a server-sent event, with `named` under the name of its type."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=ascii_only)
    name = f"event: {value['type']}\n" if named and isinstance(value, Mapping) and "type" in value else ""
    return f"{name}data: {text}\n\n".encode()


def _anthropic(whole: Whole) -> Iterator[bytes]:
    usage = whole["usage"]
    begun = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield event({"type": "message_start", "message": begun}, True)
    for index, block in enumerate(whole["content"]):
        empty, deltas = _block(block)
        yield event({"type": "content_block_start", "index": index, "content_block": empty}, True)
        for delta in deltas:
            yield event({"type": "content_block_delta", "index": index, "delta": delta}, True)
        yield event({"type": "content_block_stop", "index": index}, True)
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": whole.get("stop_sequence")}
    told = {"type": "message_delta", "delta": ended, "usage": {"output_tokens": usage["output_tokens"]}}
    yield event(told, True)
    yield event({"type": "message_stop"}, True)


def _block(block: Whole) -> tuple[Whole, list[Whole]]:
    """A content block as it begins, and the pieces that follow."""
    match block["type"]:
        case "text":
            half = len(block["text"]) // 2
            halves = (block["text"][:half], block["text"][half:])
            return {**block, "text": ""}, [{"type": "text_delta", "text": text} for text in halves if text]
        case "thinking":
            told = {"type": "thinking_delta", "thinking": block["thinking"]}
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [told, signed]
        case "tool_use":
            written = json.dumps(block["input"])
            pieces = (written[:4], written[4:])
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": piece} for piece in pieces
            ]
        case _:
            return block, []


def _gemini(whole: Whole) -> Iterator[bytes]:
    """A chunk for each part, and the end in one of its own."""
    beside = {key: value for key, value in whole.items() if key != "candidates"}
    for candidate in whole.get("candidates", ()):
        for part in candidate.get("content", {}).get("parts", ()):
            content = {**candidate["content"], "parts": [part]}
            yield event({**beside, "candidates": [{"content": content, "index": 0}]})
    ended = [
        {key: value for key, value in candidate.items() if key != "content"}
        for candidate in whole.get("candidates", ())
    ]
    yield event({**beside, **({"candidates": ended} if ended else {})})


def _responses(whole: Whole) -> Iterator[bytes]:
    """The events that matter of each item, numbered."""
    told: list[dict[str, Any]] = []
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    told.append({"type": "response.created", "response": begun})
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index, "item_id": item.get("id", f"item_{index}")}
        told.append({"type": "response.output_item.added", "output_index": index, "item": _unwritten(item)})
        if item["type"] == "message":
            text = "".join(part.get("text", "") for part in item["content"])
            piece = {**place, "content_index": 0, "delta": text, "logprobs": []}
            told.append({"type": "response.output_text.delta", **piece})
        elif item["type"] == "function_call":
            piece = {**place, "delta": item["arguments"]}
            told.append({"type": "response.function_call_arguments.delta", **piece})
        told.append({"type": "response.output_item.done", "output_index": index, "item": item})
    told.append({"type": f"response.{whole['status']}", "response": whole})
    for number, one in enumerate(told):
        yield event({**one, "sequence_number": number}, True)


def _unwritten(item: Whole) -> dict[str, Any]:
    empty: dict[str, Any] = {"content": [], "arguments": "", "summary": []}
    return {key: empty.get(key, value) for key, value in item.items()}


def _ollama(whole: Whole) -> Iterator[bytes]:
    """A line for what is said, and one for the end."""
    head = {key: whole[key] for key in ("model", "created_at") if key in whole}
    yield json.dumps({**head, "message": whole["message"], "done": False}).encode() + b"\n"
    yield json.dumps({**whole, "message": {"role": "assistant", "content": ""}}).encode() + b"\n"


STREAMED: Mapping[str, Callable[[Whole], Iterator[bytes]]] = {
    "anthropic": _anthropic,
    "gemini": _gemini,
    "responses": _responses,
    "ollama": _ollama,
}
