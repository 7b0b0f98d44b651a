"""A turn of route mode: what it is while it is played, what its caller is told of it, and what is kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from metrics import bus
from metrics.client.chat import Conversation
from metrics.evidence import offloads, routes
from metrics.limits import ledger
from metrics.play import ids, minutes
from metrics.play.ranking import Ranking
from metrics.records import Answer, Request, Seat, Target


@dataclass(slots=True)
class Turn:
    """One turn of a conversation as it is played. `seat` is who answers, once that is decided; `failed` are
    those who were asked before."""

    request: Request
    sticky: str
    place: routes.Place
    ranking: Ranking
    how: str
    at: float
    seed: int
    conversation: Conversation
    options: Mapping[str, Any]  # all that goes to the member beside the messages
    unranked: bool = False  # whether there are others that are not in the ranking yet
    seat: Seat | None = None
    failed: list[Answer] = field(default_factory=list)

    def call_of(self, target: Target) -> str:
        """The call id under which this conversation's work of a model is judged."""
        at = routes.number(self.sticky, self.place.conversation, target.model_id)
        return ids.turn(self.place.conversation, at)


def options(request: Request) -> dict[str, Any]:
    """All of a request that goes to a member beside the messages."""
    tools = request.tools if isinstance(request.tools, list) else list(request.tools)
    return {**request.options, **request.passed, **({"tools": tools} if tools else {})}


def bench(turn: Turn, answer: Answer) -> dict[str, Any]:
    """The `bench` object of a turn."""
    request = turn.request
    told: dict[str, Any] = {
        "collection": request.collection,
        "reply": "route",
        "conversation": turn.place.conversation,
        "call": answer.seat.call,
        "alias": answer.seat.target.alias,
        "turn": turn.place.turn,
        "verdict": minutes.HINT,
        "tokens": minutes.tokens_of(answer.usage),
    }
    if turn.failed:
        told["failed_over"] = [_failure(one) for one in turn.failed]
    if turn.ranking.skipped:
        told["skipped"] = [minutes.skipped(skip) for skip in turn.ranking.skipped]
    if answer.changed:
        told["changed"] = list(answer.changed)
    if request.dropped:
        told["dropped_tools"] = list(request.dropped)
    return told


def headers(turn: Turn) -> tuple[tuple[str, str], ...]:
    """The turn's headers; who answers is named only when that is decided (decisions 13)."""
    conversation = ("X-Bench-Conversation", turn.place.conversation)
    return (conversation, ("X-Bench-Model", turn.seat.target.alias)) if turn.seat else (conversation,)


def record(turn: Turn, answer: Answer, seconds: float) -> None:
    """A row for the turn, and one offload for all that a model does in a conversation."""
    request, seat = turn.request, answer.seat
    task = minutes.task(request)
    # Asked before the row is folded: that counts the model among those who have worked.
    first = answer.answered and routes.first_work(turn.sticky, turn.place.conversation, seat.target.model_id)
    players = [one.seat.target.model_id for one in (*turn.failed, answer)]
    row = {
        "at": ledger.stamp(turn.at),
        "conversation": turn.place.conversation,
        "turn": turn.place.turn,
        "call": seat.call,
        "sticky": turn.sticky,
        "collection": request.collection,
        "format": request.format,
        "key": request.key,
        "launch": request.launch,
        "model": seat.target.alias,
        "model_id": seat.target.model_id,
        "how": turn.how,
        "task": task,
        "status": answer.status,
        "error": answer.error,
        "seconds": round(seconds, 4),
        "first_token_s": answer.first_token_s,
        "tool_calls": len(answer.calls),
        "finish": answer.finish,
        "in": answer.usage.prompt,
        "out": answer.usage.out,
        "players": list(dict.fromkeys(players)),
        "failed_over": [_failure(one, task is not None) for one in turn.failed],
        "skipped": [minutes.skipped(skip) for skip in turn.ranking.skipped],
        "decision": turn.ranking.decision,
    }
    routes.record(row)
    bus.publish("turn", row)
    if first:
        offloads.record(minutes.offload_row(answer, request, turn.at, turn.ranking.shape, None, task))


def _failure(answer: Answer, words: bool = True) -> dict[str, Any]:
    """Of a member that failed; what its provider said may quote the prompt."""
    told = {"alias": answer.seat.target.alias, "error": answer.error}
    return told | {"message": answer.message} if words else told
