"""Checks that every format's parser shares: is a field what it must be, and what a panel forwards of a request.

A check raises Problem 400 naming the field; a field that is null counts as absent, as every API here has it.
"""

from collections.abc import Mapping
from typing import Any

from metrics.bench import names
from metrics.records import Message, Problem

ROLES = ("system", "developer", "user", "assistant")
TOOL_ROLES = ("tool", "function")

# Sampling and shape fields that a panel leaves out and names in `bench.ignored` (decisions 11).
IGNORED = (
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "response_format",
    "reasoning_effort",
    "verbosity",
    "prediction",
)

NO_TOOLS = (
    "a panel answers in words, so it takes no tools, tool calls or tool results; ask the collection in route mode "
    '(its name with ":route" behind it) to give one member your tools'
)


def refuse(message: str, param: str | None = None) -> Problem:
    return Problem(400, message, param=param)


def flag(body: Mapping[str, Any], name: str) -> bool:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise refuse(f'"{name}" must be true or false', name)
    return bool(value)


def number(body: Mapping[str, Any], name: str, low: float, high: float) -> float | None:
    """A number between `low` and `high`, both included; None when absent."""
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise refuse(f'"{name}" must be a number from {low:g} to {high:g}', name)
    return value


def whole(body: Mapping[str, Any], name: str, low: int, high: int = 2**63 - 1) -> int | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        bound = f"from {low} to {high}" if high < 2**53 else f"of {low} or more"
        raise refuse(f'"{name}" must be a whole number {bound}', name)
    return value


def strings(body: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of strings; () when absent."""
    value = body.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise refuse(f'"{name}" must be a list of strings', name)
    return tuple(value)


def member(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object; {} when absent."""
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise refuse(f'"{name}" must be an object', name)
    return value


def sampling(body: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are forwarded, in OpenAI chat's names: temperature top_p stop seed max_tokens."""
    limit = whole(body, "max_completion_tokens", 1)
    options = {
        "temperature": number(body, "temperature", 0, 2),
        "top_p": number(body, "top_p", 0, 1),
        "stop": _stop(body),
        "seed": whole(body, "seed", -(2**63)),
        "max_tokens": whole(body, "max_tokens", 1) if limit is None else limit,
    }
    return {name: value for name, value in options.items() if value is not None}


def _stop(body: Mapping[str, Any]) -> str | list[str] | None:
    value = body.get("stop")
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and len(value) <= 4 and all(isinstance(item, str) for item in value):
        return value or None
    raise refuse('"stop" must be a string or a list of up to four strings', "stop")


def ignored(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields of IGNORED that the caller really set."""
    return tuple(name for name in IGNORED if body.get(name) not in (None, False, 0, {}, {"type": "text"}))


def address(body: Mapping[str, Any]) -> tuple[str, str, str]:
    """(model as asked, collection, mode) from "model" and "bench.reply"."""
    reply = member(body, "bench").get("reply")
    if reply is not None and reply not in names.MODES:
        raise refuse('"bench.reply" must be all, merged or route', "bench.reply")
    collection, mode = names.resolve(body.get("model"), reply)
    return str(body.get("model")), collection, mode


def wishes(body: Mapping[str, Any]) -> dict[str, Any]:
    """The Request fields that any format may carry beside its own: `with`, `bench.deadline` (s), `bench.quorum`."""
    bench = member(body, "bench")
    return {
        "invited": strings(body, "with"),
        "deadline": number(bench, "deadline", 0.001, 3600),
        "quorum": whole(bench, "quorum", 1, 100),
    }


def messages(value: Any) -> list[Message]:
    """Chat messages as they were sent, every role and part checked. Problem 400 naming the first that will not do."""
    if not isinstance(value, list) or not value:
        raise refuse('"messages" must be a list with at least one message', "messages")
    for at, message in enumerate(value):
        _check(message, f"messages[{at}]")
    if not any(message["role"] == "user" and message["content"] for message in value):
        raise refuse('"messages" must hold at least one user message with content', "messages")
    return value


def _check(message: Any, where: str) -> None:
    if not isinstance(message, dict):
        raise refuse(f"{where} must be an object with a role and content", where)
    role = message.get("role")
    if role in TOOL_ROLES or message.get("tool_calls") or message.get("function_call"):
        raise refuse(f"{where}: {NO_TOOLS}", where)
    if role not in ROLES:
        raise refuse(f"{where}.role is {_shown(role)}; the roles are {', '.join(ROLES)}", f"{where}.role")
    content = message.get("content")
    if isinstance(content, list):
        for at, part in enumerate(content):
            _check_part(part, f"{where}.content[{at}]")
    elif not isinstance(content, str):
        raise refuse(f"{where}.content must be a string or a list of parts", f"{where}.content")


def _check_part(part: Any, where: str) -> None:
    if not isinstance(part, dict):
        raise refuse(f"{where} must be an object with a type", where)
    kind = part.get("type")
    if kind in ("text", "refusal"):
        if not isinstance(part.get(kind), str):
            raise refuse(f"{where}.{kind} must be a string", f"{where}.{kind}")
    elif kind == "image_url":
        image = part.get("image_url")
        url = image.get("url") if isinstance(image, dict) else image
        if not isinstance(url, str) or not url.startswith(("data:image/", "https://", "http://")):
            raise refuse(f"{where}.image_url.url must be a data:image/… URL or an http(s) address", where)
    else:
        raise refuse(f"{where}.type is {_shown(kind)}; a panel reads text and image_url parts", f"{where}.type")


def _shown(value: Any) -> str:
    """A caller's value in a message to them: quoted, and never longer than a line."""
    return f'"{str(value)[:40]}"' if value is not None else "missing"
