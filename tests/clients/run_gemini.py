#!/usr/bin/env python3
"""google-genai for Python against a real server: list, ask, stream, tools, pictures, and each error.

pip install google-genai && python tests/clients/run_gemini.py
"""

import base64
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from google import genai
from google.genai import errors, types

from tests.clients.checks import Checks, equal, holds, raises
from tests.provider import CUT, Provider, chunk, completion, error, stream, text
from tests.running import Running

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)
SCHEMA = {"type": "object", "properties": {"some_city": {"type": "string"}}, "required": ["some_city"]}
READ = types.FunctionDeclaration(
    name="read_file",
    description="Read a file",
    parameters=types.Schema(
        type="OBJECT", properties={"path": types.Schema(type="STRING")}, required=["path"]
    ),
)
BY_HAND = types.AutomaticFunctionCallingConfig(disable=True)


def main() -> int:
    with Provider() as provider, Running() as bench:
        bench.seat("pair", provider.base, "m1", "m2")
        bench.seat("one", provider.base, "m3", reply="route")
        bench.save("/api/model", alias="m3", tools=True, vision=True)
        bench.save("/api/collection", name="agents", members=["practice-agent"], explorers=0, reply="route")
        for alias, answer in {
            "limited": error(429, "slow down", headers={"Retry-After": "77"}),
            "refusing": error(400, "no such parameter"),
            "broken": error(500, "boom"),
        }.items():
            provider.script(alias, answer)
            bench.seat(f"c-{alias}", provider.base, alias)
        provider.script("m1", text("first answer"))
        for version in (None, "v1beta"):
            options = types.HttpOptions(base_url=bench.url, timeout=60_000, api_version=version)
            client = genai.Client(api_key="unused", http_options=options)
            check = Checks(f"google-genai {genai.__version__} {version or 'as it comes'}")
            listing(check, client)
            panels(check, client)
            routes(check, client, provider)
            tools(check, client, provider)
            failures(check, client, provider)
            if check.end():
                return 1
    return 0


def listing(check: Checks, client: genai.Client) -> None:
    @check("lists collections")
    def _() -> None:
        listed = [model.name for model in client.models.list()]
        for wanted in ("models/bench/core", "models/bench/core:merged", "models/bench/agents"):
            equal(wanted in listed, True)

    @check("gets one, whose name holds / and :")
    def _() -> None:
        for name in ("bench/core", "bench/core:merged", "core"):
            told = client.models.get(model=name)
            equal(told.name, f"models/{name}")
            equal("generateContent" in told.supported_actions, True)

    @check("counts tokens")
    def _() -> None:
        equal(client.models.count_tokens(model="bench/core", contents="hello there").total_tokens > 0, True)


def panels(check: Checks, client: genai.Client) -> None:
    @check("asks a panel")
    def _() -> None:
        reply = client.models.generate_content(model="bench/pair", contents="hello")
        holds(reply.text, "first answer")
        holds(reply.text, "### m2")
        equal(reply.candidates[0].finish_reason.value, "STOP")
        equal(reply.usage_metadata.total_token_count > 0, True)
        equal(reply.model_version, "bench/pair")

    @check("asks the practice squad, with turns, a system instruction and options")
    def _() -> None:
        chat = client.chats.create(
            model="core",
            history=[
                types.Content(role="user", parts=[types.Part(text="hi")]),
                types.Content(role="model", parts=[types.Part(text="hello")]),
            ],
            config=types.GenerateContentConfig(
                system_instruction="Be brief.",
                temperature=0.2,
                top_k=40,
                top_p=0.9,
                max_output_tokens=500,
                stop_sequences=["ZZZ"],
                thinking_config=types.ThinkingConfig(include_thoughts=True),
            ),
        )
        holds(chat.send_message("hello").text, "practice-lint")

    @check("streams a panel: one id, finish reason last, usage")
    def _() -> None:
        chunks = list(client.models.generate_content_stream(model="bench/pair", contents="hello"))
        holds("".join(part.text or "" for part in chunks), "first answer")
        reasons = [part.candidates[0].finish_reason for part in chunks]
        equal([reason is None for reason in reasons], [True] * (len(chunks) - 1) + [False])
        equal(len({part.response_id for part in chunks}), 1)
        equal(chunks[-1].usage_metadata.total_token_count > 0, True)

    @check("refuses tools in a panel by name")
    def _() -> None:
        config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[READ])])
        problem = raises(
            errors.ClientError,
            lambda: client.models.generate_content(model="bench/pair", contents="hello", config=config),
        )
        holds(str(problem), ":route")


