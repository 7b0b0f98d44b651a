#!/usr/bin/env python3
"""The ollama library for Python against a real server: list, show, ask, stream, call tools, and each error.

pip install ollama && python tests/clients/run_ollama.py
"""

import base64
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from importlib.metadata import version

import ollama

from tests.clients.checks import Checks, equal, holds, raises
from tests.provider import CUT, Provider, chunk, error, stream, text
from tests.running import Running

HELLO = [{"role": "user", "content": "hello"}]
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Read a file",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
            },
        },
    }
]


def main() -> int:
    with Provider() as provider, Running() as bench:
        bench.seat("pair", provider.base, "m1", "m2")
        bench.seat("one", provider.base, "m3", reply="route")
        bench.save("/api/model", alias="m3", tools=True, vision=True, context=9000)
        bench.save("/api/collection", name="agents", members=["practice-agent"], explorers=0, reply="route")
        for alias, answer in {
            "limited": error(429, "slow down", headers={"Retry-After": "77"}),
            "refusing": error(400, "no such parameter"),
            "broken": error(500, "boom"),
        }.items():
            provider.script(alias, answer)
            bench.seat(f"c-{alias}", provider.base, alias)
        provider.script("m1", text("first answer"))
        client = ollama.Client(host=bench.url, timeout=60)
        check = Checks(f"ollama {version('ollama')}")
        listing(check, client)
        panels(check, client)
        routes(check, client, provider)
        tools(check, client)
        failures(check, client, provider)
        return check.end()


def listing(check: Checks, client: ollama.Client) -> None:
    @check("lists collections, each with a size and a digest")
    def _() -> None:
        listed = client.list().models
        for wanted in ("bench/core", "bench/core:merged", "bench/pair"):
            equal(wanted in [model.model for model in listed], True)
        equal(all(model.size and model.digest for model in listed), True)

    @check("shows one: its window, and what it can do")
    def _() -> None:
        told = client.show("bench/one")
        equal(told.modelinfo[f"{told.modelinfo['general.architecture']}.context_length"], 9000)
        equal(set(told.capabilities), {"completion", "tools", "vision"})
        equal(client.show("bench/core:latest").capabilities, ["completion"])

    @check("nothing is loaded")
    def _() -> None:
        equal(list(client.ps().models), [])

    @check("loads and unloads at once")
    def _() -> None:
        equal(client.chat("bench/core", []).done_reason, "load")
        equal(client.chat("bench/core", [], keep_alive=0).done_reason, "unload")
        equal(client.generate("bench/core").done_reason, "load")


def panels(check: Checks, client: ollama.Client) -> None:
    @check("asks a panel")
    def _() -> None:
        reply = client.chat("bench/pair", HELLO)
        holds(reply.message.content, "first answer")
        holds(reply.message.content, "### m2")
        equal((reply.done, reply.done_reason, bool(reply.eval_count)), (True, "stop", True))

    @check("asks the practice squad, with turns and options")
    def _() -> None:
        turns = [{"role": "system", "content": "s"}, *HELLO, {"role": "assistant", "content": "a"}, *HELLO]
        options = {"temperature": 0, "num_ctx": 8192, "num_predict": 300, "top_k": 5, "seed": 1}
        reply = client.chat("core", turns, options=options, keep_alive="5m", think=False)
        holds(reply.message.content, "practice-lint")

    @check("streams a panel")
    def _() -> None:
        lines = list(client.chat("bench/pair", HELLO, stream=True))
        holds("".join(line.message.content for line in lines), "first answer")
        equal([line.done for line in lines], [False] * (len(lines) - 1) + [True])
        equal(min(lines[-1].total_duration, lines[-1].eval_duration) > 0, True)

    for streamed in (False, True):

        @check(f"generates, streamed={streamed}")
        def _(streamed: bool = streamed) -> None:
            told = client.generate("bench/pair", "hello", system="s", stream=streamed)
            lines = list(told) if streamed else [told]
            holds("".join(line.response for line in lines), "first answer")
            equal(lines[-1].done_reason, "stop")

    @check("refuses tools in a panel by name")
    def _() -> None:
        problem = raises(ollama.ResponseError, lambda: client.chat("bench/pair", HELLO, tools=TOOLS))
        equal(problem.status_code, 400)
        holds(problem.error, ":route")


