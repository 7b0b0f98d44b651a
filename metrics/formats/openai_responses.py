"""OpenAI Responses as a server: `POST /v1/responses`, its token count, and why the routes about stored
responses find nothing.

Shapes and event order: OpenAI's API description 2.3.0. A response repeats what it was asked with, tools and
instructions included, so that much travels with the request (`Asked.echo`), as it was sent.
"""

from collections.abc import Mapping
from typing import Any

from metrics.bench import names
from metrics.bounds import DEEPEST, shallow
from metrics.formats import content, framing, openai_chat
from metrics.formats.codex_models import models
from metrics.formats.openai_responses_in import messages, text_of
from metrics.formats.openai_responses_out import Asked, reply, stream
from metrics.formats.openai_responses_tools import Toolbox
from metrics.limits import tokens
from metrics.records import Problem, Request
from metrics.web.table import Call, Response, as_json

__all__ = [
    "NAME",
    "PATHS",
    "error",
    "models",
    "parse",
    "reply",
    "stream",
    "stream_headers",
]

NAME = "openai-responses"

STORED = {
    "previous_response_id": "nothing is stored here: send the whole conversation as input",
    "conversation": "nothing is stored here: send the whole conversation as input",
    "prompt": "it names a prompt kept at OpenAI: send its text as instructions",
}
NOT_STORED = (
    "nothing is stored here: a response is given once, in the reply to the request that asked for it "
    '(requests with "store": true are answered, and not kept)'
)
NOT_COMPACTED = (
    "nothing is stored or compacted here: to shorten a conversation, ask for a summary and begin from it"
)

# Of an answer's shape; a panel leaves them out and says so in `bench.ignored` (decisions 11).
FORMATS = ("text", "json_object", "json_schema")
WORDS = (
    "service_tier",
    "truncation",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
)
# Fields that mean the same to a chat member.
PASSED = ("prompt_cache_key", "safety_identifier", "service_tier", "user")
# Fields with a meaning of their own here; all others a member of the same API gets as they were sent.
READ = frozenset(
    (
        "model",
        "input",
        "instructions",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "stream",
        "with",
        "bench",
    )
    + ("temperature", "top_p", "max_output_tokens", "stream_options", "background", *STORED)
)
ECHOED = (
    *("instructions", "max_output_tokens", "max_tool_calls", "temperature", "top_p", "user", "service_tier"),
    *("prompt_cache_key", "safety_identifier"),
)


def parse(call: Call) -> Request:
    body = call.json()
    model, collection, mode = content.address(body)
    _refuse_stored(body)
    shape, reasoning = _shape(body), content.member(body, "reasoning")
    effort = text_of(reasoning, "effort", "reasoning")
    told = {name: text_of(body, name) for name in WORDS}
    _check_the_rest(body, reasoning)
    tools = Toolbox(body.get("tools"), collection)
    conversation, echo = messages(body, tools), _echo(body)
    choice = tools.choice(body.get("tool_choice"))
    parallel = (
        content.flag(body, "parallel_tool_calls") if body.get("parallel_tool_calls") is not None else None
    )
    passed = {
        # A choice without tools is refused by providers, and sent by agents.
        "tool_choice": choice if tools.tools else None,
        "parallel_tool_calls": parallel if tools.tools else None,
        "response_format": shape["format"],
        "verbosity": shape["verbosity"],
        "reasoning_effort": effort,
        **{name: told[name] for name in PASSED},
    }
    request = Asked(
        model=model,
        collection=collection,
        reply=mode,
        messages=conversation,
        options=_options(body),
        tools=tools.tools,
        passed=_set(passed),
        native={name: value for name, value in body.items() if name not in READ and value is not None},
        stream=content.flag(body, "stream"),
        ignored=content.unused(
            {
                "text.format": shape["format"],
                "text.verbosity": shape["verbosity"],
                "reasoning.effort": effort,
                "top_logprobs": body.get("top_logprobs"),
            }
        ),
        format=NAME,
        session=content.session(call, body),
        dropped=tools.hosted.dropped,
        echo=echo,
        written=_written(echo),
        **content.wishes(body),
        **content.asker(call),
    )
    return request if mode == "route" else content.for_panel(request)


def _refuse_stored(body: Mapping[str, Any]) -> None:
    for name, why in STORED.items():
        if body.get(name):
            raise content.refuse(f'"{name}": {why}', name)
    if content.flag(body, "background"):
        raise content.refuse(
            '"background": a response that is fetched later would have to be stored, and nothing is stored '
            'here; ask without it, or with "stream": true',
            "background",
        )


