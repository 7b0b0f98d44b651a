"""A Messages request as a Request: its fields, its tools, and what of them a chat model takes.

The idea: whatever a newer client may add is left alone; what would silently change the answer if it were
left out (a server tool, a thread, an uploaded file) is refused by name with the way around it.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from metrics.formats import content, schemas
from metrics.formats.anthropic_blocks import conversation
from metrics.formats.hosted import Hosted
from metrics.records import Problem, Request
from metrics.web.table import Call

NAME = "anthropic"
THINKING = "thinking"  # the framing of replies that show the model's thinking
SEALED = "sealed"  # of replies that show its seals alone: "display": "omitted"
BETA = "anthropic-beta"
SESSION, AGENT = "x-claude-code-session-id", "x-claude-code-agent-id"
LONGEST_SESSION = 200  # characters

# What shapes an answer, or says where it may be made, and a panel leaves out.
SHAPING = ("top_k", "thinking", "output_config", "output_format", "context_management", "inference_geo")

SAMPLED = ("temperature", "top_p", "max_tokens")
MOST_STOPS = 4  # what chat providers take
LONGEST_USER = 64  # OpenAI refuses a longer `user`; Claude Code's is a JSON object

# Above "high" only a few models know a word for it, and the others refuse the request.
EFFORTS = {"low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}
BUDGETS = ((4_096, "low"), (16_384, "medium"))  # thinking tokens below which effort has that name

HOSTED = ("mcp_servers", "container")  # fields that ask for tools at Anthropic
CHOICES = {"auto": "auto", "any": "required", "none": "none"}

# Tools that the caller runs but whose schema only Anthropic's models were taught, e.g. bash_20250124.
_TAUGHT = re.compile(r"(?:bash|text_editor|memory|computer|browser)(?:_toolset)?_\d+")
_NO_SCHEMA = (
    'is known to Anthropic\'s own models alone; declare it as a tool with a "name" and an "input_schema"'
)

NEEDS_MAX_TOKENS = '"max_tokens" is required: the most tokens that an answer may have'
NO_THREAD = (
    "threads are not kept here, so there is nothing to continue; send the whole conversation with "
    '"thread": {"type": "create"}'
)


def parse(call: Call) -> Request:
    body = call.json()
    if body.get("max_tokens") is None:
        raise content.refuse(NEEDS_MAX_TOKENS, "max_tokens")
    request = read(body, call.headers, content.asker(call))
    return request if request.reply == "route" else content.for_panel(request)


def read(body: Mapping[str, Any], headers: Mapping[str, str] = {}, asker: Mapping[str, Any] = {}) -> Request:
    """The request, which may do without max_tokens (to count tokens) and hold tools for a panel. `headers`
    have lower-case names; `asker` is as `content.asker` tells."""
    model, collection, mode = content.address(body)
    _refuse_thread(body)
    hosted = Hosted("Anthropic", collection)
    for name in HOSTED:
        if body.get(name):
            hosted.tool(name, name)
    tools = _tools(body.get("tools"), hosted)
    return Request(
        model=model,
        collection=collection,
        reply=mode,
        messages=conversation(body, hosted),
        options=_options(body),
        tools=tools,
        passed={**_effort(body), **_schema(body), **_user(body), **(_choice(body, hosted) if tools else {})},
        native=_native(body, headers),
        session=_session(headers),
        stream=content.flag(body, "stream"),
        dropped=hosted.dropped,
        ignored=() if mode == "route" else content.unused({name: _wish(body, name) for name in SHAPING}),
        format=NAME,
        framing=_shows(body),
        **content.wishes(body),
        **asker,
    )


# What a member hears of in other ways, and what is between the caller and us.
_HEARD = frozenset(
    {
        *("model", "messages", "system", "stream", "max_tokens", "temperature", "top_p", "stop_sequences"),
        *("tool_choice", "output_format", "thread", "mcp_servers", "container", "with", "bench"),
    }
)


def _native(body: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    """The fields for a member of this API, as they were sent: all but those that a Request has places for,
    `tools` with what chat has no words for; and under "headers" the betas."""
    sent = {name: value for name, value in body.items() if name not in _HEARD and value is not None}
    return {**sent, "headers": {BETA: headers[BETA]}} if headers.get(BETA) else sent


def _session(headers: Mapping[str, str]) -> str | None:
    """Claude Code's own id of the conversation; its agents hold conversations of their own within it."""
    session = headers.get(SESSION, "").strip()
    agent = headers.get(AGENT, "").strip() if session else ""
    return (f"{session}/{agent}" if agent else session)[:LONGEST_SESSION] or None


def _wish(body: Mapping[str, Any], name: str) -> Any:
    value = body.get(name)
    return None if value == {"type": "disabled"} else value


def _refuse_thread(body: Mapping[str, Any]) -> None:
    kind = content.member(body, "thread").get("type")
    if kind not in (None, "create"):
        raise Problem(404, NO_THREAD, param="thread", code="thread_not_found", retryable=False)


