"""All we know about OpenAI's Responses as a client: `POST /v1/responses`, at OpenAI and at servers like it.

Sources: OpenAI's API description 2.3.0 for the shapes; github.com/earendil-works/pi/issues/6265: an output
limit below 16 is refused; github.com/OpenHands/software-agent-sdk/pull/1208: so is asking a model that does
not reason for encrypted reasoning; github.com/gsd-build/gsd-2/pull/1365: without it and with store:false, a
reasoning item cannot be sent back at all.

Nothing is stored at the provider unless a caller of the same API says so, so the whole conversation goes out
each time, and reasoning travels sealed. Of `conversation.native`, the caller's own fields, all are sent but
those that say what is asked of whom.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from metrics import longjson
from metrics.client import declared, quirks, responses_items, responses_seals, room
from metrics.client.listing import list_models
from metrics.client.outgoing import EVENTS, JSON, Conversation, Outgoing, address, bearer, model, to_json
from metrics.client.quirks import Quirks
from metrics.client.responses_read import read
from metrics.records import Message, Problem, Target

__all__ = ["Conversation", "Outgoing", "compose", "learn", "list_models", "read"]

API = "responses"
PATH = "/responses"
LEAST_OUT = 16
ENCRYPTED = "reasoning.encrypted_content"
LOGPROBS = "message.output_text.logprobs"

# Fields that chat and Responses call by one name.
SAME = frozenset(
    ("temperature", "top_p", "top_logprobs", "parallel_tool_calls", "metadata", "user", "service_tier")
    + ("safety_identifier", "prompt_cache_key", "prompt_cache_retention")
)
# A caller's own fields never say these: they are the target's, or are made from the messages.
OURS = frozenset(
    ("model", "input", "instructions", "stream", "stream_options", "tools", "tool_choice", "headers")
    + ("max_output_tokens", "background", "previous_response_id", "conversation", "prompt")
)
# What asks for nothing beyond what is done anyway.
PLAIN = {
    "n": (1,),
    "logprobs": (False,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "store": (False,),
    "modalities": (["text"],),
    "logit_bias": ({},),
}
SKIPPED = ("model", "messages", "stream", "stream_options")
FORM = {"name": "response", "schema": {}}


def compose(
    target: Target, conversation: Conversation, options: Mapping[str, Any], *, stream: bool = True
) -> Outgoing:
    """The request for one seat. Problem(400) when the base URL, the key or the messages cannot be sent."""
    manners = quirks.for_target(target)
    fields, changed = _fields(target, manners, conversation, options)
    fields, left_out = quirks.without(fields, manners.drop)
    if stream:
        fields["stream"] = True
    told, asked = _asked(conversation, target, manners.system != "input")
    return Outgoing(
        method="POST",
        url=address(target.base, PATH, manners.root),
        headers=bearer(target, EVENTS if stream else JSON),
        body=[model(target.served) + told, asked, b"," + to_json(fields)[1:]],
        changed=(*changed, *left_out),
    )


def learn(target: Target, problem: Problem) -> bool:
    """As quirks.learn; a refused seal too is a reason to ask again, without it."""
    if problem.code == "invalid_encrypted_content" or (
        problem.status == 400 and "encrypted content" in problem.message and "verified" in problem.message
    ):
        responses_seals.distrust(target.model_id)
        return True
    return quirks.learn(target, problem)


def _asked(conversation: Conversation, target: Target, instructs: bool) -> tuple[bytes, bytes]:
    """`,"instructions":…,"input":` and the input, once for all seats that see the same: what is sealed only
    its own model sees, and whether that may still be sent changes with time. Unless the server `instructs`
    its models, all is input."""
    messages, model_id = conversation.messages, target.model_id
    sealed = responses_items.seals(messages, model_id)
    return conversation.shared((API, sealed, instructs), lambda: _written(messages, model_id, instructs))


def _written(messages: Sequence[Message], model_id: str, instructs: bool) -> tuple[bytes, bytes]:
    told, rest = responses_items.instructions(messages) if instructs else ("", messages)
    head = b',"instructions":' + to_json(told) if told else b""
    return head + b',"input":', longjson.write(responses_items.items(rest, model_id), to_json)


# --- options


def _fields(
    target: Target, manners: Quirks, conversation: Conversation, options: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """All fields but the conversation, and what was altered, in words."""
    same = conversation.api == API
    own = conversation.native if same else {}
    fields: dict[str, Any] = {"store": False}
    changed: list[str] = []
    for name, value in options.items():
        if value is None or name in SKIPPED or value in PLAIN.get(name, ()):
            continue
        if name in ("max_tokens", "max_completion_tokens"):
            fields["max_output_tokens"], why = _budget(value, target, manners)
            changed += [f"{name} {why}"] if why else []
        elif name in SAME:
            fields[name] = value
        elif name not in SAID and name != "tools":
            changed.append(f"{name} left out (the Responses API has no place for it)")
    fields |= _said(options, own, changed)
    if options.get("tools"):
        fields["tools"] = quirks.plainer([_tool(tool, same) for tool in options["tools"]], manners)
    fields |= {name: value for name, value in own.items() if name not in OURS and value is not None}
    _include(fields, manners, target)
    return fields, changed


SAID = frozenset(("response_format", "verbosity", "reasoning_effort", "tool_choice", "logprobs"))


def _said(options: Mapping[str, Any], own: Mapping[str, Any], changed: list[str]) -> dict[str, Any]:
    """Fields that Responses has in other places than chat. A caller's own form of them is the better one."""
    fields: dict[str, Any] = {}
    text = {
        **({"format": _form(options["response_format"])} if options.get("response_format") else {}),
        **({"verbosity": options["verbosity"]} if options.get("verbosity") else {}),
    }
    if text and not own.get("text"):
        fields["text"] = text
    if options.get("reasoning_effort") and not own.get("reasoning"):
        fields["reasoning"] = {"effort": options["reasoning_effort"]}
    tools = options.get("tools")
    if tools and (choice := _choice(declared.choice(options.get("tool_choice"), changed), tools)):
        fields["tool_choice"] = choice
    if options.get("logprobs"):
        fields["include"] = [LOGPROBS]
    return fields


