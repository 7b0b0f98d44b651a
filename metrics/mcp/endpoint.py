"""The endpoint: `POST /mcp` takes one message and gives its answer, whole or as a stream of progress.

A client that accepts event streams gets one for `ask`, which can take minutes; everything else is one JSON
object. Nothing is kept between messages but which session asked what (waits.py).
"""

import json
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from metrics.formats import framing
from metrics.mcp import asking, prompts, resources, tools, waits, wire
from metrics.mcp.asking import Asking, Heard
from metrics.mcp.wire import INVALID_PARAMS, NO_METHOD, Message, Refused
from metrics.play import asked
from metrics.records import Problem
from metrics.web.table import JSON, Call, Handler, Response, as_json, json_bytes

Json = dict[str, Any]

SESSION = "mcp-session-id"
FOREVER, NEVER = (300_000, "public"), (0, "private")  # ms that a list stays true, and for whom
CAPABILITIES: Json = {"tools": {}, "resources": {}, "prompts": {}}
CANCELLED = -32800  # as in the Language Server Protocol: MCP has no number for it
QUIET_PIECE = b""  # the head alone, or later a look whether the caller is still there


def post(call: Call) -> Response:
    """One message in. Every error is one of JSON-RPC's, with the status that its era gives it."""
    its, modern = None, False
    try:
        posted = wire.body(call)
        its, modern = wire.ident(posted), wire.modern(posted, call.headers)
        if wire.is_reply(posted):
            return Response(202)
        message = wire.message(posted, call.headers)
        session = _session(call, message)
        if message.id is None:
            return _noticed(message, call, session)
        return _answered(message, call, session)
    except Problem as problem:
        return wire.refused(problem, its, modern)


def _session(call: Call, message: Message) -> str | None:
    """The session that a legacy message is of. Problem 404 for one that was ended: the client begins anew."""
    named = call.headers.get(SESSION)
    if named is None or message.modern or not waits.well_formed(named):
        return None
    if waits.ended(asked.caller(call), named):
        raise Problem(404, "this session was ended: send initialize again")
    return named


def _noticed(message: Message, call: Call, session: str | None) -> Response:
    if message.method == "notifications/cancelled":
        waits.cancel(asked.caller(call), session, message.params.get("requestId"))
    return Response(202)


def _answered(message: Message, call: Call, session: str | None) -> Response:
    method = METHODS.get(message.method)
    if method is None or (method.era not in ("", "modern" if message.modern else "legacy")):
        raise Refused(NO_METHOD, f"there is no method {message.method[:80]!r} here")
    return method.answer(message, call, session)


def _whole(message: Message, call: Call, value: Mapping[str, Any], cache: Any = None) -> Response:
    """The reply as JSON, or as an event where the client reads nothing else."""
    reply = wire.result(message, value, cache)
    if _only_streams(call):
        return Response(200, framing.SSE_HEADERS, iter((framing.sse(reply, "message"),)))
    return as_json(reply)


def _accepts(call: Call) -> set[str]:
    given = call.headers.get("accept", "*/*").split(",")
    return {one.partition(";")[0].strip().lower() for one in given}


def _only_streams(call: Call) -> bool:
    accepted = _accepts(call)
    return "text/event-stream" in accepted and not accepted & {"application/json", "*/*", "application/*"}


# --- the methods


def _initialize(message: Message, call: Call, session: str | None) -> Response:
    wanted = message.params.get("protocolVersion")
    if not isinstance(wanted, str):
        raise Refused(INVALID_PARAMS, '"protocolVersion" must say which version you speak')
    told = {
        "protocolVersion": wanted if wanted in wire.LEGACY else wire.LEGACY[0],
        "capabilities": CAPABILITIES,
        "serverInfo": wire.SERVER,
        "instructions": tools.INSTRUCTIONS,
    }
    response = _whole(message, call, told)
    response.headers += (("Mcp-Session-Id", waits.minted()),)
    return response


def _discover(message: Message, call: Call, session: str | None) -> Response:
    told = {
        "supportedVersions": list(wire.VERSIONS),
        "capabilities": CAPABILITIES,
        "instructions": tools.INSTRUCTIONS,
    }
    return _whole(message, call, told, FOREVER)


def _listen(message: Message, call: Call, session: str | None) -> Response:
    """Nothing here announces its changes, so every subscription is empty and over at once, in good order."""
    its = {f"{wire.META}subscriptionId": message.id}
    params = {"notifications": {}, "_meta": its}
    agreed = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}
    end = wire.result(message, {})
    end["result"]["_meta"] |= its
    pieces = (framing.sse(agreed, "message"), framing.sse(end, "message"))
    return Response(200, framing.SSE_HEADERS, iter(pieces))


def _listed(name: str, rows: Callable[[Call], list[Json]], cache: tuple[int, str]) -> "Answer":
    def answer(message: Message, call: Call, session: str | None) -> Response:
        if message.params.get("cursor") is not None:
            raise Refused(INVALID_PARAMS, f"there is no such cursor: {message.method} gives all in one page")
        return _whole(message, call, {name: rows(call)}, cache)

    return answer


def _read(message: Message, call: Call, session: str | None) -> Response:
    contents = resources.read(message.params.get("uri"), call, message.modern)
    return _whole(message, call, {"contents": contents}, NEVER)


def _prompt(message: Message, call: Call, session: str | None) -> Response:
    return _whole(message, call, prompts.get(message.params.get("name"), message.params.get("arguments")))


