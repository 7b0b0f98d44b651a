"""MCP over stdin and stdout: a line is a message, handed to the server's /mcp, and what it answers is written
as lines. Nothing of the protocol is decided here but how a message travels.

The headers that a message needs on HTTP are made from what it says itself
(modelcontextprotocol.io/specification/2026-07-28/basic/transports, and 2025-11-25 for older messages).
"""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any

from metrics.client import transport
from metrics.client.transport import Hangup
from metrics.commands.failure import Failure
from metrics.commands.server import LONGEST_LINE, Server, lines, parsed
from metrics.records import Problem

Json = dict[str, Any]
Id = str | int

PATH = "/mcp"
GRACE = 5.0  # seconds for what is under way when stdin ends
VERSION = "io.modelcontextprotocol/protocolVersion"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
PARSE_ERROR, INTERNAL = -32700, -32603


class Twin:
    """One client on stdin. `write` takes whole lines, from several threads but one at a time."""

    def __init__(self, server: Server, write: Callable[[str], None]) -> None:
        self._server = server
        self._write = write
        self._writing = threading.Lock()
        self._agreed: list[tuple[str, str]] = []  # headers that the handshake settled
        self._calls: dict[Id, Hangup] = {}
        self._threads: list[threading.Thread] = []

    def serve(self, stdin: Iterable[bytes]) -> None:
        """Until stdin ends. What is under way then has GRACE seconds; a panel goes on in the server."""
        for line in stdin:
            if line.strip():
                self.take(line)
        until = time.monotonic() + GRACE
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        for hangup in list(self._calls.values()):
            hangup.now()

    def take(self, line: bytes) -> None:
        """Hand one message on. A request has a thread of its own: others need not wait for a panel."""
        message = parsed(line)
        if not isinstance(message, dict):
            return self._say(_error(None, PARSE_ERROR, "a line must be one JSON object: a message"))
        its = message.get("id")
        if message.get("method") == "notifications/cancelled":
            self._cancel(message)
        if "method" not in message or its is None or not isinstance(its, str | int):
            return self._pass_on(message, line, None)
        self._calls[its] = Hangup()
        thread = threading.Thread(target=self._pass_on, args=(message, line, its), daemon=True)
        self._threads = [*(one for one in self._threads if one.is_alive()), thread]
        thread.start()
        if message["method"] == "initialize":
            thread.join()  # what follows needs what it settles
        return None

    def _cancel(self, message: Mapping[str, Any]) -> None:
        params = message.get("params")
        named = params.get("requestId") if isinstance(params, dict) else None
        hangup = self._calls.get(named) if isinstance(named, str | int) else None
        if hangup:
            hangup.now()

    def _pass_on(self, message: Json, line: bytes, its: Id | None) -> None:
        """Post it and say what comes back. A request that was cancelled gets no answer."""
        hangup = self._calls.get(its) if its is not None else None
        try:
            for answer in self._answers(message, line, hangup):
                if hangup is None or not hangup.done:
                    self._say(answer)
        except Problem as problem:
            failure = self._server.explained(problem)
            if its is not None and not (hangup and hangup.done):
                self._say(_error(its, INTERNAL, f"{failure.message}; {failure.hint}"))
        finally:
            if its is not None:
                self._calls.pop(its, None)

    def _answers(self, message: Json, line: bytes, hangup: Hangup | None) -> Iterator[Json]:
        headers = [*self._headers(), *mirrored(message, self._agreed)]
        wait = self._server.patience
        timeouts = transport.Timeouts(connect=min(wait, 10.0), first_byte=wait, idle=wait, total=wait)
        url = self._server.base + PATH
        opened = transport.shared().open("POST", url, headers, (line,), timeouts=timeouts, hangup=hangup)
        with closing(opened) as arrival:
            if arrival.headers.get("content-type", "").startswith("text/event-stream"):
                for data in lines(arrival.pieces()):
                    if data.startswith(b"data:"):
                        yield self._whole(data[len(b"data:") :], message, arrival)
                return
            body = arrival.read(LONGEST_LINE)
            if body:
                yield self._whole(body, message, arrival)

    def _headers(self) -> list[tuple[str, str]]:
        headers = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")]
        return headers + ([("Authorization", f"Bearer {self._server.key}")] if self._server.key else [])

    def _whole(self, body: bytes, message: Json, arrival: transport.Arrival) -> Json:
        """The answer as a message: an error that came before ours was read has no id. Failure for what is no
        message."""
        answer = parsed(body)
        if not isinstance(answer, dict) or answer.get("jsonrpc") != "2.0":
            raise self._server.refusal(PATH, arrival.status, arrival.headers, answer)
        if "method" not in answer and "id" not in answer and message.get("id") is not None:
            answer["id"] = message["id"]
        if message.get("method") == "initialize" and isinstance(answer.get("result"), dict):
            session = arrival.headers.get("mcp-session-id")
            self._agreed = [("MCP-Protocol-Version", str(answer["result"].get("protocolVersion")))]
            self._agreed += [("Mcp-Session-Id", session)] if session else []
        return answer

    def _say(self, answer: Json) -> None:
        with self._writing:
            self._write(json.dumps(answer) + "\n")  # ASCII: no console's encoding is in the way


def mirrored(message: Mapping[str, Any], agreed: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers that say what the message says: its version, method and name, where it is of the modern
    era; else what the handshake settled."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(VERSION) if isinstance(meta, dict) else None
    method = message.get("method")
    if not isinstance(version, str) or not isinstance(method, str):
        return [] if method == "initialize" else agreed
    headers = [("MCP-Protocol-Version", header(version)), ("Mcp-Method", header(method))]
    name = params.get(NAMED.get(method, "")) if isinstance(params, dict) else None
    return headers + ([("Mcp-Name", header(name))] if isinstance(name, str) else [])


def header(value: str) -> str:
    """A value as a header may carry it: what is not plain goes as `=?base64?…?=` over UTF-8."""
    plain = value.isascii() and value.isprintable() and value == value.strip()
    if plain and not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


def _error(its: Id | None, number: int, words: str) -> Json:
    named = {} if its is None else {"id": its}
    return {"jsonrpc": "2.0", **named, "error": {"code": number, "message": words}}


def start(server: Server, listens: Callable[[Server], bool], starts: Callable[[], object]) -> None:
    """Have a server: where nobody said which one is meant, a new one. One that cannot be had is no reason to
    end: the client hears so in answer to what it asks."""
    try:
        if not listens(server) and server.local and not server.named:
            starts()
    except Failure:
        return
