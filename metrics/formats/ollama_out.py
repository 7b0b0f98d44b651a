"""What Ollama's callers read: the reply, and its stream of one JSON object a line.

Shapes: Ollama's `api/types.go` of August 2026. A stream ends in a line with `done` and the counts; without it
clients say that they did not receive done. Tool calls come whole, before it.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from metrics.events import Closed, Event, Failed, Reasoning, Text, Tick, ToolArguments, ToolStart
from metrics.formats.calls import Calls, Whole, plain, whole
from metrics.formats.lines import as_line
from metrics.formats.protocol import Stamp
from metrics.records import Problem, Reply, Request, Usage
from metrics.web.table import Final

# The matched stop string and a wish for tools are both "stop" to Ollama.
DONE = {"length": "length"}

HEADERS = (
    ("Content-Type", "application/x-ndjson"),
    ("Cache-Control", "no-cache"),
    ("X-Accel-Buffering", "no"),
)

Clock = Callable[[], int]  # nanoseconds since the epoch


def stream_headers(request: Request) -> tuple[tuple[str, str], ...]:
    return HEADERS


def reply(request: Request, reply: Reply, stamp: Stamp, clock: Clock = time.time_ns) -> Mapping[str, Any]:
    begun = int(stamp.at * 1e9)
    calls = _readable(whole(reply.tool_calls, reply.finish))
    thinking = {"thinking": reply.reasoning} if reply.reasoning else {}
    said = _said(request.framing, reply.text, {**thinking, **_tool_calls(calls)})
    return {
        **head(request.model, stamp.created),
        **said,
        **_end(reply.finish, reply.usage, begun, begun, clock()),
        **reply.extra,
    }


def head(model: str, created: int) -> dict[str, str]:
    at = datetime.fromtimestamp(created, UTC)
    return {"model": model, "created_at": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")}


def empty(model: str, framing: str, reason: str, created: int) -> dict[str, Any]:
    """The reply to a request that asks nothing: only that it is done."""
    return {**head(model, created), **_said(framing, "", {}), "done": True, "done_reason": reason}


def _said(framing: str, text: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a reply or line, where each of the two routes has them."""
    if framing == "generate":
        return {"response": text, **more}
    return {"message": {"role": "assistant", "content": text, **more}}


def _tool_calls(calls: list[Whole]) -> dict[str, Any]:
    made = [
        {"id": call.id, "function": {"index": at, "name": call.name, "arguments": call.arguments}}
        for at, call in enumerate(calls)
    ]
    return {"tool_calls": made} if made else {}


def _readable(calls: list[Whole]) -> list[Whole]:
    """Problem 502 for arguments that are no object: there is no form to show them in, and nobody may run
    it."""
    for call in calls:
        if call.arguments is None:
            said = f'the model called "{call.name[:80]}" with arguments that are no JSON object; ask again'
            raise Problem(502, said, kind="upstream")
    return calls


def _end(finish: str, spent: Usage, begun: int, first: int, now: int) -> dict[str, Any]:
    """The counts that close a reply. Times are ns since the epoch; how long a member loaded is not known."""
    waited, total = max(0, first - begun), max(1, now - begun)
    return {
        "done": True,
        "done_reason": DONE.get(finish, "stop"),
        "total_duration": total,
        "load_duration": 0,
        "prompt_eval_count": spent.prompt or 0,
        "prompt_eval_duration": min(waited, total - 1),
        "eval_count": spent.out or 0,
        "eval_duration": max(1, total - waited),
    }


def stream(
    request: Request, events: Iterator[Event], stamp: Stamp, clock: Clock = time.time_ns
) -> Iterator[bytes]:
    line = _Lines(request, stamp)
    calls = Calls()
    begun = int(stamp.at * 1e9)
    first = 0
    for event in plain(events):
        match event:
            case Text(text):
                first = first or clock()
                yield line.text(text)
            case Reasoning(text):
                first = first or clock()
                yield line.write("", {"thinking": text})
            case ToolStart() | ToolArguments():
                first = first or clock()
                calls.take(event)
            case Tick():
                yield line.text("")
            case Closed(finish, spent):
                try:
                    made = _tool_calls(_readable(calls.whole(finish)))
                except Problem as problem:
                    yield Final(line.failed(problem))
                    return
                now = clock()
                told = line.last({**_end(finish, spent, begun, first or now, now), **event.extra})
                yield Final(line.write("", made) + told if made else told)
            case Failed(problem):
                yield Final(line.failed(problem))


class _Lines:
    """The lines of one stream: all carry the same model and time, written out once."""

    def __init__(self, request: Request, stamp: Stamp) -> None:
        self._kind = request.framing
        self._head = as_line(head(request.model, stamp.created))[:-1] + b","
        generate = self._kind == "generate"
        self._before = self._head + (
            b'"response":' if generate else b'"message":{"role":"assistant","content":'
        )
        self._after = b',"done":false}\n' if generate else b'},"done":false}\n'

    def text(self, text: str) -> bytes:
        return self._before + as_line(text) + self._after

    def write(self, text: str, more: Mapping[str, Any]) -> bytes:
        return self._head + as_line({**_said(self._kind, text, more), "done": False})[1:] + b"\n"

    def last(self, end: Mapping[str, Any]) -> bytes:
        return self._head + as_line({**_said(self._kind, "", {}), **end})[1:] + b"\n"

    def failed(self, problem: Problem) -> bytes:
        return as_line({"error": problem.message}) + b"\n"
