"""Where providers differ from the chat format they share: one row per host, each with its source.

The idea: the defaults are what every server understands (roles of 2023, `max_tokens`, one system message at
the front), so an unknown host needs no row; a row says only what a host refuses or wants otherwise. What no
row knows is learned from the provider's own refusal (`learn`), once, and kept for the life of the process.
"""

import functools
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from metrics.client import lessons
from metrics.records import Problem, Target


@dataclass(frozen=True, slots=True)
class Quirks:
    """How to write to one model.

    `budget` is the name of the output limit; `developer` whether that role exists; `system` "first" (one
    system message, at the front), "anywhere", or of Responses "input" (as messages, never as instructions);
    `usage` whether stream_options is understood. `drop` and `message_drop` name fields of the request and of
    messages that are refused, `rename` those with another name. `reasoners` matches served names that are
    known to reason, `reasoners_drop` what those refuse. `root` is the API's path when a base URL is a bare
    host. `tool_drop` and `schema_drop` name fields of declared tools and keywords of their schemas. `ids` is
    what ids of tool calls must look like; `sealed` that calls are wanted back with their seals, `thoughts`
    with what the model thought before. Names are those of the API that is spoken, with a dot where one field
    is in another ("reasoning.effort").
    """

    budget: str = "max_tokens"
    developer: bool = False
    system: str = "first"
    usage: bool = True
    drop: frozenset[str] = frozenset()
    message_drop: frozenset[str] = frozenset()
    rename: Mapping[str, str] = field(default_factory=dict)
    reasoners: str = ""
    reasoners_drop: frozenset[str] = frozenset()
    reasons: bool = False
    root: str = "/v1"
    tool_drop: frozenset[str] = frozenset()
    schema_drop: frozenset[str] = frozenset()
    ids: str = ""
    sealed: bool = False
    thoughts: bool = False


# host suffix -> what differs there
ROWS: Mapping[str, Quirks] = {
    # platform.openai.com/docs/api-reference/chat/create: max_tokens is refused by reasoning models, and
    # max_completion_tokens taken by all; /docs/guides/reasoning: no temperature, top_p or stop for o-models
    # and GPT-5. Later ones take them again at effort "none", so only what is certain is named; the rest is
    # learned.
    "api.openai.com": Quirks(
        budget="max_completion_tokens",
        developer=True,
        system="anywhere",
        reasoners=r"(?:o\d|gpt-5(?:-mini|-nano|-pro|-codex)?(?:-20\d\d|$))",
        reasoners_drop=frozenset({"temperature", "top_p", "stop"}),
        ids=r"[\s\S]{1,40}",  # longer ones are refused: github.com/agno-agi/agno/issues/5382
    ),
    # platform.claude.com/docs/en/api/openai-sdk: system messages are hoisted there; seed and others are
    # ignored.
    "api.anthropic.com": Quirks(system="anywhere"),
    # github.com/Vali-98/ChatterUI/issues/227: 'Unknown name "seed": Cannot find field'; the same of
    # penalties.
    "generativelanguage.googleapis.com": Quirks(
        drop=frozenset({"seed", "frequency_penalty", "presence_penalty", "logit_bias"}),
        root="/v1beta/openai",
        sealed=True,  # a call without its signature is refused: github.com/securo-finance/securo/issues/884
    ),
    # github.com/mistralai/platform-docs-public/issues/7: unknown fields are a 422 ("extra_forbidden");
    # github.com/posit-dev/chatlas/pull/145: random_seed for seed, no stream_options (usage comes without
    # asking); github.com/anomalyco/opencode/issues/1680: ids of calls have 9 letters and digits.
    "api.mistral.ai": Quirks(
        usage=False,
        rename={"seed": "random_seed"},
        message_drop=lessons.ECHOES,
        ids=lessons.NINE,
    ),
    # console.groq.com/docs/openai: a 400 for logprobs, logit_bias, top_logprobs and messages[].name.
    "api.groq.com": Quirks(
        drop=frozenset({"logprobs", "top_logprobs", "logit_bias"}),
        message_drop=frozenset({"name"}),
        root="/openai/v1",
    ),
    # inference-docs.cerebras.ai/resources/openai: a 400 for these; it reserves the budget up front under this
    # name.
    "api.cerebras.ai": Quirks(
        budget="max_completion_tokens",
        drop=frozenset({"frequency_penalty", "presence_penalty", "logit_bias", "service_tier"}),
    ),
    # docs.x.ai/docs/guides/reasoning: reasoning models refuse stop and the penalties;
    # docs.x.ai/docs/guides/chat: roles may come in any order.
    "api.x.ai": Quirks(
        system="anywhere",
        reasoners=r"grok-(?:3-mini|4|code)",
        reasoners_drop=frozenset({"stop", "frequency_penalty", "presence_penalty"}),
    ),
    # openrouter.ai/docs/api-reference/overview
    "openrouter.ai": Quirks(root="/api/v1"),
    # docs.perplexity.ai/guides/chat-completions-guide: no /v1
    "api.perplexity.ai": Quirks(root=""),
    # docs.github.com/en/rest/models/inference
    "models.github.ai": Quirks(root="/inference"),
    # docs.z.ai/guides/overview/quick-start
    "api.z.ai": Quirks(root="/api/paas/v4"),
}


