#!/usr/bin/env python3
"""Every message that a running server sends, against the protocol's own schema, in each of its versions.

    BASE_URL=… KEY=… python tests/clients/mcp/schema.py

The schemas are those that the official Python SDK carries for its wire types (mcp_types), one for the eras
each; what tools give is held against the schemas that the server itself tells.
"""

import http.client
import json
import os
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from jsonschema import Draft202012Validator
from mcp_types import _v2025_11_25 as legacy
from mcp_types import _v2026_07_28 as modern
from mcp_types import methods
from mcp_types.jsonrpc import JSONRPCNotification, JSONRPCResponse

from tests.clients.checks import Checks, equal

BASE, KEY = urlsplit(os.environ["BASE_URL"]), os.environ["KEY"]
LEGACY, MODERN = ("2025-03-26", "2025-06-18", "2025-11-25"), ("2026-07-28",)
META = "io.modelcontextprotocol/"
INFO = {"name": "schema", "version": "1"}
ASK = {"collection": "slow", "prompt": "ECHO hello"}

Json = dict[str, Any]


def sent(said: Json, protocol: str) -> tuple[int, list[Json]]:
    """Post a message; (status, the messages that came back)."""
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {KEY}",
    }
    if said["method"] != "initialize":
        headers["MCP-Protocol-Version"] = protocol
    if protocol in MODERN:
        meta = {"protocolVersion": protocol, "clientInfo": INFO, "clientCapabilities": {}}
        params = said.setdefault("params", {})
        params["_meta"] = {**{META + name: value for name, value in meta.items()}, **params.get("_meta", {})}
        headers |= {"Mcp-Method": said["method"]}
        name = params.get("uri") if said["method"] == "resources/read" else params.get("name")
        headers |= {"Mcp-Name": name} if name else {}
    connection = http.client.HTTPConnection(str(BASE.hostname), BASE.port, timeout=60)
    connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", **said}), headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    if (answer.getheader("Content-Type") or "").startswith("text/event-stream"):
        return answer.status, [
            json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: ")
        ]
    return answer.status, [json.loads(body)] if body else []


def result(method: str, params: Json, protocol: str) -> Json:
    """The result of a request, after every message of the reply was held against the schema."""
    _, messages = sent({"id": "s-1", "method": method, "params": params}, protocol)
    *notices, last = messages
    for notice in notices:
        JSONRPCNotification.model_validate(notice, strict=True)
        methods.parse_server_notification(notice["method"], protocol, notice.get("params"))
    JSONRPCResponse.model_validate(last, strict=True)
    equal(last["id"], "s-1")
    methods.validate_server_result(method, protocol, last["result"])
    found: Json = last["result"]
    return found


def errors(protocol: str) -> None:
    """Errors of every kind; those of no message have no id."""
    kinds: tuple[Json, ...] = (
        {"id": 1, "method": "no/such"},
        {"id": 1, "method": "tools/call", "params": {"name": "none"}},
        {"id": 1, "method": "resources/read", "params": {"uri": "bench://panel/none"}},
        {"id": 1, "method": "prompts/get", "params": {"name": "none"}},
        {"id": None, "method": "tools/list"},
        {"id": 1, "method": "tools/list", "params": {"cursor": "x"}},
    )
    for said in kinds:
        _, messages = sent(said, protocol)
        wire = modern if protocol in MODERN else legacy
        wire.JSONRPCErrorResponse.model_validate(messages[0], strict=True)
        equal("id" in messages[0], said["id"] is not None)
        equal(messages[0].get("id"), said["id"])


def everything(protocol: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """(what, its check) for each method that the version has."""
    handshake = {"protocolVersion": protocol, "capabilities": {}, "clientInfo": INFO}
    if protocol in LEGACY:
        yield "initialize", lambda: result("initialize", handshake, protocol)
        yield "ping", lambda: result("ping", {}, protocol)
    else:
        yield "server/discover", lambda: result("server/discover", {}, protocol)
        listen = {"notifications": {"toolsListChanged": True}}
        yield "subscriptions/listen", lambda: result("subscriptions/listen", listen, protocol)
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        yield method, lambda method=method: result(method, {}, protocol)
    record = {"uri": "bench://collection/quick/record"}
    yield "resources/read", lambda: result("resources/read", record, protocol)
    claims = {"name": "verify_claims", "arguments": {"claims": "2 + 2 = 5"}}
    yield "prompts/get", lambda: result("prompts/get", claims, protocol)
    yield "every tool, by its own schemas", lambda: tools(protocol)
    yield "a tool that fails", lambda: failing(protocol)
    yield "errors", lambda: errors(protocol)


def tools(protocol: str) -> None:
    known = {tool["name"]: tool for tool in result("tools/list", {}, protocol)["tools"]}
    asked = called("ask", {**ASK}, known, protocol)
    given: dict[str, Json] = {
        "list_collections": {},
        "verdict": {"call": asked["to_judge"][0], "useful": True, "note": "hello"},
        "pending_verdicts": {"session": f"schema-{protocol}"},
        "why": {"call": asked["to_judge"][0]},
        "record": {"collection": "slow"},
        "usage": {"since": "1d"},
    }
    equal(set(given) | {"ask"}, set(known))
    for name, arguments in given.items():
        called(name, arguments, known, protocol)
    called("ask", {**ASK, "merged": True, "quorum": 1}, known, protocol)


def called(name: str, arguments: Json, known: dict[str, Json], protocol: str) -> Json:
    for schema in ("inputSchema", "outputSchema"):
        Draft202012Validator.check_schema(known[name][schema])
    Draft202012Validator(known[name]["inputSchema"]).validate(arguments)
    params = {"name": name, "arguments": arguments, "_meta": {"progressToken": name}}
    told = result("tools/call", params, protocol)
    equal(told.get("isError"), False)
    Draft202012Validator(known[name]["outputSchema"]).validate(told["structuredContent"])
    structured: Json = told["structuredContent"]
    return structured


def failing(protocol: str) -> None:
    told = result("tools/call", {"name": "ask", "arguments": {"collection": "none", "prompt": "x"}}, protocol)
    equal(told["isError"], True)


def main() -> int:
    check = Checks(f"schema of mcp {version('mcp')}")
    for protocol in (*LEGACY, *MODERN):
        for what, call in everything(protocol):
            check(f"{protocol}: {what}")(call)
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
