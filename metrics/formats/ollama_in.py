"""What Ollama's callers send, as a Request: `POST /api/chat` and `POST /api/generate`."""

import re
from collections.abc import Mapping
from typing import Any

from metrics.formats import content, images, schemas
from metrics.formats.calls import Turns, arguments_text
from metrics.formats.hosted import Hosted
from metrics.records import Message, Request
from metrics.web.table import Call

NAME = "ollama"

EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")

# What shapes an answer; a panel leaves it out. The rest of `options` sets up Ollama's own runner.
SHAPING = ("format", "think", "template", "logprobs", "top_logprobs")
SHAPING_OPTIONS = (
    "presence_penalty",
    "frequency_penalty",
    "repeat_penalty",
    "top_k",
    "min_p",
    "typical_p",
)
# What a member that speaks this API gets as it was sent.
NATIVE = ("options", "keep_alive", "think", "truncate", "shift")
COUNTS = ("num_predict", "seed")

_NOTHING = re.compile(r"-?0+(?:\.0*)?(?:ns|us|µs|ms|s|m|h)?")


def parse(call: Call) -> Request:
    body = call.json()
    kind = "generate" if call.path.rstrip("/").endswith("/generate") else "chat"
    model, collection, mode = content.address(body)
    options = _whole_counts(content.member(body, "options"))
    hosted = Hosted("its vendor", collection)
    stream = body.get("stream")
    request = Request(
        model=model,
        collection=collection,
        reply=mode,
        messages=_prompt(body) if kind == "generate" else messages(body.get("messages")),
        options=_options(options),
        tools=_tools(body.get("tools"), hosted) if kind == "chat" else (),
        dropped=hosted.dropped,
        passed=_passed(body, options),
        native={name: body[name] for name in NATIVE if body.get(name) is not None} if mode == "route" else {},
        stream=True if stream is None else content.flag(body, "stream"),
        ignored=content.unused(
            {name: body.get(name) for name in SHAPING} | {name: options.get(name) for name in SHAPING_OPTIONS}
        ),
        format=NAME,
        framing=kind,
        **content.wishes(body),
        **content.asker(call),
    )
    return request if mode == "route" else content.for_panel(request)


def asks_nothing(body: Mapping[str, Any], kind: str) -> str | None:
    """ "load" or "unload" when a request only moves a model in or out of memory, as launchers and Open WebUI
    send it; None when it asks something."""
    asked = body.get("messages") if kind == "chat" else (body.get("prompt") or body.get("images"))
    if asked not in (None, "", []) or (kind == "generate" and body.get("suffix")):
        return None
    kept = body.get("keep_alive")
    gone = not isinstance(kept, bool) and (kept == 0 or (isinstance(kept, str) and _NOTHING.fullmatch(kept)))
    return "unload" if gone else "load"


# --- the conversation


def messages(value: Any) -> list[Message]:
    """Ollama's messages in chat shape. Problem 400 naming what will not do."""
    if not isinstance(value, list) or not value:
        raise content.refuse('"messages" must be a list with at least one message', "messages")
    turns = Turns()
    seen: list[dict[str, Any]] = []  # pictures of tool results, which a tool message cannot hold
    for at, message in enumerate(value):
        where = f"messages[{at}]"
        if not isinstance(message, dict):
            raise content.refuse(f"{where} must be an object with a role and content", where)
        role = str(message.get("role")).lower()
        if seen and role != "tool":
            turns.add("user", seen)
            seen = []
        seen += _turn(turns, role, message, where)
    if seen:
        turns.add("user", seen)
    for message in turns.messages:
        if message["role"] == "user" and message["content"]:
            return turns.messages
    raise content.refuse('"messages" must hold at least one user message with content', "messages")


def _turn(turns: Turns, role: str, message: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """Adds one message; the pictures that must follow in a user's."""
    text = _string(message, "content", where) or ""
    pictures = _pictures(message["images"], f"{where}.images") if "images" in message else []
    match role:
        case "tool":
            name = _string(message, "tool_name", where) or _string(message, "name", where)
            turns.result(_string(message, "tool_call_id", where), name, text, where)
            return pictures
        case "assistant":
            thoughts = _string(message, "thinking", where) or ""
            _assistant(turns, text, thoughts, message.get("tool_calls"), f"{where}.tool_calls")
        case "user" | "system" | "developer":
            said = [{"type": "text", "text": text}] if text else []
            turns.add(role, [*said, *pictures] if pictures else text)
        case _:
            shown = content.shown(message.get("role"))
            roles = ", ".join(content.ROLES)
            raise content.refuse(f"{where}.role is {shown}; the roles are {roles}", f"{where}.role")
    return []


def _assistant(turns: Turns, text: str, thoughts: str, calls: Any, where: str) -> None:
    if calls is not None and (
        not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls)
    ):
        raise content.refuse(f"{where} must be a list of tool calls", where)
    if text:
        turns.add("assistant", text)
    turns.think(thoughts)
    for at, call in enumerate(calls or ()):
        function = call.get("function")
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise content.refuse(f"{where}[{at}].function must be an object with a name", f"{where}[{at}]")
        arguments = arguments_text(function.get("arguments"), f"{where}[{at}].function.arguments")
        turns.call(_string(call, "id", f"{where}[{at}]"), function["name"], arguments)