# api -> host suffix ("" is any other) -> what differs there, of those that are spoken natively
NATIVE: Mapping[str, Mapping[str, Quirks]] = {
    "responses": {
        "": Quirks(budget="max_output_tokens", developer=True, system="anywhere"),
        # platform.openai.com/docs/guides/reasoning: all of these reason; which of them refuse temperature and
        # top_p depends on the effort too, so that is learned.
        "api.openai.com": Quirks(
            budget="max_output_tokens",
            developer=True,
            system="anywhere",
            reasoners=r"(?:o\d|gpt-5(?!.*-chat)|gpt-[6-9]|codex-)",
        ),
        # docs.x.ai/developers/advanced-api-usage/troubleshooting-reasoning: encrypted reasoning comes when it
        # is asked for, and is wanted back.
        "api.x.ai": Quirks(
            budget="max_output_tokens",
            developer=True,
            system="anywhere",
            reasoners=r"grok-(?:3-mini|4|build|code)(?!.*non-reasoning)",
        ),
        # openrouter.ai/docs/api_reference/responses: stateless, under /api/v1;
        # github.com/OpenRouterTeam/typescript-sdk/issues/156: of the two, it hears system messages.
        "openrouter.ai": Quirks(budget="max_output_tokens", developer=True, system="input", root="/api/v1"),
        # console.groq.com/docs/responses-api: the same root as chat completions.
        "api.groq.com": Quirks(
            budget="max_output_tokens", developer=True, system="anywhere", root="/openai/v1"
        ),
    },
}


Place = tuple[str, str, str]  # api, base and served name: a model as one server knows it


class Provider(NamedTuple):
    """A provider that a key in the environment gives away, its base URL, and the API to ask it by: chat
    completions, unless its own API is clearly better."""

    env: str
    base: str
    host: str
    api: str = "chat"


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("OPENAI_API_KEY", "https://api.openai.com/v1", "api.openai.com"),
    # platform.claude.com/docs/en/api/openai-sdk: its chat completions are there to try models, without prompt
    # caching and without thoughts.
    "anthropic": Provider("ANTHROPIC_API_KEY", "https://api.anthropic.com", "api.anthropic.com", "anthropic"),
    # ai.google.dev/gemini-api/docs/thought-signatures: tool calls must come back with their signatures, which
    # not all callers of chat completions keep.
    "gemini": Provider(
        "GEMINI_API_KEY",
        "https://generativelanguage.googleapis.com/v1beta",
        "generativelanguage.googleapis.com",
        "gemini",
    ),
    "openrouter": Provider("OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", "openrouter.ai"),
    "groq": Provider("GROQ_API_KEY", "https://api.groq.com/openai/v1", "api.groq.com"),
    "mistral": Provider("MISTRAL_API_KEY", "https://api.mistral.ai/v1", "api.mistral.ai"),
    "deepseek": Provider("DEEPSEEK_API_KEY", "https://api.deepseek.com/v1", "api.deepseek.com"),
    "cerebras": Provider("CEREBRAS_API_KEY", "https://api.cerebras.ai/v1", "api.cerebras.ai"),
    "together": Provider("TOGETHER_API_KEY", "https://api.together.xyz/v1", "api.together.xyz"),
    "xai": Provider("XAI_API_KEY", "https://api.x.ai/v1", "api.x.ai"),
}

# Runtimes on this computer, at the port each takes by itself.
LOCAL: Mapping[str, str] = {
    "ollama": "http://127.0.0.1:11434/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "vllm": "http://127.0.0.1:8000/v1",
}


@functools.lru_cache(maxsize=512)
def of_host(host: str, api: str = "chat") -> Quirks:
    """The row of a host name for one API, by its suffix."""
    host = host.lower().rstrip(".")
    rows = ROWS if api == "chat" else NATIVE.get(api, {})
    usual = rows.get("", Quirks())
    return next((row for name, row in rows.items() if name and _within(host, name)), usual)


def _within(host: str, name: str) -> bool:
    return host == name or host.endswith("." + name)