def _include(fields: dict[str, Any], manners: Quirks, target: Target) -> None:
    """Sealed reasoning is asked for where the model reasons, whether or not the caller did, and not where it
    is known not to: Codex asks every model for it."""
    asked = [one for one in fields.get("include") or () if isinstance(one, str)]
    if manners.reasons and not fields.get("store") and ENCRYPTED not in asked:
        asked.append(ENCRYPTED)  # a stored one would be found by its id
    if target.reasoning is False and ENCRYPTED in asked:
        asked.remove(ENCRYPTED)
    if asked:
        fields["include"] = asked
    else:
        fields.pop("include", None)


def _budget(asked: Any, target: Target, manners: Quirks) -> tuple[Any, str]:
    most, why = room.budget(asked, target, manners.reasons)
    if isinstance(most, int) and most < LEAST_OUT:
        return LEAST_OUT, f"raised from {asked} to {LEAST_OUT} (the least that the Responses API takes)"
    return most, why


def _form(form: Any) -> Any:
    """`response_format` as `text.format`: what chat has in `json_schema` stands beside the type."""
    if not isinstance(form, dict) or form.get("type") != "json_schema":
        return form
    inner = form.get("json_schema")
    return {"type": "json_schema", **FORM, **(inner if isinstance(inner, dict) else {})}


def _tool(tool: Mapping[str, Any], same: bool) -> dict[str, Any]:
    """A declared tool, flat. A custom tool stays one. Functions are strict here unless they say otherwise,
    and are not in chat: so what a caller of another API left open is said."""
    function = tool.get("function") or {}
    if tool.get("type") == "custom":
        custom = tool.get("custom") or {}
        return _set(
            {
                "type": "custom",
                "name": custom.get("name"),
                "description": custom.get("description"),
                "format": _grammar(custom.get("format")),
            }
        )
    named = {"name": function.get("name"), "description": function.get("description")}
    if "_custom" in tool:
        return _set({"type": "custom", **named, "format": tool["_custom"]})
    strict = function.get("strict")
    return {
        **_set({"type": "function", **named}),
        "parameters": function.get("parameters") or {"type": "object", "properties": {}},
        **({} if strict is None and same else {"strict": bool(strict)}),
    }


def _grammar(form: Any) -> Any:
    """Chat has a grammar's rules one level further in."""
    if isinstance(form, dict) and isinstance(form.get("grammar"), dict):
        return {"type": "grammar", **form["grammar"]}
    return form


def _choice(wish: declared.Choice, tools: Any) -> Any:
    """`tool_choice`, flat as tools are; None for none."""
    if wish.names is None:
        return wish.mode or None
    customs = {declared.name(tool) for tool in tools if tool.get("type") == "custom" or "_custom" in tool}
    named = [{"type": "custom" if name in customs else "function", "name": name} for name in wish.names]
    return {"type": "allowed_tools", "mode": wish.mode, "tools": named} if wish.listed else named[0]


def _set(fields: Message) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
