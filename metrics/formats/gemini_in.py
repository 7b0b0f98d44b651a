"""What Gemini's callers send, as a Request: `POST .../<collection>[:mode]:generateContent` and its like.

The conversation is read in `gemini_parts`; here are the name in the path, the options and the tools.
"""

import re
from collections.abc import Mapping
from typing import Any

from metrics.formats import content, schemas
from metrics.formats.gemini_parts import camel, fields, listed, messages, nested, string
from metrics.formats.hosted import Hosted
from metrics.records import Message, Request
from metrics.web.table import Call

NAME = "gemini"
VENDOR = "Google"

MODES = {"AUTO": "auto", "VALIDATED": "auto", "ANY": "required", "NONE": "none", "MODE_UNSPECIFIED": None}
LEVELS = {"MINIMAL": "minimal", "LOW": "low", "MEDIUM": "medium", "HIGH": "high"}
# Google's own table of efforts and budgets, for its OpenAI-compatible endpoint.
BUDGETS = ((0, "none"), (1024, "low"), (8192, "medium"))

TEXT, JSON = "text/plain", "application/json"
COUNTS = ("maxOutputTokens", "seed", "candidateCount")
# What shapes an answer and a panel leaves out; of these route mode passes on what chat has a field for.
SHAPING = (
    "topK",
    "presencePenalty",
    "frequencyPenalty",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "responseFormat",
    "responseLogprobs",
    "logprobs",
    "thinkingConfig",
    "mediaResolution",
)

# What is said in chat's words as well as in these, and goes out in those.
TOLD = frozenset(
    ("temperature", "topP", "stopSequences", "seed", "maxOutputTokens", "candidateCount")
    + ("presencePenalty", "frequencyPenalty", "responseModalities")
)
SAFETY = "safetySettings"
BESIDE = (SAFETY, "cachedContent", "labels", "serviceTier")

# Vertex AI's ways to name a model; a publisher's name is the first half of ours.
_VERTEX = re.compile(r"(?:projects/[^/]+/)?(?:locations/[^/]+/)?publishers/([^/]+)/models/(.+)", re.DOTALL)


def parse(call: Call) -> Request:
    sent = call.json()
    body = fields(sent)
    asked = {"model": model_name(call.parts["name"]), "bench": sent.get("bench")}
    model, collection, mode = content.address(asked)
    if body.get("cachedContent") and mode != "route":
        raise content.refuse(
            '"cachedContent" is kept at Google; send what it holds in "contents"', "cachedContent"
        )
    written = {camel(name): name for name in content.member(body, "generationConfig")}
    config = _generation(body)
    if mode == "route":
        _refuse_kind(config)
    hosted = Hosted(VENDOR, collection)
    declared = _tools(body.get("tools"), hosted)
    tools, choice = _chosen(declared, fields(content.member(body, "toolConfig")))
    request = Request(
        model=model,
        collection=collection,
        reply=mode,
        messages=messages(body, hosted),
        options=_options(config),
        tools=tools,
        passed={**_passed(config), **({"tool_choice": choice} if tools and choice else {})},
        native=_native(body, config) if mode == "route" else {},
        stream=call.path.endswith(":streamGenerateContent"),
        ignored=(*_ignored(config, written), *content.unused({SAFETY: body.get(SAFETY)})),
        format=NAME,
        framing="sse" if call.param("alt") == "sse" else "array",
        dropped=hosted.dropped,
        **content.wishes(sent),
        **content.asker(call),
    )
    return request if mode == "route" else content.for_panel(request)


