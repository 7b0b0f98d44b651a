"""What providers call usage, in our one convention (decisions 6): input split by cache, `out` all output.

The idea: in OpenAI's convention, which chat-compatible providers share, `prompt_tokens` includes what was
read from and written to the cache, and `completion_tokens` includes reasoning. Those that differ show it in
their own sums: where `total_tokens` is larger than prompt and completion, the rest is reasoning that was left
out (xAI, Gemini).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from metrics.records import Usage

Place = tuple[str, str]  # a field, and the field in it ("": itself)

# Tried in order: DeepSeek names hits at the top, Moonshot `cached_tokens`, those of Anthropic its own names.
CACHE_READ = (
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("prompt_cache_hit_tokens", ""),
    ("cached_tokens", ""),
    ("cache_read_input_tokens", ""),
)
CACHE_WRITE = (("prompt_tokens_details", "cache_write_tokens"), ("cache_creation_input_tokens", ""))
REASONING = (
    ("completion_tokens_details", "reasoning_tokens"),
    ("output_tokens_details", "reasoning_tokens"),
    ("reasoning_tokens", ""),
)
_PARTS = frozenset(name for name, _ in (*CACHE_READ, *CACHE_WRITE, *REASONING))
PROMPT = (("prompt_tokens", ""), ("input_tokens", ""))
OUT = (("completion_tokens", ""), ("output_tokens", ""))


def of_chat(raw: Mapping[str, Any]) -> Usage:
    """Usage of a chat completion. What the provider does not say stays None."""
    prompt, out, total = _count(raw, PROMPT), _count(raw, OUT), _counted(raw.get("total_tokens"))
    read = write = reasoning = None
    if not _PARTS.isdisjoint(raw):
        read, write, reasoning = _count(raw, CACHE_READ), _count(raw, CACHE_WRITE), _count(raw, REASONING)
    if prompt is not None and out is not None and total is not None:
        beside = total - prompt - out
        if beside > 0 and reasoning in (None, beside):
            out, reasoning = out + beside, beside
    cached = (read or 0) + (write or 0)
    return Usage(
        # A prompt smaller than its cached part is one that never included it.
        uncached_in=None if prompt is None else prompt - cached if prompt >= cached else prompt,
        cache_read=read,
        cache_write=write,
        out=out,
        reasoning=reasoning,
        raw=raw,
        cost=_cost(raw.get("cost")),
    )


def of_anthropic(raw: Mapping[str, Any]) -> Usage:
    """The one API whose `input_tokens` are those beside the cache's (anthropic 2.14.0, types/usage.py)."""
    return Usage(
        uncached_in=_counted(raw.get("input_tokens")),
        cache_read=_counted(raw.get("cache_read_input_tokens")),
        cache_write=_counted(raw.get("cache_creation_input_tokens")),
        out=_counted(raw.get("output_tokens")),
        reasoning=_count(raw, (("output_tokens_details", "thinking_tokens"),)),
        raw=raw,
    )


def of_gemini(raw: Mapping[str, Any]) -> Usage:
    """`usageMetadata`: the prompt includes what was cached of it, the candidates leave the thoughts out.
    A count of 0 is not written (ai.google.dev/api/generate-content, UsageMetadata)."""
    prompt, tool = _counted(raw.get("promptTokenCount")), _counted(raw.get("toolUsePromptTokenCount"))
    cached, thoughts = _counted(raw.get("cachedContentTokenCount")), _counted(raw.get("thoughtsTokenCount"))
    said = _counted(raw.get("candidatesTokenCount"))
    if prompt is None and said is None and thoughts is None:
        return Usage(raw=raw)
    whole = (prompt or 0) + (tool or 0)
    return Usage(
        uncached_in=max(0, whole - (cached or 0)),
        cache_read=cached,
        out=(said or 0) + (thoughts or 0),
        reasoning=thoughts,
        raw=raw,
    )


def of_ollama(raw: Mapping[str, Any]) -> Usage:
    """The counts of a last line (ollama, api/types.go, Metrics), which leaves out what is 0."""
    prompt, out = _counted(raw.get("prompt_eval_count")), _counted(raw.get("eval_count"))
    return Usage(uncached_in=prompt, out=out, raw=raw)


def _count(raw: Mapping[str, Any], places: Iterable[Place]) -> int | None:
    """The count at the first place that has one."""
    for name, inner in places:
        if name in raw:
            value = raw[name]
            if inner:
                value = value.get(inner) if type(value) is dict else None
            count = _counted(value)
            if count is not None:
                return count
    return None


def _cost(said: Any) -> float | None:
    """USD: OpenRouter says it by itself, Perplexity among its parts."""
    value = said.get("total_cost") if type(said) is dict else said
    if type(value) is int or type(value) is float:
        return float(value) if 0 <= value < 1e9 else None
    return None


def _counted(value: Any) -> int | None:
    if type(value) is int or type(value) is float:
        return int(value) if 0 <= value < 1e12 else None
    return None
