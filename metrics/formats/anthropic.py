"""All we know about Anthropic's Messages as a server: its routes, token counts, model list and errors.

Shapes: anthropic 2.14.0 for Python. Requests are read in anthropic_in, replies written in anthropic_out.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from metrics.bench import listing, names
from metrics.events import Closed, Event
from metrics.formats import anthropic_out, content, framing, openai_chat
from metrics.formats.anthropic_in import NAME, parse, read
from metrics.formats.anthropic_out import error_object, estimate, reply
from metrics.formats.protocol import Stamp
from metrics.records import Problem, Reply, Request, Usage
from metrics.web.table import Call, Response, as_json

__all__ = [
    "NAME",
    "PATHS",
    "count_tokens",
    "error",
    "model",
    "models",
    "parse",
    "reply",
    "stream",
    "stream_headers",
    "warm",
]

MOST_LISTED = 1000


def stream(request: Request, events: Iterator[Event], stamp: Stamp) -> Iterator[bytes]:
    return anthropic_out.stream(request, events, stamp)


def stream_headers(request: Request) -> tuple[tuple[str, str], ...]:
    return framing.SSE_HEADERS


def warm(call: Call) -> Response | None:
    """The empty message for `max_tokens: 0`, which asks to fill a prompt cache and to write nothing; None for
    any other request. No model is called."""
    body = call.json()
    if type(body.get("max_tokens")) is not int or body["max_tokens"] != 0:
        return None
    request = read({**body, "max_tokens": None})
    request = request if request.reply == "route" else content.for_panel(request)
    stamp, spent = Stamp.new(datetime.now(UTC).timestamp()), Usage(uncached_in=estimate(request), out=0)
    if not request.stream:
        return as_json(reply(request, Reply(usage=spent), stamp), headers=_named(call))
    said = stream(request, iter([Closed("stop", spent)]), stamp)
    return Response(200, (*stream_headers(request), *_named(call)), said)


def count_tokens(call: Call) -> Response:
    return as_json({"input_tokens": estimate(read(call.json()))}, headers=_named(call))


PATHS = (
    ("POST", "/v1/messages", "ask"),
    ("POST", "/v1/messages/count_tokens", count_tokens),
)


def error(problem: Problem, call: Call | None) -> Response:
    request_id = call.request_id if call and call.request_id else None
    headers = (*openai_chat.headers(problem), *(_named(call) if call else ()))
    return as_json(error_object(problem, request_id), problem.status, headers)


def _named(call: Call) -> tuple[tuple[str, str], ...]:
    """The request's id under the name that Anthropic's SDKs show."""
    return (("request-id", call.request_id),) if call.request_id else ()


# --- the model list


def models(call: Call) -> Response:
    """A page of the list: `limit` models after `after_id`, or before `before_id`."""
    listed = _listed()
    ids = [model["id"] for model in listed]
    limit = _limit(call.param("limit"))
    start, end = 0, len(ids)
    if call.param("after_id"):
        start = _place(ids, call, "after_id") + 1
    if call.param("before_id"):
        end = _place(ids, call, "before_id")
        page = listed[max(start, end - limit) : end]
        more = end - limit > start
    else:
        page = listed[start : min(start + limit, end)]
        more = start + limit < end
    first, last = (page[0]["id"], page[-1]["id"]) if page else (None, None)
    told = {"data": page, "has_more": more, "first_id": first, "last_id": last}
    return as_json(told, headers=_named(call))


def model(call: Call) -> Response:
    asked = call.parts["id"]
    return as_json(_model(listing.entry(asked), asked), headers=_named(call))


def _limit(asked: str) -> int:
    """All that fit on the largest page unless the caller says less: few clients ask for a second page."""
    if not asked:
        return MOST_LISTED
    if not (asked.isascii() and asked.isdigit() and len(asked) < 6 and 1 <= int(asked) <= MOST_LISTED):
        raise content.refuse(f'"limit" must be a whole number from 1 to {MOST_LISTED}', "limit")
    return int(asked)


def _place(ids: list[str], call: Call, name: str) -> int:
    wanted = call.param(name)
    if wanted not in ids:
        raise content.refuse(f'"{name}" is {content.shown(wanted)}, which is not in the list', name)
    return ids.index(wanted)


def _listed() -> list[dict[str, Any]]:
    """Every collection under its plain names, then under those that Claude Code shows: it drops each id that
    does not begin with "claude"."""
    entries = listing.entries()
    plain = [_model(entry, entry["id"]) for entry in entries]
    once = {entry["collection"]: entry for entry in entries}
    aliases = [
        _model({**entry, "mode": mode}, names.claude(collection, mode))
        for collection, entry in once.items()
        for mode in names.MODES
    ]
    return plain + aliases


def _model(entry: Mapping[str, Any], model_id: str) -> dict[str, Any]:
    together = entry["together"]
    return {
        "type": "model",
        "id": model_id,
        "display_name": f"{names.PREFIX}{entry['collection']} {entry['mode']}",
        "created_at": datetime.fromtimestamp(entry["created"], UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "lifecycle": "active",
        "max_input_tokens": together["context_window"],
        "max_tokens": None,
        "capabilities": _capabilities("vision" in together["capabilities"], entry["mode"] == "route"),
    }


def _capabilities(sees: bool, route: bool) -> dict[str, Any]:
    """What a collection takes of the API: pictures if its members see, and in route mode, which passes them
    on, effort, thinking and schemas."""
    yes, no, passed = {"supported": True}, {"supported": False}, {"supported": route}
    return {
        **dict.fromkeys(("batch", "citations", "code_execution", "context_management", "pdf_input"), no),
        "effort": {**passed, **dict.fromkeys(("low", "medium", "high", "xhigh", "max"), passed)},
        "image_input": {"supported": sees},
        "server_tools": {**no, "code_execution": no, "web_search": no},
        "structured_outputs": passed,
        "thinking": {
            **passed,
            "types": {"adaptive": passed, "enabled": passed, "between_tools": no, "disabled": yes},
        },
    }
