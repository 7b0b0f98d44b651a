"""/api/events: what happens on the bench, as it happens: one stream for all that a page shows.

A JSON object a line, told from the bus and never with words of a prompt or an answer:

    {"event": "hello", "id", "missed"}      first; `missed`: more happened since `after` than is still known
    {"event": "panel", "state": "begun" | "done", "panel", "collection", "seats", "answered", "late"}
    {"event": "turn", "conversation", "turn", "call", "collection", "model", "status"}
    {"event": "verdict", "call", "useful", "withdrawn", "by"}     of two answers: {"pair", "choice", "by"}
    {"event": "claim", "call", "decision", "by"}
    {"event": "change", "what", "field", "by"}
    {"event": "calls", "calls", "failed", "models"}     what came to an end since the last line of this kind
    {"event": "quota", "connections"}       of which was more used, stated or refused
    {"event": "tick"}                       after ten quiet seconds
    {"event": "end", "why"}                 last: closing, signed_out, or behind: reload

Lines carry an `id`, and who comes back with the last one it had in `after` is told what it missed.
"""

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Any

from metrics import bus
from metrics.bus import News
from metrics.dashboard import frame
from metrics.evidence import panels
from metrics.web.door import Door
from metrics.web.table import Call, Headers, Response, Route, json_bytes

QUIET = 10.0  # seconds without news after which a tick shows that the server is there
GATHER = 0.2  # seconds that news are gathered for, so that a thousand calls are one line
NAMED = 50  # models that one line names

NDJSON: Headers = (
    ("Content-Type", "application/x-ndjson; charset=utf-8"),
    ("Cache-Control", "no-store"),
    ("X-Accel-Buffering", "no"),
)

Line = dict[str, Any]


def stream(door: Door, call: Call) -> Response:
    """What happens from now on, or `after` an id. Ends when the server does, and with the session of whoever
    asked. Problem 429 where too many watch already."""
    return Response(200, NDJSON, _written(lines(call.param("after") or None, lambda: _in(door, call))))


def lines(
    after: str | None, still_in: Callable[[], bool], sleep: Callable[[float], None] = time.sleep
) -> Generator[Line, None, None]:
    """The stream's lines, while the caller is `still_in`."""
    with bus.subscribe(bus.TOPICS, after) as reader:
        first = reader.last if after is None or reader.missed else after
        yield {"event": "hello", "id": first, "missed": reader.missed}
        while not reader.over:
            news = reader.take(QUIET, GATHER, sleep)
            if not still_in():
                yield {"event": "end", "why": "signed_out"}
                return
            told = digest(news)
            yield from told[:-1]
            yield {**(told[-1] if told else {"event": "tick"}), "id": reader.last}
        yield {"event": "end", "why": "behind" if reader.lost else "closing"}


def digest(news: Iterable[News]) -> list[Line]:
    """What a page is told of these: each by itself, but calls and quotas together."""
    told: list[Line] = []
    calls: list[Mapping[str, Any]] = []
    connections: dict[str, None] = {}
    for each in news:
        if each.topic == "call":
            calls.append(each.facts)
        if each.topic in ("call", "quota"):
            connections[str(each.facts.get("connection"))] = None
        else:
            told.append(TOLD[each.topic](each.facts))
    if calls:
        told.append(_calls(calls))
    if connections:
        told.append({"event": "quota", "connections": list(connections)[:NAMED]})
    return told


def _calls(rows: list[Mapping[str, Any]]) -> Line:
    models = list(dict.fromkeys(str(row.get("model")) for row in rows))
    failed = sum(row.get("status") not in (*panels.ANSWERED, "refused") for row in rows)
    return {"event": "calls", "calls": len(rows), "failed": failed, "models": models[:NAMED]}


def _fields(event: str, *names: str) -> Callable[[Mapping[str, Any]], Line]:
    return lambda facts: {"event": event, **{name: facts[name] for name in names if name in facts}}


def _panel(state: str, facts: Mapping[str, Any]) -> Line:
    seats = [seat for seat in facts["seats"] if seat.get("seat") != "merger"]
    return {
        "event": "panel",
        "state": state,
        "panel": facts["panel"],
        "collection": facts["collection"],
        "seats": len(seats),
        "answered": sum(seat.get("status") in panels.ANSWERED for seat in seats),
        "late": bool(facts.get("late")),
    }


TOLD: Mapping[str, Callable[[Mapping[str, Any]], Line]] = {
    "panel.begun": partial(_panel, "begun"),
    "panel": partial(_panel, "done"),
    "turn": _fields("turn", "conversation", "turn", "call", "collection", "model", "status"),
    "verdict": _fields("verdict", "call", "pair", "useful", "choice", "withdrawn", "by"),
    "claim": _fields("claim", "call", "decision", "by"),
    "change": _fields("change", "what", "field", "by"),
}


def _in(door: Door, call: Call) -> bool:
    """Whether the caller may still read this: a session ends, and with it what it opened. Who came in with
    the admin token itself stays: it lasts as long as this process."""
    return bool(door.signed_in(call)) or not door.secret(call)


def _written(told: Generator[Line, None, None]) -> Iterator[bytes]:
    with closing(told):
        for line in told:
            yield json_bytes(line) + b"\n"


def routes(door: Door) -> tuple[Route, ...]:
    """The stream, guarded by `door` for as long as it lasts."""
    return (
        frame.get(
            "/api/events",
            partial(stream, door),
            says="""`?after=ID` → what happens, a JSON object a line for as long as you listen: `hello`
                (`missed`: more happened since `after` than is still known), then `panel` (`state`
                begun or done), `turn`, `verdict`, `claim`, `change`, `calls` (how many came to an
                end, how many `failed`, of which models), `quota` (connections of which more was
                used, stated or refused), a `tick` after 10 quiet seconds, at last `end` with `why`:
                `closing`, `signed_out`, or `behind`, for whoever does not keep up. No line holds
                words of a prompt or an answer. 32 may listen at once""",
        ),
    )
