"""Anthropic's library for Python against a real server: panels and route mode, tools, counts, the model list
and each error class.

pip install anthropic && python tests/clients/run_anthropic.py
"""

import base64
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import anthropic

from tests.clients.anthropic_errors import failures, refusals
from tests.clients.checks import Checks, equal, holds, raises
from tests.clients.scripted import seat_all
from tests.provider import Provider, error, text
from tests.running import Running

Ask = Callable[..., Any]
HELLO = [{"role": "user", "content": "hello"}]
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = {"name": "get_weather", "description": "The weather.", "input_schema": WEATHER}
MARK = {"type": "ephemeral"}
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\x00" * 16).decode()
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": PIXEL}}
MORE = {"busy": error(529, "busy"), "unpaid": error(402, "no credit"), "ending": text("row 4")}


def main() -> int:
    with Provider() as provider, Running() as bench:
        seat_all(bench, provider)
        for alias, answer in MORE.items():
            provider.script(alias, answer)
            bench.seat(f"c-{alias}", provider.base, alias)
        client = anthropic.Anthropic(base_url=bench.url, api_key="unused", max_retries=0, timeout=60)
        check = Checks(f"anthropic {anthropic.__version__}")
        lists(check, client)
        ask = asking(client)
        panels(check, client, ask)
        routes(check, client, ask, provider)
        thoughts(check, client, ask, provider)
        streams(check, client, ask)
        tools(check, ask, provider)
        loops(check, client, ask)
        counts(check, client, provider)
        refusals(check, ask)
        failures(check, ask)
        return check.end()


def asking(client: anthropic.Anthropic) -> Ask:
    """messages.create with what every request here has."""

    def ask(model: str, messages=HELLO, **more):
        return client.messages.create(**{"model": model, "max_tokens": 200, "messages": messages, **more})

    return ask


