"""A panel as it happens, one JSON object an event: for the page and for `bench ask`, which show every seat by
itself.

The events and their fields are a contract; docs/GATEWAY.md lists them.
"""

import time
from collections.abc import Iterable, Iterator
from typing import Any

from metrics.bench import roster
from metrics.events import Reasoning, Text
from metrics.limits import tokens
from metrics.limits import told as limits_told
from metrics.play import foresight, minutes
from metrics.play import panel as panels
from metrics.play.panel import Complete, Done, Happening, Said, Started
from metrics.records import Panel, Problem, Seat


def told(happenings: Iterable[Happening | None]) -> Iterator[dict[str, Any]]:
    """What is sent for each happening. A quiet stretch (None) is a tick; a panel without any answer ends in
    `failed`."""
    opened: set[str] = set()
    for happening in happenings:
        match happening:
            case None:
                yield {"event": "tick"}
            case Started(panel):
                yield _started(panel)
            case Said(seat, event):
                if seat.call not in opened:
                    opened.add(seat.call)
                    yield {
                        "event": "merge.started" if seat.seat == "merger" else "seat.started",
                        "call": seat.call,
                    }
                yield from _delta(seat, event)
            case Done(answer):
                name = "merge.done" if answer.seat.seat == "merger" else "seat.done"
                yield {"event": name, **minutes.seat(answer)}
            case Complete():
                yield _complete(happening)


def _started(panel: Panel) -> dict[str, Any]:
    return {
        "event": "panel.started",
        "panel": panel.id,
        "collection": panel.request.collection,
        "shape": panel.shape,
        "reply": panel.request.reply,
        "seats": [_place(seat) for seat in panel.seats],
        "skipped": [{"seat": skip.seat, "alias": skip.alias, "why": skip.why} for skip in panel.skipped],
    }


def _place(seat: Seat) -> dict[str, Any]:
    target = seat.target
    return {
        "call": seat.call,
        "seat": seat.seat,
        "alias": target.alias,
        "model_id": target.model_id,
        "how": seat.how,
        "p": seat.p,
        "builtin": target.builtin,
        "context": target.context,
    }


def _delta(seat: Seat, event: Any) -> Iterator[dict[str, Any]]:
    kind = "merge" if seat.seat == "merger" else "seat"
    match event:
        case Text(text):
            yield {"event": f"{kind}.delta", "call": seat.call, "text": text}
        case Reasoning(text):
            yield {"event": f"{kind}.reasoning", "call": seat.call, "text": text}


def _complete(complete: Complete) -> dict[str, Any]:
    bench = minutes.bench(complete.panel, complete.answers, complete.pending, complete.merged, complete.note)
    problem = None if complete.pending else panels.failure(complete.answers)
    if problem:
        return {"event": "failed", **failed(problem), "bench": bench}
    everyone = (*complete.answers, *((complete.merged,) if complete.merged else ()))
    usage = minutes.total(everyone)
    return {
        "event": "panel.done",
        "bench": bench,
        "usage": {
            "in": usage.prompt,
            "out": usage.out,
            "reasoning": usage.reasoning,
            "estimated": usage.estimated,
        },
    }


def failed(problem: Problem) -> dict[str, Any]:
    """A Problem inside a stream of events."""
    return {
        "status": problem.status,
        "error": {"message": problem.message, "type": problem.kind, "code": problem.code},
    }


def preview(panel: Panel) -> dict[str, Any]:
    """Who would sit, and what that would probably take: the panel before anyone is asked."""
    size, known = tokens.estimate(panel.request.messages), limits_told.quotas(time.time())
    seats = [
        _place(seat) | {"price": _price(seat)} | foresight.seat(seat, size, known) for seat in panel.seats
    ]
    return {
        "seats": seats,
        "skipped": [{"seat": skip.seat, "alias": skip.alias, "why": skip.why} for skip in panel.skipped],
        "shape": panel.shape,
        "shape_by": panel.shape_by,
        "estimate": foresight.whole(panel, seats),
    }


def _price(seat: Seat) -> dict[str, Any] | None:
    price = seat.target.price
    return None if price is None else roster.shown_price(price)
