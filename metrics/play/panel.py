"""A panel at play: every seat is called at once, and what they say comes out as happenings, in the order it
happens.

    Started (Said | Done)* [the merger's Said* Done] Complete

A panel ends when all seats are in, when a quorum has answered or when the deadline is past. Seats that are
still at it then finish in the background, and their answers are recorded like any other.
"""

import queue
import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace

from metrics.client.chat import Conversation
from metrics.client.transport import Hangup
from metrics.events import Event, singly
from metrics.play import calls, crew, failing, merging, minutes
from metrics.play.calls import REAL, Clocks, Filing
from metrics.records import Answer, Panel, Problem, Seat

GRACE = 1.0  # seconds past the deadline before a seat that ignores it is given up


@dataclass(frozen=True, slots=True)
class Started:
    panel: Panel


@dataclass(frozen=True, slots=True)
class Said:
    seat: Seat
    event: Event


@dataclass(frozen=True, slots=True)
class Done:
    answer: Answer


@dataclass(frozen=True, slots=True)
class Complete:
    """The reply is complete. `pending` are seats whose answers come later; `merged` is None unless a merger
    was asked."""

    panel: Panel
    answers: tuple[Answer, ...]
    pending: tuple[Seat, ...] = ()
    merged: Answer | None = None
    note: str | None = None


Happening = Started | Said | Done | Complete

_playing: dict[str, "_Table"] = {}
_rest = threading.Condition()

STOPPED = ("stopped", "it was stopped")


def playing() -> int:
    """How many panels still have a seat at work."""
    return len(_playing)


def wait_idle(seconds: float) -> bool:
    """Wait until no panel is at play; False when some still are after `seconds`."""
    with _rest:
        return _rest.wait_for(lambda: not _playing, seconds)


def stop(panel_id: str, call: str | None = None) -> list[str] | None:
    """End the calls of a panel's seats that are still at work (or that one's alone); their call ids. What
    they have said stays said: they count as cut off, or as stopped. None when no such panel is at play."""
    table = _playing.get(panel_id)
    if table is None:
        return None
    ended = [
        name
        for name, hangup in list(table.hangups.items())
        if call in (None, name) and name not in table.answers and not hangup.done
    ]
    table.stopped = table.stopped or call is None
    for name in ended:
        table.hangups[name].now(STOPPED)
    return ended


@dataclass(slots=True)
class _Table:
    """The seats around one panel: what they say arrives in one queue."""

    panel: Panel
    clocks: Clocks
    detail: bool
    task: str | None
    started: float
    said: "queue.SimpleQueue[Said | Done]" = field(default_factory=queue.SimpleQueue)
    hangups: dict[str, Hangup] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    merged: Answer | None = None
    note: str | None = None
    stopped: bool = False

    @property
    def pending(self) -> tuple[Seat, ...]:
        return tuple(seat for seat in self.panel.seats if seat.call not in self.answers)

    def answered(self) -> int:
        return sum(answer.answered for answer in self.answers.values())


def run(panel: Panel, clocks: Clocks = REAL, detail: bool = False) -> Iterator[Happening]:
    """Play `panel`. Raises nothing: a failed seat is an Answer, and deciding what a panel without answers
    means is the reader's (`failure`). Without `detail` a seat is heard when it is done, not word by word (the
    merger always is): every word would be handed from thread to thread for nobody."""
    table = _Table(panel, clocks, detail, minutes.task(panel.request), clocks.monotonic())
    with _rest:
        _playing[panel.id] = table
    minutes.begun(panel)
    conversation = Conversation(panel.request.messages)
    for seat in panel.seats:
        _take_seat(table, seat, conversation)
    del conversation  # as large as the prompt, and the seats have it
    try:
        yield Started(panel)
        yield from _until_enough(table)
        if panel.request.reply == "merged":
            table.merged, table.note = yield from _merge(table)
        _write_down(table)
        end = Complete(panel, _in_order(table), table.pending, table.merged, table.note)
    finally:
        # Before its last word: whoever hears that nobody answered raises, and never comes back for more.
        if table.pending:
            crew.go(lambda: _wait_out(table))
        else:
            _leave(panel)
    yield end


def _take_seat(table: _Table, seat: Seat, conversation: Conversation) -> None:
    table.hangups[seat.call] = Hangup()
    only = [conversation]  # as large as the prompt: whoever sits lets go of it before saying that it is done

    def sit() -> None:
        answer = Answer(
            seat, "error", error="internal", message="the seat failed inside the server", http_status=500
        )
        try:
            answer = _sat(table, seat, only)
        finally:
            table.said.put(Done(answer))

    crew.go(sit)


