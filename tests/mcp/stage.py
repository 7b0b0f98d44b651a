"""Sending messages to the endpoint as the server does, without sockets."""

import json
import time
from typing import Any

from metrics.bench import scope
from metrics.bench.keys import Key
from metrics.bench.scope import Scope
from metrics.commands import stdio
from metrics.evidence import panels
from metrics.mcp import endpoint, wire
from metrics.records import Problem
from metrics.web.table import Call
from tests.play.house import House

JSON, STREAM, BOTH = "application/json", "text/event-stream", "application/json, text/event-stream"
INFO = {"name": "test", "version": "1"}


def message(method: str, params: Any = None, its: Any = 1) -> dict[str, Any]:
    said = {"jsonrpc": "2.0", "id": its, "method": method}
    return said if params is None else {**said, "params": params}


def modern(method: str, params: Any = None, its: Any = 1) -> tuple[dict[str, Any], dict[str, str]]:
    """(message, headers) of the modern era."""
    inside = {"protocolVersion": "2026-07-28", "clientInfo": INFO, "clientCapabilities": {}}
    meta = {f"{wire.META}{name}": value for name, value in inside.items()}
    meta |= (params or {}).get("_meta", {})
    said = message(method, {**(params or {}), "_meta": meta}, its)
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": method}
    if method in wire.NAMED:
        headers["mcp-name"] = stdio.header(str(said["params"].get(wire.NAMED[method])))
    return said, headers


def a_key(name: str = "ci", **limits: Any) -> Key:
    return Key(name, "", "", "", scope=Scope(name, **limits))


def called(posted: Any, headers: dict[str, str] | None = None, key: Key | None = None) -> Call:
    raw = posted if isinstance(posted, bytes) else json.dumps(posted).encode()
    call = Call("POST", "/mcp", {"accept": JSON, **(headers or {})}, raw)
    call.key = key
    return call


def messages(body: Any) -> list[dict[str, Any]]:
    """The messages of a reply, whole or streamed."""
    whole = body if isinstance(body, bytes) else b"".join(body)
    if not whole or whole.startswith(b"{"):
        return [json.loads(whole)] if whole else []
    lines = whole.decode().splitlines()
    return [json.loads(line[len("data: ") :]) for line in lines if line.startswith("data: ")]


class McpCase(House):
    """A bench with a fake provider, asked by messages."""

    def send(self, posted: Any, headers: Any = None, key: Key | None = None) -> tuple[int, Any, list[Any]]:
        """(status, headers, messages) of one reply."""
        call = called(posted, headers, key)
        try:
            with scope.of(key.scope if key else scope.OPEN):
                response = endpoint.post(call)
        except Problem as problem:
            response = wire.error(problem, call)
        return response.status, dict(response.headers), messages(response.body)

    def result(self, method: str, params: Any = None, **more: Any) -> Any:
        """The result of a request that must work."""
        status, _, said = self.send(message(method, params), **more)
        self.assertEqual(status, 200, said)
        self.assertIn("result", said[-1], said)
        return said[-1]["result"]

    def refused(self, posted: Any, number: int, status: int = 200, **more: Any) -> str:
        """The sentence of a message that must be refused, with that number and status."""
        got, _, said = self.send(posted, **more)
        self.assertEqual((got, said[-1]["error"]["code"]), (status, number), said)
        return str(said[-1]["error"]["message"])

    def tool(self, name: str, arguments: Any = None, **more: Any) -> Any:
        """The structured result of a tool that must work; its text says the same."""
        result = self.result("tools/call", {"name": name, "arguments": arguments or {}}, **more)
        self.assertFalse(result.get("isError"), result)
        if name != "ask":
            self.assertEqual(json.loads(result["content"][0]["text"]), result["structuredContent"])
        return result["structuredContent"]

    def fails(self, name: str, arguments: Any = None, **more: Any) -> str:
        """The sentence of a tool call that must fail as a result."""
        result = self.result("tools/call", {"name": name, "arguments": arguments or {}}, **more)
        self.assertTrue(result.get("isError"), result)
        self.assertNotIn("structuredContent", result)
        return str(result["content"][0]["text"])

    def asked(self, collection: str = "core", **more: Any) -> Any:
        """A panel that is over and written down."""
        key = more.pop("key", None)
        told = self.tool("ask", {"collection": collection, "prompt": "hello", **more}, key=key)
        until = time.monotonic() + 10
        while panels.find(told["panel"]) is None and time.monotonic() < until:
            pass
        return told