def for_target(target: Target) -> Quirks:
    """How to write to this model now: its host's row, what its kind refuses, and what was learned."""
    place = _place(target)
    return _manners(target.profile, target.reasoning, place, _learned.get(place, _NOTHING))


@functools.lru_cache(maxsize=1024)
def _manners(profile: str, reasons: bool | None, place: Place, found: frozenset[str]) -> Quirks:
    api, base, served = place
    row = of_host(profile or host_of(base), api)
    if reasons is None and row.reasoners:
        reasons = re.match(row.reasoners, served) is not None
    if reasons:
        row = replace(row, reasons=True, drop=row.drop | row.reasoners_drop)
    return _with(row, found) if found else row


@functools.lru_cache(maxsize=512)
def host_of(base: str) -> str:
    try:
        return urlsplit(base).hostname or ""
    except ValueError:
        return ""


# --- learning from refusals

_MOST_LEARNED = 4096

_lock = threading.Lock()
_learned: dict[Place, frozenset[str]] = {}
_NOTHING = frozenset[str]()


def learn(target: Target, problem: Problem) -> bool:
    """Whether a refusal taught something: then compose the request anew and send it once more.

    Only a 400 or 422 that names an optional field as unknown teaches; the same lesson is never taught twice.
    """
    if problem.status not in (400, 422) or problem.kind != "bad_request":
        return False
    found = lessons.of(problem, target.api, for_target(target).budget)
    place = _place(target)
    with _lock:
        known = _learned.get(place, _NOTHING)
        # Having switched the budget's name once, a second refusal means that neither name is the trouble.
        new = {
            lesson for lesson in found if lesson not in known and not (_budget(lesson) and _budget(*known))
        }
        if not new or len(_learned) >= _MOST_LEARNED:
            return False
        _learned[place] = known | new
    return True


def forget() -> None:
    """Unlearns everything."""
    with _lock:
        _learned.clear()


def _place(target: Target) -> Place:
    return target.api, target.base, target.served


def _budget(*found: str) -> bool:
    return any(lesson.startswith("budget ") for lesson in found)


def _with(row: Quirks, found: frozenset[str]) -> Quirks:
    fields: dict[str, Any] = {}
    for lesson in found:
        what, _, name = lesson.partition(" ")
        if what in ("budget", "ids", "system"):
            fields[what] = name
        elif what == "thoughts":
            fields[what] = True
        elif name == "stream_options":
            fields["usage"] = False
        else:
            fields[what] = fields.get(what, getattr(row, what)) | {name}
    return replace(row, **fields)


# --- writing as a row wants it


def without(body: dict[str, Any], names: Iterable[str]) -> tuple[dict[str, Any], list[str]]:
    """`body` without the fields of those names ("reasoning.effort" is a field of a field), and what was left
    out, in words. What is left empty goes too. The given object stays as it is."""
    changed = []
    for name in sorted(names):
        kept = _dropped(body, name.split("."))
        if kept is not body:
            body = kept
            changed.append(f"{name} left out (not accepted by this model)")
    return body, changed


def _dropped(fields: dict[str, Any], path: list[str]) -> dict[str, Any]:
    first, *rest = path
    if first not in fields:
        return fields
    if rest:
        inner = fields[first]
        kept = _dropped(inner, rest) if isinstance(inner, dict) else inner
        if kept is inner:
            return fields
        if kept:
            return {**fields, first: kept}
    return {name: value for name, value in fields.items() if name != first}


def plainer(tools: Any, manners: Quirks) -> Any:
    """Declared tools without the fields and the keywords of schemas that are refused."""
    names = manners.tool_drop | manners.schema_drop
    return _pruned(tools, manners.tool_drop, manners.schema_drop) if names else tools


def _pruned(value: Any, fields: frozenset[str], keywords: frozenset[str]) -> Any:
    if isinstance(value, list):
        return [_pruned(one, fields, keywords) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _schema(inner, keywords) if name in _SCHEMAS else _pruned(inner, fields, keywords)
        for name, inner in value.items()
        if name not in fields
    }


def _schema(value: Any, keywords: frozenset[str]) -> Any:
    """Names of properties are the tool's own words, whatever they are; so is what is no schema."""
    if isinstance(value, list):
        return [_schema(one, keywords) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: {key: _schema(one, keywords) for key, one in inner.items()}
        if name in _MAPS and isinstance(inner, dict)
        else inner
        if name in _VALUES
        else _schema(inner, keywords)
        for name, inner in value.items()
        if name not in keywords
    }


_SCHEMAS = ("parameters", "input_schema", "parametersJsonSchema")
_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_VALUES = ("enum", "const", "default", "examples", "required")
