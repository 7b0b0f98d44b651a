"""What a request to Gemini says beside its conversation: `generationConfig`, `tools`, `toolConfig`.

Shapes: ai.google.dev/api/generate-content (GenerationConfig) and /api/caching (Tool, ToolConfig). A caller of
this API has said some of it in its own words (`native`), which go out as they are where this model takes
them; what only chat has words for is named in `changed`.
"""

import re
from collections.abc import Mapping
from typing import Any

from metrics.client import declared, gemini_schema, room
from metrics.records import Target

SAMPLING = {
    "temperature": "temperature",
    "top_p": "topP",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
    "n": "candidateCount",
}
# Read below, each in its own way.
READ = frozenset(
    ("max_tokens", "max_completion_tokens", "stop", "seed", "response_format", "reasoning_effort")
    + ("logprobs", "top_logprobs", "tools", "tool_choice")
)
# The request says them in other places: which model, which method.
ELSEWHERE = frozenset(("model", "messages", "stream", "stream_options"))
USUAL = {"parallel_tool_calls": True}  # what happens anyway
STOPS = 5  # ai.google.dev/api/generate-content, stopSequences
SEED = 2**31  # an int32
JSON = "application/json"

# Google's own table of efforts (ai.google.dev/gemini-api/docs/openai, "Thinking"): levels from the third
# generation on, budgets in tokens for 2.5, nothing before. Both at once are refused.
LEVELS = {"none": "minimal", "xhigh": "high", "max": "high"}
BUDGETS = {"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}
UNTHINKING = re.compile(r"(?:models/)?(?:gemini-(?:pro$|pro-vision|1|2\.0)|gemma-[123]|learnlm)")
THINKING_FAMILIES = re.compile(r"(?:models/)?gemini-(?:2\.5|[3-9]|flash|pro-latest)")
# These neither sign their calls nor read a signature (ai.google.dev/gemini-api/docs/thought-signatures).
UNSIGNED = re.compile(r"(?:models/)?(?:gemini-(?:pro$|pro-vision|[12](?!\d))|gemma-[123](?!\d)|learnlm)")
BUDGETED = re.compile(r"(?:models/)?gemini-(?:robotics-er-1|2\.5)")
# These cannot do without thinking: their least.
LEAST_LEVEL = re.compile(r"(?:models/)?gemini-3(?:\.\d+)?-pro")
LEAST_BUDGET = (re.compile(r"(?:models/)?gemini-2\.5-pro"), 128)

MODES = {"auto": "AUTO", "required": "ANY", "none": "NONE"}


def thinks(target: Target) -> bool:
    """Whether its thoughts take from the output's budget."""
    return (
        THINKING_FAMILIES.match(target.served) is not None if target.reasoning is None else target.reasoning
    )


def generation(
    target: Target, options: Mapping[str, Any], native: Mapping[str, Any] | None, changed: list[str]
) -> dict[str, Any]:
    """`generationConfig`. `native` is the caller's own, without what is in `options`; None when it speaks
    another API, and may not know that thoughts take from its budget."""
    config = {theirs: options[ours] for ours, theirs in SAMPLING.items() if options.get(ours) is not None}
    if config.get("candidateCount") == 1:
        del config["candidateCount"]
    asked = options.get("max_completion_tokens", options.get("max_tokens"))
    if asked is not None:
        config["maxOutputTokens"], why = room.budget(asked, target, native is None and thinks(target))
        changed += [f"max_tokens {why}"] if why else []
    config |= _stop(options.get("stop"), changed) | _seed(options.get("seed"), changed)
    config |= _shape(options.get("response_format")) | _logprobs(options)
    native = native or {}
    if not native.keys().isdisjoint(SHAPES):
        config.pop(JSON_SCHEMA, None)
    if "responseFormat" in native:
        config.pop("responseMimeType", None)
    config |= {name: value for name, value in native.items() if name != THINKING}
    if thinking := _thinking(target, options.get("reasoning_effort"), native.get(THINKING), changed):
        config[THINKING] = thinking
    left = sorted(options.keys() - SAMPLING.keys() - READ - ELSEWHERE)
    left = [name for name in left if options[name] not in (USUAL.get(name, False), {}, [])]
    changed += [f"{name} left out (Gemini has no place for it)" for name in left]
    return config


JSON_SCHEMA, THINKING = "responseJsonSchema", "thinkingConfig"
SHAPES = (JSON_SCHEMA, "responseSchema", "responseFormat")  # one of them, or none


def _stop(value: Any, changed: list[str]) -> dict[str, Any]:
    stops = [value] if isinstance(value, str) else list(value or ())
    if len(stops) > STOPS:
        changed.append(f"stop cut from {len(stops)} strings to {STOPS} (the most that Gemini takes)")
    return {"stopSequences": stops[:STOPS]} if stops else {}


def _seed(value: Any, changed: list[str]) -> dict[str, Any]:
    if not isinstance(value, int):
        return {}
    if not -SEED <= value < SEED:
        changed.append(f"seed {value} sent as {value % SEED} (Gemini takes 32 bits)")
        value %= SEED
    return {"seed": value}


def _shape(wanted: Any) -> dict[str, Any]:
    """JSON, and of which schema."""
    if not isinstance(wanted, dict) or wanted.get("type") not in ("json_object", "json_schema"):
        return {}
    said = wanted.get("json_schema")
    schema = said.get("schema") if isinstance(said, dict) else None
    if not isinstance(schema, dict):
        return {"responseMimeType": JSON}
    return {"responseMimeType": JSON, JSON_SCHEMA: gemini_schema.reduced(schema)}


def _logprobs(options: Mapping[str, Any]) -> dict[str, Any]:
    if not options.get("logprobs"):
        return {}
    most = options.get("top_logprobs")
    return {"responseLogprobs": True, **({"logprobs": most} if most else {})}


def _thinking(target: Target, effort: Any, native: Any, changed: list[str]) -> dict[str, Any]:
    """`thinkingConfig`: the caller's own where this model reads it, else made from the effort. Thoughts are
    shown when thinking was asked for."""
    own = native if isinstance(native, dict) else {}
    if UNTHINKING.match(target.served) or target.reasoning is False:
        changed += ["reasoning_effort left out (this model does not think)"] if effort or own else []
        return {}
    level = own.get("thinkingLevel")
    if own and not (level and BUDGETED.match(target.served)):
        return dict(own)
    shown = own.get("includeThoughts", effort != "none")
    if not isinstance(effort, str):
        return {"includeThoughts": shown} if own else {}
    return {**_amount(target, effort, changed), **({"includeThoughts": True} if shown else {})}


def _amount(target: Target, effort: str, changed: list[str]) -> dict[str, Any]:
    served = target.served
    if not BUDGETED.match(served):
        level = LEVELS.get(effort, effort)
        if level == "minimal" and LEAST_LEVEL.match(served):
            changed.append(f"reasoning_effort {effort} sent as low (the least of this model)")
            level = "low"
        return {"thinkingLevel": level}
    budget = BUDGETS.get(effort, BUDGETS["high"])
    pattern, least = LEAST_BUDGET
    if budget < least and pattern.match(served):
        changed.append(f"reasoning_effort {effort} sent as {least} tokens (the least of this model)")
        budget = least
    return {"thinkingBudget": budget}


# --- tools


def tools(listed: Any, choice: Any, native: Mapping[str, Any], changed: list[str]) -> dict[str, Any]:
    """`tools` and `toolConfig`. `native` holds, of a caller of this API, "tools": a declaration by its name,
    and "mode": what it calls VALIDATED has no word in chat."""
    own = native.get("tools")
    known = own if isinstance(own, dict) else {}
    wish = declared.choice(choice, changed)
    made = [
        known.get(declared.name(tool)) or _declaration(tool, changed)
        for tool in listed or ()
        if wish.mode == "required" or wish.shows(tool)
    ]
    if not made:
        return {}
    calling: dict[str, Any] = {"mode": MODES.get(wish.mode, "AUTO")}
    if calling["mode"] == "AUTO" and native.get("mode") == "VALIDATED":
        calling["mode"] = "VALIDATED"
    if wish.names is not None and wish.mode == "required":
        calling["allowedFunctionNames"] = list(wish.names)
    plain = calling == {"mode": "AUTO"}
    config = {} if plain else {"toolConfig": {"functionCallingConfig": calling}}
    return {"tools": [{"functionDeclarations": made}], **config}


def _declaration(tool: Mapping[str, Any], changed: list[str]) -> dict[str, Any]:
    """A function as Gemini declares it; a custom tool is one with a single text."""
    named = declared.body(tool)
    schema = named.get("parameters")
    if "custom" in tool:
        changed.append(
            f"tool {named['name']} declared as a function with one text (Gemini has no custom tools)"
        )
        schema = declared.TEXT
    made = gemini_schema.parameters(schema)
    described = named.get("description")
    return {
        "name": named["name"],
        **({"description": described} if described else {}),
        **({"parametersJsonSchema": made} if made else {}),
    }
