"""Gemini as a server: its paths, its model list, its count of tokens.

The name in a path can hold slashes and colons, so the method is what follows its last colon. Google's clients
write the path in several ways (`/v1beta/models/…`, `/v1/models/…`, without `models/`, as Vertex AI); the
method at its end is what tells it from all other APIs, so any version and prefix before it will do.
"""

from collections.abc import Mapping
from typing import Any

from metrics.bench import listing, names
from metrics.formats import gemini_in, gemini_out
from metrics.formats.calls import as_text
from metrics.formats.gemini_in import NAME, parse
from metrics.formats.gemini_out import reply, stream, stream_headers
from metrics.formats.protocol import Answering
from metrics.limits import tokens
from metrics.records import Problem
from metrics.web.table import Call, Response, as_json, problem_headers

METHODS = ("generateContent", "streamGenerateContent", "countTokens")
VERSIONS = ("v1beta", "v1alpha", "v1beta1")


def count_tokens(call: Call) -> Response:
    collection, _ = names.resolve(gemini_in.model_name(call.parts["name"]))
    messages, tools = gemini_in.counted(call.json(), collection)
    declared = tokens.of_text(as_text(tools, "tools")) if tools else 0
    return as_json({"totalTokens": tokens.estimate(messages) + declared})


def nothing(call: Call) -> Response:
    """A path of Gemini's that is not served: its clients read the reason in their own shape."""
    methods = " or ".join(f":{method}" for method in METHODS)
    raise Problem(
        404,
        f"{call.path[:200]} is not served here; ask /v1beta/models/bench/core with {methods} behind it",
    )


def models(call: Call) -> Response:
    return as_json({"models": [_model(entry, entry["id"]) for entry in listing.entries()]})


def model(call: Call) -> Response:
    asked = gemini_in.model_name(call.parts["id"])
    return as_json(_model(listing.entry(asked), asked))


def _model(entry: Mapping[str, Any], name: str) -> dict[str, Any]:
    window = entry["together"]["context_window"]
    return {
        "name": f"models/{name}",
        "baseModelId": entry["id"],
        "version": "1",
        "displayName": entry["id"],
        "description": entry["description"] or f"{entry['collection']}, {entry['mode']}",
        **({"inputTokenLimit": window} if window else {}),
        "supportedGenerationMethods": list(METHODS),
    }


def error(problem: Problem, call: Call | None) -> Response:
    return as_json(gemini_out.shape(problem), gemini_out.status(problem), problem_headers(problem))


# In this order: the patterns with a method at their end come before those that catch the rest.
PATHS: tuple[tuple[str, str, str | Answering], ...] = (
    ("POST", "/{version}/{name*}:generateContent", "ask"),
    ("POST", "/{version}/{name*}:streamGenerateContent", "ask"),
    ("POST", "/{version}/{name*}:countTokens", count_tokens),
    ("POST", "/v1/models/{name*}", nothing),
    *(("GET", f"/{version}/models", models) for version in VERSIONS),
    *(("GET", f"/{version}/models/{{id*}}", model) for version in VERSIONS),
    *((method, f"/{version}/{{name*}}", nothing) for version in VERSIONS for method in ("GET", "POST")),
)

__all__ = ["NAME", "PATHS", "error", "model", "models", "parse", "reply", "stream", "stream_headers"]
