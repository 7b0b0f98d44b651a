#!/usr/bin/env python3
"""The official Python client against a running server, in both eras, over HTTP and stdio: what an agent does.

    BASE_URL=… KEY=… COMMAND='["bench", "mcp"]' python tests/clients/mcp/talk.py

scripts/check_mcp.py starts a server whose collection `quick` answers at once and `slow` in a second or two.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import anyio
import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.clients.checks import Checks, equal, holds

BASE, KEY = os.environ["BASE_URL"], os.environ["KEY"]
COMMAND = json.loads(os.environ["COMMAND"])
SAID = "the panel says hello"
TOOLS = ["list_collections", "ask", "verdict", "pending_verdicts", "why", "record", "usage"]
PATIENCE = 20.0  # seconds until a panel that nobody waits for is written down

Talk = Callable[[Client], Awaitable[None]]


def over_http() -> AbstractAsyncContextManager[Any]:
    client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, timeout=60)
    return streamable_http_client(f"{BASE}/mcp", http_client=client)


def over_stdio() -> AbstractAsyncContextManager[Any]:
    env = {"BENCHWARMERS_URL": BASE, "BENCHWARMERS_KEY": KEY}
    return stdio_client(StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=env))


async def lists(client: Client) -> None:
    equal([tool.name for tool in (await client.list_tools()).tools], TOOLS)
    told = (await client.call_tool("list_collections", {})).structured_content
    equal(sorted(one["name"] for one in told["collections"])[-2:], ["quick", "slow"])
    equal(len((await client.list_prompts()).prompts), 3)
    equal(len((await client.list_resource_templates()).resource_templates), 2)
    prompt = await client.get_prompt("review_diff", {"diff": "-a\n+b", "collection": "quick"})
    holds(prompt.messages[0].content.text, "the collection quick")
    holds(client.instructions, "Verify before you act")


async def asks(client: Client) -> None:
    heard: list[float] = []

    async def progress(done: float, total: float | None, words: str | None) -> None:
        heard.append(done)

    asked = {"collection": "slow", "prompt": f"ECHO {SAID}"}
    result = await client.call_tool("ask", asked, progress_callback=progress)
    told = result.structured_content
    equal((result.is_error, [seat["answer"] for seat in told["seats"]]), (False, [SAID, SAID]))
    holds(result.content[0].text, SAID)
    equal((heard == sorted(set(heard)), heard[-1] <= 2, len(heard) >= 2), (True, True, True))
    read = await client.read_resource(f"bench://panel/{told['panel']}")
    holds(read.contents[0].text, SAID)


async def judges(client: Client) -> None:
    told = (
        await client.call_tool("ask", {"collection": "quick", "prompt": f"ECHO {SAID}"})
    ).structured_content
    call = told["to_judge"][0]
    owed = (await client.call_tool("pending_verdicts", {})).structured_content["pending"]
    equal(call in [one["call"] for one in owed], True)
    given = {"call": call, "useful": True, "note": "it says hello", "real": [SAID]}
    equal((await client.call_tool("verdict", given)).structured_content["recorded"], True)
    owed = (await client.call_tool("pending_verdicts", {})).structured_content["pending"]
    equal(call in [one["call"] for one in owed], False)
    equal((await client.call_tool("why", {"call": call})).structured_content["verdict"]["useful"], True)
    record = (await client.call_tool("record", {"collection": "quick"})).structured_content
    equal(sum(one["useful"] for one in record["models"]) > 0, True)
    equal((await client.call_tool("usage", {})).structured_content["total"]["calls"] > 0, True)


async def cancels(client: Client) -> None:
    before = {str(one.uri) for one in (await client.list_resources()).resources}
    began = time.monotonic()
    with anyio.move_on_after(0.4):
        await client.call_tool("ask", {"collection": "slow", "prompt": f"ECHO {SAID} after all"})
        raise AssertionError("it was not slow")
    equal(time.monotonic() - began < 1.4, True)
    while time.monotonic() - began < PATIENCE:
        fresh = [one for one in (await client.list_resources()).resources if str(one.uri) not in before]
        for one in fresh:
            read = await client.read_resource(str(one.uri))
            if read.contents[0].text.count(f'"{SAID} after all"') == 2:
                return
        await anyio.sleep(0.1)
    raise AssertionError("the panel was not recorded")


async def fails(client: Client) -> None:
    refused = await client.call_tool("ask", {"collection": "nowhere", "prompt": "x"})
    equal(refused.is_error, True)
    holds(refused.content[0].text, 'no collection "nowhere"')


TALKS: dict[str, Talk] = {
    "lists tools, collections, prompts and templates": lists,
    "asks with progress, and reads the panel": asks,
    "judges": judges,
    "cancels, and the panel goes on": cancels,
    "hears what is wrong": fails,
}


async def talk(transport: Callable[[], AbstractAsyncContextManager[Any]], mode: str, said: Talk) -> None:
    async with Client(transport(), mode=mode) as client:
        equal(client.protocol_version, {"auto": "2026-07-28", "legacy": "2025-11-25"}[mode])
        await said(client)


def main() -> int:
    check = Checks(f"mcp {version('mcp')}")
    for name, transport in (("HTTP", over_http), ("stdio", over_stdio)):
        for mode in ("auto", "legacy"):
            for what, said in TALKS.items():
                check(f"{name}, {mode}: {what}")(
                    lambda transport=transport, mode=mode, said=said: asyncio.run(talk(transport, mode, said))
                )
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
