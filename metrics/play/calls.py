"""One call to one model, from the first attempt to its line in the ledger.

`place` makes a generator: it yields the events as they are said and returns the Answer. Whoever iterates
decides what to do with the events; the ledger row is written here, whatever happened, because every upstream
call has one.
"""

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import field
from typing import Any

from metrics import bus, desk
from metrics.client import transport
from metrics.client.arrival import hung_up
from metrics.client.chat import Conversation
from metrics.client.dialects import DIALECTS, compose
from metrics.client.opening import Opening
from metrics.client.transport import Hangup, Timeouts
from metrics.events import Event, Tick
from metrics.limits import budgets, cost, gate, ledger, pacing, tokens, underway
from metrics.limits.budgets import Hold
from metrics.limits.pacing import Verdict
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
    sleep: Callable[[float], None] = desk.sleep


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
    size: int | None = None,
) -> Generator[Event, None, Answer]:
    """Ask `seat`'s model, at most `deadline` seconds from now, for a stream or for the whole at once.

    Yields events (Tick after `quiet` seconds of silence; with `relay` as Chunks, where the provider's dialect
    can), returns the Answer; raises nothing of the provider's: a failure is an Answer whose status says so.
    Tries again, `attempts` times in all, while nothing has been said. Before it goes out it waits until it
    fits its limits, at most `patience` seconds (None: as long as there is time); what would not fit by then
    is not sent: "paced". Closing the generator hangs up on the member, and what it cost is recorded; a
    Problem thrown into it ends the call as that. What the budgets and limits of the key leave no room for is
    not asked: its Answer is `skipped`, and no row is written. `size` is that of the prompt, its
    tools included, in tokens by estimate, where somebody has looked already."""
    return _Play(
        seat,
        conversation,
        options,
        filing,
        clocks,
        deadline,
        hangup,
        quiet,
        relay,
        attempts,
        patience,
        stream,
        size,
    ).played()


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


