#!/usr/bin/env python3
"""What the gateway answers: verbs times formats, and the bench's own routes. `main` runs the gateway alone,
on port 8123.

Every format's paths lead to the same few verbs; a format only says how its callers write and read.
"""

import itertools
import random
import sys
import time
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial, wraps
from typing import Any

from metrics import desk
from metrics.bench import fields, names, scope
from metrics.events import Event, Failed, Opened, Tick, gather, meant
from metrics.evidence import inscope, verdicts
from metrics.formats import (
    anthropic,
    content,
    framing,
    gemini,
    ollama,
    openai_chat,
    openai_completions,
    openai_responses,
    tool_names,
)
from metrics.formats.protocol import Format, Listing, Stamp
from metrics.limits import key_rates, launches, ledger
from metrics.mcp import endpoint as mcp
from metrics.mcp import wire
from metrics.play import asked, broadcast, routing, transcript, turns
from metrics.play import panel as play
from metrics.play.relay import Relay, joined
from metrics.play.turns import Turn
from metrics.records import Panel, Problem, Request
from metrics.version import VERSION
from metrics.web import roles
from metrics.web.table import Call, ErrorWriter, Handler, Response, Route, as_json

FORMATS: tuple[Format, ...] = (
    openai_chat,
    openai_responses,
    openai_completions,
    anthropic,
    ollama,
    gemini,
)

# Requests that a format answers by itself, before anyone is asked: a cache to warm, a model to load.
AT_ONCE: dict[str, Callable[[Call], Response | None]] = {
    anthropic.NAME: anthropic.warm,
    ollama.NAME: ollama.at_once,
}

LONG = 262_144  # bytes of a body that is read beside the desk: it would keep the others waiting

NDJSON = (
    ("Content-Type", "application/x-ndjson; charset=utf-8"),
    ("Cache-Control", "no-store"),
    ("X-Accel-Buffering", "no"),
)


# --- asking


def ask(api: Format, call: Call) -> Response:
    """A reply in the format of `api`, streamed or whole: a panel's, or in route mode one member's."""
    if len(call.body) < LONG:
        desk.take()
    try:
        early = AT_ONCE[api.NAME](call) if api.NAME in AT_ONCE else None
        return early or _asked(api, call)
    finally:
        desk.leave()


def _asked(api: Format, call: Call) -> Response:
    request = asked.admitted(api.parse(call), call)
    routed = request.reply == "route"
    name = None if routed else (request.key, request.format, call.path, call.digest)
    call.release()  # the seats may be at work for long, and have all they need in the request
    return _route(api, request, call) if routed else _panel(api, request, call, name)


def _panel(api: Format, request: Request, call: Call, name: Hashable) -> Response:
    """A panel's reply; by its `name` whoever asks the same again may join it."""
    relay: Relay[Event] | None = joined(name) if _is_retry(call) else None
    if relay is None:
        panel = asked.convened(request)
        relay = Relay(transcript.spoken(play.run(panel)), name=name, about=panel)
    desk.leave()
    panel = relay.about
    stamp = Stamp.new(panel.at)
    headers = (*panel_headers(panel), *_letterhead(api, call))
    if not request.stream:
        return as_json(api.reply(request, gather(heard(relay)), stamp), headers=headers)
    # A head goes out with the first words; after a second without any it goes alone, with a sign of life.
    quiet = () if relay.first() else (Tick(),)
    pieces = api.stream(request, itertools.chain(quiet, heard(relay)), stamp)
    return Response(200, (*api.stream_headers(request), *headers), pieces)


def _is_retry(call: Call) -> bool:
    """Whether an SDK asks again after its connection broke: it says so, and joins the panel that it began."""
    return call.headers.get("x-stainless-retry-count", "0") not in ("", "0")


def _route(api: Format, request: Request, call: Call) -> Response:
    """In the connection's own thread: what the member says goes out as it comes."""
    fitting, names_sent = tool_names.fitted(request)
    turn = routing.begin(fitting, time.time(), f"{random.getrandbits(32):08x}", random.getrandbits(32))
    events, stamp = routing.play(turn, call.gone), Stamp.new(turn.at)
    if names_sent:
        events = _with_own_names(events, names_sent)
    try:
        if not request.stream:
            try:
                reply = gather(events)
            finally:
                events.close()
            return as_json(api.reply(request, reply, stamp), headers=_turn_headers(api, call, turn))
        started = _until_said(events)
    except Problem as problem:
        problem.headers += turns.headers(turn)
        raise
    headers = (*api.stream_headers(request), *_turn_headers(api, call, turn))
    return Response(200, headers, api.stream(request, _safely(started, events), stamp))


