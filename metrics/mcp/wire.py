"""MCP's messages over HTTP: what came (`Message`), in which version of the protocol, and how a reply looks.

Two eras share one endpoint. Modern messages (2026-07-28) carry their version in `_meta` and repeat their
method and name in headers; legacy ones (2025-11-25 and before) follow an `initialize` and name their version
in a header, or nowhere. Sources: modelcontextprotocol.io/specification, the pages basic/index,
basic/versioning and basic/transports/streamable-http of 2026-07-28, basic/transports of 2025-11-25,
2025-06-18 and 2025-03-26."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metrics.records import Problem
from metrics.version import VERSION
from metrics.web.table import Call, Response, as_json, problem_headers

Json = dict[str, Any]
Id = str | int

MODERN = ("2026-07-28",)
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")
VERSIONS = (*MODERN, *LEGACY)
UNSAID = "2025-03-26"  # the version of a message without a header: the last that had none

META = "io.modelcontextprotocol/"
SERVER: Json = {"name": "benchwarmers", "title": "Benchwarmers", "version": VERSION}

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
HEADER_MISMATCH, UNKNOWN_VERSION = -32020, -32022
NO_RESOURCE = -32002  # legacy only; INVALID_PARAMS since

# The HTTP status that goes with an error. Legacy replies to a sound message are 200, errors too.
ALWAYS = {PARSE_ERROR: 400, INVALID_REQUEST: 400, HEADER_MISMATCH: 400, UNKNOWN_VERSION: 400}
MODERN_ONLY = {INVALID_PARAMS: 400, NO_METHOD: 404, INTERNAL: 500}

# What names the thing that a request is about, and is repeated in Mcp-Name.
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Refused(Problem):
    """A JSON-RPC error: its number, a sentence, and what goes with it as `data`."""

    def __init__(self, number: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(ALWAYS.get(number) or MODERN_ONLY.get(number, 400), message)
        self.number = number
        self.data = data


@dataclass(frozen=True, slots=True)
class Message:
    """One request or notification (`id` is None). `meta` is `params._meta`; `version` the protocol's."""

    id: Id | None
    method: str
    params: Mapping[str, Any]
    meta: Mapping[str, Any]
    version: str

    @property
    def modern(self) -> bool:
        return self.version in MODERN


def body(call: Call) -> Json:
    """The JSON object that was posted. Refused for anything else: batches ended with 2025-03-26."""
    first = call.body[:64].lstrip()[:1]
    try:
        return call.json()
    except Problem as problem:
        if first == b"[":
            raise Refused(INVALID_REQUEST, "send one message at a time: an array is not read") from None
        raise Refused(PARSE_ERROR, problem.message) from None


def ident(posted: Mapping[str, Any]) -> Id | None:
    """The id of a request, None for a notification. Refused for an id that is neither text nor a whole
    number."""
    given = posted.get("id")
    if "id" in posted and (isinstance(given, bool) or not isinstance(given, str | int)):
        raise Refused(INVALID_REQUEST, '"id" must be a string or a whole number')
    return given


def is_reply(posted: Mapping[str, Any]) -> bool:
    """Whether this answers a request of ours. We make none, so there is nothing to do with it."""
    return "method" not in posted and ("result" in posted or "error" in posted)


def modern(posted: Mapping[str, Any], headers: Mapping[str, str]) -> bool:
    """Whether a message means to be of the modern era, sound or not: it decides how its errors look."""
    params = posted.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    inside = isinstance(meta, dict) and f"{META}protocolVersion" in meta
    return inside or headers.get("mcp-protocol-version") in MODERN


def message(posted: Mapping[str, Any], headers: Mapping[str, str]) -> Message:
    """The message, checked against its headers. Refused with what is wrong."""
    method, params = posted.get("method"), posted.get("params", {})
    if posted.get("jsonrpc") != "2.0" or not isinstance(method, str) or not method:
        raise Refused(INVALID_REQUEST, 'a message has "jsonrpc": "2.0" and a "method"')
    meta = params.get("_meta", {}) if isinstance(params, dict) else None
    if not isinstance(meta, dict):
        raise Refused(INVALID_PARAMS, '"params" must be an object, and "_meta" in it too')
    version = _version(meta, headers, asks="id" in posted)
    found = Message(ident(posted), method, params, meta, version)
    if found.modern and found.id is not None:
        _check_headers(found, headers)
    return found


