"""One call to one model, from the first attempt to its line in the ledger.

`place` is a generator: it yields the events as they are said and returns the Answer. Whoever iterates decides
what to do with the events; the ledger row is written here, whatever happened, because every upstream call has
one.
"""

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from metrics import bus
from metrics.client import transport
from metrics.client.arrival import hung_up
from metrics.client.chat import Conversation
from metrics.client.dialects import DIALECTS, compose
from metrics.client.transport import Hangup, Timeouts
from metrics.events import Event, Tick
from metrics.limits import budgets, cost, gate, ledger, tokens, underway
from metrics.limits.budgets import Hold
from metrics.play import outcome
from metrics.play.outcome import Said
from metrics.records import DEPTH, Answer, Problem, Seat
from metrics.values import dataclass

ATTEMPTS = 3
LONGEST_PAUSE = 10.0  # a provider that asks for more than this is asked another day, not in this panel
IDLE = 120.0
LOOK = 0.25  # seconds between looks whether a call that waits may go, or is not wanted any more

DEEPEST = 3  # benches that a call may come through: one can sit on another, or by mistake on itself

# What may be tried again, and the first pause in seconds; it doubles. A stated Retry-After always wins.
AGAIN = {"rate_limited": 1.0, "overloaded": 0.5, "upstream": 0.4, "unreachable": 0.2}


@dataclass(frozen=True, slots=True)
class Filing:
    """What a ledger row says about why a call was made; `depth` as in Request, `turn` which of its
    conversation."""

    purpose: str
    panel: str | None = None
    collection: str | None = None
    key: str = "local"
    conversation: str | None = None
    launch: str | None = None
    depth: int = 0
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class Clocks:
    """Time and its passing, as arguments: tests bring their own."""

    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


REAL = Clocks()


def place(
    seat: Seat,
    conversation: Conversation,
    options: Mapping[str, Any],
    filing: Filing,
    *,
    deadline: float,
    hangup: Hangup,
    clocks: Clocks = REAL,
    quiet: float | None = None,
    relay: bool = False,
    attempts: int = ATTEMPTS,
    patience: float | None = None,
    stream: bool = True,
) -> Generator[Event, None, Answer]:
    """Ask `seat`'s model, at most `deadline` seconds from now, for a stream or for the whole at once.

    Yields events (Tick after `quiet` seconds of silence; with `relay` as Chunks, where the provider's dialect
    can), returns the Answer; raises nothing of the provider's: a failure is an Answer whose status says so.
    Tries again, `attempts` times in all, while nothing has been said. Before it goes out it waits until it
    fits its limits, at most `patience` seconds (None: as long as there is time); what would not fit by then
    is not sent: "paced". Closing the generator hangs up on the member, and what it cost is recorded; a
    Problem thrown into it ends the call as that. What the budgets and limits of the key leave no room for is
    not asked: its Answer is `skipped`, and no row is written."""
    play = _Play(
        seat,
        conversation,
        options,
        clocks,
        deadline,
        hangup,
        quiet,
        filing.depth + 1,
        relay,
        attempts,
        patience,
        stream,
    )
    try:
        hold = _hold(play, filing)
    except Problem as problem:
        return replace(outcome.failed(Answer(seat, "", cost_status="none"), problem), status="skipped")
    play.unfinished = lambda: _unfinished(seat, filing, hold, clocks.now())
    try:
        yield from play.attempts()
    except GeneratorExit:
        hangup.now()
        play.problem = caller_left()
        raise
    finally:
        answer = play.answer()
        if play.entry:
            play.entry.settle(answer.usage, answer.cost)
            play.entry = None  # each knows the other: the prompt would stay until a collection finds them
        ledger.add(row(answer, filing, clocks.now(), hold))
        if hold:
            hold.settle((answer.usage.prompt or 0) + (answer.usage.out or 0), clocks.now())
        underway.end(play.token)
    return answer


def unheard(placed: Generator[Event, None, Answer]) -> Answer:
    """What a call comes to whose words nobody waits for."""
    while True:
        try:
            next(placed)
        except StopIteration as end:
            answer: Answer = end.value
            return answer


def _alone(problem: Problem) -> Problem:
    """The problem without the way that it came, whose frames hold the call, the prompt and all."""
    problem.__traceback__ = problem.__cause__ = problem.__context__ = None
    return problem


