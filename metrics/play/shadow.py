"""Shadow seats: a turn that one member has answered, answered by another too, for the record alone.

What an agent does next is the call it makes, so that is what the two answers are compared by: names and
arguments of their tool calls, or that both just spoke. Nobody waits for a shadow: it plays when the caller
has had its answer, and not at all while the machine is busy or once the collection's cap of the day is
reached.
"""

import json
import os
import random
import threading
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

from metrics.bench import collections
from metrics.client.chat import Conversation
from metrics.client.transport import Hangup
from metrics.events import Event
from metrics.evidence import shadows
from metrics.play import calls, candidates, crew
from metrics.play.calls import Filing
from metrics.records import Answer, Problem, Request, Seat
from metrics.store.stamps import stamp

AT_ONCE = 2
DEADLINE = 300.0
MOST_NAMED = 20  # arguments, in the record of how two answers differ

_playing: list["_Turn"] = []
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn as it was played, the `number`th of its conversation."""

    request: Request
    answer: Answer
    conversation: str
    number: int
    asked: Conversation
    options: Mapping[str, Any]
    at: float


def busy() -> bool:
    """Whether more wants to run on this machine than it has processors; False where it does not say."""
    try:
        return os.getloadavg()[0] > (os.cpu_count() or 1)
    except (OSError, AttributeError):
        return False


def consider(
    request: Request,
    answer: Answer,
    conversation: str,
    asked: Conversation,
    options: Mapping[str, Any],
    *,
    turn: int,
    now: float,
    chance: Callable[[], float] = random.random,
    load: Callable[[], bool] = busy,
) -> bool:
    """Perhaps have another member answer a turn too: `answer` is what the routed one gave to `asked` with
    `options`, in the `turn`th turn of the conversation of that id. Returns at once, raises nothing; whether a
    shadow was sent.

    `chance` draws from [0, 1): once for the collection's rate, once for who it is.
    """
    try:
        collection = collections.all().get(request.collection)
        if collection is None or answer.status != "ok" or chance() >= collection.shadow:
            return False
        played = _Turn(request, answer, conversation, turn, asked, options, now)
        if load() or not _seated(played, collection.shadow_daily):
            return False
    except Problem:  # the record cannot be kept now: then there is nothing to play for
        return False
    drawn = chance()
    crew.go(lambda: _play(played, drawn))
    return True


def playing() -> int:
    """How many shadows are at work."""
    return len(_playing)


def _seated(turn: _Turn, most: int) -> bool:
    """Take a seat for the turn, if one is free and the day's cap leaves one."""
    collection = turn.request.collection
    with _lock:
        at_work = sum(other.request.collection == collection for other in _playing)
        if len(_playing) >= AT_ONCE or shadows.placed(collection, stamp(turn.at)[:10]) + at_work >= most:
            return False
        _playing.append(turn)
        return True


def _play(turn: _Turn, drawn: float) -> None:
    try:
        seat = _seat(turn, drawn)
        if seat:
            shadows.record(_row(turn, calls.unheard(_place(turn, seat))))
    except Problem:  # nobody asked for this answer, so nobody misses it
        pass
    finally:
        with _lock:
            _playing[:] = [other for other in _playing if other is not turn]


def _seat(turn: _Turn, drawn: float) -> Seat | None:
    """Another member that can take the turn and is well; None when there is none."""
    played = turn.answer.seat
    fit, _ = candidates.candidates(turn.request, turn.at)
    others = [one for one in fit if not one.hindrance and one.model.model_id != played.target.model_id]
    if not others:
        return None
    target = others[int(drawn * len(others))].target
    return Seat(f"{turn.conversation}.shadow{turn.number}", "shadow", target, "drawn", 1 / len(others))


def _place(turn: _Turn, seat: Seat) -> Generator[Event, None, Answer]:
    request = turn.request
    filing = Filing(
        "shadow",
        collection=request.collection,
        key=request.key,
        conversation=turn.conversation,
        depth=request.depth,
    )
    return calls.place(
        seat, turn.asked, turn.options, filing, deadline=DEADLINE, hangup=Hangup(), patience=0.0
    )


def _row(turn: _Turn, shadow: Answer) -> dict[str, Any]:
    played, other = turn.answer.seat, shadow.seat.target
    agreement, differs = compare(turn.answer, shadow)
    return {
        "at": stamp(turn.at),
        "shadow_call": shadow.seat.call,
        "call": played.call,
        "conversation": turn.conversation,
        "turn": turn.number,
        "collection": turn.request.collection,
        "key": turn.request.key,
        "model": played.target.alias,
        "model_id": played.target.model_id,
        "shadow": other.alias,
        "shadow_id": other.model_id,
        "status": shadow.status,
        "error": shadow.error,
        "agreement": agreement,
        "tools": [name for name, _ in turn.answer.calls],
        "shadow_tools": [name for name, _ in shadow.calls],
        "differs": list(differs),
        "seconds": round(shadow.seconds, 3),
    }


# --- how alike two answers are


def compare(played: Answer, shadow: Answer) -> tuple[str, tuple[str, ...]]:
    """One of shadows.AGREEMENTS, and for other arguments which: ("read.path",). Their values are nobody's
    record."""
    if shadow.status not in ("ok", "refused"):
        return "failed", ()
    if _kind(played) != _kind(shadow):
        return "kind", ()
    ours, theirs = _calls(played), _calls(shadow)
    if [name for name, _ in ours] != [name for name, _ in theirs]:
        return "tools", ()
    differs = [
        f"{name}.{argument}"[:100]
        for (name, mine), (_, other) in zip(ours, theirs, strict=True)
        for argument in _differing(mine, other)
    ]
    return ("arguments" if differs else "same"), tuple(dict.fromkeys(differs))[:MOST_NAMED]


def _kind(answer: Answer) -> str:
    return "calls" if answer.calls else "refusal" if answer.status == "refused" else "text"


def _calls(answer: Answer) -> list[tuple[str, Any]]:
    """Names and arguments, in an order that does not depend on which call came first."""
    read = [(name, _read(arguments)) for name, arguments in answer.calls]
    return sorted(read, key=lambda call: (call[0], json.dumps(call[1], sort_keys=True)))


def _read(arguments: str) -> Any:
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return arguments


def _differing(mine: Any, other: Any) -> list[str]:
    if mine == other:
        return []
    if not isinstance(mine, dict) or not isinstance(other, dict):
        return ["*"]
    return sorted(name for name in mine.keys() | other.keys() if mine.get(name) != other.get(name))
