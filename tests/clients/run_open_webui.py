#!/usr/bin/env python3
"""What Open WebUI sends through its connections to Ollama and to OpenAI, and what it reads in the answers.

pip install aiohttp && python tests/clients/run_open_webui.py

Recorded from Open WebUI 0.12.4, run from its wheel against this server; it needs a hundred packages, too
many to install for a check. These are its requests in their order, with its headers, through the HTTP client
it uses. A chat in its window brings built-in tools unless they are switched off for the model ("Builtin
Tools"), so a panel is asked without them, and a route with them.
"""

import asyncio
import base64
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import aiohttp

from tests.clients.checks import Checks, equal, holds
from tests.clients.scripted import HELLO, PNG, SEEN, seat_all
from tests.provider import Provider
from tests.running import Running

HEADERS = {
    "Content-Type": "application/json",
    "Authorization": "Bearer unused",
    # With ENABLE_FORWARD_USER_INFO_HEADERS; the name is percent-encoded.
    "X-OpenWebUI-Auth-Type": "jwt",
    "X-OpenWebUI-User-Name": "J%C3%BCrg",
    "X-OpenWebUI-User-Id": "8c6659fd-e74e-4566-b88d-725228921893",
    "X-OpenWebUI-User-Email": "admin@localhost",
    "X-OpenWebUI-User-Role": "admin",
    "X-OpenWebUI-Chat-Id": "a055557f-7937-48c7-ae52-fd0fa09c40b3",
}
CLOCK = {
    "name": "get_current_timestamp",
    "description": "Get the current Unix timestamp in seconds.",
    "parameters": {"properties": {}, "type": "object"},
}
TOOLS = [{"type": "function", "function": CLOCK}]
NOW = '{"current_timestamp":1795969841}'
TITLE = [{"role": "user", "content": "### Task:\nGenerate a concise title summarizing the chat history.\n"}]
PICTURE = base64.b64encode(PNG).decode()
Json = dict[str, Any]


@dataclass(frozen=True)
class Connection:
    """`said` finds the messages, or deltas, in the lines of a stream; `called` makes of them the
    calls as they go back."""

    name: str
    path: str
    kind: str
    extra: Mapping[str, Any]
    said: Callable[[Sequence[str]], list[Json]]
    whole: Callable[[Json], Json]
    shown: Json
    called: Callable[[Sequence[Json]], list[Json]]
    problem: Callable[[Json], str]


def ollama_said(lines: Sequence[str]) -> list[Json]:
    told = [json.loads(line) for line in lines]
    equal([line["done"] for line in told], [False] * (len(told) - 1) + [True])
    counts = ("prompt_eval_count", "eval_count", "eval_duration", "total_duration", "load_duration")
    equal([type(told[-1][count]) for count in counts], [int] * len(counts))
    return [line["message"] for line in told]


def openai_said(lines: Sequence[str]) -> list[Json]:
    told = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    equal(told[-1], "[DONE]")
    chunks = [json.loads(chunk) for chunk in told[:-1]]
    equal(any(chunk.get("usage") for chunk in chunks), True)
    return [choice["delta"] for chunk in chunks for choice in chunk["choices"]]


def ollama_called(messages: Sequence[Json]) -> list[Json]:
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    return [{"index": 0, "id": call["id"], "function": call["function"]} for call in calls]


def openai_called(messages: Sequence[Json]) -> list[Json]:
    """Of one call: the first piece names it, and each holds some of its arguments."""
    pieces = [piece for message in messages for piece in message.get("tool_calls") or ()]
    function = {
        "name": pieces[0]["function"]["name"],
        "arguments": "".join(piece["function"]["arguments"] for piece in pieces),
    }
    return [{"id": pieces[0]["id"], "type": "function", "function": function}]