def caller_left() -> Problem:
    """What ends a call whose caller has hung up."""
    return Problem(499, "the caller left before the end", kind="caller_left", retryable=False)


def _unfinished(seat: Seat, filing: Filing, hold: Hold | None, now: float) -> dict[str, Any]:
    """The row of a call of which nothing more is heard, because this process is killed."""
    answer = Answer(seat, "error", error=underway.INTERRUPTED)
    return row(answer, filing, now, hold) | {"seconds": None}


def _hold(play: "_Play", filing: Filing) -> Hold | None:
    """What is set aside for a call that something limits. Problem 402 or 429 where it does not fit."""
    if not budgets.limited(filing.key):
        return None
    prompt, most = play.size()
    return budgets.hold(filing.key, filing.collection, play.seat.target, prompt, most, play.clocks.now())


@dataclass(slots=True)
class _Play:
    """One call being made: its attempts, and what the last of them said."""

    seat: Seat
    conversation: Conversation
    options: Mapping[str, Any]
    clocks: Clocks
    deadline: float
    hangup: Hangup
    quiet: float | None
    depth: int
    relay: bool = False
    most: int = ATTEMPTS
    patience: float | None = None
    stream: bool = True
    entry: gate.Entry | None = None
    sized: tuple[int, int | None] | None = None
    tries: int = 0
    said: Said = field(default_factory=Said)
    problem: Problem | None = None
    started: float = 0.0
    began: float = 0.0  # when the attempt that is under way did, its wait for room included
    unfinished: Callable[[], dict[str, Any]] = dict
    token: object = None

    def elapsed(self) -> float:
        return self.clocks.monotonic() - self.started

    def attempts(self) -> Iterator[Event]:
        self.started = self.began = self.clocks.monotonic()
        while True:
            before, self.said, self.problem = self.problem, Said(), None
            try:
                yield from self._admitted()
                return
            except Problem as problem:
                # After a provider's refusal our own adds nothing.
                self.problem = before if before and problem.kind == "paced" else _alone(problem)
                if problem.kind == "paced":
                    return
            pause = self._pause(self.problem)
            if pause is None or self.hangup.done:
                return
            self._tell(self.problem, pause)
            self._rest(pause)

    def _rest(self, pause: float) -> None:
        """Let a pause pass, but for a call that somebody ends meanwhile: whoever does waits for that."""
        while pause > 0 and not self.hangup.done:
            self.clocks.sleep(min(LOOK, pause))
            pause -= LOOK

    def _tell(self, problem: Problem, pause: float) -> None:
        """That an attempt failed and another comes after it."""
        if not bus.watched():
            return
        facts = self.unfinished()
        began, self.began = self.began, self.clocks.monotonic() + pause
        facts |= {"at": self.clocks.now(), "seconds": self.clocks.monotonic() - began}
        bus.publish("attempt", facts | {"attempt": self.tries, "pause": pause, "error": problem.kind})

    def _pause(self, problem: Problem) -> float | None:
        """Seconds to wait before the next attempt; None: this was the last one."""
        if self.said.first is not None:
            return None
        if DIALECTS[self.seat.target.api].learn(self.seat.target, problem):
            return 0.0  # it named what it does not take: it is asked again without, and learns a thing once
        if not self.stream and problem.kind == "bad_request" and "stream" in problem.message.lower():
            self.stream = True  # some models answer in no other way
            return 0.0
        first = AGAIN.get(problem.kind)
        if first is None or not problem.retryable or self.tries >= self.most:
            return None
        pause = first * 2 ** (self.tries - 1) if problem.retry_after is None else problem.retry_after
        return pause if pause <= LONGEST_PAUSE and pause < self.deadline - self.elapsed() else None

    def _admitted(self) -> Iterator[Event]:
        """An attempt, once it fits its limits. The practice squad has none."""
        left = self.deadline - self.elapsed()
        if self.seat.target.builtin:
            self.tries += 1
            yield from self._attempt(left)
            return
        with gate.entry(self.seat.target, self.size, self.clocks.now) as self.entry:
            left = yield from self._waited(self.entry, left)
            self.tries += 1
            try:
                yield from self._attempt(left)
            except Problem as problem:
                self.entry.refused(problem)
                raise

    def _waited(self, entry: gate.Entry, left: float) -> Generator[Event, None, float]:
        """What is left of the time once the call may go. Problem (paced) when that is too far off."""
        needed = left - min(left, left if self.patience is None else self.patience)
        while (verdict := entry.ask(left - needed)).word == "wait":
            if self.hangup.done:
                raise hung_up()
            self.clocks.sleep(min(LOOK, verdict.seconds))
            if self.quiet is not None:
                yield Tick()
            left = self.deadline - self.elapsed()
        if verdict.word == "refuse":
            raise gate.refusal(self.seat.target, verdict)
        return left

    def size(self) -> tuple[int, int | None]:
        """What a call may take: tokens of its prompt, by guess, and the most of its answer."""
        if self.sized is None:
            options = self.options
            most = options.get("max_completion_tokens") or options.get("max_tokens")
            asked = tokens.estimate(self.conversation.messages) + tokens.of_tools(options.get("tools") or ())
            self.sized = asked, most if isinstance(most, int) else None
        return self.sized

    def _attempt(self, left: float) -> Iterator[Event]:
        target = self.seat.target
        if left <= 0:
            raise Problem(504, f"{target.alias} had no time left to answer", kind="timeout")
        dialect = DIALECTS[target.api]
        outgoing = compose(target, self.conversation, self.options, stream=self.stream)
        self.said.changed = outgoing.changed
        limits = Timeouts(connect=min(10.0, left), first_byte=left, idle=min(IDLE, left), total=left)
        headers = (*outgoing.headers, (DEPTH, str(self.depth)))
        self.token = self.token or underway.begin(self.unfinished)
        opening = transport.shared().begin(
            outgoing.method, outgoing.url, headers, outgoing.body, timeouts=limits, hangup=self.hangup
        )
        try:
            while (arrival := opening.answer(self.quiet)) is None:
                yield Tick()
        except BaseException:
            opening.close()
            raise
        with arrival:
            if self.entry and arrival.status < 400:
                self.entry.heard(arrival.headers)
            for event in dialect.read(arrival, target, relay=self.relay, tick=self.quiet):
                self.said.hear(event, self.elapsed())
                yield event

    def answer(self) -> Answer:
        problem, why = self.problem, self.hangup.why
        if problem is not None and problem.kind == "hangup" and why:
            problem = Problem(499, why[1], kind=why[0], retryable=False)
        answer = outcome.of(self.seat, self.said, problem, self.conversation)
        return replace(answer, seconds=self.elapsed(), attempts=self.tries)