def _prompt(body: Mapping[str, Any]) -> list[Message]:
    """What `/api/generate` asks: one prompt, and the system's words before it."""
    if body.get("context"):
        raise content.refuse(
            '"context" is a conversation in tokens of one model, which no other can read; '
            "send its messages to /api/chat",
            "context",
        )
    if body.get("suffix"):
        raise content.refuse('"suffix": models here continue a text, they do not fill it in', "suffix")
    if content.flag(body, "raw"):
        raise content.refuse(
            '"raw" asks for a prompt without a template; models here are asked in messages', "raw"
        )
    system, prompt = _string(body, "system", ""), _string(body, "prompt", "") or ""
    pictures = _pictures(body.get("images"), "images")
    if not prompt and not pictures:
        raise content.refuse('"prompt" must hold what is asked', "prompt")
    said = [{"type": "text", "text": prompt}] if prompt else []
    asked = {"role": "user", "content": [*said, *pictures] if pictures else prompt}
    return [{"role": "system", "content": system}, asked] if system else [asked]


def _string(value: Mapping[str, Any], name: str, where: str) -> str | None:
    found = value.get(name)
    if found is not None and not isinstance(found, str):
        full = f"{where}.{name}" if where else name
        raise content.refuse(f'"{full}" must be a string', full)
    return found


def _pictures(value: Any, where: str) -> list[dict[str, Any]]:
    """Bare base64, as Ollama has it; data URLs and addresses, as some clients send them all the same."""
    if value is not None and not isinstance(value, list):
        raise content.refuse(f'"{where}" must be a list of pictures in base64', where)
    return [_picture(item, f"{where}[{at}]") for at, item in enumerate(value or ())]


def _picture(item: Any, where: str) -> dict[str, Any]:
    if isinstance(item, str) and item.startswith(("data:", "http://", "https://")):
        return images.from_url(item, where)
    return images.from_base64(item, None, where)


# --- options and tools


def _whole_counts(options: dict[str, Any]) -> dict[str, Any]:
    """`options` with whole numbers whole: Ollama reads 300.0 as 300."""
    return {
        name: int(value) if name in COUNTS and isinstance(value, float) and value.is_integer() else value
        for name, value in options.items()
    }


def _options(options: dict[str, Any]) -> dict[str, Any]:
    """A limit below 1 means none to Ollama, and the seed -1 any."""
    stop = options.get("stop")
    limit = content.whole(options, "num_predict", -(2**31))
    seed = content.whole(options, "seed", -(2**63))
    sampling = {
        "temperature": content.number(options, "temperature", 0, 2),
        "top_p": content.number(options, "top_p", 0, 1),
        "stop": [stop] if isinstance(stop, str) and stop else list(_stops(options)) or None,
        "seed": None if seed == -1 else seed,
        "max_tokens": limit if limit is not None and limit > 0 else None,
    }
    return {name: value for name, value in sampling.items() if value is not None}


def _stops(options: dict[str, Any]) -> tuple[str, ...]:
    return () if options.get("stop") == "" else content.strings(options, "stop")


def _passed(body: Mapping[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    passed = {
        "presence_penalty": content.number(options, "presence_penalty", -2, 2),
        "frequency_penalty": content.number(options, "frequency_penalty", -2, 2),
        "response_format": _response_format(body.get("format")),
        "reasoning_effort": _effort(body.get("think")),
    }
    return {name: value for name, value in passed.items() if value is not None}


def _response_format(value: Any) -> dict[str, Any] | None:
    if value in (None, ""):
        return None
    if value == "json":
        return {"type": "json_object"}
    if not isinstance(value, dict):
        raise content.refuse('"format" must be "json" or a JSON schema', "format")
    schema = schemas.checked(value, "format")
    return {"type": "json_schema", "json_schema": {"name": "response", "schema": schema}}


def _effort(value: Any) -> str | None:
    """Ollama's switch, or how much."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "medium" if value else "none"
    if value not in EFFORTS:
        raise content.refuse('"think" must be true, false, "low", "medium" or "high"', "think")
    return str(value)


def _tools(value: Any, hosted: Hosted) -> list[dict[str, Any]]:
    if value is not None and (
        not isinstance(value, list) or not all(isinstance(tool, dict) for tool in value)
    ):
        raise content.refuse('"tools" must be a list of tools', "tools")
    made = []
    for at, tool in enumerate(value or ()):
        kind = tool.get("type") or "function"
        if kind == "function":
            made.append(_tool(tool, f"tools[{at}]"))
        else:
            hosted.tool(kind, f"tools[{at}]")
    return made


def _tool(tool: dict[str, Any], where: str) -> dict[str, Any]:
    function = tool.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise content.refuse(f"{where}.function must be an object with a name", where)
    parameters = function.get("parameters")
    if parameters is not None:
        schemas.checked(parameters, f"{where}.function.parameters")
    return {"type": "function", "function": {k: v for k, v in function.items() if v is not None}}