def _sat(table: _Table, seat: Seat, only: list[Conversation]) -> Answer:
    """What became of a seat, once it is over."""
    play = calls.place(
        seat,
        only.pop(),
        table.panel.request.options,
        _filing("panel", table.panel),
        deadline=table.panel.deadline,
        hangup=table.hangups[seat.call],
        clocks=table.clocks,
    )
    while True:
        try:
            event = next(play)
        except StopIteration as end:
            answer: Answer = end.value
            return answer
        if table.detail:
            for piece in singly((event,)):
                table.said.put(Said(seat, piece))


def _filing(purpose: str, panel: Panel) -> Filing:
    request = panel.request
    return Filing(
        purpose, panel.id, request.collection, request.key, launch=request.launch, depth=request.depth
    )


def _until_enough(table: _Table) -> Iterator[Happening]:
    """Happenings until all are in, the quorum is met or the deadline is past; seats past it are marked as
    timed out."""
    quorum = table.panel.request.quorum
    while table.pending and not (quorum and table.answered() >= quorum):
        left = table.panel.deadline + GRACE - (table.clocks.monotonic() - table.started)
        try:
            happening = table.said.get(timeout=max(0.0, left))
        except queue.Empty:
            yield from _give_up(table)
            return
        if isinstance(happening, Done):
            if happening.answer.seat.call in table.answers:
                continue
            _note(table, happening.answer)
        yield happening


def _give_up(table: _Table) -> Iterator[Happening]:
    for seat in table.pending:
        table.hangups[seat.call].now()
        why = f"no answer within {table.panel.deadline:g} s"
        late = Answer(
            seat,
            "timeout",
            error="timeout",
            message=why,
            http_status=504,
            seconds=table.panel.deadline,
            attempts=1,
        )
        _note(table, late)
        yield Done(late)


def _note(table: _Table, answer: Answer) -> None:
    table.answers[answer.seat.call] = answer
    if answer.status != "skipped":  # nobody was asked, so there is no work to judge
        minutes.offload(table.panel, answer, table.task)


def _merge(table: _Table) -> Generator[Happening, None, tuple[Answer | None, str | None]]:
    panel, answers = table.panel, _in_order(table)
    if table.stopped:
        return None, "the answers were not merged: the panel was stopped"
    seat = merging.choose(panel, answers)
    if isinstance(seat, str):
        return None, seat
    left = max(1.0, panel.deadline)
    hangup = table.hangups[seat.call] = Hangup()
    play = calls.place(
        seat,
        Conversation(merging.messages(panel, answers)),
        {},
        _filing("merger", panel),
        deadline=left,
        hangup=hangup,
        clocks=table.clocks,
    )
    while True:
        try:
            for piece in singly((next(play),)):
                yield Said(seat, piece)
        except StopIteration as end:
            merged: Answer = end.value
            break
    yield Done(merged)
    note = (
        None
        if merged.status == "ok"
        else f"{seat.target.alias} could not merge the answers: {merged.message}"
    )
    return merged, note


def _in_order(table: _Table) -> tuple[Answer, ...]:
    """The answers that are in, in the order of their seats."""
    return tuple(table.answers[seat.call] for seat in table.panel.seats if seat.call in table.answers)


def _wait_out(table: _Table) -> None:
    """Collect the stragglers of a panel whose reply has gone, and write the panel down again, whole."""
    try:
        for _ in _until_all(table):
            pass
        _write_down(table, late=True)
    finally:
        _leave(table.panel)


def _until_all(table: _Table) -> Iterator[Happening]:
    whole = replace(table.panel, request=replace(table.panel.request, quorum=None))
    table.panel = whole
    yield from _until_enough(table)


def _write_down(table: _Table, late: bool = False) -> None:
    minutes.keep(table.panel, _in_order(table), table.pending, table.merged, table.note, table.task, late)


def _leave(panel: Panel) -> None:
    with _rest:
        _playing.pop(panel.id, None)
        _rest.notify_all()


def failure(answers: tuple[Answer, ...]) -> Problem | None:
    """What a panel in which every seat failed answers (decisions 12); None when someone answered."""
    if any(answer.answered for answer in answers) or not answers:
        return None
    return failing.together(answers, "every seat", "no seat")
