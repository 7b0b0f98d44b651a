"""The openai library for Python against a real server in its two other formats, Responses and completions: on
panels and in route mode.

pip install openai && python tests/clients/run_openai_responses.py
"""

import base64
import json
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import openai
from pydantic import BaseModel

from tests.clients import openai_completions
from tests.clients.checks import Checks, equal, holds, raises
from tests.clients.scripted import seat_all
from tests.provider import Provider
from tests.running import Running

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather.",
    "parameters": WEATHER,
    "strict": True,
}
CUSTOM = {
    "type": "custom",
    "name": "write_patch",
    "description": "Changes files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"},
}
NAMESPACES = [
    {
        "type": "namespace",
        "name": name,
        "description": "",
        "tools": [{"type": "function", "name": "look", "parameters": WEATHER}],
    }
    for name in ("mcp__a", "mcp__b")
]
PIXEL = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\x00" * 16).decode()


class City(BaseModel):
    city: str


def main() -> int:
    with Provider() as provider, Running() as bench:
        seat_all(bench, provider)
        client = openai.OpenAI(base_url=f"{bench.url}/v1", api_key="unused", max_retries=0, timeout=60)
        check = Checks(f"openai {openai.__version__} responses")
        panels(check, client)
        routes(check, client, provider)
        tools(check, client, provider)
        refusals(check, client)
        broken_streams(check, client)
        openai_completions.checks(check, client, provider)
        return check.end()


def panels(check: Checks, client: openai.OpenAI) -> None:
    ask = client.responses.create

    @check("asks a panel")
    def _() -> None:
        reply = ask(model="bench/pair", input="hello", instructions="Be brief.", temperature=0.5)
        holds(reply.output_text, "first answer")
        holds(reply.output_text, "### m2")
        equal((reply.status, reply.object, reply.model), ("completed", "response", "bench/pair"))
        equal((reply.instructions, reply.temperature, reply.store), ("Be brief.", 0.5, False))
        equal(len(reply.model_extra["bench"]["seats"]), 2)
        equal(reply.usage.total_tokens, reply.usage.input_tokens + reply.usage.output_tokens)

    @check("asks the practice squad, with turns, a picture-free part list and no type")
    def _() -> None:
        turns = [
            {"role": "developer", "content": "d"},
            {"role": "user", "content": [{"type": "input_text", "text": "hello"}]},
            {"role": "assistant", "content": "a"},
            {"role": "user", "content": "again"},
        ]
        holds(ask(model="core", input=turns).output_text, "practice-lint")

    for name in ("pair", "pair:merged", "core"):

        @check(f"streams {name}: every event in its place")
        def _(name: str = name) -> None:
            kinds, said, final = [], "", None
            for number, event in enumerate(ask(model=name, input="hello", stream=True)):
                equal(event.sequence_number, number)
                kinds.append(event.type)
                said += event.delta if event.type == "response.output_text.delta" else ""
                final = event.response if event.type == "response.completed" else None
            whole = [kind for at, kind in enumerate(kinds) if kind not in kinds[:at]]
            equal(
                whole,
                [
                    "response.created",
                    "response.in_progress",
                    "response.output_item.added",
                    "response.content_part.added",
                    "response.output_text.delta",
                    "response.output_text.done",
                    "response.content_part.done",
                    "response.output_item.done",
                    "response.completed",
                ],
            )
            equal(final.output_text, said)
            equal(bool(said and final.usage.output_tokens and final.model_extra["bench"]), True)

    @check("the stream helper puts a panel together")
    def _() -> None:
        with client.responses.stream(model="bench/pair", input="hello") as events:
            holds("".join(event.type for event in events), "response.completed")
            holds(events.get_final_response().output_text, "first answer")


