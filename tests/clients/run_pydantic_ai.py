#!/usr/bin/env python3
"""pydantic-ai over four formats: chat, Responses, Messages and Gemini.

pip install 'pydantic-ai-slim[openai,anthropic,google]' && python tests/clients/run_pydantic_ai.py
"""

import asyncio
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import pydantic
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.clients.checks import Checks, equal, holds, raises
from tests.clients.scripted import FOUND, PNG, READ_IT, SEEN, seat_all
from tests.provider import Provider
from tests.running import Running

Maker = Callable[[str], Model]


class City(pydantic.BaseModel):
    city: str


def main() -> int:
    with Provider() as provider, Running() as bench:
        seat_all(bench, provider)
        openai = OpenAIProvider(base_url=f"{bench.url}/v1", api_key="unused")
        anthropic = AnthropicProvider(base_url=bench.url, api_key="unused")
        google = GoogleProvider(base_url=bench.url, api_key="unused")
        makers: dict[str, Maker] = {
            "chat": lambda name: OpenAIChatModel(name, provider=openai),
            "Responses": lambda name: OpenAIResponsesModel(name, provider=openai),
            "Messages": lambda name: AnthropicModel(name, provider=anthropic),
            "Gemini": lambda name: GoogleModel(name, provider=google),
        }
        library = f"pydantic-ai {version('pydantic-ai-slim')}"
        return max([checks(f"{library}, {name}", maker) for name, maker in makers.items()])


def checks(library: str, model: Maker) -> int:
    check = Checks(library)

    def streamed(name: str) -> str:
        async def run() -> str:
            async with Agent(model(name)).run_stream("hello") as result:
                return await result.get_output()

        return asyncio.run(run())

    for name, wanted in (
        ("bench/pair", "### m2"),
        ("core", "practice-lint"),
        ("c-plain:route", "first answer"),
    ):

        @check(f"asks {name}")
        def _(name: str = name, wanted: str = wanted) -> None:
            result = Agent(model(name), instructions="Be brief.").run_sync("hello")
            holds(result.output, wanted)

        @check(f"streams {name}")
        def _(name: str = name, wanted: str = wanted) -> None:
            holds(streamed(name), wanted)

    @check("plays a tool loop")
    def _() -> None:
        agent = Agent(model("bench/agents"))

        @agent.tool_plain
        def read_file(path: str) -> str:
            """Read a file."""
            return f"{FOUND} are in {path}"

        holds(agent.run_sync(READ_IT).output, f"{FOUND} are in notes.txt")

    @check("fills a schema by a tool")
    def _() -> None:
        equal(
            Agent(model("c-filling:route"), output_type=City).run_sync("Fill it in").output,
            City(city="Paris"),
        )

    @check("passes a picture on")
    def _() -> None:
        asked = ["What is it?", BinaryContent(PNG, media_type="image/png")]
        equal(Agent(model("c-seeing:route")).run_sync(asked).output, SEEN)

    for name in ("bench/typo", "c-refusing", "c-cut:route"):

        @check(f"an error of {name} is raised, streamed")
        def _(name: str = name) -> None:
            raises((ModelAPIError, UnexpectedModelBehavior), lambda: streamed(name))

    return check.end()


if __name__ == "__main__":
    sys.exit(main())
