"""The minutes of a panel: what is written down of it, and the `bench` object that tells the caller the same.

A panel's row is written when its reply is complete, and again when stragglers come in: the latest row of an
id counts. Prompts and answers go to the body store, so that rows stay small.
"""

from collections.abc import Sequence
from typing import Any

from metrics import bus
from metrics.bench import settings
from metrics.evidence import offloads, panels
from metrics.limits import cost, ledger, tokens
from metrics.records import EXTENSIONS, Answer, Message, Panel, Request, Seat, Skipped, Usage
from metrics.store import bodies

HINT = (
    'Say which answers helped: POST /bench/verdict {"call": "<call id>", "useful": true}, or '
    "bench verdict <call id> --useful"
)


def bench(
    panel: Panel,
    answers: Sequence[Answer],
    pending: Sequence[Seat] = (),
    merged: Answer | None = None,
    note: str | None = None,
) -> dict[str, Any]:
    """The `bench` object of a reply (contract, section 3)."""
    request = panel.request
    told: dict[str, Any] = {
        "panel": panel.id,
        "collection": request.collection,
        "shape": panel.shape,
        "shape_by": panel.shape_by,
        "reply": request.reply,
        "seats": [seat(answer) for answer in answers] + [_still(place) for place in pending],
        "verdict": HINT,
    }
    told |= {"skipped": [skipped(skip) for skip in panel.skipped]} if panel.skipped else {}
    told |= {"merger": seat(merged)} if merged else {}
    told |= {"note": note} if note else {}
    changed = [f"{answer.seat.target.alias}: {change}" for answer in answers for change in answer.changed]
    told |= {"changed": changed} if changed else {}
    told |= {"ignored": list(request.ignored)} if request.ignored else {}
    told |= {"dropped_tools": list(request.dropped)} if request.dropped else {}
    return told


def seat(answer: Answer) -> dict[str, Any]:
    """One seat as a caller sees it."""
    target = answer.seat.target
    return {
        "call": answer.seat.call,
        "seat": answer.seat.seat,
        "alias": target.alias,
        **({"program": True} if target.builtin else {}),
        "status": answer.status,
        "seconds": round(answer.seconds, 3),
        "seconds_to_first": None if answer.first_token_s is None else round(answer.first_token_s, 3),
        "answer": answer.text,
        "error": answer.error,
        "message": answer.message,
        "finish": answer.finish,
        "tokens": tokens_of(answer.usage),
        "cost": cost.usd(answer.cost),
        "served_by": {"provider": answer.provider, "fingerprint": answer.fingerprint}
        if answer.provider or answer.fingerprint
        else None,
    }


def _still(place: Seat) -> dict[str, Any]:
    return {
        "call": place.call,
        "seat": place.seat,
        "alias": place.target.alias,
        "status": "pending",
        "answer": "",
    }


def skipped(skip: Skipped) -> dict[str, str]:
    return {"seat": skip.seat, "alias": skip.alias, "why": skip.why}


def tokens_of(usage: Usage) -> dict[str, Any]:
    return {"in": usage.prompt, "out": usage.out, "reasoning": usage.reasoning, "estimated": usage.estimated}


def total(answers: Sequence[Answer]) -> Usage:
    """The tokens of all seats together: what the panel used, estimated when any part is."""
    counted = [answer.usage for answer in answers if answer.usage.out is not None]
    return Usage(
        uncached_in=sum(usage.uncached_in or 0 for usage in counted),
        cache_read=sum(usage.cache_read or 0 for usage in counted),
        cache_write=sum(usage.cache_write or 0 for usage in counted),
        out=sum(usage.out or 0 for usage in counted),
        reasoning=sum(usage.reasoning or 0 for usage in counted),
        estimated=any(usage.estimated for usage in counted),
    )