def _turn_headers(api: Format, call: Call, turn: Turn) -> tuple[tuple[str, str], ...]:
    return (*turns.headers(turn), *_letterhead(api, call))


def _with_own_names(
    events: Generator[Event, None, None], names_sent: Mapping[str, str]
) -> Generator[Event, None, None]:
    """Tools under the names that the caller gave them; those that providers refuse went out under others."""
    with closing(events):
        yield from tool_names.restored(events, names_sent)


def _letterhead(api: Format, call: Call) -> tuple[tuple[str, str], ...]:
    """The request's id under the name that a format's SDK shows, beside X-Request-Id."""
    name = REQUEST_IDS.get(api.NAME)
    return ((name, call.request_id),) if name else ()


REQUEST_IDS = {anthropic.NAME: "request-id"}


def _until_said(events: Iterator[Event]) -> list[Event]:
    """The events up to the first that a caller will see; a Problem before it keeps its own status."""
    started: list[Event] = []
    for event in events:
        started.append(event)
        if not _mute(event):
            break
    return started


def _mute(event: Event) -> bool:
    """Whether nothing has been said yet: an answer that ends here is empty, and no 200."""
    return all(type(one) is Opened for one in meant(event))


def _safely(started: list[Event], events: Generator[Event, None, None]) -> Iterator[Event]:
    try:
        yield from started
        yield from events
    except Problem as problem:
        yield Failed(problem)
    finally:
        events.close()


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
    panel = asked.convened(_panel_request(call))
    relay = Relay(play.run(panel, detail=True))
    return Response(200, (*NDJSON, *panel_headers(panel)), _lines(relay))


def _lines(relay: Relay[Any]) -> Iterator[bytes]:
    try:
        for event in broadcast.told(relay):
            yield framing.as_bytes(event) + b"\n"
    except Problem as problem:
        yield framing.as_bytes({"event": "failed", **broadcast.failed(problem)}) + b"\n"


def who_would_sit(call: Call) -> Response:
    """`POST /api/seats`: who would sit for a request now, asking nobody."""
    return as_json({"ok": True, **broadcast.preview(asked.convened(_panel_request(call)))})


def _panel_request(call: Call) -> Request:
    """A request in OpenAI chat's shape, for a panel: what a panel refuses there is refused here."""
    request = replace(asked.admitted(openai_chat.parse(call), call), format="bench")
    call.release()
    if request.reply == "route":
        raise Problem(
            400,
            'a route is answered by one member, and what is shown here is a panel: leave ":route" out and '
            'give "bench.reply" all or merged (`bench ask --all`, `--merged`); chat completions take routes',
            param="bench.reply",
        )
    return request


# --- the bench's own routes


def models(call: Call) -> Response:
    """`GET /v1/models` in the asker's shape; Codex asks with its `client_version`."""
    return openai_responses.models(call) if call.param("client_version") else _lister(call).models(call)


def model(call: Call) -> Response:
    return _lister(call).model(call)


def _lister(call: Call) -> Listing:
    """Whose kind of model list the caller reads (decisions 4)."""
    if "x-goog-api-key" in call.headers or "x-goog-api-client" in call.headers:
        return gemini
    return anthropic if "anthropic-version" in call.headers else openai_chat


def listing_error(problem: Problem, call: Call | None) -> Response:
    return (_lister(call) if call else openai_chat).error(problem, call)


def root(page: Callable[[Call], Response] | None, call: Call) -> Response:
    """`GET /`: the page for a browser, and for everybody else what Ollama's clients look for."""
    if page and "text/html" in call.headers.get("accept", ""):
        return page(call)
    return Response(200, (("Content-Type", "text/plain; charset=utf-8"),), b"Ollama is running")


def health(call: Call) -> Response:
    return as_json({"ok": True, "name": "benchwarmers", "version": VERSION})


def verdict(call: Call) -> Response:
    """`POST /bench/verdict`: {call, useful: bool|null, note?, real?[], false?[], best?} -> {ok, recorded};
    {call, withdrawn: true} takes the last one back."""
    body = call.json()
    inscope.check([body.get("call")])
    if fields.maybe(fields.flag)("withdrawn", body.get("withdrawn")):
        given = verdicts.withdraw(body.get("call"), asked.caller(call))
    else:
        given = verdicts.give(**{name: body.get(name) for name in VERDICT}, by=asked.caller(call))
    return as_json({"ok": True, "recorded": given["recorded"]})