def _native(body: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """What a member that speaks this API gets in its own words: the fields that chat has none for, how to
    think and to answer, each function as it was declared ("tools", by name), and the "mode" of calling."""
    generation = {name: value for name, value in config.items() if name not in TOLD}
    if isinstance(thinking := generation.get("thinkingConfig"), dict):
        generation["thinkingConfig"] = fields(thinking)
    declared = {
        function["name"]: function
        for tool in listed(body.get("tools"), "tools")
        for function in listed(tool.get("functionDeclarations"), "functionDeclarations")
        if isinstance(function.get("name"), str)
    }
    calling = fields(content.member(body, "toolConfig")).get("functionCallingConfig")
    mode = fields(calling).get("mode") if isinstance(calling, dict) else None
    native = {
        **{name: body[name] for name in BESIDE if name in body},
        "generationConfig": generation,
        "tools": declared,
        "mode": mode,
    }
    return {name: value for name, value in native.items() if value}


def model_name(path: str) -> str:
    """The collection's name in a path, without what Google's clients put before it."""
    name = re.sub(r"^(?:v1\w*/)*", "", path.strip("/"))
    vertex = _VERTEX.fullmatch(name)
    if vertex:
        return vertex[2] if vertex[1] == "google" else f"{vertex[1]}/{vertex[2]}"
    return name.removeprefix("models/")


# --- options and tools


def _generation(body: Mapping[str, Any]) -> dict[str, Any]:
    """`generationConfig`, with whole numbers whole. Problem 400 for what nobody here can give."""
    config = {**fields(content.member(body, "generationConfig"))}
    for name in COUNTS:
        if isinstance(config.get(name), float) and config[name].is_integer():
            config[name] = int(config[name])
    count = content.whole(config, "candidateCount", 1)
    if count not in (None, 1):
        raise content.refuse(
            f'"candidateCount" is {count}: one candidate is written; seat more models instead',
            "candidateCount",
        )
    for modality in content.strings(config, "responseModalities"):
        if modality.upper() not in ("TEXT", "MODALITY_UNSPECIFIED"):
            raise content.refuse(
                f'"responseModalities" asks for {content.shown(modality)}; models here answer in TEXT',
                "responseModalities",
            )
    return config


def _refuse_kind(config: dict[str, Any]) -> None:
    """Chat completions know text and JSON; "text/x.enum", say, they do not."""
    kind = string(config, "responseMimeType", "generationConfig") or TEXT
    if kind != TEXT and not kind.startswith(JSON):
        raise content.refuse(
            f'"responseMimeType" is {content.shown(kind)}; {TEXT} and {JSON} can be asked of models here',
            "responseMimeType",
        )


def _ignored(config: dict[str, Any], written: Mapping[str, str]) -> tuple[str, ...]:
    """What a panel leaves out, under the names its caller wrote."""
    shaping = {name: config[name] for name in SHAPING if name in config and config[name] != TEXT}
    return content.unused({written[name]: value for name, value in shaping.items()})


def _options(config: dict[str, Any]) -> dict[str, Any]:
    stop = config.get("stopSequences")
    options = {
        "temperature": content.number(config, "temperature", 0, 2),
        "top_p": content.number(config, "topP", 0, 1),
        "stop": [stop] if isinstance(stop, str) else list(content.strings(config, "stopSequences")) or None,
        "seed": content.whole(config, "seed", -(2**63)),
        "max_tokens": content.whole(config, "maxOutputTokens", 1),
    }
    return {name: value for name, value in options.items() if value is not None}


def _passed(config: dict[str, Any]) -> dict[str, Any]:
    passed = {
        "presence_penalty": content.number(config, "presencePenalty", -2, 2),
        "frequency_penalty": content.number(config, "frequencyPenalty", -2, 2),
        "response_format": _response_format(config),
        "reasoning_effort": _effort(fields(content.member(config, "thinkingConfig"))),
    }
    return {name: value for name, value in passed.items() if value is not None}


def _response_format(config: dict[str, Any]) -> dict[str, Any] | None:
    """`responseFormat` is the new way to say it, a list by kind of output; the others are the old one."""
    kind = string(config, "responseMimeType", "generationConfig") or TEXT
    schema = _schema_of(config)
    for at, item in enumerate(listed(config.get("responseFormat"), "responseFormat")):
        where = f"responseFormat[{at}]"
        if item.keys() - {"text"}:
            raise content.refuse(f"{where}: models here answer in text", where)
        text = nested(item.get("text", {}), f"{where}.text")
        kind = (string(text, "mimeType", f"{where}.text") or kind).lower().replace("_", "/")
        schema = schemas.checked(text["schema"], f"{where}.text.schema") if "schema" in text else schema
    if schema is not None:
        return {"type": "json_schema", "json_schema": {"name": "response", "schema": schema}}
    return {"type": "json_object"} if kind.startswith(JSON) else None


def _schema_of(config: dict[str, Any]) -> dict[str, Any] | None:
    for name, read in (("responseJsonSchema", schemas.checked), ("responseSchema", schemas.from_openapi)):
        if name in config:
            return read(config[name], name)
    return None


def _effort(thinking: dict[str, Any]) -> str | None:
    level = string(thinking, "thinkingLevel", "thinkingConfig")
    budget = content.whole(thinking, "thinkingBudget", -1)
    if level:
        return LEVELS.get(level.upper())
    if budget is None or budget < 0:
        return None
    return next((effort for most, effort in BUDGETS if budget <= most), "high")


def _tools(value: Any, hosted: Hosted) -> list[dict[str, Any]]:
    made = []
    for at, tool in enumerate(listed(value, "tools")):
        where = f"tools[{at}]"
        for name in tool:
            if name != "functionDeclarations":
                hosted.tool(name, where)
        declared = listed(tool.get("functionDeclarations"), f"{where}.functionDeclarations")
        made += [_function(item, f"{where}.functionDeclarations[{n}]") for n, item in enumerate(declared)]
    return made


def _function(declared: dict[str, Any], where: str) -> dict[str, Any]:
    name, description = string(declared, "name", where), string(declared, "description", where)
    if not name:
        raise content.refuse(f"{where}.name must be the function's name", f"{where}.name")
    if "parametersJsonSchema" in declared:
        schema = schemas.checked(declared["parametersJsonSchema"], f"{where}.parametersJsonSchema")
    else:
        empty = {"type": "object", "properties": {}}
        schema = schemas.from_openapi(declared.get("parameters", empty), f"{where}.parameters")
    told = {"description": description} if description else {}
    return {"type": "function", "function": {"name": name, **told, "parameters": schema}}


def _chosen(tools: list[dict[str, Any]], config: dict[str, Any]) -> tuple[list[dict[str, Any]], Any]:
    """The tools that may be called, and chat's `tool_choice`. Those that are not allowed are left out: few
    providers read a list of allowed ones."""
    wish = fields(content.member(config, "functionCallingConfig"))
    mode = (string(wish, "mode", "functionCallingConfig") or "MODE_UNSPECIFIED").upper()
    if mode not in MODES:
        raise content.refuse(
            f"functionCallingConfig.mode is {content.shown(mode)}; AUTO, ANY or NONE", "mode"
        )
    allowed = content.strings(wish, "allowedFunctionNames")
    names = [tool["function"]["name"] for tool in tools]
    if unknown := [name for name in allowed if name not in names]:
        raise content.refuse(
            f"allowedFunctionNames: {content.shown(unknown[0])} is not declared in tools",
            "allowedFunctionNames",
        )
    if allowed and MODES[mode] != "none":
        tools = [tool for tool in tools if tool["function"]["name"] in allowed]
        if MODES[mode] == "required" and len(tools) == 1:
            return tools, {"type": "function", "function": {"name": allowed[0]}}
    return tools, MODES[mode]


def counted(body: dict[str, Any], collection: str) -> tuple[list[Message], list[dict[str, Any]]]:
    """Messages and tools of a request to count tokens: a conversation, or a whole request in one field."""
    hosted = Hosted(VENDOR, collection)
    asked = fields(body)
    whole = fields(content.member(asked, "generateContentRequest")) or asked
    return messages(whole, hosted), _tools(whole.get("tools"), hosted)