def keep(
    panel: Panel,
    answers: Sequence[Answer],
    pending: Sequence[Seat],
    merged: Answer | None,
    note: str | None,
    task: str | None,
    late: bool = False,
) -> None:
    """Write the panel's row, and its body as far as the setting says. `task` as `task` told."""
    wanted = settings.get("bodies")
    everyone = (*answers, *((merged,) if merged else ()))
    row = {
        "panel": panel.id,
        "at": ledger.stamp(panel.at),
        "collection": panel.request.collection,
        "model": panel.request.model,
        "format": panel.request.format,
        "key": panel.request.key,
        "reply": panel.request.reply,
        "shape": panel.shape,
        "shape_by": panel.shape_by,
        "task": task,
        "seats": [_seat_row(answer) for answer in everyone]
        + [_still(place) | {"answer": None} for place in pending],
        "skipped": [skipped(skip) for skip in panel.skipped],
        "decision": panel.decision,
        "note": note,
        "late": late,
        "ignored": list(panel.request.ignored),
    }
    panels.record(row)
    if wanted == "all" or (wanted == "errors" and any(not answer.answered for answer in answers)):
        bodies.keep(panel.id, _body(panel, everyone))
    bus.publish("panel", row)


def begun(panel: Panel) -> None:
    """Tell who watches that a panel sits."""
    if not bus.watched():
        return
    seats = [
        {
            "call": seat.call,
            "seat": seat.seat,
            "alias": seat.target.alias,
            "model_id": seat.target.model_id,
        }
        for seat in panel.seats
    ]
    request = panel.request
    told = {
        "panel": panel.id,
        "at": ledger.stamp(panel.at),
        "collection": request.collection,
        "shape": panel.shape,
        "reply": request.reply,
        "key": request.key,
        "seats": seats,
    }
    bus.publish("panel.begun", told)


def _seat_row(answer: Answer) -> dict[str, Any]:
    """A seat in the panel's row: all of `seat` but the words themselves, with what evidence is kept by."""
    row = seat(answer)
    del row["answer"]
    return row | {
        "model_id": answer.seat.target.model_id,
        "how": answer.seat.how,
        "p": answer.seat.p,
        "attempts": answer.attempts,
        "context": answer.seat.target.context,
        "chars": len(answer.text),
    }


def _body(panel: Panel, everyone: Sequence[Answer]) -> dict[str, Any]:
    return {
        "messages": [without_images(message) for message in panel.request.messages],
        "options": dict(panel.request.options),
        "answers": {answer.seat.call: answer.text for answer in everyone},
        "reasoning": {answer.seat.call: answer.reasoning for answer in everyone if answer.reasoning},
    }


def without_images(message: Message) -> Message:
    """A message as it is stored: an image leaves a mark of its size, not its bytes, and what only dialects
    read is left out."""
    kept = {name: value for name, value in message.items() if name not in EXTENSIONS}
    if isinstance(kept.get("content"), list):
        kept["content"] = [_placeholder(part) for part in kept["content"]]
    return kept


def _placeholder(part: Any) -> Any:
    if not isinstance(part, dict) or part.get("type") != "image_url":
        return part
    image = part.get("image_url")
    url = str(image.get("url", "")) if isinstance(image, dict) else str(image)
    shown = url[: url.find(",")] if url.startswith("data:") else url
    return {"type": "image_url", "image_url": {"url": shown[:200]}, "characters": len(url)}


def task(request: Request) -> str | None:
    """What was asked, in a line; None where the setting is to keep no words."""
    return None if settings.get("bodies") == "none" else tokens.task(request.messages)


def offload(panel: Panel, answer: Answer, task: str | None) -> None:
    """Record one seat's work as an offload: unjudged until somebody says what it was worth."""
    offloads.record(offload_row(answer, panel.request, panel.at, panel.shape, panel.id, task))


def offload_row(
    answer: Answer, request: Request, at: float, shape: str | None, panel: str | None, task: str | None
) -> dict[str, Any]:
    seat, target = answer.seat, answer.seat.target
    return {
        "at": ledger.stamp(at),
        "call": seat.call,
        "panel": panel,
        "collection": request.collection,
        "shape": shape,
        "seat": seat.seat,
        "how": seat.how,
        "p": seat.p,
        "model": target.alias,
        "model_id": target.model_id,
        "status": answer.status,
        "error": answer.error,
        "seconds": round(answer.seconds, 3),
        "key": request.key,
        "task": task,
    }
