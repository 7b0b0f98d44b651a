"""What Gemini's callers read: a response, its stream in both framings, and the error object.

Shapes: google-genai 3.6 and its API's description. Its SDK for Python raises on an object in the stream only
if `error` is its first key, and knows no comments, so the keep-alive is an empty piece of text.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from metrics.events import Closed, Event, Failed, Reasoning, Text, Tick, ToolArguments, ToolStart
from metrics.formats import framing
from metrics.formats.calls import Calls, Whole, plain, whole
from metrics.formats.lines import as_line
from metrics.formats.protocol import Stamp
from metrics.records import Problem, Reply, Request, Usage
from metrics.web.table import Final

FINISH = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}

# Google sends an error in a stream as it is, outside of any event, and its SDK for JavaScript looks for it
# nowhere else: in an event it would pass for the end. Others read events only, and skip such a line.
FAILED = b'{"error":'

STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "RESOURCE_EXHAUSTED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "UNIMPLEMENTED",
    408: "DEADLINE_EXCEEDED",
    409: "ABORTED",
    413: "INVALID_ARGUMENT",
    415: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
    529: "UNAVAILABLE",
}
TYPES = "type.googleapis.com/google.rpc."

ARRAY_HEADERS = (
    ("Content-Type", "application/json; charset=utf-8"),
    ("Cache-Control", "no-cache"),
    ("X-Accel-Buffering", "no"),
)
NOTHING = {"text": ""}


def reply(request: Request, reply: Reply, stamp: Stamp) -> Mapping[str, Any]:
    thoughts = [{"text": reply.reasoning, "thought": True}] if reply.reasoning else []
    said = [{"text": reply.text}] if reply.text else []
    calls = whole(reply.tool_calls, reply.finish)
    candidate = _ended([*thoughts, *said, *_calls(calls)], reply.finish, calls)
    return {
        "candidates": [candidate],
        "usageMetadata": usage(reply.usage),
        **_named(request, stamp),
        **reply.extra,
    }


def _named(request: Request, stamp: Stamp) -> dict[str, str]:
    """One id and one model for all objects of a stream: a new id reads as a resumed one (pydantic-ai)."""
    return {"modelVersion": request.model, "responseId": stamp.token}


def _calls(calls: list[Whole]) -> list[dict[str, Any]]:
    return [_call(call) for call in calls if call.arguments is not None]


def _call(call: Whole) -> dict[str, Any]:
    sealed = {"thoughtSignature": call.signature} if call.signature else {}
    return {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}, **sealed}


def _ended(parts: list[dict[str, Any]], finish: str, calls: list[Whole]) -> dict[str, Any]:
    """The candidate that says why it ended. A call with arguments that nobody can read is a reason of its
    own."""
    content = {"role": "model", "parts": parts or [NOTHING]}
    broken = [call.name for call in calls if call.arguments is None]
    if broken:
        said = f"the model called {', '.join(broken)} with arguments that are no JSON object"
        reason = {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": said}
        return {"content": content, **reason, "index": 0}
    return {"content": content, "finishReason": FINISH.get(finish, "OTHER"), "index": 0}


def usage(spent: Usage) -> dict[str, int]:
    """Gemini's counts: the prompt with what was cached of it, the candidates without their thoughts."""
    prompt, out, thoughts = spent.prompt or 0, spent.out or 0, spent.reasoning or 0
    cached = {"cachedContentTokenCount": spent.cache_read} if spent.cache_read else {}
    thinking = {"thoughtsTokenCount": thoughts} if thoughts else {}
    return {
        "promptTokenCount": prompt,
        "candidatesTokenCount": max(0, out - thoughts),
        "totalTokenCount": prompt + max(out, thoughts),
        **thinking,
        **cached,
    }


def stream_headers(request: Request) -> tuple[tuple[str, str], ...]:
    return framing.SSE_HEADERS if request.framing == "sse" else ARRAY_HEADERS


def stream(request: Request, events: Iterator[Event], stamp: Stamp) -> Iterator[bytes]:
    """The objects as server-sent events, or as one JSON array that is sent object by object."""
    objects = _objects(request, events, stamp)
    if request.framing == "sse":
        for written in objects:
            if written.startswith(FAILED):
                yield written + b"\n\n"  # a piece of its own: js-genai reads it only as one
            event = b"data: " + written + b"\n\n"
            yield Final(event) if type(written) is Final else event
        return
    before = b"["
    for written in objects:
        yield Final(before + written + b"]") if type(written) is Final else before + written
        before = b",\n"


def _objects(request: Request, events: Iterator[Event], stamp: Stamp) -> Iterator[bytes]:
    """Calls come whole and last: this API has no form for half of one."""
    named = as_line(_named(request, stamp))[1:]
    # What is not known before the end counts as none, so that the counts only ever grow.
    rest = b',"index":0}],"usageMetadata":' + as_line(usage(Usage())) + b"," + named
    before, after = b'{"candidates":[{"content":{"role":"model","parts":[{"text":', b"}]}" + rest
    thought = b',"thought":true' + after
    keep_alive = before + b'""' + after
    calls = Calls()
    for event in plain(events):
        match event:
            case Text(text):
                yield before + as_line(text) + after
            case Reasoning(text):
                yield before + as_line(text) + thought
            case ToolStart() | ToolArguments():
                calls.take(event)
            case Tick():
                yield keep_alive
            case Closed(finish, spent):
                made = calls.whole(finish)
                candidate = _ended(_calls(made), finish, made)
                last = {"candidates": [candidate], "usageMetadata": usage(spent), **_named(request, stamp)}
                yield Final(as_line({**last, **event.extra}))
            case Failed(problem):
                yield Final(as_line(shape(problem)))


def shape(problem: Problem) -> dict[str, Any]:
    """Google's error object, with the details that its clients read: how long to wait, which field."""
    code = status(problem)
    name = STATUS.get(problem.status, "INVALID_ARGUMENT" if problem.status < 500 else "INTERNAL")
    error: dict[str, Any] = {"code": code, "message": problem.message, "status": name}
    details = _details(problem)
    return {"error": error | ({"details": details} if details else {})}


def status(problem: Problem) -> int:
    """529 is Anthropic's alone; Google's clients retry 503."""
    return 503 if problem.status == 529 else problem.status


def _details(problem: Problem) -> list[dict[str, Any]]:
    details: list[dict[str, Any]] = []
    if problem.retry_after is not None:
        wait = f"{max(0, math.ceil(problem.retry_after * 1000)) / 1000:.3f}".rstrip("0").rstrip(".")
        details.append({"@type": TYPES + "RetryInfo", "retryDelay": f"{wait}s"})
    if problem.param is not None and problem.status == 400:
        violation = {"field": problem.param, "description": problem.message}
        details.append({"@type": TYPES + "BadRequest", "fieldViolations": [violation]})
    return details
