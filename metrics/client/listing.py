"""What a provider's list of models says of each, as far as it says it.

The idea: every listing is a list of objects with an id, and each fact is found at one of a few paths: FACTS
names them, so that another provider is another path. What a listing does not say is left out, never guessed.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Protocol

from metrics.client import errors, quirks
from metrics.client.outgoing import address, sendable
from metrics.records import Problem, Target


class Received(Protocol):
    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...

    def read(self, limit: int = ...) -> bytes: ...
    def close(self) -> None: ...


class Transport(Protocol):
    """What is used here of client/transport.Transport."""

    def open(self, method: str, url: str, headers: Sequence[tuple[str, str]] = ...) -> Any: ...


def _whole(value: Any) -> int | None:
    return (
        int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e12
        else None
    )


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _images(value: Any) -> bool | None:
    return "image" in value if isinstance(value, list) else None


def _tools(value: Any) -> bool | None:
    return "tools" in value if isinstance(value, list) else None


def _reasons(value: Any) -> bool | None:
    return True if isinstance(value, list) and "reasoning" in value else None


def _able(name: str) -> Callable[[Any], bool | None]:
    """Whether a list of capabilities has `name`."""
    return lambda value: name in value if isinstance(value, list) else None


# fact -> (path, how to read it), the first that says something wins. A "*" is the first entry of a list.
Path = tuple[str, ...]
FACTS: Mapping[str, Sequence[tuple[Path, Callable[[Any], Any]]]] = {
    "context": (
        (("top_provider", "context_length"), _whole),  # OpenRouter: of the provider that would be used
        (("context_length",), _whole),  # OpenRouter, Together, Cohere
        (("context_window",), _whole),  # Groq
        (("max_context_length",), _whole),  # Mistral
        (("max_model_len",), _whole),  # vLLM
        (("inputTokenLimit",), _whole),  # Gemini's own list
        (("max_input_tokens",), _whole),  # Anthropic, LiteLLM
        (
            ("meta", "n_ctx"),
            _whole,
        ),  # llama.cpp (n_ctx_train is what it was trained for, not what was loaded)
        (("loaded_context_length",), _whole),  # LM Studio
        (("providers", "*", "context_length"), _whole),  # Hugging Face
        (("details", "context_length"), _whole),  # Ollama
    ),
    "max_output": (
        (("top_provider", "max_completion_tokens"), _whole),
        (("max_completion_tokens",), _whole),
        (("outputTokenLimit",), _whole),
        (("max_output_tokens",), _whole),
        (("max_tokens",), _whole),
    ),
    "vision": (
        (("architecture", "input_modalities"), _images),
        (("input_modalities",), _images),
        (("capabilities", "vision"), _truth),
        (("capabilities",), _able("vision")),  # Ollama
        (("capabilities", "image_input", "supported"), _truth),
    ),
    "tools": (
        (("supported_parameters",), _tools),
        (("capabilities", "function_calling"), _truth),
        (("capabilities",), _able("tools")),
        (("providers", "*", "supports_tools"), _truth),
    ),
    "reasoning": (
        (("supported_parameters",), _reasons),
        (("capabilities", "reasoning"), _truth),
        (("capabilities",), _able("thinking")),
        (("capabilities", "thinking", "supported"), _truth),  # Anthropic
        (("thinking",), _truth),  # Gemini's own list
    ),
}
# OpenRouter prices a token, in strings; Together and Hugging Face a million, in numbers.
PER_TOKEN = {
    "input": "prompt",
    "output": "completion",
    "cache_read": "input_cache_read",
    "cache_write": "input_cache_write",
}
PER_MILLION = {"input": "input", "output": "output", "cache_read": "cached_input"}


def list_models(
    transport: Transport,
    base: str,
    key: str | None,
    profile: str = "",
    *,
    now: Callable[[], float] = time.time,
) -> list[dict[str, Any]]:
    """What GET {base}/models names, in its order: {"served", and of context, max_output, vision, tools,
    reasoning, price, name what is said}. Price is USD per million tokens: {"input", "output", "cache_read",
    "cache_write"}.

    Raises Problem: the provider's refusal with its status, 502 when the answer is no listing, and the
    transport's own.
    """
    host = profile or quirks.host_of(base)
    url = address(base, "/models", quirks.of_host(host).root)
    target = Target(alias=host, model_id="", endpoint=host, connection=host, served="", base=base, key=key)
    anthropic = host == "api.anthropic.com"
    url += "?limit=1000" if anthropic else ""
    return models(entries(fetched(transport, url, _headers(key, host, anthropic), target, now=now()), url))


def fetched(
    transport: Transport, url: str, headers: Sequence[tuple[str, str]], target: Target, *, now: float
) -> bytes:
    """The body of a listing at `url`, whole. Problem as from list_models; `target` says who is asked."""
    arrival = transport.open("GET", url, headers)
    try:
        body: bytes = arrival.read()
    finally:
        arrival.close()
    if not 200 <= arrival.status < 300:
        raise errors.from_status(arrival.status, arrival.headers, body, target, now=now)
    return body


def _headers(key: str | None, host: str, anthropic: bool) -> list[tuple[str, str]]:
    headers = [("Accept", "application/json")]
    if key and anthropic:  # its listing is of the native API, which knows no bearer keys
        headers += [("x-api-key", sendable(key, host)), ("anthropic-version", "2023-06-01")]
    elif key:
        headers.append(("Authorization", f"Bearer {sendable(key, host)}"))
    return headers


def entries(body: bytes, url: str) -> list[Any]:
    """The list in a listing: OpenAI's `data`, Ollama's and Gemini's `models`, or the body itself
    (Together)."""
    try:
        value = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        value = next((value[name] for name in ("data", "models") if isinstance(value.get(name), list)), None)
    if not isinstance(value, list):
        raise Problem(502, f"{url} is no list of models; is the base URL right?", kind="garbage")
    return value


def models(listed: Iterable[Any]) -> list[dict[str, Any]]:
    """What each entry of a listing says; an id that comes twice counts once."""
    found: dict[str, dict[str, Any]] = {}
    for entry in listed:
        if isinstance(entry, str):
            entry = {"id": entry}
        if isinstance(entry, dict):
            served = next((entry[n] for n in ("id", "model", "name") if isinstance(entry.get(n), str)), "")
            served = served.removeprefix("models/").encode("utf-8", "replace").decode()  # models/ is Gemini's
            if served and served not in found:
                found[served] = {"served": served, **_facts(entry)}
    return list(found.values())


def _facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for fact, sources in FACTS.items():
        said = next((v for path, how in sources if (v := how(_at(entry, path))) is not None), None)
        if said is not None:
            facts[fact] = said
    price = _price(entry)
    if price:
        facts["price"] = price
    name = entry.get("display_name") or entry.get("displayName") or entry.get("name")
    if isinstance(name, str) and name:
        facts["name"] = name
    return facts


def _price(entry: Mapping[str, Any]) -> dict[str, float]:
    pricing = entry.get("pricing")
    if not isinstance(pricing, dict):
        pricing = _at(entry, ("providers", "*", "pricing"))
    if not isinstance(pricing, dict):
        return {}
    names, scale = (PER_TOKEN, 10**6) if "prompt" in pricing else (PER_MILLION, 1)
    prices = {ours: _usd(pricing.get(theirs), scale) for ours, theirs in names.items()}
    return {name: price for name, price in prices.items() if price is not None}


def _usd(value: Any, scale: int) -> float | None:
    """-1 is OpenRouter's word for "depends on the model it picks"."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        price = Decimal(str(value)) * scale
    except InvalidOperation:
        return None
    return float(price) if price.is_finite() and price >= 0 else None


def _at(value: Any, path: Path) -> Any:
    for name in path:
        if name == "*":
            value = value[0] if isinstance(value, list) and value else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value