@dataclass(slots=True)
class _Play:
    """One call being made: its attempts, and what the last of them said."""

    seat: Seat
    conversation: Conversation
    options: Mapping[str, Any]
    filing: Filing
    clocks: Clocks
    deadline: float
    hangup: Hangup
    quiet: float | None
    relay: bool
    most: int
    patience: float | None
    stream: bool
    prompt: int | None
    hold: Hold | None = None
    entry: gate.Entry | None = None
    sized: tuple[int, int | None] | None = None
    tries: int = 0
    said: Said = field(default_factory=Said)
    problem: Problem | None = None
    started: float = 0.0
    began: float = 0.0  # when the attempt that is under way did, its wait for room included
    token: object = None

    def elapsed(self) -> float:
        return self.clocks.monotonic() - self.started

    def played(self) -> Generator[Event, None, Answer]:
        """See `place`."""
        try:
            self.hold = self._hold()
        except Problem as problem:
            return outcome.skipped(self.seat, problem)
        self.started = self.began = self.clocks.monotonic()
        again = True
        try:
            while again:
                again = False
                try:
                    yield from self._attempt()
                except Problem as problem:
                    again = self._goes_on(problem)
        except GeneratorExit:
            self.hangup.now()
            self.problem = caller_left()
            raise
        finally:
            answer = self._over()
        return answer

    def _hold(self) -> Hold | None:
        """What is set aside for a call that something limits. Problem 402 or 429 where it does not fit."""
        key, collection = self.filing.key, self.filing.collection
        if not budgets.limited(key):
            return None
        return budgets.hold(key, collection, self.seat.target, *self.size(), self.clocks.now())

    def _over(self) -> Answer:
        """The answer, when all who count it have heard of it."""
        problem, why = self.problem, self.hangup.why
        if problem is not None and problem.kind == "hangup" and why:
            problem = Problem(499, why[1], kind=why[0], retryable=False)
        answer = outcome.of(self.seat, self.said, problem, self.conversation, self.elapsed(), self.tries)
        if self.entry is not None:
            self.entry.settle(answer.usage, answer.cost)
            self.entry = None  # each knows the other: the prompt would stay until a collection finds them
        ledger.add(row(answer, self.filing, self.clocks.now(), self.hold))
        if self.hold is not None:
            self.hold.settle((answer.usage.prompt or 0) + (answer.usage.out or 0), self.clocks.now())
        underway.end(self.token)
        return answer

    def _unfinished(self) -> dict[str, Any]:
        """The row of a call of which nothing more is heard, because this process is killed."""
        answer = Answer(self.seat, "error", error=underway.INTERRUPTED)
        return row(answer, self.filing, self.clocks.now(), self.hold) | {"seconds": None}

    # --- one attempt after the other

    def _goes_on(self, problem: Problem) -> bool:
        """Whether another attempt follows the one that ended so, the pause between them over."""
        before, self.problem = self.problem, _alone(problem)
        if problem.kind == "paced":
            self.problem = before or problem  # after a provider's refusal our own adds nothing
            return False
        pause = self._pause(problem)
        if pause is None or self.hangup.done:
            return False
        self._tell(problem, pause)
        self._rest(pause)
        self.said = Said()
        return True

    def _rest(self, pause: float) -> None:
        """Let a pause pass, but for a call that somebody ends meanwhile: whoever does waits for that."""
        while pause > 0 and not self.hangup.done:
            self.clocks.sleep(min(LOOK, pause))
            pause -= LOOK

    def _tell(self, problem: Problem, pause: float) -> None:
        """That an attempt failed and another comes after it."""
        if not bus.watched():
            return
        facts = self._unfinished()
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

    def _attempt(self) -> Iterator[Event]:
        """An attempt, once it fits its limits. The practice squad has none."""
        target, left, entry = self.seat.target, self.deadline - self.elapsed(), None
        try:
            if not target.builtin:
                entry = self.entry = gate.Entry(target, self.size, self.clocks.now)
                spare = 0.0 if self.patience is None else max(0.0, left - self.patience)
                verdict = entry.ask(left - spare)
                if verdict is not pacing.GO:
                    left = yield from self._waited(entry, verdict, spare)
            self.tries += 1
            opening = self._asked(left)
            try:
                while (arrival := opening.answer(self.quiet)) is None:
                    yield Tick()
            except BaseException:
                opening.close()
                raise
            try:
                if entry is not None and arrival.status < 400:
                    entry.heard(arrival.headers)
                hear, elapsed = self.said.hear, self.elapsed
                for event in DIALECTS[target.api].read(arrival, target, relay=self.relay, tick=self.quiet):
                    hear(event, elapsed)
                    yield event
            finally:
                arrival.close()
            self.problem = None
        except Problem as problem:
            if entry is not None:
                entry.refused(problem)
            raise

    def _waited(self, entry: gate.Entry, verdict: Verdict, spare: float) -> Generator[Event, None, float]:
        """What is left of the time once the call may go. Problem (paced) when that is too far off; `spare`
        of the time is not for waiting."""
        left = self.deadline - self.elapsed()
        while verdict.word == "wait":
            if self.hangup.done:
                raise hung_up()
            self.clocks.sleep(min(LOOK, verdict.seconds))
            if self.quiet is not None:
                yield Tick()
            left = self.deadline - self.elapsed()
            verdict = entry.ask(left - spare)
        if verdict.word == "refuse":
            raise gate.refusal(self.seat.target, verdict)
        return left

    def size(self) -> tuple[int, int | None]:
        """What a call may take: tokens of its prompt, by guess, and the most of its answer."""
        if self.sized is None:
            options = self.options
            most = options.get("max_completion_tokens") or options.get("max_tokens")
            prompt = self.prompt
            if prompt is None:
                prompt = tokens.estimate(self.conversation.messages)
                prompt += tokens.of_tools(options.get("tools") or ())
            self.sized = prompt, most if isinstance(most, int) else None
        return self.sized

    def _asked(self, left: float) -> Opening:
        """The request on its way to the model, which has `left` seconds to answer it."""
        target = self.seat.target
        if left <= 0:
            raise Problem(504, f"{target.alias} had no time left to answer", kind="timeout")
        outgoing = compose(target, self.conversation, self.options, stream=self.stream)
        self.said.changed = outgoing.changed
        self.token = self.token or underway.begin(self._unfinished)
        return transport.shared().begin(
            outgoing.method,
            outgoing.url,
            (*outgoing.headers, (DEPTH, str(self.filing.depth + 1))),
            outgoing.body,
            timeouts=Timeouts(connect=min(10.0, left), first_byte=left, idle=min(IDLE, left), total=left),
            hangup=self.hangup,
        )


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
