"""Money: what each key, each collection and the whole bench has spent, and what is set aside for calls under
way.

A call is held at its estimate before it goes out and settled by its row in the ledger, so that calls at the
same time cannot spend the same money twice. What is spent is folded from the ledger's rows and outlives the
server (`limits/spend`). All amounts are exact integers of 1e-12 USD.
"""

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from metrics.bench import allowances, keys
from metrics.limits import cost, key_rates, ledger
from metrics.limits.spend import BENCH
from metrics.records import Problem, Target
from metrics.store.files import once_a_moment
from metrics.store.stamps import stamp

THIS = "this request"  # whose budget `bench.budget` is
OUT = 2_000  # tokens that an answer is taken to have, where nobody says how many it may have


# --- what is left


@dataclass(slots=True)
class Limit:
    """One budget as it stands at `now`. `whose` is how a message calls it, `left` may be below zero."""

    subject: str
    whose: str
    period: str
    units: int
    left: int
    now: float = 0.0
    unknown: str = "refuse"

    @property
    def renews(self) -> float | None:
        return renews(self.period, self.now)

    def refusal(self, estimate: int | None) -> str | None:
        """Why a call of that estimate does not fit; None: it does."""
        if estimate is None:
            if self.unknown == "allow":
                return None
            return (
                f"has no known price, and {self.whose} has a budget: give the model a price, or let the "
                "budget allow unknown costs"
            )
        if estimate <= max(0, self.left):  # what costs nothing fits into nothing
            return None
        return f"may cost {usd(estimate)}, and {self.told()}"

    def told(self) -> str:
        if self.subject == "request":
            return f"{self.whose} has {usd(max(0, self.left))} left of {usd(self.units)}"
        a = {"total": "in total"}.get(self.period, f"a {self.period}")
        when = "it does not renew" if self.renews is None else f"it renews at {stamp(self.renews)[:16]}Z"
        return f"{self.whose} has {usd(max(0, self.left))} left of {usd(self.units)} {a}; {when}"


@dataclass(slots=True)
class Room:
    """What several budgets leave together: calls are taken out of it one after another."""

    limits: list[Limit]

    def take(self, estimate: int | None) -> str | None:
        """Take a call out; or why it does not fit, and then nothing is taken."""
        for limit in self.limits:
            why = limit.refusal(estimate)
            if why:
                return why
        for limit in self.limits:
            limit.left -= estimate or 0
        return None


def room(key: str, collection: str | None, now: float, own: int | None = None) -> Room:
    """What the budgets of this key, this collection and the bench leave now; `own` is what the request itself
    allows. Empty when nothing limits it. Problem 503 while the sums are being made again."""
    rules = _rules(key, collection)
    if rules.all and not ledger.LOG.ready:
        raise _counting()
    limits = _as_they_stand(rules, now)
    return Room(limits if own is None else [*limits, of_request(own)])


def _counting() -> Problem:
    return Problem(503, "what was spent is being counted again: try again in a few seconds", retry_after=5)


def of_request(units: int) -> Limit:
    """The budget that a request brings along."""
    return Limit("request", THIS, "total", units, units)


@once_a_moment
def limited(key: str) -> bool:
    """Whether anything limits the calls of this key."""
    found = None if key in keys.RESERVED else keys.all().get(key)
    return bool(found and (found.budget or found.tpm)) or allowances.any()


@dataclass(frozen=True, slots=True)
class _Rule:
    """What one subject may spend, as the files say it: units by period."""

    subject: str
    whose: str
    budget: tuple[tuple[str, int], ...]
    unknown: str


class _Rules(NamedTuple):
    """All that apply to a call, and whose they are."""

    all: tuple[_Rule, ...]
    subjects: tuple[str, ...]


def _limits(key: str, collection: str | None, now: float) -> list[Limit]:
    return _as_they_stand(_rules(key, collection), now)


def _as_they_stand(rules: _Rules, now: float, but: int | None = None) -> list[Limit]:
    """The budgets now; `but` those that so many units fit into."""
    limits: list[Limit] = []
    if not rules.all:
        return limits
    for rule, used in zip(rules.all, ledger.spent_within(rules.subjects, now), strict=True):
        held = _held.get(rule.subject, 0)
        for period, units in rule.budget:
            left = units - used[period] - held
            if but is None or but > left:
                limits.append(Limit(rule.subject, rule.whose, period, units, left, now, rule.unknown))
    return limits


@once_a_moment
def _rules(key: str, collection: str | None) -> _Rules:
    """The budgets that apply; made once for each version of the files."""
    global _known
    now = (keys.all(), allowances.FILE.read())
    then, made = _known  # one tuple: another thread sees the old state or the new one
    if then[0] is not now[0] or then[1] is not now[1] or len(made) > MOST_RULES:
        made = {}
        _known = (now, made)
    found = made.get((key, collection))
    if found is None:
        found = made[key, collection] = _of(*_read(key, collection))
    return found


def _of(*rules: _Rule) -> _Rules:
    return _Rules(rules, tuple([rule.subject for rule in rules]))


