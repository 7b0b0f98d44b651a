#!/usr/bin/env python3
"""LiteLLM as a client, over five formats: chat, Responses, Messages, Ollama and Gemini.

pip install litellm && python tests/clients/run_litellm.py
"""

import base64
import json
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it fetches its price list when imported
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import litellm
import openai
from litellm.exceptions import MidStreamFallbackError

from tests.clients.checks import Checks, equal, holds, raises
from tests.clients.scripted import CITY, FOUND, HELLO, PNG, READ_IT, SEEN, seat_all
from tests.provider import Provider
from tests.running import Running

TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "city", "strict": True, "schema": CITY}}
# provider -> what follows the server's address in its api_base
PROVIDERS = {
    "openai": "/v1",
    "openai/responses": "/v1",
    "anthropic": "",
    "ollama_chat": "",
    "gemini": "/v1beta",
}


def main() -> int:
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    with Provider() as provider, Running() as bench:
        seat_all(bench, provider)
        library = f"litellm {version('litellm')}"
        ends = [checks(f"{library}, {name}", name, bench.url + path) for name, path in PROVIDERS.items()]
        return max(lists(library, bench.url), *ends)


def lists(library: str, base: str) -> int:
    check = Checks(library)
    for provider in ("openai", "anthropic", "ollama", "gemini"):

        @check(f"lists as {provider}")
        def _(provider: str = provider) -> None:
            names = litellm.get_valid_models(True, provider, api_key="unused", api_base=base)
            equal(
                {name.removeprefix(f"{provider}/") for name in names} >= {"bench/core", "bench/core:merged"},
                True,
            )

    return check.end()


def checks(library: str, provider: str, base: str) -> int:
    check = Checks(library)

    def ask(model: str, messages: Any = HELLO, **more: Any) -> Any:
        told = {"api_base": base, "api_key": "unused", "timeout": 60, "num_retries": 0, "max_retries": 0}
        return litellm.completion(model=f"{provider}/{model}", messages=messages, **told, **more)

    def streamed(model: str) -> str:
        pieces = ask(model, stream=True)
        return "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)

    for model, wanted in (
        ("bench/pair", "### m2"),
        ("core", "practice-lint"),
        ("c-plain:route", "first answer"),
    ):

        @check(f"asks {model}")
        def _(model: str = model, wanted: str = wanted) -> None:
            reply = ask(model)
            holds(reply.choices[0].message.content, wanted)
            equal((reply.choices[0].finish_reason, reply.usage.total_tokens > 0), ("stop", True))

        @check(f"streams {model}")
        def _(model: str = model, wanted: str = wanted) -> None:
            holds(streamed(model), wanted)

    @check("plays a tool loop")
    def _() -> None:
        turns = [{"role": "user", "content": READ_IT}]
        said = ask("bench/agents", turns, tools=[TOOL]).choices[0].message
        equal([json.loads(call.function.arguments) for call in said.tool_calls], [{"path": "notes.txt"}])
        result = {
            "role": "tool",
            "tool_call_id": said.tool_calls[0].id,
            "name": "read_file",
            "content": FOUND,
        }
        holds(ask("bench/agents", [*turns, said, result], tools=[TOOL]).choices[0].message.content, FOUND)

    @check("fills a schema")
    def _() -> None:
        reply = ask("c-filling:route", response_format=FORMAT)
        equal(json.loads(reply.choices[0].message.content), {"city": "Paris"})

    @check("passes a picture on")
    def _() -> None:
        url = "data:image/png;base64," + base64.b64encode(PNG).decode()
        parts = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": url}}]
        reply = ask("c-seeing:route", [{"role": "user", "content": parts}])
        equal(reply.choices[0].message.content, SEEN)

    failures(check, streamed)
    return check.end()


def failures(check: Checks, streamed: Callable[[str], str]) -> None:
    # Gemini's client of LiteLLM takes whatever happens in a stream for the stream's own.
    for model, kinds in (
        ("bench/typo", (litellm.NotFoundError,)),
        ("c-limited", (litellm.RateLimitError, MidStreamFallbackError)),
        ("c-cut:route", (openai.APIError,)),
    ):

        @check(f"an error of {model} is raised, streamed")
        def _(model: str = model, kinds: Any = kinds) -> None:
            raises(kinds, lambda: streamed(model))


if __name__ == "__main__":
    sys.exit(main())
