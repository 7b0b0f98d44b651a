"""Whether a model can be relied on to answer now: resting after it was asked for too much, or failing again
and again.

All of it follows from the outcomes of calls, one after the other (`after`). The ledger folds its rows through
here and keeps the result among its counters, so a restart forgets nothing; who records a ledger row need not
`note` the call as well. What somebody said of resting and waking (evidence/rests) stands above it.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from metrics.evidence import rests
from metrics.store import stamps
from metrics.values import dataclass

T = TypeVar("T")

Fact = dict[str, Any]
Facts = dict[str, Fact]  # by model_id

FAILING = 3  # failures in a row

ASKED = "asked"  # why a model rests that somebody let rest

# How long a model rests, in seconds, when the provider does not say: longer each time, until it answers.
RESTS = {
    "rate_limited": (20.0, 60.0, 180.0, 600.0),
    "overloaded": (10.0, 30.0, 90.0, 300.0),
    "payment": (1800.0, 3600.0, 7200.0),  # until somebody has paid: asking sooner only costs a caller time
}
LONGEST_REST = 86_400.0  # what a provider may ask for at once

# The caller's own doing: it says nothing of the model.
CALLERS = frozenset(
    [
        "bad_request",
        "too_large",
        "media_type",
        "not_allowed",
        "context",
        "context_length",
        "content_filter",
        "refused",
        "out_of_budget",
        "unsupported",
        "cancelled",
        "stopped",
        "paced",  # not sent at all
    ]
)
QUICK = 10.0  # a time-out after fewer seconds was the caller's impatience
ANSWERED = ("ok", "cut")
FAILED = ("error", "timeout", "empty")

# A failing model gets another chance after this many seconds, twice as many for each further failure, up to
# the last.
CHANCE, LATEST_CHANCE = 600.0, 21_600.0


@dataclass(frozen=True, slots=True)
class Health:
    """What `cooling`, `resting_why`, `failing` and `last_answered` tell of a model; `why` is of its rest, or
    of its latest."""

    until: float | None
    why: str | None
    failing: str | None
    answered: float | None


def note(
    model_id: str,
    status: str,
    at: float,
    error: str | None = None,
    retry_after: float | None = None,
    seconds: float | None = None,
) -> None:
    """Take one outcome, for a call that leaves no ledger row. `at`: when it ended, epoch seconds. The same
    again counts once."""
    _kept(
        lambda facts: facts.update(
            {model_id: after(facts.get(model_id, {}), status, at, error, retry_after, seconds)}
        )
    )


def health(model_id: str, now: float) -> Health:
    """All of it at once, as it is at `now`."""
    fact = _fact(model_id)
    until, why = _rest(model_id, fact, now)
    failing = _failing(model_id, fact, now) if "failures" in fact else None
    return Health(until, why or fact.get("rests_for"), failing, fact.get("answered"))


def cooling(model_id: str, now: float) -> float | None:
    """Until when the model rests, epoch seconds; None when it does not."""
    return _rest(model_id, _fact(model_id), now)[0]


def resting_why(model_id: str, now: float) -> str | None:
    """The kind of failure for which the model rests, such as "rate_limited", or ASKED; None when it does
    not."""
    return _rest(model_id, _fact(model_id), now)[1]


def wake(of: str, by: str, now: float) -> None:
    """End what a model (its id), or every one of a connection (its name and a colon), rests and fails for."""
    rests.wake(of, by, now)
    _kept(lambda facts: facts.update({name: _fresh(facts[name]) for name in facts if _is_of(name, of)}))


def _is_of(model_id: str, of: str) -> bool:
    return model_id.startswith(of) if of.endswith(":") else model_id == of


def _fresh(fact: Fact) -> Fact:
    """What stays known of who was woken. It is made again from rows without this: `rested` and `failed` tell
    then that it was before."""
    return {name: fact[name] for name in ("last", "answered") if name in fact}


def _rest(model_id: str, fact: Fact, now: float) -> tuple[float | None, str | None]:
    """Until when, and why: what somebody said, or what follows from its calls since it was last woken,
    whichever lasts longer."""
    said: float | None = rests.until(model_id, now)
    until: float | None = fact.get("until")
    if until is None or until <= max(now, said or now) or fact.get("rested", 0.0) <= rests.woken(model_id):
        return said, None if said is None else ASKED
    return until, fact.get("rests_for")


def failing(model_id: str, now: float | None = None) -> str | None:
    """Why the model counts as failing: it failed FAILING times in a row and never answered since. None when
    it does not.

    With `now`, it is given another chance from time to time.
    """
    return _failing(model_id, _fact(model_id), now)


def _failing(model_id: str, fact: Fact, now: float | None) -> str | None:
    failures = fact.get("failures", 0)
    if failures < FAILING or fact["failed"] <= rests.woken(model_id):
        return None
    if now is not None and now >= fact["failed"] + min(
        CHANCE * 2 ** min(failures - FAILING, 10), LATEST_CHANCE
    ):
        return None
    return f"{failures} failures in a row, the last of them: {fact['why']}"


def steady(model_id: str) -> bool:
    """Whether the model answered the last time that it was asked."""
    fact = _fact(model_id)
    return fact.get("answered") is not None and not fact.get("failures")


def last_answered(model_id: str) -> float | None:
    """When the model last answered, epoch seconds to the millisecond; None when it never did."""
    answered: float | None = _fact(model_id).get("answered")
    return answered


def fold(facts: Facts, row: Mapping[str, Any]) -> None:
    """Take the outcome that a ledger row tells."""
    model_id, status = row.get("model_id"), row.get("status")
    if isinstance(model_id, str) and isinstance(status, str):
        facts[model_id] = after(
            facts.get(model_id, {}),
            status,
            stamps.epoch(row["at"]),
            row.get("error"),
            row.get("retry_after"),
            row.get("seconds"),
        )


def after(
    fact: Fact,
    status: str,
    at: float,
    error: str | None = None,
    retry_after: float | None = None,
    seconds: float | None = None,
) -> Fact:
    """What is known of a model after one more outcome. Pure; `fact` stays as it was, so a reader needs no
    lock."""
    at = round(at, 3)
    last = [at, status]
    if fact.get("last") == last:
        return fact
    if status in ANSWERED:
        until = fact.get("until") if fact.get("stated") else None
        told = {"last": last, "answered": at, "until": until, "stated": until is not None}
        if until is not None:  # the provider's own word outlasts one answer
            told |= {"rests_for": fact.get("rests_for"), "rested": fact.get("rested", 0.0)}
        return told
    kind, fact = error or status, fact | {"last": last}
    if status not in FAILED or kind in CALLERS or (status == "timeout" and (seconds or QUICK) < QUICK):
        return fact
    if kind in RESTS:
        fact = _resting(fact, at, kind, retry_after)
    return (
        fact
        if kind == "rate_limited"
        else fact | {"failures": fact.get("failures", 0) + 1, "failed": at, "why": kind}
    )


def _resting(fact: Fact, at: float, kind: str, stated: float | None) -> Fact:
    step, before, rests = fact.get("step", 0), fact.get("until") or 0.0, RESTS[kind]
    until = at + (rests[min(step, len(rests) - 1)] if stated is None else min(stated, LONGEST_REST))
    if until >= before:
        fact = fact | {"until": until, "rests_for": kind, "rested": at}
    return fact | {"stated": stated is not None, "step": step + 1}


def kept_by(keeper: Callable[[Callable[[Facts], Any]], Any], facts: Callable[[], Facts]) -> None:
    """Have `keeper` keep the facts: it calls what it is given with them, while nobody else changes them.
    `facts` are the same to look something up in, at any time: a fact is replaced and never changed."""
    global _kept, _facts
    _kept, _facts = keeper, facts


_alone: Facts = {}


def _keep_alone(reader: Callable[[Facts], Any]) -> Any:
    return reader(_alone)


def _kept_alone() -> Facts:
    return _alone


_kept: Callable[[Callable[[Facts], Any]], Any] = _keep_alone
_facts: Callable[[], Facts] = _kept_alone


def _fact(model_id: str) -> Fact:
    return _facts().get(model_id, _NOTHING)


_NOTHING: Fact = {}
