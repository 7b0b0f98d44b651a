"""What a refusal teaches: which optional field a provider says it does not take.

The idea: providers name the field in `param`, in quotes, at the end of a path ("body.seed", "tools.0.strict",
"reasoning.effort"), or in camel case of their own ("presencePenalty" for presence_penalty, "reasoningEffort"
for reasoning.effort: github.com/NousResearch/hermes-agent/pull/23435); so each field that a request can do
without is looked for in all those forms. What an answer cannot be right without (messages, tools, the shape
of it) is never given up.

A lesson is "WHAT NAME": drop (a field of the request; a path where it is nested), message_drop, tool_drop,
schema_drop (a keyword of tools' schemas), budget (the output limit's other name), ids (a form for those of
tool calls), thoughts (they are wanted back with calls) or system (where system text belongs).
"""

import functools
import re
from collections.abc import Iterator, Mapping

from metrics.records import Problem

NINE = "[a-zA-Z0-9]{9}"  # ids of tool calls, as Mistral has them
BUDGETS = ("max_tokens", "max_completion_tokens")

# Message fields that clients send back from earlier answers and that strict servers refuse as unknown.
ECHOES = frozenset(
    {
        "reasoning_content",
        "reasoning",
        "reasoning_details",
        "refusal",
        "annotations",
        "audio",
        "function_call",
    }
)

_SAMPLING = ("temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty", "logprobs")
_META = ("user", "store", "metadata", "safety_identifier", "service_tier")

# api -> fields of its requests that one can do without
OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "chat": (
        *_SAMPLING,
        *_META,
        *("stream_options", "logit_bias", "top_logprobs", "parallel_tool_calls"),
        *("prompt_cache_key", "prompt_cache_retention", "reasoning_effort", "verbosity"),
    ),
    "responses": (
        # ChatGPT's own endpoint takes no limit: github.com/RayBytes/ChatMock/issues/51.
        *("temperature", "top_p", "top_logprobs", "parallel_tool_calls", "max_output_tokens"),
        *("metadata", "user", "safety_identifier", "service_tier", "store"),
        *("prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "client_metadata"),
        *("truncation", "include", "max_tool_calls", "context_management", "moderation"),
        *("reasoning", "reasoning.effort", "reasoning.summary", "reasoning.context", "reasoning.mode"),
        *("reasoning.generate_summary", "text.verbosity"),
    ),
    "anthropic": (
        *("temperature", "top_p", "top_k", "stop_sequences", "metadata", "service_tier"),
        *("thinking", "output_config.effort", "context_management", "cache_control", "inference_geo"),
        *("speed", "tool_choice.disable_parallel_tool_use"),
    ),
    "gemini": (
        *("safetySettings", "labels", "serviceTier", "generationConfig.temperature"),
        *("generationConfig.topP", "generationConfig.topK", "generationConfig.seed"),
        *("generationConfig.stopSequences", "generationConfig.candidateCount"),
        *("generationConfig.presencePenalty", "generationConfig.frequencyPenalty"),
        *("generationConfig.responseLogprobs", "generationConfig.logprobs"),
        *("generationConfig.mediaResolution", "generationConfig.thinkingConfig"),
        *("generationConfig.thinkingConfig.thinkingLevel", "generationConfig.thinkingConfig.thinkingBudget"),
        "generationConfig.thinkingConfig.includeThoughts",
    ),
    "ollama": ("think", "keep_alive", "truncate", "shift", "logprobs", "top_logprobs"),
}

