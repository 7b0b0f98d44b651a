"""Where providers differ from the chat format they share: one row per host, each with its source.

The idea: the defaults are what every server understands (roles of 2023, `max_tokens`, one system message at
the front), so an unknown host needs no row; a row says only what a host refuses or wants otherwise. What no
row knows is learned from the provider's own refusal (`learn`), once, and kept for the life of the process.
"""

import functools
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from metrics.records import Problem, Target


@dataclass(frozen=True, slots=True)
class Quirks:
    """How to write to one model.

    `budget` is the name of the output limit; `developer` whether that role exists; `system` "first" (one
    system message, at the front) or "anywhere"; `usage` whether stream_options is understood. `drop` and
    `message_drop` name fields of the request and of messages that are refused, `rename` those with another
    name. `reasoners` matches served names that are known to reason, `reasoners_drop` what those refuse.
    `root` is the API's path when a base URL is a bare host.
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


# Message fields that clients send back from earlier answers and that strict servers refuse as unknown.
_ECHOES = frozenset(
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
    ),
    # platform.claude.com/docs/en/api/openai-sdk: system messages are hoisted there; seed and others are
    # ignored.
    "api.anthropic.com": Quirks(system="anywhere"),
    # github.com/Vali-98/ChatterUI/issues/227: 'Unknown name "seed": Cannot find field'; the same of
    # penalties.
    "generativelanguage.googleapis.com": Quirks(
        drop=frozenset({"seed", "frequency_penalty", "presence_penalty", "logit_bias"}), root="/v1beta/openai"
    ),
    # github.com/mistralai/platform-docs-public/issues/7: unknown fields are a 422 ("extra_forbidden");
    # github.com/posit-dev/chatlas/pull/145: random_seed for seed, no stream_options (usage comes without
    # asking).
    "api.mistral.ai": Quirks(usage=False, rename={"seed": "random_seed"}, message_drop=_ECHOES),
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


class Provider(NamedTuple):
    """A provider that a key in the environment gives away, and its OpenAI-compatible base URL."""

    env: str
    base: str
    host: str


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("OPENAI_API_KEY", "https://api.openai.com/v1", "api.openai.com"),
    "anthropic": Provider("ANTHROPIC_API_KEY", "https://api.anthropic.com/v1", "api.anthropic.com"),
    "gemini": Provider(
        "GEMINI_API_KEY",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "generativelanguage.googleapis.com",
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
def of_host(host: str) -> Quirks:
    """The row of a host name, by its suffix."""
    host = host.lower().rstrip(".")
    return next((row for name, row in ROWS.items() if host == name or host.endswith("." + name)), Quirks())


def for_target(target: Target) -> Quirks:
    """How to write to this model now: its host's row, what its kind refuses, and what was learned."""
    row = of_host(target.profile or host_of(target.base))
    reasons = target.reasoning
    if reasons is None and row.reasoners:
        reasons = re.match(row.reasoners, target.served) is not None
    if reasons:
        row = replace(row, reasons=True, drop=row.drop | row.reasoners_drop)
    lessons = _learned.get((target.base, target.served))
    return row if not lessons else _with(row, lessons)


@functools.lru_cache(maxsize=512)
def host_of(base: str) -> str:
    try:
        return urlsplit(base).hostname or ""
    except ValueError:
        return ""


# --- learning from refusals

_BUDGETS = ("max_tokens", "max_completion_tokens")
_OPTIONAL = [
    "stream_options",
    "temperature",
    "top_p",
    "seed",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "user",
    "store",
    "metadata",
    "prompt_cache_key",
    "safety_identifier",
    "service_tier",
    "parallel_tool_calls",
    "reasoning_effort",
    "verbosity",
]
_UNKNOWN = re.compile(
    r"unsupported|not support|n.t support|unknown|unrecogni[sz]ed|extra inputs|extra_forbidden|not permitted"
    r"|not allowed|unexpected|cannot find field|additional propert|invalid (?:field|parameter|argument)"
    r"|instead",
    re.IGNORECASE,
)
_MOST_LEARNED = 4096

_lock = threading.Lock()
_learned: dict[tuple[str, str], frozenset[str]] = {}


def learn(target: Target, problem: Problem) -> bool:
    """Whether a refusal taught something: then compose the request anew and send it once more.

    Only a 400 or 422 that names an optional field as unknown teaches; the same lesson is never taught twice.
    """
    if problem.status not in (400, 422) or problem.kind != "bad_request":
        return False
    lessons = _lessons(problem, for_target(target).budget)
    place = (target.base, target.served)
    with _lock:
        known = _learned.get(place, frozenset())
        # Having switched the budget's name once, a second refusal means that neither name is the trouble.
        new = {
            lesson for lesson in lessons if lesson not in known and not (_budget(lesson) and _budget(*known))
        }
        if not new or len(_learned) >= _MOST_LEARNED:
            return False
        _learned[place] = known | new
    return True


def forget() -> None:
    """Unlearns everything."""
    with _lock:
        _learned.clear()


def _lessons(problem: Problem, budget: str) -> set[str]:
    if not _UNKNOWN.search(problem.message) and "unsupported" not in (problem.code or ""):
        return set()
    lessons = {f"drop {name}" for name in _OPTIONAL if _names(problem, name)}
    lessons |= {f"message_drop {name}" for name in _ECHOES if _names(problem, name)}
    if _names(problem, budget):
        lessons.add("budget " + next(name for name in _BUDGETS if name != budget))
    return lessons


def _names(problem: Problem, name: str) -> bool:
    """Plain words ("stop", "user") count only where they are quoted or the last part of a path."""
    bare = rf"(?<![\w-]){name}(?![\w-])" if "_" in name else rf"['\"`“.]{name}['\"`”:]"
    return (problem.param or "").rpartition(".")[2] == name or re.search(bare, problem.message) is not None


def _budget(*lessons: str) -> bool:
    return any(lesson.startswith("budget ") for lesson in lessons)


def _with(row: Quirks, lessons: frozenset[str]) -> Quirks:
    fields: dict[str, Any] = {"drop": row.drop, "message_drop": row.message_drop}
    for lesson in lessons:
        what, _, name = lesson.partition(" ")
        if what == "budget":
            fields["budget"] = name
        elif name == "stream_options":
            fields["usage"] = False
        else:
            fields[what] = fields[what] | {name}
    return replace(row, **fields)
