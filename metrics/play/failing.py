"""What a request comes to when nobody answered it (decisions 12): the failures of a whole set as one Problem.

One failure is passed on as it is. Several are summed up by what they have in common: a rate limit ends when
the first of them does, a status that all share stays, and anything mixed is a 502 that names each.
"""

from collections.abc import Sequence

from metrics.client.errors import named
from metrics.records import Answer, Problem

CONTEXT = "context_length_exceeded"  # clients shorten their conversation on this word
SPENT = "budget_exceeded"


def alone(answer: Answer) -> Problem:
    """The failure of the only one who was asked."""
    return Problem(
        answer.http_status or 502,
        named(answer.seat.target.alias, answer.message or answer.status),
        kind=answer.error or "",
        code=answer.code or (CONTEXT if answer.error == "context" else None),
        retry_after=answer.retry_after,
    )


def half(answer: Answer) -> Problem:
    """The failure of one that had begun to answer. What to do stands in its sentence: where an API has no
    word for it agents look there for what they try again (pi for "server error", in its agent-session.js;
    opencode, in its session/retry.ts, for that too)."""
    problem = alone(answer)
    problem.message += " (server error; send it again, and the turn begins anew)"
    problem.args = (problem.message,)
    return problem


def together(answers: Sequence[Answer], each: str, none: str) -> Problem:
    """The failure of all of `answers`. `each` and `none` begin its sentence: "every seat", "no seat"."""
    said = "; ".join(named(answer.seat.target.alias, answer.message or answer.status) for answer in answers)
    statuses = {answer.http_status or 502 for answer in answers}
    kinds = {answer.error for answer in answers}
    if kinds == {"stopped"}:
        return Problem(499, f"{each} was stopped before it answered", kind="stopped", retryable=False)
    if kinds == {"payment"}:
        return Problem(402, f"{each} is out of credit: {said}", kind="payment")
    if statuses == {429}:
        waits = [answer.retry_after for answer in answers if answer.retry_after is not None]
        return Problem(429, f"{each} is rate limited: {said}", retry_after=min(waits, default=None))
    if all(answer.status == "timeout" for answer in answers):
        return Problem(504, f"{none} answered in time: {said}")
    kind = answers[0].error or "" if len(kinds) == 1 else ""
    code = {"context": CONTEXT, "budget": SPENT}.get(kind)
    if len(statuses) == 1 and 400 <= (status := statuses.pop()) < 500:
        return Problem(status, f"{each} refused this request: {said}", kind=kind, code=code)
    if code:
        return Problem(400, f"{each} refused this request: {said}", kind=kind, code=code)
    return Problem(502, f"{none} answered: {said}", kind="upstream")
