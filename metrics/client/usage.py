"""What providers call usage, in our one convention (decisions 6): input split by cache, `out` all output.

The idea: in OpenAI's convention, which chat-compatible providers share, `prompt_tokens` includes what was
read from and written to the cache, and `completion_tokens` includes reasoning. Those that differ show it in
their own sums: where `total_tokens` is larger than prompt and completion, the rest is reasoning that was left
out (xAI, Gemini).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from metrics.records import Usage

# Paths tried in order. DeepSeek names hits at the top, Moonshot `cached_tokens`, proxies of Anthropic its own
# names.
CACHE_READ = (
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("prompt_cache_hit_tokens",),
    ("cached_tokens",),
    ("cache_read_input_tokens",),
)
CACHE_WRITE = (("prompt_tokens_details", "cache_write_tokens"), ("cache_creation_input_tokens",))
REASONING = (
    ("completion_tokens_details", "reasoning_tokens"),
    ("output_tokens_details", "reasoning_tokens"),
    ("reasoning_tokens",),
)
PROMPT = (("prompt_tokens",), ("input_tokens",))
OUT = (("completion_tokens",), ("output_tokens",))
COST = (("cost",), ("cost", "total_cost"))  # OpenRouter; Perplexity


def of_chat(raw: Mapping[str, Any]) -> Usage:
    """Usage of a chat completion. What the provider does not say stays None."""
    prompt, out, reasoning = _count(raw, PROMPT), _count(raw, OUT), _count(raw, REASONING)
    read, write = _count(raw, CACHE_READ), _count(raw, CACHE_WRITE)
    total = _count(raw, (("total_tokens",),))
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
        cost=next((float(value) for value in _values(raw, COST) if 0 <= value < 1e9), None),
    )


def _count(raw: Mapping[str, Any], paths: tuple[tuple[str, ...], ...]) -> int | None:
    return next((int(value) for value in _values(raw, paths) if 0 <= value < 1e12), None)


def _values(raw: Mapping[str, Any], paths: tuple[tuple[str, ...], ...]) -> Iterator[int | float]:
    for path in paths:
        value: Any = raw
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield value
