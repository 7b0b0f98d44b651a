"""What came of a call: the events of its last attempt, heard, and the Answer that they add up to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from metrics.client.chat import Conversation
from metrics.events import (
    Burst,
    Chunk,
    Closed,
    Event,
    Failed,
    Opened,
    Reasoning,
    Text,
    Tick,
    ToolArguments,
    ToolStart,
)
from metrics.limits import cost, tokens
from metrics.records import Answer, Problem, Seat, Usage

# Failures for which a provider charges nothing: it never began to answer. Their cost is none, not unknown.
UNCHARGED = {
    "rate_limited",
    "overloaded",
    "unreachable",
    "auth",
    "payment",
    "not_found",
    "bad_request",
    "context",
    "forbidden",
    "paced",
}

# The seat's status by the kind of problem; anything else is an "error".
STATUSES = {"timeout": "timeout", "empty": "empty", "refused": "refused"}


@dataclass(slots=True)
class Said:
    """What one attempt has said so far."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    opened: Opened = Opened()
    closed: Closed | None = None
    first: float | None = None
    tools: int = 0
    calls: dict[int, tuple[str, list[str]]] = field(default_factory=dict)
    changed: tuple[str, ...] = ()

    def hear(self, event: Event, elapsed: Callable[[], float]) -> None:
        """Take an event; `elapsed` says how long after the call's begin, asked at the first word."""
        if _HEARD[type(event)](self, event) and self.first is None:
            self.first = elapsed()

    def called(self) -> tuple[tuple[str, str], ...]:
        """The tool calls, each a name and its arguments."""
        return tuple((name, "".join(pieces)) for _, (name, pieces) in sorted(self.calls.items()))

    # Each of these says whether that was a word of the answer.

    def _chunk(self, chunk: Chunk) -> bool:
        words = False
        for event in chunk.events:
            words |= _HEARD[type(event)](self, event)
        return words

    def _text(self, text: Text) -> bool:
        self.text.append(text.text)
        return True

    def _reasoning(self, reasoning: Reasoning) -> bool:
        self.reasoning.append(reasoning.text)
        return True

    def _tool(self, start: ToolStart) -> bool:
        self.tools += 1
        if start.choice == 0:
            self.calls[start.index] = (start.name, [])
        return True

    def _arguments(self, arguments: ToolArguments) -> bool:
        self.tools += 1
        if arguments.choice == 0 and arguments.index in self.calls:
            self.calls[arguments.index][1].append(arguments.text)
        return True

    def _burst(self, burst: Burst) -> bool:
        like = burst.like
        if type(like) is Text:
            self.text += burst.texts
        elif type(like) is Reasoning:
            self.reasoning += burst.texts
        elif type(like) is ToolArguments:
            self.tools += len(burst.texts)
            if like.index in self.calls:
                self.calls[like.index][1].extend(burst.texts)
        return True

    def _opened(self, opened: Opened) -> bool:
        self.opened = opened
        return False

    def _closed(self, closed: Closed) -> bool:
        self.closed = closed
        return False

    def _failed(self, failed: Failed) -> bool:
        raise failed.problem

    def _tick(self, tick: Tick) -> bool:
        return False


_HEARD: Mapping[type[Event], Callable[[Said, Any], bool]] = {
    Chunk: Said._chunk,
    Text: Said._text,
    Reasoning: Said._reasoning,
    ToolStart: Said._tool,
    ToolArguments: Said._arguments,
    Burst: Said._burst,
    Opened: Said._opened,
    Closed: Said._closed,
    Failed: Said._failed,
    Tick: Said._tick,
}


def of(
    seat: Seat,
    said: Said,
    problem: Problem | None,
    conversation: Conversation,
    seconds: float = 0.0,
    attempts: int = 0,
) -> Answer:
    """The answer of a call that is over after `seconds`; `problem` is why it failed, if it did."""
    text, reasoning = "".join(said.text), "".join(said.reasoning)
    closed, opened = said.closed, said.opened
    usage = closed.usage if closed else Usage()
    if usage.out is None and said.first is not None:
        usage = _estimated(usage, text + reasoning, conversation)
    picodollars, status = cost.price(usage, seat.target.price)
    if problem is not None and said.first is None and problem.kind in UNCHARGED:
        usage, picodollars, status = Usage(), None, "none"
    finish = closed.finish if closed else None
    return Answer(
        seat=seat,
        text=text,
        reasoning=reasoning,
        finish=finish,
        seconds=seconds,
        first_token_s=said.first,
        attempts=attempts,
        usage=usage,
        cost=picodollars,
        cost_status=status,
        provider=opened.provider,
        fingerprint=opened.fingerprint,
        request_id=opened.id,
        changed=said.changed,
        calls=said.called() if said.calls else (),
        **(_judged(text, reasoning, finish, said.tools) if problem is None else _failed(text, problem)),
    )


def _judged(text: str, reasoning: str, finish: str | None, tools: int) -> dict[str, Any]:
    """What became of an answer whose stream ended in order, by Answer's names."""
    if finish == "content_filter" and not text:
        return _lacking("refused", "refused", "the provider's filter withheld the answer")
    if tools or text.strip():
        return {"status": "ok"}
    if reasoning and finish == "length":
        why = "it thought until its output budget was used up; raise max_tokens"
        return _lacking("empty", "out_of_budget", why)
    return _lacking("empty", "empty", "it answered nothing")


def _lacking(status: str, error: str, why: str) -> dict[str, Any]:
    return {"status": status, "error": error, "message": why, "http_status": 502}


def _failed(text: str, problem: Problem) -> dict[str, Any]:
    """What became of an answer that `problem` ended or kept from being, likewise."""
    cut = text.strip() and problem.kind != "timeout"
    return {
        "status": "cut" if cut else STATUSES.get(problem.kind, "error"),
        "error": problem.kind,
        "message": problem.message,
        "code": problem.code,
        "http_status": problem.status,
        "retry_after": problem.retry_after,
    }


def skipped(seat: Seat, problem: Problem) -> Answer:
    """Of one who was not asked, because of that."""
    return Answer(seat, cost_status="none", **_failed("", problem) | {"status": "skipped"})


def _estimated(usage: Usage, text: str, conversation: Conversation) -> Usage:
    """Our figures, marked, for an answer that came without any."""
    return replace(
        usage, uncached_in=tokens.estimate(conversation.messages), out=tokens.of_text(text), estimated=True
    )
