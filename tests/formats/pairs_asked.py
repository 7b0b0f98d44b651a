"""One conversation as each of the six formats' callers send it, and what a request says in words of no API.

A system text; a question with a picture; an answer in words that calls two tools at once; their results; a
question. Beside it two tools, a temperature, a limit and a stop string. Legacy completions have the last
question alone.
"""

import json
from collections.abc import Mapping
from typing import Any

from metrics.formats import anthropic, gemini, ollama, openai_chat, openai_completions, openai_responses
from metrics.records import Request
from metrics.web.table import Call
from tests.formats.naming import naming

B64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
URL = f"data:image/png;base64,{B64}"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
NAMES = ("look", "go")

_CHAT_TOOLS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": SCHEMA}}
    for name in NAMES
]
CHAT = {
    "messages": [
        {"role": "system", "content": "be brief"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "what is it?"},
                {"type": "image_url", "image_url": {"url": URL}},
            ],
        },
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}},
                {"id": "c2", "type": "function", "function": {"name": "go", "arguments": '{"a": 2}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
        {"role": "tool", "tool_call_id": "c2", "content": "gone"},
        {"role": "user", "content": "so?"},
    ],
    "tools": _CHAT_TOOLS,
    "temperature": 0.5,
    "max_tokens": 100,
    "stop": ["END"],
}
RESPONSES = {
    "instructions": "be brief",
    "input": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "what is it?"},
                {"type": "input_image", "image_url": URL},
            ],
        },
        {"role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"a": 1}'},
        {"type": "function_call", "call_id": "c2", "name": "go", "arguments": '{"a": 2}'},
        {"type": "function_call_output", "call_id": "c1", "output": "a cat"},
        {"type": "function_call_output", "call_id": "c2", "output": "gone"},
        {"role": "user", "content": "so?"},
    ],
    "tools": [
        {"type": "function", "name": name, "description": name, "parameters": SCHEMA} for name in NAMES
    ],
    "temperature": 0.5,
    "max_output_tokens": 100,
}
ANTHROPIC = {
    "system": "be brief",
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "what is it?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": B64}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "look", "input": {"a": 1}},
                {"type": "tool_use", "id": "c2", "name": "go", "input": {"a": 2}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "a cat"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "gone"},
                {"type": "text", "text": "so?"},
            ],
        },
    ],
    "tools": [{"name": name, "description": name, "input_schema": SCHEMA} for name in NAMES],
    "temperature": 0.5,
    "max_tokens": 100,
    "stop_sequences": ["END"],
}
GEMINI = {
    "systemInstruction": {"parts": [{"text": "be brief"}]},
    "contents": [
        {
            "role": "user",
            "parts": [{"text": "what is it?"}, {"inlineData": {"mimeType": "image/png", "data": B64}}],
        },
        {
            "role": "model",
            "parts": [
                {"text": "I look."},
                {"functionCall": {"id": "c1", "name": "look", "args": {"a": 1}}},
                {"functionCall": {"id": "c2", "name": "go", "args": {"a": 2}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "look", "response": {"output": "a cat"}}},
                {"functionResponse": {"id": "c2", "name": "go", "response": {"output": "gone"}}},
            ],
        },
        {"role": "user", "parts": [{"text": "so?"}]},
    ],
    "tools": [
        {
            "functionDeclarations": [
                {"name": name, "description": name, "parametersJsonSchema": SCHEMA} for name in NAMES
            ]
        }
    ],
    "generationConfig": {"temperature": 0.5, "maxOutputTokens": 100, "stopSequences": ["END"]},
}
OLLAMA = {
    "messages": [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "what is it?", "images": [B64]},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"function": {"name": "look", "arguments": {"a": 1}}},
                {"function": {"name": "go", "arguments": {"a": 2}}},
            ],
        },
        {"role": "tool", "tool_name": "look", "content": "a cat"},
        {"role": "tool", "tool_name": "go", "content": "gone"},
        {"role": "user", "content": "so?"},
    ],
    "tools": _CHAT_TOOLS,
    "options": {"temperature": 0.5, "num_predict": 100, "stop": ["END"]},
}
COMPLETIONS = {"prompt": "so?", "temperature": 0.5, "max_tokens": 100, "stop": ["END"]}

# format -> its module, where it is asked, and the conversation as it is sent there
CALLERS: Mapping[str, tuple[Any, str, Mapping[str, Any]]] = {
    "openai-chat": (openai_chat, "/v1/chat/completions", CHAT),
    "openai-responses": (openai_responses, "/v1/responses", RESPONSES),
    "openai-completions": (openai_completions, "/v1/completions", COMPLETIONS),
    "anthropic": (anthropic, "/v1/messages", ANTHROPIC),
    "gemini": (gemini, "/v1beta/models/m:generateContent", GEMINI),
    "ollama": (ollama, "/api/chat", OLLAMA),
}


def parsed(form: str, body: Mapping[str, Any], stream: bool = False) -> Request:
    """The request of a caller of `form` who sends `body` to a collection in route mode."""
    module, path, _ = CALLERS[form]
    if form == "gemini":
        path = path.replace(":generate", ":streamGenerate") + "?alt=sse" if stream else path
    else:
        body = {"model": "m", **body, "stream": stream}
    call = Call("POST", path, {}, json.dumps(body).encode(), parts={"version": "v1beta", "name": "models/m"})
    with naming(lambda model, reply=None: ("core", reply or "route")):
        request: Request = module.parse(call)
    return request


def asked(form: str, stream: bool = False) -> Request:
    return parsed(form, CALLERS[form][2], stream)


def told(request: Request) -> dict[str, Any]:
    """What a request says, in words of no API: who said what, in order, and what for."""
    return {
        "said": _joined([one for message in request.messages for one in _said(message)]),
        "tools": [
            (tool["function"]["name"], tool["function"].get("description"), tool["function"]["parameters"])
            for tool in request.tools
        ],
        **{name: request.options.get(name) for name in ("temperature", "max_tokens")},
        "stop": _list(request.options.get("stop")),
    }


def _said(message: Mapping[str, Any]) -> list[tuple[str, Any]]:
    role = message["role"]
    role = "system" if role == "developer" else role
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
    said: list[tuple[str, Any]] = [
        (role, part["text"]) if part["type"] == "text" else (role, {"picture": part["image_url"]["url"]})
        for part in parts
    ]
    for call in message.get("tool_calls") or ():
        function = call["function"]
        said.append((role, {"calls": function["name"], "with": json.loads(function["arguments"])}))
    return said


def _joined(said: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Without empty texts, which say nothing."""
    return [one for one in said if one[1] != ""]


def _list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value