def routes(check: Checks, client: ollama.Client, provider: Provider) -> None:
    def sent() -> dict:
        return provider.of("m3")[-1].json

    @check("passes a picture on")
    def _() -> None:
        url = "data:image/png;base64," + base64.b64encode(PNG).decode()
        client.chat("bench/one", [{"role": "user", "content": "What is it?", "images": [PNG]}])
        equal(sent()["messages"][-1]["content"][1]["image_url"]["url"], url)
        client.generate("bench/one", "What is it?", images=[PNG])
        equal(sent()["messages"][-1]["content"][1]["image_url"]["url"], url)

    @check("asks for JSON by a schema")
    def _() -> None:
        provider.script("m3", text('{"city": "Bern"}'))
        equal(client.chat("bench/one", HELLO, format=SCHEMA).message.content, '{"city": "Bern"}')
        equal(sent()["response_format"]["json_schema"]["schema"], SCHEMA)
        client.chat("bench/one", HELLO, format="json")
        equal(sent()["response_format"], {"type": "json_object"})

    @check("shows thinking as thinking")
    def _() -> None:
        provider.script(
            "m3", stream(chunk({"reasoning_content": "hm"}), chunk({"content": "x"}), chunk({}, "stop"))
        )
        lines = list(client.chat("bench/one", HELLO, think="low", stream=True))
        equal("".join(line.message.thinking or "" for line in lines), "hm")
        equal("".join(line.message.content or "" for line in lines), "x")
        equal(sent()["reasoning_effort"], "low")

    @check("reads line breaks of Unicode inside a text")
    def _() -> None:
        provider.script("m3", text("a\u2028b\x85c\u2029d"))
        lines = client.chat("bench/one", HELLO, stream=True)
        equal("".join(line.message.content for line in lines), "a\u2028b\x85c\u2029d")


def tools(check: Checks, client: ollama.Client) -> None:
    def read_file(path: str) -> str:
        """Read a file.

        Args:
          path: which
        """
        return f"seven herons are in {path}"

    asked = [{"role": "user", "content": "Read the file notes.txt"}]
    for streamed in (False, True):
        for declared in (TOOLS, [read_file]):

            @check(f"plays a tool loop, streamed={streamed}, function={declared is not TOOLS}")
            def _(streamed: bool = streamed, declared: list = declared) -> None:
                told = client.chat("bench/agents", asked, tools=declared, stream=streamed)
                lines = list(told) if streamed else [told]
                calls = [call for line in lines for call in line.message.tool_calls or []]
                equal([call.function.name for call in calls], ["read_file"])
                equal(dict(calls[0].function.arguments), {"path": "notes.txt"})
                said = {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [call.model_dump() for call in calls],
                }
                result = {
                    "role": "tool",
                    "tool_name": "read_file",
                    "content": read_file(**calls[0].function.arguments),
                }
                last = client.chat("bench/agents", [*asked, said, result], tools=declared)
                holds(last.message.content, "seven herons")


def failures(check: Checks, client: ollama.Client, provider: Provider) -> None:
    def ask(model: str) -> object:
        return client.chat(model, HELLO)

    def say(model: str) -> object:
        return list(client.chat(model, HELLO, stream=True))

    for how, function in (("whole", ask), ("streamed", say)):
        for model, code, said in (
            ("bench/typo", 404, "model 'bench/typo' not found"),
            ("c-refusing", 400, "no such parameter"),
            ("c-limited", 429, "rate limited"),
            ("c-broken", 502, "boom"),
        ):

            @check(f"{code}, {how}")
            def _(function=function, model=model, code=code, said=said, how=how) -> None:
                problem = raises(ollama.ResponseError, lambda: function(model))
                # Asking a member again can take so long that the stream has begun: no status then.
                equal(problem.status_code in ((code, -1) if how == "streamed" else (code,)), True)
                holds(problem.error, said)

    @check("an error in the stream is raised, after what was said")
    def _() -> None:
        provider.script("m3", stream(chunk({"content": "half"}), CUT, done=False))
        said = ""
        try:
            for line in client.chat("bench/one", HELLO, stream=True):
                said += line.message.content
        except ollama.ResponseError:
            equal(said, "half")
        else:
            raise AssertionError(f"nothing was raised after {said!r}")

    for name, call in (
        ("pull", lambda: client.pull("bench/core")),
        ("create", lambda: client.create("x", from_="bench/core")),
        ("delete", lambda: client.delete("bench/core")),
        ("copy", lambda: client.copy("a", "b")),
    ):

        @check(f"{name} says how collections are managed")
        def _(call=call) -> None:
            holds(raises(ollama.ResponseError, call).error, "bench collection save")

    @check("embeddings are refused in words")
    def _() -> None:
        holds(raises(ollama.ResponseError, lambda: client.embed("bench/core", "x")).error, "embedding")


if __name__ == "__main__":
    sys.exit(main())