def _version(meta: Mapping[str, Any], headers: Mapping[str, str], asks: bool) -> str:
    told, inside = headers.get("mcp-protocol-version"), meta.get(f"{META}protocolVersion")
    if inside is not None and told != inside:
        raise Refused(HEADER_MISMATCH, "MCP-Protocol-Version and the version in _meta are not the same")
    version = told or UNSAID
    if version not in VERSIONS:
        data = {"supported": list(VERSIONS), "requested": version[:100]}
        raise Refused(UNKNOWN_VERSION, f"protocol version {version[:40]!r} is not spoken here", data)
    if version in MODERN and asks:
        for name in ("protocolVersion", "clientCapabilities"):
            if not isinstance(meta.get(META + name), str if name == "protocolVersion" else dict):
                raise Refused(INVALID_PARAMS, f'"_meta" must say "{META}{name}"')
    return version


def _check_headers(found: Message, headers: Mapping[str, str]) -> None:
    if headers.get("mcp-method") != found.method:
        raise Refused(HEADER_MISMATCH, f"Mcp-Method must be {found.method[:100]!r}, as in the message")
    named = found.params.get(NAMED.get(found.method, ""))
    if isinstance(named, str) and decoded(headers.get("mcp-name", "")) != named:
        raise Refused(HEADER_MISMATCH, f"Mcp-Name must be {named[:100]!r}, as in the message")


def decoded(value: str) -> str | None:
    """A header value in words: `=?base64?…?=` holds UTF-8 that a header cannot. None when it is broken."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[len("=?base64?") : -2], validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


# --- replies


def result(found: Message, value: Mapping[str, Any], cache: tuple[int, str] | None = None) -> Json:
    """The reply to a request. `cache` is (ms that it stays true, whose cache may keep it: public |
    private)."""
    said = dict(value)
    if found.modern:
        said = {"resultType": "complete", **said, "_meta": {f"{META}serverInfo": SERVER}}
        said |= {"ttlMs": cache[0], "cacheScope": cache[1]} if cache else {}
    return {"jsonrpc": "2.0", "id": found.id, "result": said}


def failure(problem: Problem, its: Id | None) -> Json:
    """An error as a message; without an id where there was none to read. Numbers outside JSON-RPC's range are
    HTTP's own."""
    number = problem.number if isinstance(problem, Refused) else _number(problem.status)
    error: Json = {"code": number, "message": problem.message}
    if isinstance(problem, Refused) and problem.data is not None:
        error["data"] = dict(problem.data)
    return {"jsonrpc": "2.0", **({} if its is None else {"id": its}), "error": error}


def _number(status: int) -> int:
    return {400: INVALID_PARAMS, 500: INTERNAL}.get(status, status)


def refused(problem: Problem, its: Id | None, in_modern: bool) -> Response:
    """The HTTP reply that carries an error to a message."""
    status = problem.status
    if isinstance(problem, Refused):
        status = ALWAYS.get(problem.number) or (MODERN_ONLY.get(problem.number, 200) if in_modern else 200)
    return as_json(failure(problem, its), status, problem_headers(problem))


def error(problem: Problem, call: Call | None) -> Response:
    """A refusal before any message was read (a key, an origin, a size): HTTP's status, and an error without
    an id."""
    return as_json(failure(problem, None), problem.status, problem_headers(problem))


def progress(token: Id, done: float, total: int, words: str) -> Json:
    """A notification that a request is under way. `done` must grow from one to the next."""
    params = {"progressToken": token, "progress": done, "total": total, "message": words}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def progress_token(found: Message) -> Id | None:
    """What the client wants its progress to be called; None: it wants to hear of none."""
    token = found.meta.get("progressToken")
    return token if isinstance(token, str | int) and not isinstance(token, bool) else None
