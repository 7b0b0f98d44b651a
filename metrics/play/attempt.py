"""One member being asked in route mode: what of its words may leave, and when it has had its chance.

While another could answer, nothing leaves before the member has said something that counts: so any failure up
to there can be passed over, and the caller never knows.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from metrics.client.transport import Hangup
from metrics.events import Closed, Event, Opened, Reasoning, Tick, meant
from metrics.evidence import reliability
from metrics.play import calls
from metrics.play.calls import Clocks, Filing
from metrics.play.turns import Turn
from metrics.records import Answer, Problem, Seat, Target

Gone = Callable[[], bool]
Kinds = frozenset[type[Event]]

LOOK = 1.0  # seconds of silence between looks whether the caller is still there
QUIET = 10.0  # seconds of silence before a keep-alive, which says nothing and decides nothing
PATIENCE = 90.0  # seconds in which a member must begin to answer, while there is another
THINKING = 0.5  # seconds that thinking is held back: a member that only thinks and ends has answered nothing
PACED = 1.0  # seconds that a call waits for room under its limits, while another member could answer
UNASKED = 120.0  # seconds that the last member's may, for a caller who set no deadline
DEADLINE = 3600.0  # an agent's turn may think for long; its caller can always leave

# What does not decide who answers: a name, which is nothing said, and thinking, for a while.
NAMES: Kinds = frozenset({Opened})
THOUGHTS: Kinds = frozenset({Opened, Reasoning})

RELAYED = {"openai-chat": "chat"}  # formats that write a dialect's chunks as they came


@dataclass(slots=True)
class Waiting:
    """The caller's patience over all attempts: when it last heard of us, and whether it is still there."""

    clocks: Clocks
    gone: Gone
    started: float
    heard: float

    def due(self) -> bool:
        """Whether it is time for a keep-alive; it is then taken as sent."""
        now = self.clocks.monotonic()
        due = now - self.heard >= QUIET
        self.heard = now if due else self.heard
        return due

    def elapsed(self) -> float:
        return self.clocks.monotonic() - self.started


@dataclass(slots=True)
class Attempt:
    """One member being asked. Its events are held until it has said something, or for an unstreamed request
    until it has said all. `answer` is there once the call is over, `closed` if that is the turn's answer."""

    turn: Turn
    target: Target
    waiting: Waiting
    last: bool
    said: bool = False
    closed: Closed | None = None
    answer: Answer | None = None
    held: list[Event] = field(default_factory=list)
    thought: float | None = None  # when it began to think

    def events(self) -> Generator[Event, None, None]:
        """What of the member's words may leave now."""
        turn = self.turn
        seat = Seat(turn.call_of(self.target), "member", self.target, how=turn.how)
        waiting, monotonic = self.waiting, self.waiting.clocks.monotonic
        began, ended = monotonic(), None
        placed = _place(turn, seat, self)
        try:
            while True:
                event = next(placed)
                if type(event) is Tick:
                    problem = self._trouble(began)
                    if problem:
                        self.answer = _ended(placed, problem)
                        return
                    if waiting.due():
                        yield event
                elif type(event) is Closed:
                    ended = event
                elif self.said:
                    waiting.heard = monotonic()
                    yield event
                else:
                    self.held.append(event)
                    if turn.request.stream and self._may_leave(event):
                        self.said, turn.seat = True, seat
                        waiting.heard = monotonic()
                        yield from self.held
                        self.held.clear()
        except StopIteration as end:
            self.answer = end.value
        except GeneratorExit:
            self.answer = _ended(placed, calls.caller_left())
            raise
        assert self.answer is not None
        if self.answer.status in ("ok", "refused") and ended is not None:
            self.closed, turn.seat = ended, seat
            yield from self.held

    def _trouble(self, began: float) -> Problem | None:
        """Why a silent call should end: its caller has left, or another member could answer."""
        if self.waiting.gone():
            return calls.caller_left()
        if self.said or self.last or self.waiting.clocks.monotonic() - began <= PATIENCE:
            return None
        if not all(_kinds(event) <= NAMES for event in self.held):
            return None
        return Problem(504, f"{self.target.alias}: no word within {PATIENCE:g} s", kind="timeout")

    def _may_leave(self, event: Event) -> bool:
        """Whether the caller may have this now, so that the turn is this member's from here on."""
        said = _kinds(event)
        if said <= NAMES:
            return False
        if not said <= THOUGHTS:
            return True
        now = self.waiting.clocks.monotonic()
        self.thought = now if self.thought is None else self.thought
        return now - self.thought > THINKING


def _kinds(event: Event) -> set[type[Event]]:
    return {type(one) for one in meant(event)}


def _ended(placed: Generator[Event, None, Answer], problem: Problem) -> Answer:
    """What a call comes to that ends now, for that reason."""
    try:
        while True:
            placed.throw(problem)
    except StopIteration as end:
        answer: Answer = end.value
        return answer


def _place(turn: Turn, seat: Seat, attempt: Attempt) -> Generator[Event, None, Answer]:
    request = turn.request
    filing = Filing(
        "route",
        collection=request.collection,
        key=request.key,
        conversation=turn.place.conversation,
        launch=request.launch,
        depth=request.depth,
        turn=turn.place.turn,
    )
    return calls.place(
        seat,
        turn.conversation,
        turn.options,
        filing,
        size=turn.ranking.size,
        deadline=request.deadline or DEADLINE,
        hangup=Hangup(),
        clocks=attempt.waiting.clocks,
        quiet=LOOK,
        relay=RELAYED.get(request.format) == seat.target.api,
        attempts=calls.ATTEMPTS if attempt.last else 1,
        patience=(request.deadline or UNASKED) if attempt.last else PACED,
        # Only a stream shows that a member is at work, or how it breaks: without one is asked who is known to
        # answer, and whom nobody could replace.
        stream=request.stream or not attempt.last or not reliability.steady(seat.target.model_id),
    )