def _read(key: str, collection: str | None) -> Iterator[_Rule]:
    found = keys.all().get(key) if key not in keys.RESERVED else None
    if found and found.budget:
        yield _rule(f"key:{key}", f'the key "{key}"', found.budget, found.unknown_cost)
    shared = [(BENCH, "the bench", allowances.bench())]
    if collection is not None:
        whose = f'the collection "{collection}"'
        shared.insert(0, (f"collection:{collection}", whose, allowances.collection(collection)))
    for subject, whose, rules in shared:
        if rules["budget"]:
            yield _rule(subject, whose, rules["budget"], rules["unknown_cost"])


def _rule(subject: str, whose: str, budget: Mapping[str, float], unknown: str) -> _Rule:
    units = tuple((period, cost.units(amount) or 0) for period, amount in budget.items())
    return _Rule(subject, whose, units, unknown)


MOST_RULES = 4096  # that are remembered, by key and collection
_known: tuple[tuple[Any, Any], dict[tuple[str, str | None], _Rules]] = ((None, None), {})


def standing(key: str, collection: str | None, now: float) -> list[dict[str, Any]]:
    """Every budget that applies, as /api shows it (_shown)."""
    return [_shown(limit) for limit in _limits(key, collection, now)]


def stands(subject: str, rules: Mapping[str, Any], now: float) -> list[dict[str, Any]]:
    """One subject's budgets by its rules, likewise."""
    rule = _rule(subject, subject, rules["budget"] or {}, rules["unknown_cost"])
    return [_shown(limit) for limit in _as_they_stand(_of(rule), now)]


def _shown(limit: Limit) -> dict[str, Any]:
    """{whose, period, limit_usd, spent_usd, held_usd, left_usd, renews, unknown_cost}."""
    held = _held.get(limit.subject, 0)
    return {
        "whose": limit.whose,
        "period": limit.period,
        "limit_usd": cost.usd(limit.units),
        "spent_usd": cost.usd(limit.units - limit.left - held),
        "held_usd": cost.usd(held),
        "left_usd": cost.usd(max(0, limit.left)),
        "renews": None if limit.renews is None else stamp(limit.renews),
        "unknown_cost": limit.unknown,
    }


def renews(period: str, now: float) -> float | None:
    """When a period that `now` is in ends, in UTC; None for the one that does not."""
    today = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "day":
        return (today + timedelta(days=1)).timestamp()
    if period == "month":
        return (today.replace(day=1) + timedelta(days=32)).replace(day=1).timestamp()
    return None


# --- what is set aside


_held: dict[str, int] = {}
_lock = threading.Lock()


@dataclass(slots=True)
class Hold:
    """What is set aside for one call; `units` is None where its cost cannot be told."""

    key: str
    units: int | None
    subjects: tuple[str, ...] = ()
    tokens: int = 0
    settled: bool = field(default=False)

    def settle(self, used: int, now: float) -> None:
        """The call is over, its row counted; it took `used` tokens. Once."""
        if self.settled:
            return
        self.settled = True
        if self.units:  # for what costs nothing, nothing is set aside
            with _lock:
                for subject in self.subjects:
                    left = _held.pop(subject, 0) - self.units
                    if left:
                        _held[subject] = left
        key_rates.settle(self.key, self.tokens, used, now)


def estimate(target: Target, prompt: int, most: int | None) -> int | None:
    """What a call of `prompt` input tokens may cost that answers with up to `most` (None: OUT, or all that
    the model can where that is less); None: not known."""
    out = min(OUT, target.max_output or OUT) if most is None else most
    return cost.expected(target.price, prompt, out)


def hold(
    key: str, collection: str | None, target: Target, prompt: int, most: int | None, now: float | None = None
) -> Hold:
    """Set aside what a call may cost and the tokens it takes in. Problem 402 or 429 where they do not fit:
    nothing is set aside then."""
    at = time.time() if now is None else now
    tokens = key_rates.hold(key, prompt, at)
    try:
        rules = _rules(key, collection)
        expected = _set_aside(rules, target, prompt, most, at) if rules.all else None
    except Problem:
        key_rates.settle(key, tokens, 0, at)
        raise
    return Hold(key, expected, rules.subjects, tokens)


def _set_aside(rules: _Rules, target: Target, prompt: int, most: int | None, now: float) -> int | None:
    """What a call may cost, now set aside. Problem 402 where a budget has no room for it."""
    if not ledger.LOG.ready:
        raise _counting()
    expected = estimate(target, prompt, most)
    with _lock:
        narrow = _as_they_stand(rules, now, but=expected)
        why = Room(narrow).take(expected) if narrow else None
        if why:
            raise refused(why)
        if expected:
            for subject in rules.subjects:
                _held[subject] = _held.get(subject, 0) + expected
    return expected


def refused(message: str) -> Problem:
    return Problem(402, message, kind="budget", code="budget_exceeded", retryable=False)


def usd(units: int) -> str:
    """An amount for people: cents, and of less as many digits as it takes to see it."""
    amount = units / cost.UNITS
    return f"${amount:.2f}" if amount >= 0.1 or not units else f"${amount:.2g}"
