"""One question in every format of callers, for cases that look at one provider through all of them."""

from collections.abc import Mapping
from typing import Any

PATHS = {
    "openai-chat": "/v1/chat/completions",
    "anthropic": "/v1/messages",
    "responses": "/v1/responses",
    "ollama": "/api/chat",
    "gemini": "/v1beta/models/$ROUTE:streamGenerateContent?alt=sse",
}


def same(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The streamed request in format `name` that asks what a chat or Messages request does, tools and all."""
    question = next(message["content"] for message in body["messages"] if message["role"] == "user")
    tools = [_declared(tool) for tool in body.get("tools", ())]
    return {
        "method": "POST",
        "path": PATHS[name],
        "headers": {"Content-Type": "application/json"},
        "body": _body(name, question, tools),
    }


def _declared(tool: Mapping[str, Any]) -> dict[str, Any]:
    told = tool.get("function", tool)
    schema = told.get("parameters") or told.get("input_schema")
    return {"name": told["name"], "description": told.get("description", ""), "parameters": schema}


def _body(name: str, question: str, tools: list[dict[str, Any]]) -> dict[str, Any]:
    chat = {"model": "$ROUTE", "stream": True, "messages": [{"role": "user", "content": question}]}
    match name:
        case "gemini":
            asked = {"contents": [{"role": "user", "parts": [{"text": question}]}]}
            return asked | ({"tools": [{"functionDeclarations": tools}]} if tools else {})
        case "responses":
            flat = [{"type": "function", **tool} for tool in tools]
            return {"model": "$ROUTE", "stream": True, "input": question} | ({"tools": flat} if flat else {})
        case "anthropic":
            theirs = [
                {"name": t["name"], "description": t["description"], "input_schema": t["parameters"]}
                for t in tools
            ]
            return chat | {"max_tokens": 512} | ({"tools": theirs} if theirs else {})
        case _:
            functions = [{"type": "function", "function": tool} for tool in tools]
            return chat | ({"tools": functions} if functions else {})
