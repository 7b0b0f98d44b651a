"""When a call fits its limits: pure arithmetic on what was sent, what is in flight, and now.

Every function gives a moment, epoch seconds: `now` when the call fits, else when it will. The largest of them
decides (`decide`): go, wait when the caller has the time, or refuse at once and say when it would fit.

Two guards keep a call that is slow on its way from counting in the wrong window at the provider. What was
sent counts a quarter of a second longer than it should, and a window that ends on the clock is left alone
around its end. Both together cost a call less than a second.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

TICK = 0.25  # seconds: how finely the past is kept
LATE = 0.24  # seconds for which a call that has left its window counts still
FAR = 1000  # windows ahead that a queue is followed
EDGE = 0.24  # seconds before and after the end of a window on the clock in which nothing goes out


Ends = Callable[[float], tuple[float, float]]


class Reason(Protocol):
    """What a call waits for, as a sentence names it."""

    def words(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Fit:
    """When a call fits one limit (`at`), and which that is. `firm`: there is nothing to wait for in this
    call; `cause`, where a provider's refusal is in the way, why that was (records.Limited)."""

    at: float
    why: Reason
    firm: bool = False
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`word` is go | wait | refuse; `seconds` until the call fits, `until` the moment, and `why` it must
    wait."""

    word: str
    seconds: float = 0.0
    until: float = 0.0
    why: str = ""
    cause: str = ""


GO = Verdict("go")


def decide(fits: Sequence[Fit], now: float, patience: float) -> Verdict:
    """What becomes of a call now, whose caller waits at most `patience` seconds."""
    if not fits:
        return GO
    last = max(fits, key=lambda fit: fit.at)
    if last.at <= now:
        return GO
    seconds = last.at - now
    return Verdict(
        "wait" if seconds <= patience and not last.firm else "refuse",
        seconds,
        last.at,
        last.why.words(),
        last.cause,
    )


def rolling(
    ticks: Sequence[int],
    amounts: Sequence[float],
    start: int,
    used: float,
    limit: float,
    ask: float,
    ahead: float,
    window: float,
    now: float,
) -> float:
    """When `ask` more fit into any stretch of `window` seconds, after `ahead` that others wait for.

    From index `start` on, `amounts` were sent in the quarter seconds `ticks`; they come to `used`.
    """
    ask = min(ask, limit)  # what is asked for is an estimate; at worst it takes a window of its own
    need = used + ahead + ask - limit
    rounds = math.ceil(max(0.0, need - used) / limit)
    need -= rounds * limit
    if need <= 0:
        return now + rounds * window
    at = now
    for index in range(start, len(ticks)):
        at = leaves(ticks[index], window)
        need -= amounts[index]
        if need <= 1e-6:
            break
    return at + rounds * window


def leaves(tick: int, window: float) -> float:
    """When what was sent in a quarter second has left a rolling window for certain."""
    return (tick + 1) * TICK + window + LATE


def fixed(used: float, limit: float, ask: float, ahead: float, of: Ends, now: float) -> float:
    """When `ask` more fit into the window on the clock that holds `now`, or into a later one. `of` gives the
    beginning and end of the window at a moment."""
    begin, end = of(now)
    over = min(ask, limit) + ahead - max(0.0, limit - used)
    if over <= 0:
        return end + EDGE if now > end - EDGE else max(now, begin + EDGE)
    for _ in range(min(FAR, math.ceil(over / limit) - 1)):
        end = of(end)[1]
    return end + EDGE


def bucket(spent: float, limit: float, ask: float, ahead: float, window: float, now: float) -> float:
    """When `ask` more fit into a bucket of `limit` that refills evenly within `window` seconds and lacks
    `spent` now; less than nothing says how long it has been full."""
    over = spent + min(ask, limit) + ahead - limit
    return max(now, now + over * window / limit + EDGE)


def at_once(running: int, limit: float, ahead: float, usual: float, now: float) -> float:
    """When a call may run beside `running` others, each of which takes about `usual` seconds."""
    over = running + ahead + 1 - limit
    return now if over <= 0 else now + max(0.05, usual * math.ceil(over / max(1.0, limit)) / 2)
