"""Ollama as a server: chat, generate, the collections as its models, and a plain word about the rest.

Its clients look before they ask: a version of three numbers, a list in which every model has a size and a
digest, and what each can do. Models are put on the bench and not pulled, so the routes that manage them say
how.
"""

import hashlib
import time
from collections.abc import Mapping
from typing import Any

from metrics.bench import listing
from metrics.formats import content, ollama_in, ollama_out
from metrics.formats.ollama_in import NAME, parse
from metrics.formats.ollama_out import reply, stream, stream_headers
from metrics.formats.protocol import Answering
from metrics.records import Problem
from metrics.web.table import Call, Response, as_json, problem_headers

# Clients compare it with what they need, and parse every part of it as a number.
VERSION = "0.12.0"
ARCHITECTURE = "benchwarmers"
# What clients assume where a window is not told; some break where the field is missing.
WINDOW = 32_768


def version(call: Call) -> Response:
    return as_json({"version": VERSION})


def tags(call: Call) -> Response:
    return as_json({"models": [_listed(entry) for entry in listing.entries()]})


def running(call: Call) -> Response:
    """`GET /api/ps`: nothing is ever loaded here."""
    return as_json({"models": []})


def show(call: Call) -> Response:
    body = call.json()
    asked: Any = body.get("model") or body.get("name")
    entry = listing.entry(asked)
    window = entry["together"]["context_window"] or WINDOW
    told = f"{entry['id']}: {_words(entry)}"
    return as_json(
        {
            "modelfile": f"# {told}",
            "parameters": "",
            "template": "{{ .Prompt }}",
            "license": "",
            "modified_at": _modified(entry),
            "details": _details(entry),
            "model_info": {
                "general.architecture": ARCHITECTURE,
                "general.basename": entry["id"],
                f"{ARCHITECTURE}.context_length": window,
            },
            "capabilities": _capabilities(entry),
        }
    )


def _listed(entry: Mapping[str, Any]) -> dict[str, Any]:
    name = entry["id"]
    return {
        "name": name,
        "model": name,
        "modified_at": _modified(entry),
        "size": 1,
        "digest": hashlib.sha256(name.encode()).hexdigest(),
        "details": _details(entry),
        "capabilities": _capabilities(entry),
    }


def _modified(entry: Mapping[str, Any]) -> str:
    return ollama_out.head("", entry["created"])["created_at"]


def _words(entry: Mapping[str, Any]) -> str:
    return " ".join(str(entry["description"] or ", ".join(entry["members"])).split())


def _details(entry: Mapping[str, Any]) -> dict[str, Any]:
    window = entry["together"]["context_window"]
    seats = len(entry["members"])
    return {
        "parent_model": "",
        "format": "collection",
        "family": ARCHITECTURE,
        "families": [ARCHITECTURE],
        "parameter_size": f"{seats} model{'s' * (seats != 1)}",
        "quantization_level": entry["mode"],
        **({"context_length": window} if window else {}),
    }


def _capabilities(entry: Mapping[str, Any]) -> list[str]:
    """What all members can; tools only where one of them plays, because a panel takes none."""
    able = entry["together"]["capabilities"]
    return [name for name in able if name != "tools" or entry["mode"] == "route"]


def at_once(call: Call) -> Response | None:
    """The reply to a request that only loads or unloads a model, which needs nobody; None for all others.
    Problem 404 for an unknown collection."""
    body = call.json()
    kind = "generate" if call.path.rstrip("/").endswith("/generate") else "chat"
    reason = ollama_in.asks_nothing(body, kind)
    if reason is None:
        return None
    model, _, _ = content.address(body)
    return as_json(ollama_out.empty(model, kind, reason, int(time.time())))


def embed(call: Call) -> Response:
    raise Problem(
        400,
        "collections answer in words and make no embeddings; ask the server of an embedding model for them",
    )


def manage(call: Call) -> Response:
    raise Problem(
        400,
        f"{call.path[:100]} is not served: nothing is pulled, made or deleted here. Collections are managed "
        "with `bench collection save NAME --members a,b`, and models with `bench model add`",
    )


def no_blob(call: Call) -> Response:
    raise Problem(404, "no files are kept here; collections are managed with `bench collection save`")


def error(problem: Problem, call: Call | None) -> Response:
    message = problem.message
    if problem.code == "model_not_found" and call is not None:
        message = f"model '{_asked(call)}' not found: {message}"
    return as_json({"error": message}, _status(problem), problem_headers(problem))


def _asked(call: Call) -> str:
    """The name a request asked for; it was read once already, so it can be read again."""
    body = call.json()
    return str(body.get("model") or body.get("name"))[:80]


def _status(problem: Problem) -> int:
    """529 is Anthropic's alone."""
    return 503 if problem.status == 529 else problem.status


PATHS: tuple[tuple[str, str, str | Answering], ...] = (
    ("POST", "/api/chat", "ask"),
    ("POST", "/api/generate", "ask"),
    ("GET", "/api/version", version),
    ("GET", "/api/tags", tags),
    ("GET", "/api/ps", running),
    ("POST", "/api/show", show),
    ("POST", "/api/embed", embed),
    ("POST", "/api/embeddings", embed),
    *(("POST", f"/api/{verb}", manage) for verb in ("pull", "push", "create", "copy")),
    ("DELETE", "/api/delete", manage),
    ("POST", "/api/blobs/{digest}", manage),
    ("GET", "/api/blobs/{digest}", no_blob),
)

__all__ = ["NAME", "PATHS", "at_once", "error", "parse", "reply", "stream", "stream_headers"]
