#!/usr/bin/env python3
"""What Open WebUI sends through its two kinds of connection, Ollama and OpenAI, in the order it sends it.

pip install aiohttp && python tests/clients/run_open_webui.py

Open WebUI itself brings a hundred packages, too many to install for a check. These are the requests of
version 0.12.4, through the HTTP client it uses, and what it reads in the answers, by its routers/ (ollama.py,
openai.py, tasks.py) and utils/ (headers.py, payload.py, response.py, middleware.py). A chat in its window
brings built-in tools unless they are off for the model: a panel is asked without, `:route` with them.
"""

import asyncio
import base64
import json
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import aiohttp

from tests.clients.checks import Checks, equal, holds
from tests.clients.scripted import CITY, HELLO, PNG, SEEN, seat_all
from tests.provider import Provider
from tests.running import Running

Call = Callable[[aiohttp.ClientSession], Coroutine[Any, Any, None]]
JSON = {"Content-Type": "application/json"}
KEY = {"Authorization": "Bearer unused"}
# ENABLE_FORWARD_USER_INFO_HEADERS adds these; names are percent-encoded.
USER = {
    "X-OpenWebUI-User-Name": "J%C3%BCrg",
    "X-OpenWebUI-User-Id": "0b1c",
    "X-OpenWebUI-User-Email": "j@example.org",
    "X-OpenWebUI-User-Role": "admin",
    "X-OpenWebUI-Chat-Id": "5f2e",
}
TOOL = {
    "type": "function",
    "function": {"name": "get_current_timestamp", "description": "Now.", "parameters": CITY},
}
URL = "data:image/png;base64," + base64.b64encode(PNG).decode()
TITLE = [{"role": "user", "content": "### Task:\nGenerate a concise, 3-5 word title.\n"}]


def main() -> int:
    with Provider() as provider, Running() as bench:
        seat_all(bench, provider)
        check = Checks("Open WebUI 0.12.4")
        ollama(check, bench.url)
        openai(check, f"{bench.url}/v1")
        return check.end()


def run(call: Call) -> None:
    async def within() -> None:
        # trust_env and an unbounded wait for streams, as its pool has them.
        async with aiohttp.ClientSession(trust_env=True, timeout=aiohttp.ClientTimeout(300)) as session:
            await call(session)

    asyncio.run(within())


async def got(session: aiohttp.ClientSession, url: str, headers: dict[str, str]) -> Any:
    async with session.get(url, headers=headers) as answer:
        equal(answer.status, 200)
        return await answer.json()


async def posted(session: aiohttp.ClientSession, url: str, body: Any, status: int = 200) -> Any:
    async with session.post(url, data=json.dumps(body), headers={**JSON, **KEY, **USER}) as answer:
        equal(answer.status, status)
        return await answer.json()


async def lines(session: aiohttp.ClientSession, url: str, body: Any, kind: str) -> list[str]:
    async with session.post(url, data=json.dumps(body), headers={**JSON, **KEY, **USER}) as answer:
        equal((answer.status, answer.headers["Content-Type"].partition(";")[0]), (200, kind))
        return [line.decode().strip() async for line in answer.content]