def _options(body: Mapping[str, Any]) -> dict[str, Any]:
    options = content.sampling({name: body[name] for name in SAMPLED if name in body})
    stops = list(content.strings(body, "stop_sequences"))
    if len(stops) > MOST_STOPS:
        raise content.refuse(f'"stop_sequences" must be at most {MOST_STOPS} strings', "stop_sequences")
    if stops:
        options["stop"] = stops
    return options


# --- tools


def _tools(value: Any, hosted: Hosted) -> list[dict[str, Any]]:
    """Functions in chat's shape."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(tool, dict) for tool in value):
        raise content.refuse('"tools" must be a list of tools', "tools")
    return [
        _tool(tool, f"tools[{at}]")
        for at, tool in enumerate(value)
        if not _runs_elsewhere(tool, f"tools[{at}]", hosted)
    ]


def _runs_elsewhere(tool: Mapping[str, Any], where: str, hosted: Hosted) -> bool:
    """Whether a tool runs at Anthropic, and is to be left out."""
    kind = tool.get("type")
    if kind in (None, "custom"):
        return False
    if isinstance(kind, str) and _TAUGHT.fullmatch(kind):
        raise content.refuse(f"{where}: {content.shown(kind)} {_NO_SCHEMA}", f"{where}.type")
    hosted.tool(kind, where, name=tool.get("name"))
    return True


def _tool(tool: Mapping[str, Any], where: str) -> dict[str, Any]:
    name, about = tool.get("name"), tool.get("description")
    if not isinstance(name, str) or not name:
        raise content.refuse(f"{where}.name must be a string", f"{where}.name")
    if about is not None and not isinstance(about, str):
        raise content.refuse(f"{where}.description must be a string", f"{where}.description")
    function: dict[str, Any] = {"name": name}
    if about:
        function["description"] = about
    function["parameters"] = schemas.checked(tool.get("input_schema"), f"{where}.input_schema")
    if tool.get("strict") is True:
        function["strict"] = True
    return {"type": "function", "function": function}


def _choice(body: Mapping[str, Any], hosted: Hosted) -> dict[str, Any]:
    """tool_choice and parallel_tool_calls. Called only when there are tools: without any, Claude Code's side
    calls still send a choice, and chat providers refuse that."""
    wish = content.member(body, "tool_choice")
    if not wish:
        return {}
    parallel = {"parallel_tool_calls": False} if content.flag(wish, "disable_parallel_tool_use") else {}
    kind = wish.get("type")
    if kind == "tool":
        name = wish.get("name")
        if not isinstance(name, str):
            raise content.refuse('"tool_choice.name" must be the name of a tool', "tool_choice.name")
        if hosted.named(name):
            return {"tool_choice": "auto", **parallel}
        return {"tool_choice": {"type": "function", "function": {"name": name}}, **parallel}
    if not isinstance(kind, str) or kind not in CHOICES:
        said = f'"tool_choice.type" is {content.shown(kind)}; it can be tool, {", ".join(CHOICES)}'
        raise content.refuse(said, "tool_choice.type")
    return {"tool_choice": CHOICES[kind], **parallel}


# --- how to answer


def _effort(body: Mapping[str, Any]) -> dict[str, Any]:
    """The effort that was named, else what a thinking budget comes to. A word new to us says nothing."""
    config, thinking = content.member(body, "output_config"), content.member(body, "thinking")
    budget = content.whole(thinking, "budget_tokens", 1)
    effort = config.get("effort")
    if effort is not None and not isinstance(effort, str):
        raise content.refuse('"output_config.effort" must be a string', "output_config.effort")
    named = EFFORTS.get(effort or "")
    if named is None and budget is not None:
        named = next((word for below, word in BUDGETS if budget < below), "high")
    return {"reasoning_effort": named} if named else {}


def _shows(body: Mapping[str, Any]) -> str:
    """How much of its thinking the caller asked to see; one who did not ask reads content[0] as the text."""
    thinking = content.member(body, "thinking")
    if thinking.get("type") in (None, "disabled"):
        return ""
    return SEALED if thinking.get("display") == "omitted" else THINKING


def _schema(body: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of the answer: output_config.format or, from older clients, output_format."""
    wish = content.member(content.member(body, "output_config"), "format")
    wish = wish or content.member(body, "output_format")
    if not wish:
        return {}
    kind = wish.get("type")
    if kind != "json_schema":
        said = f'"output_config.format.type" is {content.shown(kind)}; it can be json_schema'
        raise content.refuse(said, "output_config.format.type")
    schema = schemas.checked(wish.get("schema"), "output_config.format.schema")
    return {"response_format": {"type": kind, "json_schema": {"name": "answer", "schema": schema}}}


def _user(body: Mapping[str, Any]) -> dict[str, Any]:
    """Who the caller's own user is; of a long name, its hash, which tells users apart as well."""
    user = content.member(body, "metadata").get("user_id")
    if user is not None and not isinstance(user, str):
        raise content.refuse('"metadata.user_id" must be a string', "metadata.user_id")
    if user and len(user) > LONGEST_USER:
        user = hashlib.sha256(user.encode("utf-8", "surrogatepass")).hexdigest()
    return {"user": user} if user else {}