VERDICT = ("call", "useful", "note", "real", "false", "best")


def record(call: Call) -> Response:
    """`GET /bench/record?collection=&task=`: how each model's answers were judged; counts only."""
    wanted, task = call.param("collection"), call.param("task")
    if not wanted:
        raise Problem(400, "name a collection: /bench/record?collection=core", param="collection")
    collection, _ = names.resolve(wanted, to_ask=False)
    aliases = inscope.record(collection, task or None)
    return as_json({"collection": collection, "task": task or None, "aliases": aliases})


def pending(call: Call) -> Response:
    """`POST /bench/pending`: {calls: [ids]} -> {pending: [...]}, the answered seats that have no verdict."""
    calls = list(content.strings(call.json(), "calls"))
    inscope.check(calls)
    return as_json({"pending": verdicts.pending(calls)})


def launch(call: Call) -> Response:
    """`GET /bench/launch?token=`: what the calls of one `bench launch` came to."""
    token = call.param("token") or ""
    if not launches.TOKEN.fullmatch(token):
        raise Problem(400, "name a launch: /bench/launch?token=bwl_… as its agent sent it", param="token")
    return as_json(ledger.launched(token, call.key.name if call.key else None))


def keyed(handler: Handler, anthropic_headers: bool = False) -> Handler:
    """The handler within the scope of the key that was shown; its replies say how much of the key's limits
    is left."""

    @wraps(handler)
    def answer(call: Call) -> Response:
        key = call.key
        if key is None:
            return handler(call)
        try:
            with scope.of(key.scope):
                response = handler(call)
        except Problem as problem:
            problem.headers += key_rates.headers(key, anthropic_headers, time.time())
            raise
        response.headers += key_rates.headers(key, anthropic_headers, time.time())
        return response

    return answer


def _format_routes() -> Iterator[Route]:
    for api in FORMATS:
        for method, pattern, verb in api.PATHS:
            answer = keyed(partial(ask, api) if isinstance(verb, str) else verb, api is anthropic)
            yield Route(method, pattern, answer, api.error, "gateway", query_key=api is gemini)


def _gateway(method: str, pattern: str, handler: Handler, error: ErrorWriter = openai_chat.error) -> Route:
    return Route(method, pattern, keyed(handler), error, "gateway")


BENCH_ROUTES = (
    _gateway("GET", "/v1/models", models, listing_error),
    _gateway("GET", "/v1/models/{id*}", model, listing_error),
    _gateway("POST", "/bench/ask", ask_seats),
    _gateway("POST", "/bench/verdict", verdict),
    _gateway("GET", "/bench/record", record),
    _gateway("POST", "/bench/pending", pending),
    _gateway("GET", "/bench/launch", launch),
    *(_gateway(method, path, handler, wire.error) for method, path, handler in mcp.HANDLERS),
    Route("GET", "/health", health, guard="open"),
)

ROUTES: tuple[Route, ...] = (*_format_routes(), *BENCH_ROUTES)

# The page's twins of the gateway's own routes: same handlers, the dashboard's door.
PAGE_ROUTES = (
    Route(
        "POST",
        "/api/ask",
        ask_seats,
        error=openai_chat.error,
        guard="api",
        says="`/bench/ask` for the page",
    ),
    Route(
        "POST",
        "/api/seats",
        who_would_sit,
        error=openai_chat.error,
        guard="api",
        who=roles.JUDGE,
        says="""a chat request → `{seats: [{call, seat, alias, model_id, how, p, builtin, price,
            context, typical_s, typical_n, cost: {low, high}, limit}], skipped, shape, shape_by,
            estimate: {tokens, cost: {low, high, unknown}, wait_s, wait_by}}`: who would sit for it
            now, who would not and why, and what that would probably take, by each model's latest
            answers. `limit` is the one that is nearly used up: `{connection, metric, window,
            remaining, limit, reset_at, after}`. Asks nobody""",
    ),
)


def main(argv: list[str] | None = None) -> int:
    """Run the gateway without the dashboard."""
    import serve  # the server's life is the same; only its table of routes differs

    return serve.main(argv, gateway_only=True)


if __name__ == "__main__":
    sys.exit(main())