def row(answer: Answer, filing: Filing, now: float, hold: Hold | None = None) -> dict[str, Any]:
    """The ledger row of a call (decisions 6). One whose cost stayed unknown is counted as what was set aside
    for it."""
    target, usage = answer.seat.target, answer.usage
    unknown = hold is not None and answer.cost is None and answer.cost_status == "unknown"
    return {
        "at": ledger.stamp(now),
        "purpose": filing.purpose,
        "model": target.alias,
        "model_id": target.model_id,
        "endpoint": target.endpoint,
        "connection": target.connection,
        "served": target.served,
        "status": answer.status,
        "error": answer.error,
        "retry_after": answer.retry_after,
        "attempts": answer.attempts,
        "seconds": round(answer.seconds, 4),
        "first_token_s": None if answer.first_token_s is None else round(answer.first_token_s, 4),
        "uncached_in": usage.uncached_in,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "out": usage.out,
        "reasoning": usage.reasoning,
        "estimated": usage.estimated,
        "usage_raw": usage.raw,
        "cost_usd": cost.usd(answer.cost),
        "cost_status": answer.cost_status,
        **cost.basis(usage, target.price, answer.cost_status, target.price_version),
        "provider": answer.provider,
        "fingerprint": answer.fingerprint,
        "request_id": answer.request_id,
        "call": answer.seat.call,
        "panel": filing.panel,
        "conversation": filing.conversation,
        "collection": filing.collection,
        "key": filing.key,
        "launch": filing.launch,
        "turn": filing.turn,
        "finish": answer.finish,
        "held_usd": cost.usd(hold.units) if hold and unknown else None,
    }
