"""Route mode: one member gets the request as it was sent, tools and all, and drives an agent's turn.

In this form it is the first member that can take the request. It runs in the caller's own thread: what the
member says goes out as it comes, and a caller who leaves ends the call.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from metrics.bench import collections, roster
from metrics.bench.roster import Model
from metrics.client.chat import Conversation
from metrics.client.transport import Hangup
from metrics.events import Closed, Event
from metrics.evidence import offloads
from metrics.limits import tokens
from metrics.play import calls, ids, minutes
from metrics.play.calls import REAL, Clocks, Filing
from metrics.records import Answer, Problem, Request, Seat, Skipped

QUIET = 10.0  # seconds of silence before a keep-alive
RELAYED = {"openai-chat": "chat"}  # formats that write a dialect's chunks as they came
DEADLINE = 3600.0  # an agent's turn may think for long; its caller can always leave


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation: who plays it, and who was passed over and why."""

    conversation: str
    request: Request
    seat: Seat
    skipped: tuple[Skipped, ...]
    at: float


def choose(request: Request, now: float, token: str) -> Turn:
    """The first member that can take `request`. Problem 413 when only size stands in the way, 400 when nobody
    can."""
    bench = roster.all()
    size, images = tokens.estimate(request.messages), tokens.images(request.messages) > 0
    skipped: list[Skipped] = []
    for alias in collections.get(request.collection).members:
        reason = _unfit(bench.get(alias), request, size, images)
        if reason is None:
            conversation = ids.conversation(now, token)
            seat = Seat(ids.turn(conversation, 1), "member", roster.target(alias), how="first")
            return Turn(conversation, request, seat, tuple(skipped), now)
        skipped.append(Skipped("member", alias, reason))
    told = "; ".join(f"{skip.alias} {skip.why}" for skip in skipped) or "it has no members"
    small = bool(skipped) and all(skip.why.startswith(TOO_SMALL) for skip in skipped)
    code = "context_length_exceeded" if small else None
    raise Problem(
        413 if small else 400,
        f"no member of {request.collection} can take this turn: {told}",
        retryable=False,
        code=code,
    )


TOO_SMALL = "reads only"


def _unfit(model: Model | None, request: Request, size: int, images: bool) -> str | None:
    """Why this member cannot take the turn; None: it can."""
    if model is None:
        return "is not on the bench (retired or removed)"
    if request.tools and model.tools is not True:
        word = "calls no tools" if model.tools is False else "is not known to call tools"
        return f"{word} (`bench model add … --tools yes` says that it does)"
    if images and model.vision is not True:
        return "is not known to read images"
    if model.context is not None and size > model.context:
        return f"{TOO_SMALL} {model.context:,} tokens, this needs about {size:,}"
    return None


def play(turn: Turn, clocks: Clocks = REAL) -> Generator[Event, None, None]:
    """The member's words as it says them; at the end Closed with the `bench` object. Raises Problem when it
    fails before or after it began. Closing the iterator hangs up on the member."""
    request, target = turn.request, turn.seat.target
    options = {
        **request.options,
        **request.passed,
        **({"tools": list(request.tools)} if request.tools else {}),
    }
    filing = Filing(
        "route",
        collection=request.collection,
        key=request.key,
        conversation=turn.conversation,
        launch=request.launch,
        depth=request.depth,
    )
    placed = calls.place(
        turn.seat,
        Conversation(request.messages),
        options,
        filing,
        deadline=request.deadline or DEADLINE,
        hangup=Hangup(),
        clocks=clocks,
        quiet=QUIET,
        relay=RELAYED.get(request.format) == target.api,
    )
    closed = Closed()
    answer: Answer
    while True:
        try:
            event = next(placed)
        except StopIteration as end:
            answer = end.value
            break
        if isinstance(event, Closed):
            closed = event
        else:
            yield event
    _record(turn, answer)
    if answer.status not in ("ok", "refused"):
        raise Problem(
            answer.http_status or 502,
            f"{target.alias}: {answer.message}"
            if target.alias not in (answer.message or "")
            else str(answer.message),
            kind=answer.error or "",
            retry_after=answer.retry_after,
        )
    yield Closed(closed.finish, answer.usage, closed.stop_sequence, {"bench": bench(turn, answer)})


def bench(turn: Turn, answer: Answer) -> dict[str, Any]:
    """The `bench` object of a turn."""
    told: dict[str, Any] = {
        "collection": turn.request.collection,
        "reply": "route",
        "conversation": turn.conversation,
        "call": turn.seat.call,
        "alias": turn.seat.target.alias,
        "turn": 1,
        "verdict": minutes.HINT,
        "tokens": minutes.tokens_of(answer.usage),
    }
    told |= {"skipped": [minutes.skipped(skip) for skip in turn.skipped]} if turn.skipped else {}
    return told | ({"changed": list(answer.changed)} if answer.changed else {})


def headers(turn: Turn) -> tuple[tuple[str, str], ...]:
    return (("X-Bench-Conversation", turn.conversation), ("X-Bench-Model", turn.seat.target.alias))


def _record(turn: Turn, answer: Answer) -> None:
    """The turn as an offload: what a verdict on its call id will judge."""
    task = minutes.task(turn.request)
    offloads.record(minutes.offload_row(answer, turn.request, turn.at, shape=None, panel=None, task=task))