def routes(check: Checks, client: genai.Client, provider: Provider) -> None:
    def sent() -> dict:
        return provider.of("m3")[-1].json

    @check("passes a picture on, in standard base64")
    def _() -> None:
        provider.script("m3", text("a dot"))
        picture = types.Part.from_bytes(data=PNG, mime_type="image/png")
        client.models.generate_content(model="bench/one", contents=[picture, "What is it?"])
        part = sent()["messages"][-1]["content"][0]
        equal(part["image_url"]["url"], "data:image/png;base64," + base64.b64encode(PNG).decode())

    for name, config in (
        (
            "response_schema",
            {
                "response_schema": types.Schema(
                    type="OBJECT",
                    properties={"some_city": types.Schema(type="STRING")},
                    required=["some_city"],
                )
            },
        ),
        ("response_json_schema", {"response_json_schema": SCHEMA}),
    ):

        @check(f"asks for JSON by {name}")
        def _(config: dict = config) -> None:
            provider.script("m3", text('{"some_city": "Bern"}'))
            reply = client.models.generate_content(
                model="bench/one",
                contents="Fill it in",
                config=types.GenerateContentConfig(response_mime_type="application/json", **config),
            )
            equal(reply.text, '{"some_city": "Bern"}')
            equal(sent()["response_format"]["json_schema"]["schema"], SCHEMA)

    @check("shows thoughts as thoughts")
    def _() -> None:
        provider.script(
            "m3", stream(chunk({"reasoning_content": "hm"}), chunk({"content": "x"}), chunk({}, "stop"))
        )
        parts = [
            part
            for one in client.models.generate_content_stream(model="bench/one", contents="hello")
            for part in one.candidates[0].content.parts
        ]
        equal("".join(part.text for part in parts if part.thought), "hm")
        equal("".join(part.text for part in parts if not part.thought), "x")

    @check("reads line breaks of Unicode inside a text")
    def _() -> None:
        provider.script("m3", text("a\u2028b\x85c\u2029d"))
        chunks = client.models.generate_content_stream(model="bench/one", contents="hello")
        equal("".join(part.text or "" for part in chunks), "a\u2028b\x85c\u2029d")


def tools(check: Checks, client: genai.Client, provider: Provider) -> None:
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[READ])], automatic_function_calling=BY_HAND
    )

    for streamed in (False, True):

        @check(f"plays a tool loop with the practice agent, streamed={streamed}")
        def _(streamed: bool = streamed) -> None:
            turns = [types.Content(role="user", parts=[types.Part(text="Read the file notes.txt")])]
            parts = _parts(client, turns, config, streamed)
            calls = [part.function_call for part in parts if part.function_call]
            equal((calls[0].name, calls[0].args), ("read_file", {"path": "notes.txt"}))
            answer = types.FunctionResponse(
                id=calls[0].id, name="read_file", response={"result": "seven herons"}
            )
            turns.append(types.Content(role="model", parts=[part for part in parts if part.function_call]))
            turns.append(types.Content(role="user", parts=[types.Part(function_response=answer)]))
            said = _parts(client, turns, config, streamed)
            holds("".join(part.text or "" for part in said), "seven herons")

    @check("calls a Python function by itself")
    def _() -> None:
        def read_file(path: str) -> str:
            """Read a file."""
            return f"seven herons are in {path}"

        reply = client.models.generate_content(
            model="bench/agents",
            contents="Read the file notes.txt",
            config=types.GenerateContentConfig(tools=[read_file]),
        )
        holds(reply.text, "seven herons")

    @check("forces a call")
    def _() -> None:
        provider.script("m3", completion({"role": "assistant", "content": "x"}))
        forced = types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=[READ])],
            automatic_function_calling=BY_HAND,
            tool_config=types.ToolConfig(function_calling_config=types.FunctionCallingConfig(mode="ANY")),
        )
        client.models.generate_content(model="bench/one", contents="x", config=forced)
        asked = provider.of("m3")[-1].json
        equal(asked["tool_choice"], "required")
        equal(asked["tools"][0]["function"]["parameters"]["type"], "object")

    @check("a hosted tool is refused by name")
    def _() -> None:
        search = types.GenerateContentConfig(tools=[types.Tool(google_search=types.GoogleSearch())])
        problem = raises(
            errors.ClientError,
            lambda: client.models.generate_content(model="bench/one", contents="x", config=search),
        )
        holds(str(problem), "googleSearch")


def _parts(
    client: genai.Client, turns: list[types.Content], config: types.GenerateContentConfig, streamed: bool
) -> list[types.Part]:
    if streamed:
        told = client.models.generate_content_stream(model="bench/agents", contents=turns, config=config)
    else:
        told = [client.models.generate_content(model="bench/agents", contents=turns, config=config)]
    return [part for one in told for part in one.candidates[0].content.parts]


def failures(check: Checks, client: genai.Client, provider: Provider) -> None:
    def ask(model: str) -> object:
        return client.models.generate_content(model=model, contents="hello")

    def say(model: str) -> object:
        return list(client.models.generate_content_stream(model=model, contents="hello"))

    for how, function in (("whole", ask), ("streamed", say)):
        for model, kind, code, status in (
            ("bench/typo", errors.ClientError, 404, "NOT_FOUND"),
            ("c-refusing", errors.ClientError, 400, "INVALID_ARGUMENT"),
            ("c-limited", errors.ClientError, 429, "RESOURCE_EXHAUSTED"),
            ("c-broken", errors.ServerError, 502, "UNAVAILABLE"),
        ):

            @check(f"{code} {status}, {how}")
            def _(function=function, model=model, kind=kind, code=code, status=status) -> None:
                problem = raises(kind, lambda: function(model))
                equal((problem.code, problem.status), (code, status))

    @check("429 says how long to wait")
    def _() -> None:
        problem = raises(errors.ClientError, lambda: ask("c-limited"))
        left = re.search(r"'retryDelay': '(\d+)", str(problem.details))  # the later ones are not sent before
        equal(left is not None and 0 < int(left[1]) <= 77, True)

    @check("an error in the stream is raised, after what was said")
    def _() -> None:
        provider.script("m3", stream(chunk({"content": "half"}), CUT, done=False))
        said = ""
        try:
            for one in client.models.generate_content_stream(model="bench/one", contents="hello"):
                said += one.text or ""
        except errors.ServerError as problem:
            equal((said, problem.code), ("half", 502))
        else:
            raise AssertionError(f"nothing was raised after {said!r}")


if __name__ == "__main__":
    sys.exit(main())