def _called(message: Message, call: Call, session: str | None) -> Response:
    """A tool's result. What is wrong with its arguments, or goes wrong in it, is a result too: one that the
    model can read and act on."""
    name, arguments = message.params.get("name"), message.params.get("arguments")
    tool = tools.TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        known = ", ".join(tools.TOOLS)
        raise Refused(INVALID_PARAMS, f"there is no tool {str(name)[:80]!r}; there are {known}")
    if not isinstance(arguments, dict | None):
        raise Refused(INVALID_PARAMS, '"arguments" must be an object')
    try:
        if tool.run is None:
            return _asked(message, call, session, arguments or {})
        told = tool.run(arguments or {}, call, session)
    except Problem as problem:
        return _whole(message, call, _error(problem))
    text = json.dumps(told, ensure_ascii=False)
    content = [{"type": "text", "text": text}]
    return _whole(message, call, {"content": content, "structuredContent": told, "isError": False})


def _error(problem: Problem) -> Json:
    """A failed tool call, in a sentence; when to try again, where that is known."""
    said = problem.message
    if problem.retry_after:
        said = f"{said.removesuffix('.')}. Try again in {problem.retry_after:.0f} s."
    return {"content": [{"type": "text", "text": said}], "isError": True}


# --- a panel, which takes its time


def _asked(message: Message, call: Call, session: str | None, arguments: Mapping[str, Any]) -> Response:
    """The head goes at once; what the reply is written from no longer holds the prompt."""
    begun = asking.begin(arguments, call, session)
    streams = "text/event-stream" in _accepts(call)
    head = framing.SSE_HEADERS if streams else (JSON,)
    waiter = Waiter(replace(message, params={}), asked.caller(call), session)
    written = _stream(waiter, begun) if streams else _at_the_end(waiter, begun)
    return Response(200, (*head, ("X-Bench-Panel", begun.panel.id)), written)


@dataclass(frozen=True, slots=True)
class Waiter:
    """Who waits for a panel: the request, without what it asks, its key and its session."""

    message: Message
    key: str
    session: str | None

    def waiting(self) -> AbstractContextManager[threading.Event]:
        assert self.message.id is not None
        return waits.waiting(self.key, self.session, self.message.id)


def _stream(waiter: Waiter, begun: Asking) -> Iterator[bytes]:
    """Progress as it comes, where the client wants to hear of it, and the result at the end; a wait that was
    given up ends without one."""
    token = wire.progress_token(waiter.message)
    yield QUIET_PIECE
    with waiter.waiting() as stopped:
        told = yield from _progressing(asking.heard(begun, stopped), token)
    if told is not None:
        yield framing.sse(wire.result(waiter.message, told), "message")


def _progressing(heard: Heard, token: wire.Id | None) -> Generator[bytes, None, Json | None]:
    while True:
        try:
            news = next(heard)
        except StopIteration as end:
            told: Json | None = end.value
            return told
        except Problem as problem:
            return _error(problem)
        if news is None:
            yield QUIET_PIECE
        elif token is None:
            yield framing.KEEP_ALIVE
        else:
            yield framing.sse(wire.progress(token, news.done, news.total, news.words), "message")


def _at_the_end(waiter: Waiter, begun: Asking) -> Iterator[bytes]:
    """The whole reply, for clients that read no streams; before it only whether they are still there is
    looked at."""
    yield QUIET_PIECE
    with waiter.waiting() as stopped:
        told = yield from _in_silence(asking.heard(begun, stopped))
    if told is None:
        gone = Refused(CANCELLED, f"cancelled; the panel {begun.panel.id} goes on and is recorded")
        yield json_bytes(wire.failure(gone, waiter.message.id))
    else:
        yield json_bytes(wire.result(waiter.message, told))


def _in_silence(heard: Heard) -> Generator[bytes, None, Json | None]:
    while True:
        try:
            next(heard)
        except StopIteration as end:
            told: Json | None = end.value
            return told
        except Problem as problem:
            return _error(problem)
        yield QUIET_PIECE


# --- the other verbs


def delete(call: Call) -> Response:
    """The end of a legacy session. Problem 405 without one: there is nothing to end."""
    named = call.headers.get(SESSION)
    if named is None or not waits.well_formed(named):
        raise _not_allowed(call)
    waits.end(asked.caller(call), named)
    return Response(204)


def get(call: Call) -> Response:
    """There is no stream to listen to beside those that answer a message."""
    raise _not_allowed(call)


def _not_allowed(call: Call) -> Problem:
    message = f"{call.path} takes messages by POST; there is no stream to GET, nor a session to DELETE"
    return Problem(405, message, headers=(("Allow", "POST, DELETE, OPTIONS"),))


Answer = Callable[[Message, Call, str | None], Response]


@dataclass(frozen=True, slots=True)
class Method:
    """What answers a method, and in which era there is one: "" means both."""

    answer: Answer
    era: str = ""


METHODS: dict[str, Method] = {
    "initialize": Method(_initialize, "legacy"),
    "ping": Method(lambda message, call, session: _whole(message, call, {}), "legacy"),
    "server/discover": Method(_discover, "modern"),
    "subscriptions/listen": Method(_listen, "modern"),
    "tools/list": Method(_listed("tools", lambda call: tools.listed(), FOREVER)),
    "tools/call": Method(_called),
    "resources/list": Method(_listed("resources", resources.listed, NEVER)),
    "resources/templates/list": Method(
        _listed("resourceTemplates", lambda call: list(resources.TEMPLATES), FOREVER)
    ),
    "resources/read": Method(_read),
    "prompts/list": Method(_listed("prompts", lambda call: prompts.listed(), FOREVER)),
    "prompts/get": Method(_prompt),
}

PATHS = ("/mcp", "/v1/mcp")
VERBS: tuple[tuple[str, Handler], ...] = (("POST", post), ("GET", get), ("DELETE", delete))
HANDLERS = tuple((verb, path, handler) for path in PATHS for verb, handler in VERBS)
