"""All we know about OpenAI chat completions as a server: `POST /v1/chat/completions` and its model list.

Shapes and event order: OpenAI's API description 2.3.0; chunks without choices are sent only to callers who
asked for usage, because many clients read choices[0] of each.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from metrics.bench import listing
from metrics.events import (
    Burst,
    Chunk,
    Closed,
    Event,
    Failed,
    Reasoning,
    Text,
    Tick,
    ToolArguments,
    ToolStart,
)
from metrics.formats import content, framing, lines
from metrics.formats import openai_chat_relay as relay
from metrics.formats.hosted import Hosted
from metrics.formats.protocol import Stamp, pieces
from metrics.records import Problem, Reply, Request, Usage
from metrics.web.table import Call, Response, as_json

NAME = "openai-chat"
PATHS = (("POST", "/v1/chat/completions", "ask"),)

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "invalid_request_error",
    403: "permission_error",
    404: "invalid_request_error",
    405: "invalid_request_error",
    413: "invalid_request_error",
    415: "invalid_request_error",
    429: "rate_limit_error",
}
ERROR_CODES = {
    "auth": "invalid_api_key",
    "not_found": "not_found",
    "too_large": "request_too_large",
    "context": "context_length_exceeded",
    "rate_limited": "rate_limit_exceeded",
    "payment": "insufficient_quota",
}

LEGACY = ("functions", "function_call")

# Fields with a meaning of their own here, or read by `content`; everything else a member gets as it was sent.
READ = content.SAMPLING.union(("model", "messages", "stream", "stream_options", "tools", "with", "bench"))

# Of those, what shapes an answer: a panel leaves it out and says so in `bench.ignored` (decisions 11).
SHAPING = (
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

SPECIMEN = "\x01"  # a text that nobody writes, and that JSON has in one way only

CUT = ("length", "content_filter")  # ends in which an answer is not whole

CHOICES = ("tool_choice", "parallel_tool_calls")

# The object of each kind of call, and its field for what the model wrote.
CALL = {"function": ("function", "arguments"), "custom": ("custom", "input")}


def parse(call: Call) -> Request:
    body = call.json(as_written=True)
    model, collection, mode = content.address(body)
    _refuse_legacy(body)
    hosted = Hosted("OpenAI", collection)
    tools = _tools(body.get("tools"), hosted)
    passed = {name: value for name, value in body.items() if name not in READ and value is not None}
    request = Request(
        model=model,
        collection=collection,
        reply=mode,
        messages=content.messages(body.get("messages")),
        options=content.sampling(body),
        tools=tools,
        passed=_without_choice(passed, tools, hosted) if hosted.dropped else passed,
        dropped=hosted.dropped,
        stream=content.flag(body, "stream"),
        include_usage="stream_options" in body and _wants_usage(body),
        ignored=content.unused({name: passed[name] for name in SHAPING if name in passed}) if passed else (),
        format=NAME,
        session=content.session(call, body),
        **content.wishes(body),
        **content.asker(call),
    )
    return request if mode == "route" else _for_panel(request, body)


def _wants_usage(body: Mapping[str, Any]) -> bool:
    return content.flag(content.member(body, "stream_options"), "include_usage")


def _refuse_legacy(body: Mapping[str, Any]) -> None:
    for name in LEGACY:
        if body.get(name):
            raise content.refuse(
                f'"{name}" is the legacy form and is not read; send "tools" and "tool_choice"', name
            )


def _for_panel(request: Request, body: Mapping[str, Any]) -> Request:
    n = content.whole(body, "n", 1)
    if n not in (None, 1):
        raise content.refuse(f'"n" is {n}: a panel gives one answer a seat; seat more models instead', "n")
    return content.for_panel(request)


def _tools(value: Any, hosted: Hosted) -> list[dict[str, Any]]:
    """Function and custom tools as they were declared."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(tool, dict) for tool in value):
        raise content.refuse('"tools" must be a list of tools', "tools")
    kept = [tool for at, tool in enumerate(value) if _runs_here(tool, at, hosted)]
    return value if len(kept) == len(value) else kept


