"""What came of a call: the events of its last attempt, heard, and the Answer that they add up to."""

from dataclasses import dataclass, field, replace

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
    opened: Opened = field(default_factory=Opened)
    closed: Closed | None = None
    first: float | None = None
    tools: int = 0
    calls: dict[int, tuple[str, list[str]]] = field(default_factory=dict)
    changed: tuple[str, ...] = ()

    def hear(self, event: Event, at: float) -> None:
        match event:
            case Text(piece):
                self.text.append(piece)
                self.first = at if self.first is None else self.first
            case Reasoning(piece):
                self.reasoning.append(piece)
                self.first = at if self.first is None else self.first
            case ToolStart() | ToolArguments():
                self.tools += 1
                self.first = at if self.first is None else self.first
                if event.choice == 0:
                    self._call(event)
            case Burst():
                self._hear_all(event)
                self.first = at if self.first is None else self.first
            case Opened():
                self.opened = event
            case Closed():
                self.closed = event
            case Chunk(_, inner):
                for meaning in inner:
                    self.hear(meaning, at)
            case Failed(problem):
                raise problem
            case Tick():
                pass

    def _hear_all(self, burst: Burst) -> None:
        match burst.like:
            case Text():
                self.text += burst.texts
            case Reasoning():
                self.reasoning += burst.texts
            case ToolArguments(index):
                self.tools += len(burst.texts)
                if index in self.calls:
                    self.calls[index][1].extend(burst.texts)

    def _call(self, event: ToolStart | ToolArguments) -> None:
        if isinstance(event, ToolStart):
            self.calls[event.index] = (event.name, [])
        elif event.index in self.calls:
            self.calls[event.index][1].append(event.text)


def of(seat: Seat, said: Said, problem: Problem | None, conversation: Conversation) -> Answer:
    """The answer of a call that is over; `problem` is why it failed, if it did."""
    text, reasoning = "".join(said.text), "".join(said.reasoning)
    closed = said.closed
    usage = closed.usage if closed else Usage()
    if usage.out is None and said.first is not None:
        usage = _estimated(usage, text + reasoning, conversation)
    picodollars, status = cost.price(usage, seat.target.price)
    if problem is not None and said.first is None and problem.kind in UNCHARGED:
        usage, picodollars, status = Usage(), None, "none"
    answer = Answer(
        seat=seat,
        status="ok",
        text=text,
        reasoning=reasoning,
        finish=closed.finish if closed else None,
        first_token_s=said.first,
        usage=usage,
        cost=picodollars,
        cost_status=status,
        provider=said.opened.provider,
        fingerprint=said.opened.fingerprint,
        request_id=said.opened.id,
        changed=said.changed,
        calls=tuple((name, "".join(pieces)) for _, (name, pieces) in sorted(said.calls.items())),
    )
    return failed(answer, problem) if problem else _judged(answer, said)


def _judged(answer: Answer, said: Said) -> Answer:
    """The status of an answer whose stream ended in order."""
    if answer.finish == "content_filter" and not answer.text:
        why = "the provider's filter withheld the answer"
        return replace(answer, status="refused", error="refused", message=why, http_status=502)
    if answer.text.strip() or said.tools:
        return answer
    if answer.reasoning and answer.finish == "length":
        why = "it thought until its output budget was used up; raise max_tokens"
        return replace(answer, status="empty", error="out_of_budget", message=why, http_status=502)
    return replace(answer, status="empty", error="empty", message="it answered nothing", http_status=502)


def failed(answer: Answer, problem: Problem) -> Answer:
    """`answer`, which `problem` ended or kept from being."""
    status = (
        "cut" if answer.text.strip() and problem.kind != "timeout" else STATUSES.get(problem.kind, "error")
    )
    return replace(
        answer,
        status=status,
        error=problem.kind,
        message=problem.message,
        code=problem.code,
        http_status=problem.status,
        retry_after=problem.retry_after,
    )


def _estimated(usage: Usage, text: str, conversation: Conversation) -> Usage:
    """Our figures, marked, for an answer that came without any."""
    return replace(
        usage, uncached_in=tokens.estimate(conversation.messages), out=tokens.of_text(text), estimated=True
    )
