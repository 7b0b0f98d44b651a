"""All we know about Ollama's own API as a client: what to send, and how to read what comes back.

    POST {root}/api/chat        JSON lines; the last says done, why, and what was counted
    GET  {root}/api/tags        its models

Shapes: ollama, api/types.go (ChatRequest, ChatResponse), docs/api.md and docs.ollama.com/api/errors: an
error midway is a line of its own in a success. The root is what people give as its base, with or without /v1
or /api.
"""

import functools
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from metrics.client import (
    call_ids,
    declared,
    errors,
    listing,
    ndjson,
    objects,
    ollama_messages,
    quirks,
    room,
    usage,
)
from metrics.client.called import as_text
from metrics.client.outgoing import JSON, Conversation, Outgoing, address, bare, bearer, model, to_json
from metrics.client.quirks import Quirks, learn
from metrics.events import Closed, Event, Opened, Reasoning, Text, Tick, ToolArguments, ToolStart
from metrics.longjson import write
from metrics.records import Target, Usage

__all__ = ["Conversation", "Outgoing", "compose", "learn", "list_models", "read"]

API = "ollama"
SUFFIXES = ("/api/chat", "/api/tags", "/api", "/v1")  # of the root, as people write it

SAMPLING = ("temperature", "top_p", "seed", "presence_penalty", "frequency_penalty")
READ = frozenset(
    (*SAMPLING, "max_tokens", "max_completion_tokens", "stop", "response_format", "reasoning_effort")
    + ("logprobs", "top_logprobs", "tools", "tool_choice")
)
ELSEWHERE = frozenset(("model", "messages", "stream", "stream_options"))
USUAL = {"parallel_tool_calls": True, "n": 1}  # what happens anyway
# Fields of the caller's own that go out as they are, beside `options`.
NATIVE = ("keep_alive", "truncate", "shift")
# Thinking is a switch, except for this family, which takes how much (ollama, docs/capabilities/thinking.mdx).
LEVELLED = "gpt-oss"
LEVELS = {"minimal": "low", "low": "low", "medium": "medium"}

FINISHES = {"length": "length"}
LINES = "application/x-ndjson, application/json"
UNSAID = ("load", "unload")  # the model was moved, and asked nothing


# --- sending


def compose(
    target: Target, conversation: Conversation, options: Mapping[str, Any], *, stream: bool = True
) -> Outgoing:
    """The request for one seat. `options` are chat fields; None values count as unset.

    Problem(400) when the base URL, the key or the conversation cannot be sent.
    """
    changed: list[str] = []
    native = conversation.native if conversation.api == API else None
    set_options = {name: value for name, value in options.items() if value is not None}
    manners = quirks.for_target(target)
    fields = _fields(target, set_options, native, manners, changed)
    fields, left = quirks.without(fields, manners.drop)
    messages = conversation.shared(
        API, lambda: write(ollama_messages.written(conversation.messages), to_json)
    )
    head = model(target.served) + b',"messages":'
    return Outgoing(
        method="POST",
        url=_under(target.base, "/api/chat"),
        headers=bearer(target, LINES if stream else JSON),
        body=[head, messages, b"," + to_json({"stream": stream, **fields})[1:]],
        changed=(*changed, *left),
    )


@functools.lru_cache(maxsize=512)
def _under(base: str, path: str) -> str:
    root = base.strip().rstrip("/")
    for suffix in SUFFIXES:
        root = root.removesuffix(suffix).rstrip("/")
    return address(root, path, "")


def _fields(
    target: Target,
    options: Mapping[str, Any],
    native: Mapping[str, Any] | None,
    manners: Quirks,
    changed: list[str],
) -> dict[str, Any]:
    own = native or {}
    fields = {name: own[name] for name in NATIVE if name in own}
    running = {**own.get("options", {}), **_running(target, options, native is None, changed)}
    fields |= {"options": running} if running else {}
    fields |= _format(options.get("response_format")) | _logprobs(options)
    think = own.get("think", _think(target, options.get("reasoning_effort")))
    fields |= {} if think is None else {"think": think}
    tools = _tools(options.get("tools"), options.get("tool_choice"), changed)
    fields |= {"tools": quirks.plainer(bare(tools), manners)} if tools else {}
    left = sorted(options.keys() - READ - ELSEWHERE)
    left = [name for name in left if options[name] not in (USUAL.get(name, False), {}, [])]
    changed += [f"{name} left out (Ollama has no place for it)" for name in left]
    return fields


def _running(target: Target, options: Mapping[str, Any], roomy: bool, changed: list[str]) -> dict[str, Any]:
    """`options`: what the runner is told."""
    running = {name: options[name] for name in SAMPLING if name in options}
    if stop := options.get("stop"):
        running["stop"] = [stop] if isinstance(stop, str) else list(stop)
    asked = options.get("max_completion_tokens", options.get("max_tokens"))
    if asked is not None:
        running["num_predict"], why = room.budget(asked, target, roomy and bool(target.reasoning))
        changed += [f"max_tokens {why}"] if why else []
    return running


def _format(wanted: Any) -> dict[str, Any]:
    if not isinstance(wanted, dict) or wanted.get("type") not in ("json_object", "json_schema"):
        return {}
    said = wanted.get("json_schema")
    schema = said.get("schema") if isinstance(said, dict) else None
    return {"format": schema if isinstance(schema, dict) else "json"}


def _logprobs(options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: options[name]
        for name in ("logprobs", "top_logprobs")
        if options.get("logprobs") and name in options
    }


def _think(target: Target, effort: Any) -> bool | str | None:
    if not isinstance(effort, str):
        return None
    if LEVELLED in target.served:
        return LEVELS.get(effort, "high") if effort != "none" else "low"
    return effort != "none"