def ollama(check: Checks, base: str) -> None:
    @check("Ollama: a connection is tried")
    def _() -> None:
        async def call(session: aiohttp.ClientSession) -> None:
            told = await got(session, f"{base}/api/version", {**JSON, **KEY})
            # The lowest of several connections is shown: parts of numbers, after an optional v.
            equal(
                [part.isdigit() for part in told["version"].lstrip("v").split("-")[0].split(".")], [True] * 3
            )

        run(call)

    @check("Ollama: models are listed, then those that are loaded")
    def _() -> None:
        async def call(session: aiohttp.ClientSession) -> None:
            listed = (await got(session, f"{base}/api/tags", JSON))["models"]
            names = {model["model"]: model["name"] for model in listed}
            equal({"bench/core", "bench/core:merged", "bench/core:route"} <= set(names), True)
            equal([model["details"]["family"] and model["digest"] for model in listed].count(None), 0)
            equal((await got(session, f"{base}/api/ps", JSON))["models"], [])

        run(call)

    for model, wanted, more in (
        ("bench/pair", "### m2", {}),
        (
            "bench/core",
            "practice-lint",
            {"options": {"temperature": 0.8, "num_ctx": 8192, "num_predict": 500}},
        ),
        ("c-plain:route", "first answer", {"tools": [TOOL]}),
    ):

        @check(f"Ollama: {model} is asked, streamed, line by line")
        def _(model: str = model, wanted: str = wanted, more: dict[str, Any] = more) -> None:
            async def call(session: aiohttp.ClientSession) -> None:
                body = {"model": model, "messages": HELLO, "stream": True, **more}
                said = [
                    json.loads(line)
                    for line in await lines(session, f"{base}/api/chat", body, "application/x-ndjson")
                ]
                holds("".join(line["message"]["content"] for line in said), wanted)
                equal([line["done"] for line in said], [False] * (len(said) - 1) + [True])
                counts = (
                    "prompt_eval_count",
                    "eval_count",
                    "eval_duration",
                    "total_duration",
                    "load_duration",
                )
                equal([type(said[-1][count]) for count in counts], [int] * len(counts))

            run(call)

    @check("Ollama: a picture, without its data URL's head")
    def _() -> None:
        async def call(session: aiohttp.ClientSession) -> None:
            shown = [{"role": "user", "content": "What is it?", "images": [URL.split(",")[-1]]}]
            body = {"model": "c-seeing:route", "messages": shown, "stream": True}
            told = await lines(session, f"{base}/api/chat", body, "application/x-ndjson")
            equal("".join(json.loads(line)["message"]["content"] for line in told), SEEN)

        run(call)

    @check("Ollama: a title is asked for afterwards, whole")
    def _() -> None:
        async def call(session: aiohttp.ClientSession) -> None:
            body = {
                "model": "bench/core",
                "messages": TITLE,
                "stream": False,
                "options": {"num_predict": 1000},
            }
            told = await posted(session, f"{base}/api/chat", body)
            equal((bool(told["message"]["content"]), told["done"]), (True, True))

        run(call)

    @check("Ollama: tools on a panel: what it shows says what to do")
    def _() -> None:
        async def call(session: aiohttp.ClientSession) -> None:
            body = {"model": "bench/core", "messages": HELLO, "stream": True, "tools": [TOOL]}
            holds((await posted(session, f"{base}/api/chat", body, 400))["error"], ":route")

        run(call)


def openai(check: Checks, base: str) -> None:
    @check("OpenAI: models are listed, with a key and without")
    def _() -> None:
        async def call(session: aiohttp.ClientSession) -> None:
            for headers in ({**JSON, **KEY}, {}):
                names = [model["id"] for model in (await got(session, f"{base}/models", headers))["data"]]
                equal({"bench/core", "bench/core:merged", "bench/core:route"} <= set(names), True)
                equal(len(names), len(set(names)))

        run(call)

    for model, wanted, more in (
        ("bench/pair", "### m2", {"stream_options": {"include_usage": True}}),
        ("bench/core", "practice-lint", {"temperature": 0.8, "max_tokens": 500}),
        ("c-plain:route", "first answer", {"tools": [TOOL]}),
    ):

        @check(f"OpenAI: {model} is asked, streamed")
        def _(model: str = model, wanted: str = wanted, more: dict[str, Any] = more) -> None:
            async def call(session: aiohttp.ClientSession) -> None:
                body = {"stream": True, "model": model, "messages": HELLO, **more}
                told = await lines(session, f"{base}/chat/completions", body, "text/event-stream")
                pieces = [line.removeprefix("data: ") for line in told if line.startswith("data: ")]
                equal(pieces[-1], "[DONE]")
                choices = [choice for piece in pieces[:-1] for choice in json.loads(piece)["choices"]]
                holds("".join(choice["delta"].get("content") or "" for choice in choices), wanted)

            run(call)

    @check("OpenAI: a picture")
    def _() -> None:
        async def call(session: aiohttp.ClientSession) -> None:
            parts = [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": URL}},
            ]
            body = {
                "model": "c-seeing:route",
                "messages": [{"role": "user", "content": parts}],
                "stream": False,
            }
            told = await posted(session, f"{base}/chat/completions", body)
            equal(told["choices"][0]["message"]["content"], SEEN)

        run(call)

    @check("OpenAI: a title is asked for afterwards, whole")
    def _() -> None:
        async def call(session: aiohttp.ClientSession) -> None:
            body = {"model": "bench/core", "messages": TITLE, "stream": False, "max_tokens": 1000}
            told = await posted(session, f"{base}/chat/completions", body)
            equal(bool(told["choices"][0]["message"]["content"]), True)

        run(call)

    @check("OpenAI: tools on a panel: what it shows says what to do")
    def _() -> None:
        async def call(session: aiohttp.ClientSession) -> None:
            body = {"model": "bench/core", "messages": HELLO, "stream": True, "tools": [TOOL]}
            told = await posted(session, f"{base}/chat/completions", body, 400)
            holds(told["error"]["message"], ":route")

        run(call)


if __name__ == "__main__":
    sys.exit(main())
