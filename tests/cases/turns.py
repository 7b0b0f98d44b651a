"""A conversation that goes on: what a client sends after a reply, in the caller's format. Calls are answered
with "row 4"; after words the user says "go on"."""

from collections.abc import Mapping
from typing import Any

from tests.cases.replies import assemble
from tests.cases.wire import Reply

RESULT, MORE = "row 4", "go on"


def following(name: str, body: Mapping[str, Any], got: Reply) -> dict[str, Any]:
    """The body of the request after `got`, which answered `body` in format `name`."""
    match name:
        case "openai-chat":
            return {**body, "messages": [*body["messages"], *_chat(got)]}
        case "anthropic":
            return {**body, "messages": [*body["messages"], *_anthropic(got.json()["content"])]}
        case "responses":
            asked = body["input"]
            said = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
            return {**body, "input": [*said, *_responses(got.json()["output"])]}
        case "gemini":
            return {**body, "contents": [*body["contents"], *_gemini(got.json()["candidates"][0]["content"])]}
        case _:
            raise ValueError(f"conversations in {name} are not played")


def _chat(got: Reply) -> list[dict[str, Any]]:
    said = assemble(got, "openai-chat")
    assert said is not None
    calls = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["raw"]}}
        for call in said.tool_calls
    ]
    message = {"role": "assistant", "content": said.text or None, **({"tool_calls": calls} if calls else {})}
    results = [{"role": "tool", "tool_call_id": call["id"], "content": RESULT} for call in calls]
    return [message, *(results or [{"role": "user", "content": MORE}])]


def _anthropic(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of an unstreamed reply: its blocks are sent back as they came."""
    results = [
        {"type": "tool_result", "tool_use_id": block["id"], "content": RESULT}
        for block in blocks
        if block["type"] == "tool_use"
    ]
    return [{"role": "assistant", "content": blocks}, {"role": "user", "content": results or MORE}]


def _responses(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    results = [
        {"type": "function_call_output", "call_id": item["call_id"], "output": RESULT}
        for item in items
        if item["type"] == "function_call"
    ]
    return [*items, *(results or [{"role": "user", "content": MORE}])]


def _gemini(content: dict[str, Any]) -> list[dict[str, Any]]:
    results = [
        {"functionResponse": {"name": part["functionCall"]["name"], "response": {"result": RESULT}}}
        for part in content["parts"]
        if "functionCall" in part
    ]
    return [content, {"role": "user", "parts": results or [{"text": MORE}]}]
