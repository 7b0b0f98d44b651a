"""A member as a case scripts it, as an answer to each request of a test provider.

An answer is {status, headers} and one of `json`, `body` (text as it is), or `sse`: objects become events,
texts are sent verbatim, after the raw `chunks` and `chunks_hex`. A member streams when asked to, also what
is written down as `json`, unless it has `ignore_stream`. More of an answer: `split_bytes` (at most so many a
write), `raw_utf8_json`, `gzip`, `end: reset` (or `drop`, before the first byte), `if_sent` (only for
requests with that field). A member may be `strict` (422 for what chat completions do not have) and have
`only_paths`; its `api` is chat or another of natives.py, its `facts` are what the bench is told of it.
{"$tool_alias_of": NAME, "args": TEXT} calls the caller's tool NAME under the name it was sent with.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from tests import provider
from tests.cases import natives
from tests.provider import RESET, Answer, Received

HEAD = {"id": "cc-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
KNOWN = frozenset(
    (
        *(
            "model",
            "messages",
            "stream",
            "stream_options",
            "temperature",
            "top_p",
            "n",
            "stop",
            "seed",
            "user",
        ),
        *("max_tokens", "max_completion_tokens", "presence_penalty", "frequency_penalty", "logit_bias"),
        *("logprobs", "top_logprobs", "tools", "tool_choice", "parallel_tool_calls", "response_format"),
        *("functions", "function_call", "reasoning_effort"),
    )
)
JSON_TYPE = {"Content-Type": "application/json"}
EVENTS = {"Content-Type": "text/event-stream"}
LINES = {"Content-Type": "application/x-ndjson"}
LAST_WORDS = 0.15  # seconds in which what was said is read before the connection breaks


class Member:
    """`tools` are the names of the caller's tools, in order; `calls` gets what the member is asked."""

    def __init__(
        self, spec: Mapping[str, Any], tools: list[str | None], calls: list[tuple[str, Received]]
    ) -> None:
        self._spec, self._tools, self._calls = spec, tools, calls
        self._api = spec.get("api", "chat")
        self._answers: list[Mapping[str, Any]] = spec.get("respond") or [spec]
        self._given = 0
        self._lock = threading.Lock()

    def __call__(self, request: Received) -> Answer:
        self._calls.append((self._spec["name"], request))
        paths = self._spec.get("only_paths")
        if paths and request.path.partition("?")[0] not in paths:
            return provider.error(404, "no such route")
        unknown = sorted(set(request.json) - KNOWN) if self._spec.get("strict") else []
        if unknown:
            return provider.error(422, f"extra_forbidden: {unknown}", type="invalid_request_error")
        return self._answer(self._next(request.json), request)

    def _next(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        with self._lock:
            due = self._answers[min(self._given, len(self._answers) - 1)]
            if "if_sent" in due and due["if_sent"] not in asked:
                return self._answers[-1]
            self._given += 1
            return due

    def _answer(self, told: Mapping[str, Any], request: Received) -> Answer:
        status, headers = told.get("status", 200), told.get("headers", {})
        packed = bool(told.get("gzip")) and "gzip" in request.headers.get("accept-encoding", "gzip")
        if told.get("end") == "drop":
            return provider.reset()
        if not self._streams(told, request):
            body = told["body"].encode() if "body" in told else _json(told.get("json"))
            return Answer([body], status, JSON_TYPE | headers, gzip=packed)
        steps: list[provider.Step] = list(self._events(told, request))
        if told.get("end") == "reset":
            read = threading.Event()
            threading.Timer(LAST_WORDS, read.set).start()
            steps += [read, RESET]
        split = told.get("split_bytes", 0)
        kind = LINES if self._api == "ollama" else EVENTS
        return Answer(steps, status, kind | headers, framing="chunked", gzip=packed, split=split)

    def _streams(self, told: Mapping[str, Any], request: Received) -> bool:
        scripted = any(key in told for key in ("sse", "chunks", "chunks_hex"))
        if scripted or told.get("status", 200) != 200 or told.get("ignore_stream"):
            return scripted
        whole = told.get("json")
        chat = isinstance(whole, Mapping) and "choices" in whole
        can = chat if self._api == "chat" else natives.is_answer(whole)
        return can and natives.asks_to_stream(self._api, request.path, request.json)

    def _events(self, told: Mapping[str, Any], request: Received) -> Iterator[bytes]:
        if "json" in told and self._api != "chat":
            yield from natives.streamed(self._api, told["json"])
            return
        if "json" in told:
            yield from map(natives.event, _unfolded(told["json"]))
            return
        yield from (bytes.fromhex(piece) for piece in told.get("chunks_hex", ()))
        yield from (piece.encode() for piece in told.get("chunks", ()))
        for item in told.get("sse", ()):
            if isinstance(item, str):
                yield item.encode()
            elif "$tool_alias_of" in item:
                yield from map(natives.event, self._call(item, request))
            else:
                yield natives.event(item, self._api != "chat", not told.get("raw_utf8_json"))

    def _call(self, item: Mapping[str, Any], request: Received) -> Iterator[dict[str, Any]]:
        sent = request.json["tools"][self._tools.index(item["$tool_alias_of"])]["function"]["name"]
        called = {"name": sent, "arguments": item["args"]}
        call = {"index": 0, "id": "call_a", "type": "function", "function": called}
        yield _chunk(
            {"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}, "finish_reason": None}
        )
        yield _chunk({"index": 0, "delta": {}, "finish_reason": "tool_calls"})


def _unfolded(whole: Mapping[str, Any]) -> Iterator[Any]:
    """A completion as the events of a stream."""
    for choice in whole["choices"]:
        delta = dict(choice["message"])
        calls = delta.pop("tool_calls", None)
        delta |= {"tool_calls": [{"index": at, **call} for at, call in enumerate(calls)]} if calls else {}
        rest = {key: value for key, value in choice.items() if key != "message"}
        yield _chunk({"index": choice["index"], "delta": delta, "finish_reason": None})
        yield _chunk({**rest, "delta": {}})
    yield {**HEAD, "choices": [], "usage": whole.get("usage")}
    yield "[DONE]"


def _chunk(choice: dict[str, Any]) -> dict[str, Any]:
    return {**HEAD, "choices": [choice]}


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def tool_names(request: Mapping[str, Any]) -> list[str | None]:
    """The names of the tools that a case's request declares, in order."""
    body = request.get("body")
    tools = (body.get("tools") or ()) if isinstance(body, Mapping) else ()
    return [tool.get("name") or tool.get("function", {}).get("name") for tool in tools]