OLLAMA = Connection(
    name="Ollama",
    path="/api/chat",
    kind="application/x-ndjson",
    extra={},
    said=ollama_said,
    whole=lambda reply: reply["message"],
    shown={"role": "user", "content": "What is it?", "images": [PICTURE]},
    called=ollama_called,
    problem=lambda reply: reply["error"],
)
OPENAI = Connection(
    name="OpenAI",
    path="/v1/chat/completions",
    kind="text/event-stream",
    extra={"stream_options": {"include_usage": True}},
    said=openai_said,
    whole=lambda reply: reply["choices"][0]["message"],
    shown={
        "role": "user",
        "content": [
            {"type": "text", "text": "What is it?"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
        ],
    },
    called=openai_called,
    problem=lambda reply: reply["error"]["message"],
)


def main() -> int:
    with Provider() as provider, Running() as bench:
        seat_all(bench, provider)
        check = Checks("Open WebUI 0.12.4")
        lists(check, bench.url)
        for connection in (OLLAMA, OPENAI):
            chats(check, connection, bench.url)
        return check.end()


def ask(url: str, body: Json | None = None, **headers: str) -> tuple[int, str, list[str]]:
    """Status, content type and the lines of the answer, one by one as it reads them."""

    async def within() -> tuple[int, str, list[str]]:
        method = "POST" if body else "GET"
        sent = json.dumps(body, ensure_ascii=False, separators=(",", ":")) if body else None
        async with aiohttp.ClientSession(trust_env=True) as session:
            async with session.request(method, url, data=sent, headers={**HEADERS, **headers}) as answer:
                lines = [line.decode().strip() async for line in answer.content]
                return answer.status, answer.headers["Content-Type"].partition(";")[0], lines

    return asyncio.run(within())


def got(url: str) -> Any:
    status, kind, lines = ask(url)
    equal((status, kind), (200, "application/json"))
    return json.loads("".join(lines))


def lists(check: Checks, base: str) -> None:
    wanted = {"bench/core", "bench/core:merged", "bench/core:route"}

    @check("Ollama: a connection is tried by its version")
    def _() -> None:
        version = got(f"{base}/api/version")["version"]
        equal([part.isdigit() for part in version.split("-")[0].split(".")], [True] * 3)

    @check("Ollama: models are listed, then those that are loaded")
    def _() -> None:
        equal({model["model"] for model in got(f"{base}/api/tags")["models"]} >= wanted, True)
        equal(got(f"{base}/api/ps")["models"], [])

    @check("OpenAI: a connection is tried by its list of models")
    def _() -> None:
        names = [model["id"] for model in got(f"{base}/v1/models")["data"]]
        equal((set(names) >= wanted, len(names)), (True, len(set(names))))


def chats(check: Checks, connection: Connection, base: str) -> None:
    url = base + connection.path

    def say(model: str, messages: Sequence[Json], **more: Any) -> list[Json]:
        body = {"stream": True, "model": model, "messages": [*messages], **connection.extra, **more}
        status, kind, lines = ask(url, body)
        equal((status, kind), (200, connection.kind))
        return connection.said(lines)

    def words(messages: Sequence[Json]) -> str:
        return "".join(message.get("content") or "" for message in messages)

    for model, wanted, more in (
        ("bench/pair", "### m2", {}),
        ("bench/core", "practice-lint", {}),
        ("bench/c-plain:route", "first answer", {"tools": TOOLS}),
    ):

        @check(f"{connection.name}: {model} is asked, streamed")
        def _(model: str = model, wanted: str = wanted, more: Json = more) -> None:
            holds(words(say(model, HELLO, **more)), wanted)

    @check(f"{connection.name}: a tool of its own is called, and its result goes back")
    def _() -> None:
        calls = connection.called(say("bench/agents", HELLO, tools=TOOLS))
        equal([call["function"]["name"] for call in calls], [CLOCK["name"]])
        said = {"role": "assistant", "content": "", "tool_calls": calls}
        result = {"role": "tool", "content": NOW, "tool_call_id": calls[0]["id"]}
        holds(words(say("bench/agents", [*HELLO, said, result], tools=TOOLS)), "1795969841")

    @check(f"{connection.name}: a picture")
    def _() -> None:
        equal(words(say("bench/c-seeing:route", [connection.shown])), SEEN)

    @check(f"{connection.name}: a title is asked for afterwards, whole")
    def _() -> None:
        status, kind, lines = ask(url, {"model": "bench/core", "messages": TITLE, "stream": False})
        equal((status, kind), (200, "application/json"))
        equal(bool(connection.whole(json.loads("".join(lines)))["content"]), True)

    @check(f"{connection.name}: tools on a panel: its window shows what to do")
    def _() -> None:
        body = {"stream": True, "model": "bench/core", "messages": HELLO, "tools": TOOLS}
        status, _, lines = ask(url, body)
        equal(status, 400)
        holds(connection.problem(json.loads("".join(lines))), ":route")


if __name__ == "__main__":
    sys.exit(main())