def routes(check: Checks, client: openai.OpenAI, provider: Provider) -> None:
    ask = client.responses.create

    @check("route: all of it reaches the member")
    def _() -> None:
        ask(
            model="c-plain:route",
            input=[
                {"role": "user", "content": [{"type": "input_image", "image_url": PIXEL, "detail": "low"}]}
            ],
            instructions="i",
            max_output_tokens=40,
            top_p=0.5,
            reasoning={"effort": "low", "summary": "auto"},
            text={"verbosity": "low"},
            store=False,
            include=["reasoning.encrypted_content"],
            metadata={"a": "b"},
            parallel_tool_calls=True,
            truncation="auto",
        )
        sent = provider.requests[-1].json
        image = {"type": "image_url", "image_url": {"url": PIXEL, "detail": "low"}}
        equal(sent["messages"], [{"role": "system", "content": "i"}, {"role": "user", "content": [image]}])
        equal(
            {name: sent[name] for name in ("max_tokens", "top_p", "reasoning_effort", "verbosity")},
            {
                "max_tokens": 40,
                "top_p": 0.5,
                "reasoning_effort": "low",
                "verbosity": "low",
            },
        )
        equal(set(sent) & {"store", "include", "metadata", "truncation", "parallel_tool_calls"}, set())

    @check("route: structured output, parsed")
    def _() -> None:
        parsed = client.responses.parse(model="c-structured:route", input="where?", text_format=City)
        equal(parsed.output_parsed.city, "Paris")
        schema = provider.requests[-1].json["response_format"]
        equal((schema["type"], schema["json_schema"]["name"]), ("json_schema", "City"))

    @check("route: reasoning is an item of its own, streamed and not")
    def _() -> None:
        reply = ask(model="c-thinking:route", input="x")
        equal([item.type for item in reply.output], ["reasoning", "message"])
        with client.responses.stream(model="c-thinking:route", input="x") as events:
            thoughts = "".join(
                event.delta for event in events if event.type == "response.reasoning_summary_text.delta"
            )
            final = events.get_final_response()
        equal((thoughts, final.output[0].summary[0].text, final.output_text), ("hm ", "hm ", "so"))

    @check("route: an answer that was cut is incomplete")
    def _() -> None:
        for model, why in (("long", "max_output_tokens"), ("filtered", "content_filter")):
            reply = ask(model=f"c-{model}:route", input="x")
            equal((reply.status, reply.incomplete_details.reason), ("incomplete", why))
            *_, last = ask(model=f"c-{model}:route", input="x", stream=True)
            equal((last.type, last.response.incomplete_details.reason), ("response.incomplete", why))
            equal(last.response.output[0].status, "incomplete")

    @check("counts input tokens")
    def _() -> None:
        counted = client.responses.input_tokens.count(model="core", input="hello " * 100)
        equal((counted.object, 100 < counted.input_tokens < 400), ("response.input_tokens", True))
        with_tools = client.responses.input_tokens.count(model="core", input="hello " * 100, tools=[TOOL])
        equal(with_tools.input_tokens > counted.input_tokens, True)


def tools(check: Checks, client: openai.OpenAI, provider: Provider) -> None:
    ask = client.responses.create
    loop = {"model": "agents", "tools": [TOOL], "store": False, "include": ["reasoning.encrypted_content"]}

    for streamed in (False, True):

        @check(f"a tool loop with practice-agent, streamed={streamed}")
        def _(streamed: bool = streamed) -> None:
            turns = [{"role": "user", "content": "Use get_weather for Paris."}]
            reply = _whole(client, streamed, input=turns, parallel_tool_calls=True, **loop)
            called = next(item for item in reply.output if item.type == "function_call")
            equal((called.name, list(json.loads(called.arguments))), ("get_weather", ["city"]))
            turns += [item.model_dump(exclude_none=True) for item in reply.output]
            turns.append(
                {"type": "function_call_output", "call_id": called.call_id, "output": "18C in Paris"}
            )
            holds(_whole(client, streamed, input=turns, **loop).output_text, "18C in Paris")

    @check("two calls behind a text, each as an item")
    def _() -> None:
        with client.responses.stream(model="c-calling:route", input="x", tools=[TOOL]) as events:
            kinds = [event.type for event in events]
            final = events.get_final_response()
        equal([item.type for item in final.output], ["message", "function_call", "function_call"])
        equal([item.arguments for item in final.output[1:]], ['{"city":"Paris"}', '{"city":"Rome"}'])
        equal(kinds.count("response.output_item.done"), 3)

    @check("a custom tool's text comes as it is, and goes back")
    def _() -> None:
        deltas = ""
        for event in ask(model="c-patching:route", input="x", tools=[CUSTOM], stream=True):
            deltas += event.delta if event.type == "response.custom_tool_call_input.delta" else ""
        called = event.response.output[0]
        equal((called.type, called.input, deltas), ("custom_tool_call", "*** Begin\n+é\n", "*** Begin\n+é\n"))
        sent = provider.requests[-1].json["tools"][0]
        equal((sorted(sent), sent["function"]["parameters"]["required"]), (["function", "type"], ["input"]))
        output = {"type": "custom_tool_call_output", "call_id": called.call_id, "output": "done"}
        turns = [{"role": "user", "content": "x"}, called.model_dump(exclude_none=True), output]
        ask(model="c-plain:route", input=turns, tools=[CUSTOM])
        _, assistant, result = provider.requests[-1].json["messages"]
        equal(json.loads(assistant["tool_calls"][0]["function"]["arguments"]), {"input": "*** Begin\n+é\n"})
        equal(result, {"role": "tool", "tool_call_id": called.call_id, "content": "done"})

    @check("a namespace is told beside the bare name")
    def _() -> None:
        for streamed in (False, True):
            reply = _whole(client, streamed, model="c-looking:route", input="x", tools=NAMESPACES)
            called = reply.output[0].model_dump()
            equal((called["namespace"], called["name"]), ("mcp__b", "look"))
        names = [tool["function"]["name"] for tool in provider.requests[-1].json["tools"]]
        equal(names, ["mcp__a__look", "mcp__b__look"])
        equal([dict(tool) for tool in json.loads(reply.model_dump_json())["tools"]][0]["name"], "mcp__a")

    @check("a call that was cut is never done")
    def _() -> None:
        events = list(ask(model="c-cutcall:route", input="x", tools=[TOOL], stream=True))
        equal("response.output_item.done" in [event.type for event in events], False)
        equal(events[-1].type, "response.incomplete")
        equal(events[-1].response.output[0].status, "incomplete")


