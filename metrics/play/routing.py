"""Route mode: one member gets the request as it was sent, tools and all, and drives an agent's turn.

A conversation stays with the member that began it. While nothing of an answer has left, a member that fails
is passed over for the next one at once; from the first word on the turn is that member's. It all runs in the
caller's own thread: what the member says goes out as it comes, and a caller who leaves ends the call.
"""

from collections.abc import Generator
from dataclasses import replace

from metrics.client.chat import Conversation
from metrics.events import Closed, Event
from metrics.evidence import routes
from metrics.play import candidates, failing, ids, ranking, shadow, sticky, turns
from metrics.play.attempt import Attempt, Gone, Waiting
from metrics.play.calls import REAL, Clocks
from metrics.play.ranking import Ranking
from metrics.play.turns import Turn
from metrics.records import Answer, Problem, Request, Target
from metrics.store import files

MOST = 3  # members that a turn is offered to

# Formats whose own API a dialect speaks: its member gets the fields that only that API has.
NATIVE = {
    "openai-chat": "chat",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "openai-responses": "responses",
    "ollama": "ollama",
}

# Failures that lie with the request or the caller: no other member would do better.
FINAL = frozenset({"caller_left", "hangup", "refused", "loop"})


def begin(request: Request, now: float, token: str, seed: int) -> Turn:
    """Take a turn of the conversation that `request` belongs to, or begin one. `token` is 8 hex digits of
    randomness. Problem 413 when only size stands in every member's way, 400 when nobody can take it."""
    key, anew = sticky.key(request), sticky.begins(request)
    kept, broke = None if anew else routes.find(key, now), routes.broke(key, now)
    ranked = _kept(request, kept, now) if kept and kept != broke else None
    how = "sticky" if ranked else "moved" if kept else "new"
    if ranked is None:
        ranked = ranking.order(request, now, seed)
        ranked = _last(ranked, broke) if broke else ranked
    place = routes.begin(key, now, ids.conversation(now, token), ranked.members[0].model_id, anew)
    if place.model_id and how == "new":  # another turn of it began meanwhile
        own = _kept(request, place.model_id, now)
        ranked, how = (own, "sticky") if own else (ranked, how)
    native = NATIVE.get(request.format, "")
    asked = Conversation(request.messages, native, request.native)
    return Turn(
        request,
        key,
        place,
        ranked,
        how,
        now,
        seed,
        asked,
        turns.options(request),
        unranked=how == "sticky" and ranked.decision["candidates"] > 1,
    )


def _kept(request: Request, model_id: str, now: float) -> Ranking | None:
    """The conversation's own member alone, if it can take this turn and is well; the others are ranked when
    they are needed."""
    found, size = candidates.field(request)
    for able in found.fit:
        if able.target.model_id == model_id and not candidates.today(able, now).hindrance:
            decision = {"policy": "sticky/1", "candidates": len(found.fit)}
            return Ranking((able.target,), found.skipped, found.shape, decision, size)
    return None


def _last(ranked: Ranking, model_id: str) -> Ranking:
    """The same with that member at the end: its caller, who asks again, has just seen it break off."""
    members = sorted(ranked.members, key=lambda one: one.model_id == model_id)
    return replace(ranked, members=tuple(members))


def play(turn: Turn, gone: Gone = lambda: False, clocks: Clocks = REAL) -> Generator[Event, None, None]:
    """The words of the member that answers, as it says them; at the end Closed with the `bench` object.

    Unless the request is streamed everything is held back until it is whole, so that any failure is passed
    over. Tick after QUIET seconds without a word. Raises Problem: of the set when nobody answered, of one
    when it broke off. Closing the iterator, or `gone`, hangs up on the member.
    """
    now = clocks.monotonic()
    waiting = Waiting(clocks, gone, now, now)
    for target, last in _offered(turn):
        attempt = Attempt(turn, target, waiting, last)
        try:
            yield from attempt.events()
        except GeneratorExit:
            if attempt.answer:
                turns.record(turn, attempt.answer, waiting.elapsed())
            raise
        answer = attempt.answer
        assert answer is not None
        if attempt.closed is not None:
            with files.moment():  # the request's own may be long over
                end = _finished(turn, answer, attempt.closed, waiting)
            yield end
            return
        if attempt.said or answer.error in FINAL:
            turns.record(turn, answer, waiting.elapsed())
            broke = attempt.said and answer.error not in FINAL
            raise failing.half(answer) if broke else failing.alone(answer)
        turn.failed.append(answer)
    turns.record(turn, turn.failed[-1], waiting.elapsed())
    raise failure(turn)


def _offered(turn: Turn) -> Generator[tuple[Target, bool], None, None]:
    """The members to ask in turn, and whether each is the last that may be."""
    first = turn.ranking.members[0]
    others: list[Target] = list(turn.ranking.members[1:MOST])
    yield first, not (others or turn.unranked)
    if turn.unranked:
        turn.ranking = ranking.order(turn.request, turn.at, turn.seed)
        others = [one for one in turn.ranking.members if one.model_id != first.model_id][: MOST - 1]
    for number, target in enumerate(others, 1):
        yield target, number == len(others)


def _finished(turn: Turn, answer: Answer, closed: Closed, waiting: Waiting) -> Closed:
    """The end of a turn that somebody answered, kept and told."""
    turns.record(turn, answer, waiting.elapsed())
    shadow.consider(
        turn.request,
        answer,
        turn.place.conversation,
        turn.conversation,
        turn.options,
        turn=turn.place.turn,
        now=turn.at,
    )
    return Closed(closed.finish, answer.usage, closed.stop_sequence, {"bench": turns.bench(turn, answer)})


def failure(turn: Turn) -> Problem:
    """Why nobody answered."""
    if len(turn.failed) == 1:
        return failing.alone(turn.failed[0])
    return failing.together(turn.failed, "every member", f"no member of {turn.request.collection}")
