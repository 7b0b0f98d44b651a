"""A panel as one message: what the caller of a chat API reads, seat by seat, under each one's name.

`spoken` turns happenings into the events every format can write; a panel in which nobody answered raises its
Problem before anything was said, so that the caller gets its status and not a 200.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from metrics.events import Closed, Event, Text
from metrics.play import minutes
from metrics.play import panel as panels
from metrics.play.panel import Complete, Done, Happening, Said, Started
from metrics.records import Answer, Panel

SEATS = {"member": "member", "explorer": "explorer", "merger": "merger"}


def spoken(happenings: Iterable[Happening | None]) -> Iterator[Event]:
    """The reply of a panel as events: all answers as they come in, or the merged one as it is written."""
    panel: Panel | None = None
    voice: _Voice | None = None
    for happening in happenings:
        match happening:
            case Started(panel):
                voice = _Merged(panel) if panel.request.reply == "merged" else _All(panel)
            case Complete() if voice:
                problem = panels.failure(happening.answers)
                if problem and not happening.pending:
                    raise problem
                yield from voice.close(happening)
                yield Closed(
                    usage=minutes.total(_everyone(happening)),
                    extra={"bench": _bench(happening)},
                )
            case Said() | Done() if voice:
                yield from voice.hear(happening)


def _everyone(complete: Complete) -> tuple[Answer, ...]:
    return (*complete.answers, *((complete.merged,) if complete.merged else ()))


def _bench(complete: Complete) -> dict[str, Any]:
    return minutes.bench(complete.panel, complete.answers, complete.pending, complete.merged, complete.note)


class _Voice:
    """How a kind of reply is said: `hear` each happening, `close` with what comes last."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel

    def hear(self, happening: Said | Done) -> Iterator[Event]:
        raise NotImplementedError

    def close(self, complete: Complete) -> Iterator[Event]:
        raise NotImplementedError


class _All(_Voice):
    """Every seat's section, whole, in finishing order. Failed seats wait for the first answer: if there is
    none, the caller gets an error status instead of a page of apologies."""

    def __init__(self, panel: Panel) -> None:
        super().__init__(panel)
        self.opened = False
        self.held: list[Answer] = []

    def hear(self, happening: Said | Done) -> Iterator[Event]:
        if isinstance(happening, Said):
            return
        if not (self.opened or happening.answer.answered):
            self.held.append(happening.answer)
            return
        if not self.opened:
            self.opened = True
            yield Text(heading(self.panel))
        for answer in (*self.held, happening.answer):
            yield Text(section(answer))
        self.held.clear()

    def close(self, complete: Complete) -> Iterator[Event]:
        if not self.opened:
            yield Text(heading(self.panel))
        for answer in self.held:
            yield Text(section(answer))
        for seat in complete.pending:
            yield Text(f"\n\n### {seat.target.alias} · {seat.seat}\n\n*still answering; call {seat.call}*")
        yield Text(footer(complete))


class _Merged(_Voice):
    """The merger's words as it writes them. If it fails, all answers follow, with a note saying why."""

    def __init__(self, panel: Panel) -> None:
        super().__init__(panel)
        self.said = False

    def hear(self, happening: Said | Done) -> Iterator[Event]:
        if (
            isinstance(happening, Said)
            and happening.seat.seat == "merger"
            and isinstance(happening.event, Text)
        ):
            self.said = True
            yield happening.event

    def close(self, complete: Complete) -> Iterator[Event]:
        if complete.merged and complete.merged.status == "ok":
            yield Text(merged_footer(complete))
            return
        yield Text(("\n\n" if self.said else "") + f"*{complete.note}*\n\n{heading(self.panel)}")
        for answer in complete.answers:
            yield Text(section(answer))
        yield Text(footer(complete))


def heading(panel: Panel) -> str:
    """The reply's first line: which panel this is and who sits."""
    members = sum(seat.seat == "member" for seat in panel.seats)
    explorers = len(panel.seats) - members
    who = f"{members} member{'s' * (members != 1)}"
    who += f" and {explorers} explorer{'s' * (explorers != 1)}" if explorers else ""
    return f"## {panel.request.collection} · panel {panel.id} · {who} · shape {panel.shape}"


def section(answer: Answer) -> str:
    """One seat's part: its name, call id, status and seconds, then the answer or, in italics, why there is
    none."""
    seat, target = answer.seat, answer.seat.target
    kind = f"{SEATS[seat.seat]}, a program and not a model" if target.builtin else SEATS[seat.seat]
    head = f"\n\n### {target.alias} · {kind} · {seat.call} · {answer.status} · {answer.seconds:.1f} s\n\n"
    broke_off = f"\n\n*broke off: {answer.message}*" if answer.status == "cut" else ""
    return head + (answer.text + broke_off if answer.answered else f"*{answer.message or answer.status}*")


def footer(complete: Complete) -> str:
    calls = [answer.seat.call for answer in complete.answers if answer.answered]
    hint = f"\n\n---\nJudge an answer: `bench verdict {calls[0]} --useful` (or --not-useful)" if calls else ""
    skipped = "; ".join(f"{skip.alias} {skip.why}" for skip in complete.panel.skipped)
    return (f"\n\n*Stayed off: {skipped}*" if skipped else "") + hint


def merged_footer(complete: Complete) -> str:
    """Who merged, and what became of each seat."""
    assert complete.merged
    merger = complete.merged.seat
    seats = ", ".join(
        f"{answer.seat.target.alias} {answer.status} ({answer.seat.call})" for answer in complete.answers
    )
    return (
        f"\n\n---\n*Merged by {merger.target.alias} ({merger.call}) from panel {complete.panel.id}: {seats}*"
    )