def words(message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def lists(check: Checks, client: anthropic.Anthropic) -> None:
    @check("lists collections under plain names and those that Claude Code shows")
    def _() -> None:
        listed = client.models.list()
        names = {model.id: model for model in listed}
        for wanted in ("bench/core", "bench/core:merged", "bench/core:route", "claude-bench-core-route"):
            equal(wanted in names, True)
        equal(names["claude-bench-core-route"].display_name, "bench/core route")
        equal(names["claude-bench-agents-route"].lifecycle, "active")
        equal(names["bench/core"].max_input_tokens > 0, True)
        equal(listed.has_more, False)

    @check("pages through them, forwards and backwards")
    def _() -> None:
        whole = [model.id for model in client.models.list(limit=1000)]
        equal([model.id for model in client.models.list(limit=7)], whole)
        back = client.models.list(limit=5, before_id=whole[-1])
        equal([model.id for model in back.data], whole[-6:-1])
        equal(len([model.id for model in back]), len(whole) - 1)

    @check("retrieves one by any of its names")
    def _() -> None:
        for name in ("bench/core:route", "core", "claude-bench-core-merged"):
            equal(client.models.retrieve(name).id, name)
        problem = raises(anthropic.NotFoundError, lambda: client.models.retrieve("bench/typo"))
        equal(problem.body["error"]["type"], "not_found_error")


def panels(check: Checks, client: anthropic.Anthropic, ask: Ask) -> None:
    @check("asks a panel")
    def _() -> None:
        sampling = {"temperature": 0.5, "top_k": 3}
        reply = ask("bench/pair", system="Be brief.", stop_sequences=["x"], extra_body=sampling)
        holds(words(reply), "first answer")
        holds(words(reply), "### m2")
        equal((reply.type, reply.role, reply.model), ("message", "assistant", "bench/pair"))
        equal((reply.stop_reason, reply.stop_sequence), ("end_turn", None))
        equal(reply.usage.input_tokens > 0 and reply.usage.output_tokens > 0, True)
        equal(len(reply.model_extra["bench"]["seats"]), 2)
        equal("top_k" in json.dumps(reply.model_extra["bench"]), True)

    @check("asks the practice squad by a name for Claude Code, with turns and a text document")
    def _() -> None:
        source = {"type": "text", "media_type": "text/plain", "data": "x = 1"}
        turns = [
            {"role": "user", "content": [{"type": "document", "source": source, "title": "a.py"}]},
            {"role": "system", "content": "Mind the style."},
            {"role": "assistant", "content": "a"},
            *HELLO,
        ]
        holds(words(ask("claude-bench-core-all", turns)), "practice-lint")

    for name in ("pair", "pair:merged", "core"):

        @check(f"streams {name}: every event in its place")
        def _(name: str = name) -> None:
            events = list(ask(name, stream=True))
            kinds = [event.type for event in events]
            whole = [kind for at, kind in enumerate(kinds) if kind not in kinds[:at]]
            equal(whole, ["message_start", *BLOCK, "message_delta", "message_stop"])
            equal(events[0].message.usage.input_tokens > 0, True)
            equal(bool(events[-2].model_extra["bench"]), True)

    @check("the stream helper puts a panel together")
    def _() -> None:
        with client.messages.stream(model="bench/pair", max_tokens=99, messages=HELLO) as said:
            streamed = "".join(said.text_stream)
            final = said.get_final_message()
        holds(streamed, "first answer")
        equal((words(final), final.stop_reason), (streamed, "end_turn"))

    @check("nothing asked for is nothing said, and nobody called")
    def _() -> None:
        for stream in (False, True):
            if stream:
                with client.messages.stream(model="pair", max_tokens=0, messages=HELLO) as said:
                    reply = said.get_final_message()
            else:
                reply = ask("pair", max_tokens=0)
            equal((reply.content, reply.stop_reason, reply.usage.output_tokens), ([], "end_turn", 0))


BLOCK = ("content_block_start", "content_block_delta", "content_block_stop")


def routes(check: Checks, client: anthropic.Anthropic, ask: Ask, provider: Provider) -> None:
    @check("route: all of it reaches the member")
    def _() -> None:
        billing = {"type": "text", "text": "x-anthropic-billing-header: cch=1;"}
        ask(
            "c-plain:route",
            [
                {
                    "role": "user",
                    "content": [PICTURE, {"type": "text", "text": "what?", "cache_control": MARK}],
                }
            ],
            system=[billing, {"type": "text", "text": "Be brief.", "cache_control": MARK}],
            stop_sequences=["END"],
            metadata={"user_id": "u"},
            output_config={"effort": "low", "format": {"type": "json_schema", "schema": WEATHER}},
            extra_headers={"anthropic-beta": "made-up-2026-01-01"},
        )
        sent = provider.of("plain")[-1].json
        equal(sent["messages"][0], {"role": "system", "content": "Be brief."})
        picture = sent["messages"][1]["content"][0]["image_url"]["url"]
        equal(picture, f"data:image/png;base64,{PIXEL}")
        equal((sent["stop"], sent["user"], sent["reasoning_effort"]), (["END"], "u", "low"))
        equal(sent["response_format"]["json_schema"]["schema"], WEATHER)
        equal("_cache" in json.dumps(sent), False)

    @check("route: why it ended")
    def _() -> None:
        for alias, reason in (("plain", "end_turn"), ("long", "max_tokens"), ("filtered", "refusal")):
            equal(ask(f"c-{alias}:route").stop_reason, reason)

    @check("route: a schema's answer is parsed")
    def _() -> None:
        reply = ask(
            "c-structured:route", output_config={"format": {"type": "json_schema", "schema": WEATHER}}
        )
        equal(json.loads(words(reply)), {"city": "Paris"})

    @check("beta route: ?beta=true, context_management, a thread that begins")
    def _() -> None:
        reply = client.beta.messages.create(
            model="c-plain:route",
            max_tokens=99,
            messages=HELLO,
            betas=["interleaved-thinking-2025-05-14"],
            context_management={"edits": []},
            extra_body={"thread": {"type": "create"}},
        )
        holds(words(reply), "first answer")


def thoughts(check: Checks, client: anthropic.Anthropic, ask: Ask, provider: Provider) -> None:
    @check("route: thinking for those who asked, and back again")
    def _() -> None:
        wish = {"type": "enabled", "budget_tokens": 1024}
        reply = ask("c-thinking:route", max_tokens=2000, thinking=wish)
        equal([block.type for block in reply.content], ["thinking", "text"])
        with client.messages.stream(
            model="c-thinking:route", max_tokens=2000, messages=HELLO, thinking=wish
        ) as said:
            streamed = said.get_final_message()
        equal([streamed.content[0].thinking, streamed.content[0].signature], ["hm ", ""])
        turn = {"role": "assistant", "content": [block.model_dump() for block in streamed.content]}
        ask("c-thinking:route", [*HELLO, turn, *HELLO])
        equal(provider.of("thinking")[-1].json["messages"][1], {"role": "assistant", "content": "so"})
        equal([block.type for block in ask("c-thinking:route").content], ["text"])


def streams(check: Checks, client: anthropic.Anthropic, ask: Ask) -> None:
    def said(alias: str, **more):
        with client.messages.stream(
            model=f"c-{alias}:route", max_tokens=99, messages=HELLO, **more
        ) as events:
            kinds = [event.type for event in events]
            return kinds, events.get_final_message()

    @check("route: streams text, usage as the member counted it")
    def _() -> None:
        kinds, final = said("plain")
        equal((kinds[0], kinds[-1]), ("message_start", "message_stop"))
        equal((words(final), final.stop_reason), ("first answer", "end_turn"))
        equal((final.usage.input_tokens, final.usage.output_tokens), (11, 7))

    @check("route: streams two calls, one block at a time")
    def _() -> None:
        _, final = said("calling", tools=[TOOL])
        equal([block.type for block in final.content], ["text", "tool_use", "tool_use"])
        equal([block.input for block in final.content[1:]], [{"city": "Paris"}, {"city": "Rome"}])
        equal(final.stop_reason, "tool_use")

    @check("route: a call that was cut says max_tokens")
    def _() -> None:
        _, final = said("cutcall", tools=[TOOL])
        equal(final.stop_reason, "max_tokens")
        reply = ask("c-cutcall:route", tools=[TOOL])
        equal((reply.content, reply.stop_reason), ([], "max_tokens"))

    @check("route: a stream that breaks off raises, after what was said")
    def _() -> None:
        heard = []

        def listen() -> None:
            for event in ask("c-cut:route", stream=True):
                heard.append(event)

        problem = raises(anthropic.APIStatusError, listen)
        equal(problem.body["error"]["type"], "api_error")
        equal([e.delta.text for e in heard if e.type == "content_block_delta"], ["half"])
        equal("message_stop" in [event.type for event in heard], False)


def tools(check: Checks, ask: Ask, provider: Provider) -> None:
    @check("tools, choice and results reach the member in chat's shape")
    def _() -> None:
        use = {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Paris"}}
        told = {"type": "tool_result", "tool_use_id": "t1", "is_error": True}
        told["content"] = [{"type": "text", "text": "shot"}, PICTURE]
        ask(
            "c-plain:route",
            [*HELLO, {"role": "assistant", "content": [use]}, {"role": "user", "content": [told]}],
            tools=[{**TOOL, "cache_control": MARK, "eager_input_streaming": True}],
            tool_choice={"type": "any", "disable_parallel_tool_use": True},
        )
        sent = provider.of("plain")[-1].json
        equal([m["role"] for m in sent["messages"]], ["user", "assistant", "tool", "user"])
        equal(sent["messages"][1]["tool_calls"][0]["function"]["arguments"], '{"city":"Paris"}')
        equal(sent["messages"][2]["content"], "Error: shot")
        equal(sent["messages"][3]["content"][-1]["type"], "image_url")
        equal((sent["tool_choice"], sent["parallel_tool_calls"]), ("required", False))
        equal(sent["tools"][0]["function"]["parameters"], WEATHER)

    @check("a choice without tools is dropped")
    def _() -> None:
        ask("c-plain:route", tool_choice={"type": "tool", "name": "web_search"})
        equal("tool_choice" in provider.of("plain")[-1].json, False)


def loops(check: Checks, client: anthropic.Anthropic, ask: Ask) -> None:
    prompt = [{"role": "user", "content": "Call get_weather for Paris, please."}]

    @check("a whole tool loop with practice-agent")
    def _() -> None:
        reply = ask("bench/agents", prompt, tools=[TOOL])
        equal(reply.stop_reason, "tool_use")
        uses = [block for block in reply.content if block.type == "tool_use"]
        turn = {
            "role": "assistant",
            "content": [block.model_dump(exclude_none=True) for block in reply.content],
        }
        told = [{"type": "tool_result", "tool_use_id": use.id, "content": "18C and dry"} for use in uses]
        end = ask("bench/agents", [*prompt, turn, {"role": "user", "content": told}], tools=[TOOL])
        equal(end.stop_reason, "end_turn")
        holds(words(end), "18C and dry")

    @check("the SDK's own tool runner, streamed")
    def _() -> None:
        asked = []

        @anthropic.beta_tool
        def get_weather(city: str) -> str:
            """The weather.

            Args:
                city: Where.
            """
            asked.append(city)
            return "18C and dry"

        runner = client.beta.messages.tool_runner(
            model="bench/agents", max_tokens=500, messages=prompt, tools=[get_weather], stream=True
        )
        finals = [said.get_final_message() for said in runner]
        equal(len(asked), 1)
        holds(words(finals[-1]), "18C and dry")


def counts(check: Checks, client: anthropic.Anthropic, provider: Provider) -> None:
    @check("counts tokens, tools and system too, and asks nobody")
    def _() -> None:
        before = len(provider.requests)
        count = client.messages.count_tokens
        bare = count(model="pair", messages=HELLO).input_tokens
        more = count(model="c-plain:route", messages=HELLO, system="x" * 400, tools=[TOOL]).input_tokens
        beta = client.beta.messages.count_tokens(model="pair", messages=HELLO).input_tokens
        equal((bare > 0, more > bare + 100, beta), (True, True, bare))
        equal(len(provider.requests), before)


if __name__ == "__main__":
    sys.exit(main())