# Fields of a declared tool that say how to treat it, not what it is.
TOOL_FIELDS = ("strict", "eager_input_streaming", "defer_loading", "allowed_callers", "input_examples")
# Keywords that narrow a schema or speak of it; without them a tool takes a little more than it should.
SCHEMA_FIELDS = (
    *("additionalProperties", "$schema", "$id", "$comment", "title", "default", "examples", "format"),
    *("pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
    *("propertyNames", "patternProperties", "unevaluatedProperties", "deprecated", "readOnly", "writeOnly"),
)

# What is refused in a sentence that names no field. github.com/OpenHands/software-agent-sdk/pull/1208;
# github.com/ollama/ollama/blob/main/server/routes.go; github.com/google-gemini/cookbook/issues/1290,
# github.com/RooCodeInc/Roo-Code/issues/10700, github.com/QuantumNous/new-api/issues/989;
# github.com/jundot/omlx/pull/1997: servers of Mistral's models want its ids too. Of thoughts: thoughts.py.
SENTENCES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "responses": (("encrypted content is not supported", "drop include"),),
    "ollama": (("does not support thinking", "drop think"), ("think value", "drop think")),
    "chat": (
        ("does not support thinking", "drop reasoning_effort"),
        ("must be a-z, a-z, 0-9, with a length of 9", f"ids {NINE}"),
        ("reasoning_content is missing", "thoughts wanted"),
        ("in the thinking mode must be passed back", "thoughts wanted"),
    ),
    "gemini": (
        ("penalty is not enabled", "drop generationConfig.presencePenalty"),
        ("penalty is not enabled", "drop generationConfig.frequencyPenalty"),
        ("thinking level", "drop generationConfig.thinkingConfig.thinkingLevel"),
        ("thinking_level", "drop generationConfig.thinkingConfig.thinkingLevel"),
        ("thinking budget", "drop generationConfig.thinkingConfig.thinkingBudget"),
        ("thinking_budget", "drop generationConfig.thinkingConfig.thinkingBudget"),
        ("thinking is not", "drop generationConfig.thinkingConfig"),
        ("thinking_config is not", "drop generationConfig.thinkingConfig"),
        ("developer instruction is not enabled", "drop systemInstruction"),
    ),
}

_UNKNOWN = re.compile(
    r"unsupported|not support|n.t support|unknown|unrecogni[sz]ed|extra inputs|extra_forbidden|not permitted"
    r"|not allowed|unexpected|cannot find field|additional propert|invalid (?:field|parameter|argument)"
    r"|instead",
    re.IGNORECASE,
)
_DISTINCT = re.compile(r"[a-z][A-Z]|[._$]")
_SCHEMA = re.compile(r"schema|parameters|properties|function_?declarations", re.IGNORECASE)


def of(problem: Problem, api: str = "chat", budget: str = "") -> set[str]:
    """The lessons in a refusal by a server of `api`; none when it is about something else."""
    said = problem.message.lower()
    lessons = {lesson for words, lesson in SENTENCES.get(api, ()) if words in said}
    if not _UNKNOWN.search(problem.message) and "unsupported" not in (problem.code or ""):
        return lessons
    lessons |= {f"drop {name}" for name in OPTIONAL.get(api, ()) if _names(problem, name)}
    lessons |= {f"tool_drop {name}" for name in TOOL_FIELDS if _names(problem, name)}
    if api == "responses" and _names(problem, "instructions"):
        lessons.add("system input")
    if api == "chat":
        lessons |= {f"message_drop {name}" for name in ECHOES if _names(problem, name)}
        if budget in BUDGETS and _names(problem, budget):
            lessons.add("budget " + next(name for name in BUDGETS if name != budget))
    if not lessons and _SCHEMA.search(f"{problem.message} {problem.param or ''}"):
        lessons |= {f"schema_drop {name}" for name in SCHEMA_FIELDS if _names(problem, name)}
    return lessons


def _names(problem: Problem, name: str) -> bool:
    param = problem.param or ""
    whole = "." in name
    last = param if whole else param.rpartition(".")[2]
    return last in _forms(name) or _pattern(name).search(problem.message) is not None


def _forms(name: str) -> frozenset[str]:
    return frozenset(_spelled(name))


def _spelled(name: str) -> Iterator[str]:
    """The ways in which providers write a field's name."""
    yield name
    flat = name.replace(".", "_")
    first, *rest = flat.split("_")
    yield first + "".join(word[:1].upper() + word[1:] for word in rest)
    if "." in name:
        yield flat


@functools.lru_cache(maxsize=512)
def _pattern(name: str) -> re.Pattern[str]:
    """Plain words ("stop", "user") count only where they are quoted or the last part of a path; so does a
    nested field's last part, where it is quoted."""
    last = name.rpartition(".")[2]
    quoted = [rf"['\"`“]{re.escape(last)}['\"`”]"] if last != name else []
    forms = [
        rf"(?<![\w-]){re.escape(form)}(?![\w-]|\.\w)"
        if _DISTINCT.search(form)
        else rf"['\"`“.]{re.escape(form)}['\"`”:]|(?<![\w-]){re.escape(form)}: extra inputs"
        for form in _forms(name)
    ]
    return re.compile("|".join(forms + quoted).replace("extra", "[Ee]xtra"))