def _runs_here(tool: dict[str, Any], at: int, hosted: Hosted) -> bool:
    """Whether the caller runs a tool; else it runs at a vendor, and is to be left out."""
    kind = tool.get("type", "function")
    if not isinstance(kind, str) or kind not in CALL:
        hosted.tool(kind, f"tools[{at}]")
        return False
    declared = tool.get(kind)
    if not isinstance(declared, dict) or not isinstance(declared.get("name"), str):
        raise content.refuse(f"tools[{at}].{kind} must be an object with a name", f"tools[{at}]")
    if not isinstance(declared.get("parameters"), dict | None):
        where = f"tools[{at}].{kind}.parameters"
        raise content.refuse(f"{where} must be a JSON schema", where)
    return True


def _without_choice(passed: dict[str, Any], tools: list[dict[str, Any]], hosted: Hosted) -> dict[str, Any]:
    """`passed` without the choice of a tool that is gone: the model chooses among the others; where there are
    none, providers take no choice at all."""
    choice = passed.get("tool_choice")
    if not tools:
        return {name: value for name, value in passed.items() if name not in CHOICES}
    if not isinstance(choice, dict) or choice.get("type") in CALL:
        return passed
    if choice.get("type") != "allowed_tools":
        return {**passed, "tool_choice": "auto"}
    allowed = content.member(choice, "allowed_tools")
    left = [
        tool for tool in allowed.get("tools") or () if isinstance(tool, dict) and tool.get("type") in CALL
    ]
    return {
        **passed,
        "tool_choice": {**choice, "allowed_tools": {**allowed, "tools": left}} if left else "none",
    }


def reply(request: Request, reply: Reply, stamp: Stamp) -> Mapping[str, Any]:
    choices, beside = relay.whole(reply.chunks) if reply.chunks else ([_choice(reply)], {})
    for choice in choices:
        choice["finish_reason"] = choice["finish_reason"] or reply.finish
    return {
        "id": f"chatcmpl-{stamp.token}",
        "object": "chat.completion",
        "created": stamp.created,
        "model": request.model,
        "choices": choices,
        **beside,
        "usage": usage(reply.usage),
        **reply.extra,
    }


def _choice(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = [_tool_call(call) for call in reply.tool_calls]
        if reply.finish in CUT and not reply.tool_calls[-1]["arguments"]:
            # Nobody may run a call that was cut before its first argument: "" is no JSON.
            message["tool_calls"][-1] = _tool_call(reply.tool_calls[-1], "")
    return {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}


def _tool_call(call: Mapping[str, Any], empty: str = "{}") -> dict[str, Any]:
    if call.get("type") == "custom":
        custom = {"name": call["name"], "input": call["arguments"]}
        return {"id": call["id"], "type": "custom", "custom": custom}
    arguments = call["arguments"] or empty
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}


def usage(spent: Usage) -> dict[str, Any]:
    """Usage as OpenAI counts it: prompt tokens include cached ones, completion tokens include reasoning."""
    prompt, out = spent.prompt or 0, spent.out or 0
    return {
        "prompt_tokens": prompt,
        "completion_tokens": out,
        "total_tokens": prompt + out,
        "prompt_tokens_details": {"cached_tokens": spent.cache_read or 0},
        "completion_tokens_details": {"reasoning_tokens": spent.reasoning or 0},
    }


def stream(request: Request, events: Iterator[Event], stamp: Stamp) -> Iterator[bytes]:
    chunk = _Chunks(request, stamp)
    return pieces(events, chunk.said, chunk.head(0))


