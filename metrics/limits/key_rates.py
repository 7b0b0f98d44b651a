"""Requests and tokens a minute of each gateway key: sliding windows in memory, exact to the moment.

A request counts when it is let in. A call's input tokens are set aside when it goes out; what it really took
counts when it is over. A restart begins with empty windows: they are a minute long.
"""

import functools
import math
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from metrics.bench import keys
from metrics.bench.keys import Key
from metrics.records import Problem
from metrics.store.stamps import stamp

WINDOW = 60.0  # seconds
LEAST = 0.001  # seconds of a wait, so that rounding makes none of it
BUSY = 1.0  # seconds until another look where only calls in flight are in the way

Headers = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Window:
    """What was used in the last WINDOW seconds: (when, how much) in the order of time, and their sum; what
    is older may be in it still until `at`."""

    used: deque[tuple[float, int]] = field(default_factory=deque)
    sum: int = 0
    held: int = 0

    def add(self, amount: int, now: float) -> None:
        self.at(now).used.append((now, amount))
        self.sum += amount

    def at(self, now: float) -> "Window":
        """The window as it is at `now`: what is older is let go, once for each entry."""
        used, since = self.used, now - WINDOW
        while used and used[0][0] <= since:
            self.sum -= used.popleft()[1]
        return self

    def wait(self, amount: int, limit: int, now: float) -> float:
        """Seconds until `amount` more fits under `limit`; 0: it fits now."""
        if self.sum + self.held + amount <= limit:
            return 0.0
        over = self.at(now).sum + self.held + amount - limit
        if over <= 0:
            return 0.0
        for when, each in self.used:
            over -= each
            if over <= 0:
                return max(LEAST, when + WINDOW - now)
        return BUSY


_windows: dict[tuple[str, str], Window] = {}
_lock = threading.Lock()


def admit(key: Key, tokens: int, now: float) -> None:
    """Count a request of `tokens` input tokens against the key's limits. Problem 429 with the seconds until
    it would fit."""
    if key.rpm is None and key.tpm is None:
        return
    with _lock:
        if key.tpm is not None:
            wait = _window(key.name, "tpm").wait(tokens, key.tpm, now)
            if wait:
                raise _refusal(key, "tokens", wait, tokens, key.tpm)
        if key.rpm is not None:
            requests = _window(key.name, "rpm")
            wait = requests.wait(1, key.rpm, now)
            if wait:
                raise _refusal(key, "requests", wait, 1, key.rpm)
            requests.add(1, now)


def hold(name: str, tokens: int, now: float) -> int:
    """Set the input tokens of a call aside; how many, to be settled. Problem 429 where they do not fit."""
    key = keys.all().get(name)
    if key is None or key.tpm is None:
        return 0
    with _lock:
        window = _window(name, "tpm")
        wait = window.wait(tokens, key.tpm, now)
        if wait:
            raise _refusal(key, "tokens", wait, tokens, key.tpm)
        window.held += tokens
    return tokens


def settle(name: str, held: int, used: int, now: float) -> None:
    """A call is over for which `held` tokens were set aside, and took `used`."""
    window = _windows.get((name, "tpm"))
    if window is not None:
        with _lock:
            window.held -= held
            window.add(used, now)


def state(key: Key, now: float) -> dict[str, dict[str, Any]]:
    """{"rpm" | "tpm": {limit, used, left, full_s}} of the limits that the key has; `full_s` is seconds until
    nothing is used any more."""
    return {
        kind: {"limit": limit, "used": used, "left": max(0, limit - used), "full_s": full}
        for kind, limit, used, full in _used(key, now)
    }


def headers(key: Key, anthropic: bool, now: float) -> Headers:
    """The limits of a key as its callers' SDKs read them: OpenAI's names, whose resets are Go durations until
    all is there again, or Anthropic's as well, which are moments (formats.md 7.2)."""
    listed: list[tuple[str, str]] = []
    for kind, limit, used, full_s in _used(key, now):
        full = math.ceil(full_s)
        left = str(limit - used if limit > used else 0)
        most, lefts, resets = _plain(kind, limit)
        listed += most, (lefts, left), (resets, _duration(full))
        if anthropic:
            limits, lefts, resets = TWINS[kind]
            listed += (limits, str(limit)), (lefts, left), (resets, stamp(now + full)[:19] + "Z")
    return tuple(listed)


@functools.lru_cache(maxsize=512)
def _plain(kind: str, limit: int) -> tuple[tuple[str, str], str, str]:
    """The header of the limit itself, and the names of the two others."""
    limits, lefts, resets = PLAIN[kind]
    return (limits, str(limit)), lefts, resets


@functools.lru_cache(maxsize=128)
def _duration(seconds: int) -> str:
    return f"{seconds // 60}m{seconds % 60}s" if seconds >= 60 else f"{seconds}s"


def _used(key: Key, now: float) -> list[tuple[str, int, int, float]]:
    """Of each limit that the key has: its kind, how much it is, what of it is used, and the seconds until
    nothing is."""
    if key.rpm is None and key.tpm is None:
        return []
    told = []
    with _lock:
        for kind, limit in (("rpm", key.rpm), ("tpm", key.tpm)):
            if limit is not None:
                window = _window(key.name, kind).at(now)
                full = window.used[-1][0] + WINDOW - now if window.used else 0.0
                told.append((kind, limit, window.sum + window.held, full))
    return told


PARTS, COUNTED = ("limit", "remaining", "reset"), {"rpm": "requests", "tpm": "tokens"}
PLAIN = {kind: tuple(f"x-ratelimit-{part}-{what}" for part in PARTS) for kind, what in COUNTED.items()}
TWINS = {
    kind: tuple(f"anthropic-ratelimit-{what}-{part}" for part in PARTS) for kind, what in COUNTED.items()
}


def _window(name: str, kind: str) -> Window:
    return _windows.get((name, kind)) or _windows.setdefault((name, kind), Window())


def _refusal(key: Key, what: str, wait: float, amount: int, limit: int) -> Problem:
    if amount > limit:
        return Problem(
            429,
            f'this needs about {amount:,} {what}, and the key "{key.name}" may use {limit:,} a minute: it '
            "never fits. Send less at once, or raise the key's limit",
            code="rate_limit_exceeded",
            retryable=False,
        )
    return Problem(
        429,
        f'the key "{key.name}" may use {limit:,} {what} a minute, and has: the next fits in '
        f"{math.ceil(wait)} s",
        code="rate_limit_exceeded",
        retry_after=wait,
    )
