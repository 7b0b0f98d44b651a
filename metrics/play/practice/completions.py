"""OpenAI's chat completions around a player: a request read into an `Ask`, a `Said` written as a reply or
as a stream.

Token counts are characters divided by four, rounded up; `system_fingerprint` says that a program counted
them.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from metrics.play.practice.ask import Ask, Said, Tool, words
from metrics.records import Problem

FINGERPRINT = "practice-program"
ROLES = ("system", "developer", "user", "assistant", "tool", "function")
CHARACTERS = 4  # to a token, about; true of English and of code
CHUNK = 80  # characters of text sent at once, cut after a line or a word
CHOICES = ("auto", "none", "required")


@dataclass(frozen=True, slots=True)
class Form:
    """What a request asks of the reply's form. `most` is the number of tokens it may have."""

    model: str
    stream: bool = False
    include_usage: bool = False
    most: int | None = None


def read(body: Mapping[str, Any]) -> tuple[Ask, Form]:
    """A request's body as an ask. Problem 400 names the field that is wrong."""
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise _wrong("model", 'name a player in "model", such as "practice-lint"')
    messages = _messages(body.get("messages"))
    if body.get("n") not in (None, 1):
        raise _wrong("n", "a program gives one answer: leave `n` out")
    tools = _tools(body.get("tools"))
    ask = Ask(
        messages, tools, _choice(body.get("tool_choice"), tools), body.get("parallel_tool_calls") is not False
    )
    options = body.get("stream_options")
    usage = isinstance(options, dict) and options.get("include_usage") is True
    return ask, Form(model, _flag(body, "stream"), usage, _most(body))


def _wrong(param: str, message: str) -> Problem:
    return Problem(400, message, param=param, kind="invalid_request_error")


def _flag(body: Mapping[str, Any], name: str) -> bool:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise _wrong(name, f"`{name}` is true or false")
    return value is True


def _most(body: Mapping[str, Any]) -> int | None:
    for name in ("max_completion_tokens", "max_tokens"):
        value = body.get(name)
        if value is not None:
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise _wrong(name, f"`{name}` is a whole number from 1 on")
            return value
    return None


def _messages(value: object) -> Sequence[Mapping[str, Any]]:
    if not isinstance(value, list) or not value:
        raise _wrong("messages", "`messages` is a list with at least one message")
    for at, message in enumerate(value):
        where = f"messages[{at}]"
        if not isinstance(message, dict):
            raise _wrong(where, f"`{where}` is an object with a role and content")
        if message.get("role") not in ROLES:
            raise _wrong(f"{where}.role", f"`{where}.role` is one of {', '.join(ROLES)}")
        content = message.get("content")
        if content is not None and not isinstance(content, (str, list)):
            raise _wrong(f"{where}.content", f"`{where}.content` is text or a list of parts")
    return value


def _tools(value: object) -> tuple[Tool, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _wrong("tools", "`tools` is a list")
    functions = [tool.get("function") for tool in value if isinstance(tool, dict)]
    named = [
        function
        for function in functions
        if isinstance(function, dict) and isinstance(function.get("name"), str)
    ]
    return tuple(
        Tool(
            function["name"],
            str(function.get("description") or ""),
            function["parameters"] if isinstance(function.get("parameters"), dict) else {},
        )
        for function in named
    )


def _choice(value: object, tools: Sequence[Tool]) -> str:
    """ "auto", "none", "required" or a tool's name."""
    if value is None or value in CHOICES:
        return str(value or "auto")
    function = value.get("function") if isinstance(value, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if name not in [tool.name for tool in tools]:
        raise _wrong("tool_choice", "`tool_choice` is auto, none, required, or names one of the tools")
    return str(name)


def tokens(text: str) -> int:
    return math.ceil(len(text) / CHARACTERS)


def usage(ask: Ask, said: Said) -> dict[str, int]:
    """What was read and said, in tokens made up from characters."""
    read_in = sum(len(words(message)) for message in ask.messages)
    read_in += sum(
        len(json.dumps(tool.schema, default=str)) + len(tool.name) + len(tool.about) for tool in ask.tools
    )
    written = len(said.text) + sum(len(call.name) + len(call.arguments) for call in said.calls)
    prompt, completion = math.ceil(read_in / CHARACTERS), math.ceil(written / CHARACTERS)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def cut(said: Said, most: int | None) -> tuple[Said, str]:
    """What may be said within `most` tokens, and OpenAI's word for why it ends there."""
    if most is not None and tokens(said.text) > most:
        return replace(said, text=said.text[: most * CHARACTERS]), "length"
    return said, "tool_calls" if said.calls else "stop"


def reply(ask: Ask, form: Form, said: Said, now: int) -> dict[str, Any]:
    """An unstreamed reply; `now` is in epoch seconds."""
    said, finish = cut(said, form.most)
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    if said.calls:
        message["tool_calls"] = [_tool_call(call.id, call.name, call.arguments) for call in said.calls]
    head = _head(ask, form, now, "chat.completion")
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return {**head, "choices": [choice], "usage": usage(ask, said)}


def _tool_call(call: str, name: str, given: str) -> dict[str, Any]:
    return {"id": call, "type": "function", "function": {"name": name, "arguments": given}}


def _head(ask: Ask, form: Form, now: int, kind: str) -> dict[str, Any]:
    made = f"chatcmpl-practice-{ask.digest(form.model)[:24]}"
    return {
        "id": made,
        "object": kind,
        "created": now,
        "model": form.model,
        "system_fingerprint": FINGERPRINT,
    }


def stream(ask: Ask, form: Form, said: Said, now: int, wait: Callable[[float], bool]) -> Iterator[bytes]:
    """The reply as server-sent events. `wait(seconds)` pauses and says whether to go on."""
    said, finish = cut(said, form.most)
    head = _head(ask, form, now, "chat.completion.chunk")
    # With usage asked for, every chunk but the last carries it as null: OpenAI's own form.
    tail: dict[str, Any] = {"usage": None} if form.include_usage else {}

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return _event({**head, "choices": [choice], **tail})

    yield chunk({"role": "assistant", "content": None if said.calls else ""})
    texts = list(pieces(said.text, bool(said.seconds)))
    for number, text in enumerate(texts):
        if number and said.seconds and not wait(said.seconds / (len(texts) - 1)):
            return
        yield chunk({"content": text})
    for at, call in enumerate(said.calls):
        yield chunk({"tool_calls": [{"index": at, **_tool_call(call.id, call.name, "")}]})
        for text in pieces(call.arguments):
            yield chunk({"tool_calls": [{"index": at, "function": {"arguments": text}}]})
    yield chunk({}, finish)
    if form.include_usage:
        yield _event({**head, "choices": [], "usage": usage(ask, said)})
    yield b"data: [DONE]\n\n"


def _event(value: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n\n"


def pieces(text: str, slowly: bool = False) -> Iterator[str]:
    """A text in the pieces it is sent in: lines, long ones cut between words; slowly, one word each."""
    if slowly:
        yield from re.findall(r"\S+\s*|\s+", text)
        return
    for line in text.splitlines(keepends=True):
        while len(line) > CHUNK:
            end = line.rfind(" ", 1, CHUNK) + 1 or CHUNK
            yield line[:end]
            line = line[end:]
        yield line