class _Chunks:
    """The chunks of one stream: all carry the same id, time and model, written out once."""

    def __init__(self, request: Request, stamp: Stamp) -> None:
        head = {
            "id": f"chatcmpl-{stamp.token}",
            "object": "chat.completion.chunk",
            "created": stamp.created,
            "model": request.model,
        }
        written = framing.as_bytes(head)[:-1]
        self._usage = request.include_usage
        self._head = b"data: " + written
        # With include_usage every chunk but the last says usage: null.
        self._end = b',"usage":null}\n\n' if self._usage else b"}\n\n"
        self._before = self._head + b',"choices":[{"index":0,"delta":{"content":'
        self._after = b'},"logprobs":null,"finish_reason":null}]' + self._end
        self._theirs = relay.Chunks(written, self._usage)
        self._several = request.passed.get("n") not in (None, 1)
        self._begun = {0}
        self._custom: set[int] = set()
        self._like: Event | None = None  # a piece of the last burst, and
        self._around = b"", b""  # what stands around its text

    def said(self, event: Event) -> bytes:
        match event:
            case Burst():
                return self._all_said(event)
            case Text(text, 0, None):
                return self._before + framing.as_bytes(text) + self._after
            case Chunk(raw):
                return self._relayed(raw)
            case Text(text, choice, logprobs):
                return self._delta({"content": text}, choice, logprobs=logprobs)
            case Reasoning(text, choice):
                return self._delta({"reasoning_content": text}, choice)
            case ToolStart() | ToolArguments():
                return self._delta({"tool_calls": [self._call(event)]}, event.choice)
            case Tick():
                return framing.KEEP_ALIVE
            case Closed():
                return self._close(event)
            case Failed(problem):
                return framing.sse(shape(problem))
        return b""

    def head(self, choice: int) -> bytes:
        return self._delta({"role": "assistant", "content": "", "refusal": None}, choice)

    def _delta(
        self,
        delta: Mapping[str, Any],
        index: int = 0,
        finish: str | None = None,
        extra: Mapping[str, Any] = {},
        logprobs: Any = None,
    ) -> bytes:
        choice = {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish}
        rest = framing.as_bytes({"choices": [choice], **extra})
        return self._head + b"," + rest[1:-1] + self._end

    def _call(self, event: ToolStart | ToolArguments) -> dict[str, Any]:
        if isinstance(event, ToolStart):
            if event.kind == "custom":
                self._custom.add(event.index)
            kind, text = CALL[event.kind]
            return {"index": event.index, "id": event.id, "type": kind, kind: {"name": event.name, text: ""}}
        kind, text = CALL["custom" if event.index in self._custom else "function"]
        return {"index": event.index, kind: {text: event.text}}

    def _all_said(self, burst: Burst) -> bytes:
        if burst.behind:
            return self._theirs.take_all(burst)
        if burst.like is not self._like:
            frame = self.said(replace(burst.like, text=SPECIMEN))
            before, _, after = frame.rpartition(framing.as_bytes(SPECIMEN)[1:-1])
            self._like, self._around = burst.like, (before, after)
        before, after = self._around
        return lines.between(before, burst.spelled, after)

    def _relayed(self, raw: bytes | dict[str, Any]) -> bytes:
        """A provider's chunk; each choice gets its role once, from us."""
        raw = raw if isinstance(raw, bytes) else framing.as_bytes(raw)
        heads = b""
        for choice in relay.choices_of(raw) if self._several else ():
            if choice not in self._begun:
                self._begun.add(choice)
                heads += self.head(choice)
        return heads + self._theirs.take(raw)

    def _close(self, closed: Closed) -> bytes:
        last = self._theirs.close(closed.extra) or self._delta({}, finish=closed.finish, extra=closed.extra)
        if self._usage:
            spent = framing.as_bytes({"choices": [], "usage": usage(closed.usage)})
            last += self._head + b"," + spent[1:] + b"\n\n"
        return last + framing.DONE


def error(problem: Problem, call: Call | None) -> Response:
    return as_json(shape(problem), problem.status, headers(problem))


def shape(problem: Problem) -> dict[str, Any]:
    """OpenAI's error object; all four keys are always there."""
    kind = ERROR_TYPES.get(
        problem.status, "invalid_request_error" if problem.status < 500 else "server_error"
    )
    code = problem.code or ERROR_CODES.get(problem.kind)
    return {"error": {"message": problem.message, "type": kind, "param": problem.param, "code": code}}


def headers(problem: Problem) -> tuple[tuple[str, str], ...]:
    """Retry-After in whole seconds, and x-should-retry: false where trying again cannot help (SDKs would,
    twice)."""
    wait = (
        ()
        if problem.retry_after is None
        else (("Retry-After", str(max(0, -int(-problem.retry_after // 1)))),)
    )
    stop = () if problem.retryable else (("x-should-retry", "false"),)
    return (*problem.headers, *wait, *stop)


def stream_headers(request: Request) -> tuple[tuple[str, str], ...]:
    return framing.SSE_HEADERS


def models(call: Call) -> Response:
    return as_json({"object": "list", "data": [_model(entry) for entry in listing.entries()]})


def model(call: Call) -> Response:
    asked = call.parts["id"]
    return as_json({**_model(listing.entry(asked)), "id": asked})


def _model(entry: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: value for name, value in entry.items() if name not in ("collection", "mode")}
    return {**told, "object": "model", "owned_by": "benchwarmers"}
