#!/usr/bin/env python3
"""What the gateway answers: verbs times formats, and the bench's own routes. `main` runs the gateway alone, on port 8123.

Every format's paths lead to the same few verbs; a format only says how its callers write and read.
"""

import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from metrics.bench import listing, names
from metrics.evidence import verdicts
from metrics.events import Event, Failed, Tick, gather
from metrics.formats import content, framing, openai_chat
from metrics.formats.protocol import Format, Stamp
from metrics.play import broadcast, seating, transcript
from metrics.play import panel as play
from metrics.play.relay import Relay
from metrics.play.seating import Draw
from metrics.records import Panel, Problem, Request
from metrics.version import VERSION
from metrics.web.table import Call, Response, Route, as_json

FORMATS: tuple[Format, ...] = (openai_chat,)

NDJSON = (("Content-Type", "application/x-ndjson; charset=utf-8"), ("Cache-Control", "no-cache"), ("X-Accel-Buffering", "no"))


def ask(api: Format, call: Call) -> Response:
    """A panel's reply in the format of `api`, streamed or whole."""
    request = api.parse(call)
    panel = convene(request)
    stamp = Stamp.new(panel.at)
    if request.stream:
        relay = Relay(transcript.spoken(play.run(panel)))
        relay.first()
        heads = (*api.STREAM_HEADERS, *panel_headers(panel))
        return Response(200, heads, api.stream(request, heard(relay), stamp))
    with closing(transcript.spoken(play.run(panel))) as events:
        reply = gather(events)
    return as_json(api.reply(request, reply, stamp), headers=panel_headers(panel))


def convene(request: Request) -> Panel:
    if request.reply == "route":
        raise Problem(
            400,
            f'route mode is not played yet by this version; ask "{names.PREFIX}{request.collection}:all" or ":merged"',
            retryable=False,
        )
    return seating.convene(request, Draw(time.time(), secrets.randbits))


def heard(relay: Relay[Event]) -> Iterator[Event]:
    """The relay's events as a format writes them: silence is a Tick, a Problem is Failed."""
    try:
        for event in relay:
            yield Tick() if event is None else event
    except Problem as problem:
        yield Failed(problem)


def panel_headers(panel: Panel) -> tuple[tuple[str, str], ...]:
    seats = ", ".join(f"{seat.call}={seat.target.alias}" for seat in panel.seats)
    return (("X-Bench-Panel", panel.id), ("X-Bench-Seats", seats))


def ask_seats(call: Call) -> Response:
    """`POST /bench/ask`: the panel as it happens, one JSON object a line, every seat by itself."""
    panel = convene(_plain_request(call))
    relay = Relay(play.run(panel))
    return Response(200, (*NDJSON, *panel_headers(panel)), _lines(relay))


def _lines(relay: Relay[Any]) -> Iterator[bytes]:
    try:
        for event in broadcast.told(relay):
            yield framing.as_bytes(event) + b"\n"
    except Problem as problem:
        yield framing.as_bytes({"event": "failed", **broadcast.failed(problem)}) + b"\n"


def who_would_sit(call: Call) -> Response:
    """`POST /api/seats`: who would sit for a request now, asking nobody."""
    request = _plain_request(call)
    panel = seating.convene(request, Draw(time.time(), secrets.randbits))
    return as_json({"ok": True, **broadcast.preview(panel)})


def _plain_request(call: Call) -> Request:
    """A request in OpenAI chat's shape; what a panel refuses there is refused here."""
    return replace(openai_chat.parse(call), format="bench")


def models(api: Format, call: Call) -> Response:
    return as_json(openai_chat.models(listing.entries()))


def model(api: Format, call: Call) -> Response:
    collection, mode = names.resolve(call.parts["id"])
    for entry in listing.entries():
        if entry["collection"] == collection and entry["mode"] == mode:
            return as_json({**openai_chat.model(entry), "id": call.parts["id"]})
    raise Problem(404, f'there is no model "{call.parts["id"]}"', code="model_not_found")


def health(call: Call) -> Response:
    return as_json({"ok": True, "name": "benchwarmers", "version": VERSION})


def verdict(call: Call) -> Response:
    """`POST /bench/verdict`: {call, useful: bool, note?, real?[], false?[]} -> {ok, recorded}."""
    body = call.json()
    given = verdicts.give(
        body.get("call"),
        body.get("useful"),
        note=body.get("note"),
        real=body.get("real"),
        false=body.get("false"),
        by=caller(call),
    )
    return as_json({"ok": True, **given})


def record(call: Call) -> Response:
    """`GET /bench/record?collection=&task=`: how each model's answers were judged; counts only."""
    wanted, task = call.param("collection"), call.param("task")
    if not wanted:
        raise Problem(400, 'name a collection: /bench/record?collection=core', param="collection")
    collection, _ = names.resolve(wanted)
    aliases = verdicts.record(collection, task or None)
    return as_json({"collection": collection, "task": task or None, "aliases": aliases})


def pending(call: Call) -> Response:
    """`POST /bench/pending`: {calls: [ids]} -> {pending: [...]}, the answered seats that have no verdict."""
    return as_json({"pending": verdicts.pending(list(content.strings(call.json(), "calls")))})


def caller(call: Call) -> str:
    """Who asks: there are no keys yet, so everybody is this computer's user."""
    return "local"


VERBS: dict[str, Callable[[Format, Call], Response]] = {"ask": ask, "models": models, "model": model}


def _format_routes() -> Iterator[Route]:
    for api in FORMATS:
        for method, pattern, verb in api.PATHS:
            yield Route(method, pattern, partial(VERBS[verb], api), error=api.error, guard="gateway")


BENCH_ROUTES = (
    Route("POST", "/bench/ask", ask_seats, error=openai_chat.error, guard="gateway"),
    Route("POST", "/bench/verdict", verdict, error=openai_chat.error, guard="gateway"),
    Route("GET", "/bench/record", record, error=openai_chat.error, guard="gateway"),
    Route("POST", "/bench/pending", pending, error=openai_chat.error, guard="gateway"),
    Route("GET", "/health", health, guard="open"),
)

ROUTES: tuple[Route, ...] = (*_format_routes(), *BENCH_ROUTES)

# The page's twins of the gateway's own routes: same handlers, the dashboard's door.
PAGE_ROUTES = (
    Route("POST", "/api/ask", ask_seats, error=openai_chat.error, guard="api"),
    Route("POST", "/api/seats", who_would_sit, error=openai_chat.error, guard="api"),
)


def main(argv: list[str] | None = None) -> int:
    """Run the gateway without the dashboard."""
    import serve  # the server's life is the same; only its table of routes differs

    return serve.main(argv, gateway_only=True)


if __name__ == "__main__":
    sys.exit(main())