def _options(body: Mapping[str, Any]) -> dict[str, Any]:
    return _set(
        {
            "temperature": content.number(body, "temperature", 0, 2),
            "top_p": content.number(body, "top_p", 0, 1),
            "max_tokens": content.whole(body, "max_output_tokens", 1),
        }
    )


def _shape(body: Mapping[str, Any]) -> dict[str, Any]:
    """`text` as chat says it: {"format": response_format or None, "verbosity"}."""
    text = content.member(body, "text")
    form = content.member(text, "format")
    kind = form.get("type", "text")
    if kind not in FORMATS:
        raise content.refuse(
            f"text.format.type is {content.shown(kind)}; the types are {', '.join(FORMATS)}",
            "text.format.type",
        )
    verbosity = text_of(text, "verbosity", "text")
    if kind == "text":
        return {"format": None, "verbosity": verbosity}
    if kind == "json_object":
        return {"format": {"type": kind}, "verbosity": verbosity}
    if not isinstance(form.get("name"), str) or not isinstance(form.get("schema"), dict):
        raise content.refuse('"text.format" must have a name and a schema', "text.format")
    schema = _set({name: form.get(name) for name in ("name", "description", "schema", "strict")})
    return {"format": {"type": kind, "json_schema": schema}, "verbosity": verbosity}


def _check_the_rest(body: Mapping[str, Any], reasoning: Mapping[str, Any]) -> None:
    """Fields that change nothing here and yet must be what they should."""
    for name in ("store", "parallel_tool_calls"):
        content.flag(body, name)
    for name in ("metadata", "stream_options"):
        content.member(body, name)
    content.strings(body, "include")
    content.whole(body, "top_logprobs", 0, 20)
    content.whole(body, "max_tool_calls", 0)
    text_of(reasoning, "summary", "reasoning")


def _echo(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a response says about its request, as it was sent, with OpenAI's defaults for what was not."""
    reasoning, text = content.member(body, "reasoning"), content.member(body, "text")
    parallel, choice = body.get("parallel_tool_calls"), body.get("tool_choice")
    return {
        **{name: body.get(name) for name in ECHOED},
        "parallel_tool_calls": True if parallel is None else parallel,
        "reasoning": {"effort": None, "summary": None, **reasoning},
        "text": {**text, "format": text.get("format") or {"type": "text"}},
        "tool_choice": "auto" if choice is None else choice,
        "tools": body.get("tools") or [],
        "metadata": content.member(body, "metadata"),
        "top_logprobs": body.get("top_logprobs") or 0,
    }


def _written(echo: Mapping[str, Any]) -> bytes:
    """Once, for all the times that it is shown in a stream."""
    if not shallow(echo):
        raise content.refuse(f"the request is nested more than {DEEPEST} levels deep")
    try:
        return framing.as_bytes(echo)
    except ValueError:
        raise content.refuse("a number in the request is too large for JSON") from None


def _set(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


stream_headers = openai_chat.stream_headers
error = openai_chat.error


# --- the other routes


def input_tokens(call: Call) -> Response:
    """`POST /v1/responses/input_tokens`: about how many tokens a request would take, its tools included."""
    body = call.json()
    collection = "" if body.get("model") is None else names.resolve(body["model"])[0]
    _refuse_stored(body)
    tools = Toolbox(body.get("tools"), collection)
    count = tokens.estimate(messages(body, tools))
    if tools.tools:
        count += tokens.of_text(str(tools.tools))
    return as_json({"object": "response.input_tokens", "input_tokens": count})


def not_stored(call: Call) -> Response:
    raise Problem(404, NOT_STORED, code="not_found")


def not_compacted(call: Call) -> Response:
    raise Problem(404, NOT_COMPACTED, code="not_found")


PATHS = (
    ("POST", "/v1/responses", "ask"),
    ("POST", "/v1/responses/input_tokens", input_tokens),
    ("POST", "/v1/responses/compact", not_compacted),
    ("GET", "/v1/responses/{id}", not_stored),
    ("DELETE", "/v1/responses/{id}", not_stored),
    ("POST", "/v1/responses/{id}/cancel", not_stored),
    ("GET", "/v1/responses/{id}/input_items", not_stored),
)
