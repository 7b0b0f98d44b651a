#!/usr/bin/env python3
"""LangChain's chat models over three formats: chat, Responses and Messages.

pip install langchain-openai langchain-anthropic && python tests/clients/run_langchain.py
"""

import base64
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import anthropic
import openai
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from tests.clients.checks import Checks, equal, holds, raises
from tests.clients.scripted import CITY, FOUND, PNG, READ_IT, SEEN, seat_all
from tests.provider import Provider
from tests.running import Running

Model = Callable[[str], BaseChatModel]


@tool
def read_file(path: str) -> str:
    """Read a file."""
    return f"{FOUND} are in {path}"


def main() -> int:
    with Provider() as provider, Running() as bench:
        seat_all(bench, provider)
        told: dict[str, Any] = {"api_key": "unused", "max_retries": 0, "timeout": 60}
        v1 = {**told, "base_url": f"{bench.url}/v1"}
        return max(
            checks("langchain-openai", lambda name: ChatOpenAI(model=name, stream_usage=True, **v1)),
            checks("langchain-openai", lambda name: ChatOpenAI(model=name, use_responses_api=True, **v1)),
            checks("langchain-anthropic", lambda name: ChatAnthropic(model=name, base_url=bench.url, **told)),
        )


def words(message: BaseMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return "".join(block.get("text", "") for block in message.content if isinstance(block, dict))


def checks(library: str, model: Model) -> int:
    check = Checks(f"{library} {version(library)}")
    for name, wanted in (
        ("bench/pair", "### m2"),
        ("core", "practice-lint"),
        ("c-plain:route", "first answer"),
    ):

        @check(f"asks {name}")
        def _(name: str = name, wanted: str = wanted) -> None:
            holds(words(model(name).invoke("hello")), wanted)

        @check(f"streams {name}")
        def _(name: str = name, wanted: str = wanted) -> None:
            pieces = list(model(name).stream("hello"))
            holds("".join(words(piece) for piece in pieces), wanted)
            equal(any(piece.usage_metadata for piece in pieces), True)

    @check("plays a tool loop, the call streamed")
    def _() -> None:
        bound = model("bench/agents").bind_tools([read_file])
        turns: list[BaseMessage] = [HumanMessage(READ_IT)]
        whole = None
        for piece in bound.stream(turns):
            whole = piece if whole is None else whole + piece
        equal([call["args"] for call in whole.tool_calls], [{"path": "notes.txt"}])
        turns.append(bound.invoke(turns))
        for call in turns[-1].tool_calls:
            turns.append(ToolMessage(read_file.invoke(call["args"]), tool_call_id=call["id"]))
        holds(words(bound.invoke(turns)), FOUND)

    @check("fills a schema")
    def _() -> None:
        filling = model("c-filling:route").with_structured_output({"title": "city", **CITY})
        equal(filling.invoke("Fill it in"), {"city": "Paris"})

    @check("passes a picture on")
    def _() -> None:
        picture = {"type": "image", "base64": base64.b64encode(PNG).decode(), "mime_type": "image/png"}
        asked = HumanMessage([{"type": "text", "text": "What is it?"}, picture])
        equal(words(model("c-seeing:route").invoke([asked])), SEEN)

    for name, kinds in (
        ("bench/typo", (openai.NotFoundError, anthropic.NotFoundError)),
        ("c-limited", (openai.RateLimitError, anthropic.RateLimitError)),
        ("c-cut:route", (openai.APIError, anthropic.APIError, ValueError)),
    ):

        @check(f"an error of {name} is raised, streamed")
        def _(name: str = name, kinds: Any = kinds) -> None:
            raises(kinds, lambda: list(model(name).stream("hello")))

    return check.end()


if __name__ == "__main__":
    sys.exit(main())