def _tools(listed: Any, choice: Any, changed: list[str]) -> list[Mapping[str, Any]]:
    """The tools it may call. It cannot be told that it must: a wish for one is told by offering no other."""
    wish = declared.choice(choice, changed)
    tools = list(listed or ())
    if wish.mode == "none" or not tools:
        return []
    if wish.names is not None:
        tools = [tool for tool in tools if declared.name(tool) in wish.names]
    if wish.mode == "required" and not wish.listed:
        changed.append("tool_choice left out (Ollama's models decide for themselves whether to call a tool)")
    return [_declaration(tool, changed) for tool in tools]


def _declaration(tool: Mapping[str, Any], changed: list[str]) -> dict[str, Any]:
    """A function; a custom tool is one with a single text. Templates expect properties, if only none."""
    named = dict(declared.body(tool))
    if "custom" in tool:
        changed.append(
            f"tool {named['name']} declared as a function with one text (Ollama has no custom tools)"
        )
        named = {"name": named["name"], "description": named.get("description", "")}
        named["parameters"] = declared.TEXT
    named["parameters"] = {"type": "object", "properties": {}, **(named.get("parameters") or {})}
    return {"type": "function", "function": named}


# --- reading


def read(
    arrival: objects.Incoming,
    target: Target,
    *,
    relay: bool = False,
    tick: float | None = None,
    now: Callable[[], float] = time.time,
    new_id: Callable[[], str] = call_ids.new,
) -> Iterator[Event]:
    """The events of an answer: Opened, Text, Reasoning, ToolStart, ToolArguments, Tick, and at last Closed.

    A call comes whole. Raises Problem: the provider's refusal (with its status), "empty", "cut" and
    "garbage" (502), and the transport's.
    """
    objects.refuse(arrival, target, now)
    answer = _Answer(target, now, new_id)
    for value in ndjson.read(arrival.pieces(tick), target):
        if value is None:
            yield Tick()
            continue
        yield from answer.take(value)
        if answer.closed:
            objects.settle(arrival)
            yield answer.closed
            return
    raise objects.cut(target)


class _Answer:
    """Reads the lines of one answer, in order."""

    def __init__(self, target: Target, now: Callable[[], float], new_id: Callable[[], str]) -> None:
        self.closed: Closed | None = None
        self._target, self._now, self._new_id = target, now, new_id
        self._opened = self._said = False
        self._calls = 0
        self._made: dict[str, str] = {}  # id -> what was called with it

    def take(self, value: Mapping[str, Any]) -> Iterator[Event]:
        message = value.get("message")
        if value.get("error") or (not isinstance(message, dict) and "done" not in value):
            if problem := errors.in_stream(value, self._target, now=self._now()):
                raise problem
            what = "answered with JSON that is none of Ollama's chat; does its endpoint speak another API?"
            raise objects.problem(self._target, what, "garbage")
        if not self._opened:
            self._opened = True
            model = value.get("model")
            yield Opened(model if isinstance(model, str) and model else None)
        yield from self._message(message if isinstance(message, dict) else {}, value.get("logprobs"))
        if value.get("done") is True:
            self.closed = self._end(value)

    def _message(self, message: Mapping[str, Any], logprobs: Any) -> Iterator[Event]:
        thoughts, text, calls = message.get("thinking"), message.get("content"), message.get("tool_calls")
        if isinstance(thoughts, str) and thoughts:
            yield Reasoning(thoughts)
        likely = {"content": logprobs, "refusal": None} if isinstance(logprobs, list) and logprobs else None
        if (isinstance(text, str) and text) or likely:
            self._said = True
            yield Text(text if isinstance(text, str) else "", logprobs=likely)
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                given = function.get("arguments")
                # What some servers send as text already stays it.
                told = given or "{}" if isinstance(given, str) else as_text(given, self._target)
                yield from self._call(call.get("id"), function["name"], told)

    def _call(self, given: Any, name: str, arguments: str) -> Iterator[Event]:
        """One more call, unless it is one that came before."""
        what = f"{name} {arguments}"
        call_id = given if isinstance(given, str) and given else self._new_id()
        if self._made.get(call_id) == what:
            return
        if call_id in self._made:
            call_id = self._new_id()
        self._made[call_id] = what
        self._said = True
        at, self._calls = self._calls, self._calls + 1
        yield ToolStart(at, call_id, name)
        yield ToolArguments(at, arguments)

    def _end(self, value: Mapping[str, Any]) -> Closed:
        reason = value.get("done_reason")
        if reason in UNSAID and not self._said:
            raise objects.problem(self._target, f"only said that it is done ({reason})", "empty")
        finish = FINISHES.get(str(reason), "stop")
        if finish == "stop" and self._calls:
            finish = "tool_calls"
        spent = usage.of_ollama({name: value[name] for name in COUNTS if name in value})
        return Closed(finish, spent if spent.raw else Usage())


COUNTS = (
    *("total_duration", "load_duration", "prompt_eval_count", "prompt_eval_duration"),
    *("eval_count", "eval_duration"),
)


# --- the models it serves


def list_models(
    transport: listing.Transport,
    base: str,
    key: str | None,
    profile: str = "",
    *,
    now: Callable[[], float] = time.time,
) -> list[dict[str, Any]]:
    """As listing.list_models, of GET {root}/api/tags."""
    host = profile or quirks.host_of(base)
    target = Target(alias=host, model_id="", endpoint=host, connection=host, served="", base=base, key=key)
    url = _under(base, "/api/tags")
    body = listing.fetched(transport, url, bearer(target)[1:], target, now=now())
    return listing.models(listing.entries(body, url))