def _whole(client: openai.OpenAI, streamed: bool, **fields: object) -> object:
    if not streamed:
        return client.responses.create(**fields)
    *_, last = client.responses.create(stream=True, **fields)
    equal(last.type, "response.completed")
    return last.response


def refusals(check: Checks, client: openai.OpenAI) -> None:
    ask = client.responses.create
    cases = [
        ("a hosted tool", {"tools": [{"type": "web_search"}]}, 'web_search = "disabled"'),
        ("tools on a panel", {"tools": [TOOL]}, ":route"),
        ("an earlier response", {"previous_response_id": "resp_1"}, "nothing is stored"),
        ("a conversation", {"conversation": "conv_1"}, "nothing is stored"),
        ("in the background", {"background": True}, "nothing is stored"),
        ("an item by reference", {"input": [{"type": "item_reference", "id": "msg_1"}]}, "nothing is stored"),
    ]
    for name, fields, said in cases:

        @check(f"400: {name}")
        def _(fields: dict[str, object] = fields, said: str = said) -> None:
            problem = raises(openai.BadRequestError, lambda: ask(**{"model": "core", "input": "x", **fields}))
            holds(str(problem), said)
            equal(problem.response.headers["x-should-retry"], "false")

    @check("404: an unknown collection")
    def _() -> None:
        problem = raises(openai.NotFoundError, lambda: ask(model="bench/typo", input="x"))
        equal(problem.code, "model_not_found")

    @check("404: nothing is stored")
    def _() -> None:
        for look in (
            lambda: client.responses.retrieve("resp_1"),
            lambda: client.responses.delete("resp_1"),
            lambda: client.responses.cancel("resp_1"),
            lambda: client.responses.input_items.list("resp_1"),
            lambda: client.responses.compact(model="core", input="x"),
        ):
            holds(str(raises(openai.NotFoundError, look)), "nothing is stored")

    members = (
        ("limited", openai.RateLimitError),
        ("refusing", openai.BadRequestError),
        ("broken", openai.InternalServerError),
    )
    for alias, kind in members:

        @check(f"what became of a member keeps its status: {alias}")
        def _(alias: str = alias, kind: type[openai.APIError] = kind) -> None:
            for mode in ("", ":route"):
                fields = {"model": f"c-{alias}{mode}", "input": "x"}
                problem = raises(kind, partial(ask, **fields))
                if alias == "limited":
                    # What is left of it: the later ones are not sent before.
                    equal(0 < int(problem.response.headers["retry-after"]) <= 77, True)
                # A panel that waits for a second attempt has begun to answer by then.
                if alias != "broken":
                    raises(kind, partial(ask, **fields, stream=True))


def broken_streams(check: Checks, client: openai.OpenAI) -> None:
    @check("a stream that breaks off says so, and its helper raises")
    def _() -> None:
        events = list(client.responses.create(model="c-cut:route", input="x", stream=True))
        equal([event.type for event in events[-2:]], ["error", "response.failed"])
        equal(events[-2].code, "server_error")
        equal(events[-1].response.error.code, "server_error")
        equal(events[-1].response.output[0].content[0].text, "half")

        def final() -> None:
            with client.responses.stream(model="c-cut:route", input="x") as helped:
                helped.get_final_response()

        raises(RuntimeError, final)

    @check("a call whose stream breaks off is an error")
    def _() -> None:
        raises(openai.InternalServerError, lambda: client.responses.create(model="c-cut:route", input="x"))


if __name__ == "__main__":
    sys.exit(main())
