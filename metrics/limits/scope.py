"""One connection, or one model on it: what it was sent, the limits that it has, and what speaks against
another call now.

Everything here is done under the connection's lock (gate.py) and takes the time as an argument.
"""

from dataclasses import dataclass

from metrics.client import limit_rows, refusals
from metrics.client.limit_rows import Row
from metrics.limits import pacing, quota
from metrics.limits.caps import Caps
from metrics.limits.pacing import Fit
from metrics.limits.quota import Known, Limit
from metrics.limits.windows import COLUMNS, Amounts, Track, Window
from metrics.records import Limited, Stated

# How long a call is held back after a refusal, at most: what was paid for meanwhile is found by asking again.
EXHAUSTED, LONGEST = 60.0, {"exhausted": 3600.0}
RELAX = 60.0  # seconds without trouble after which a learned cap lets one more call run at once
# A refusal that said nothing and cleared within these seconds was about a minute.
MINUTE_LIKE = (20.0, 90.0)
ASKED = "asked"  # the cause of a hold that nobody but a user asked for
PAUSE = 10.0  # seconds that a hold is waited for, as the pause after a refusal is (play/calls.py)
WORTH = 5.0  # seconds: a shorter hold is not written down


@dataclass(slots=True)
class Hold:
    """Nothing goes out until then, epoch seconds, because a provider refused a call for that cause, or a
    user ASKED."""

    until: float
    cause: str
    at: float

    def firm(self, now: float) -> bool:
        """Whether it is not waited for: money does not come by waiting, and who refused for longer than a
        moment is passed over, as by the call that was refused."""
        return self.cause in ("exhausted", ASKED) or self.until - now > PAUSE

    def words(self) -> str:
        return {
            "concurrency": "it had too many calls at once",
            "window": "its provider said that a limit is used up",
            "exhausted": "its provider said that an allowance or credit is used up",
            "overload": "its provider said that it is overloaded",
            ASKED: "somebody let it rest",
        }.get(self.cause, "its provider refused a call")


@dataclass(slots=True)
class Left:
    """What a provider said is left of a window: `amount` at the moment `at`, `limit` again at `until`, and
    refilling meanwhile by `rate` a second."""

    metric: str
    window: str
    amount: float
    limit: float | None
    until: float
    at: float
    rate: float

    def words(self) -> str:
        return f"its provider said that no {self.metric.replace('_', ' ')} are left"

    def now(self, now: float) -> float:
        return self.amount + self.rate * max(0.0, now - self.at)

    def fits(self, ask: float, now: float) -> float:
        missing = min(ask, self.limit or ask) - self.now(now)
        if missing <= 0 or self.until <= now:
            return now
        return min(self.until, now + missing / self.rate) if self.rate else self.until


class Scope:
    __slots__ = (
        "capped",
        "charges",
        "clear",
        "counted",
        "hold",
        "incident",
        "known",
        "left",
        "limits",
        "measured",
        "model_id",
        "name",
        "running",
        "stale_at",
        "track",
        "typical",
        "usual",
    )

    def __init__(self, name: str, model_id: str, known: Known) -> None:
        self.name = name  # of the connection
        self.model_id = model_id  # "" is all of the connection
        self.track = Track()
        self.known = known
        held = known.get("hold")
        self.hold: Hold | None = Hold(*held) if held else None
        self.capped: object = None  # the version of limits.json that `limits` are of
        self.limits: tuple[Limit, ...] = ()
        self.counted: tuple[tuple[Limit, int, Window | None], ...] = ()  # with their columns and windows
        self.stale_at = 0.0
        self.measured = False  # whether it matters how many tokens a call takes
        self.charges = False  # whether it matters what it costs
        self.left: dict[str, Left] = {}
        self.running = 0
        self.usual = 2.0  # seconds a call takes
        self.typical = 400.0  # tokens an answer has
        self.incident: tuple[float, float] | None = None  # refused without a word: when, after how many calls
        self.clear: float | None = None  # seconds such a refusal lasted

    def refresh(self, version: object, caps: Caps, row: Row, now: float) -> None:
        """Work out anew which limits hold."""
        limits, self.stale_at = quota.in_force(self.known, caps, row, now)
        self.capped = version
        self.hold_to(limits, now)

    def hold_to(self, limits: tuple[Limit, ...], now: float) -> None:
        """These limits hold from now on."""
        self.track.make_room()
        self.limits = limits
        self.counted = tuple(
            [
                (limit, 0, None)
                if limit.metric == "concurrency"
                else (limit, COLUMNS[limit.metric], self.window(limit, now))
                for limit in limits
            ]
        )
        self.measured = any(limit.metric not in ("requests", "concurrency") for limit in limits)
        self.charges = any(limit.metric == "usd" for limit in limits)

    # --- before a call

    def free(self) -> bool:
        """Whether nothing at all is known that could speak against a call."""
        return not (self.limits or self.hold or self.left)

    def fits(self, ask: Amounts, ahead: Amounts, now: float) -> list[Fit]:
        """When a call that takes `ask` may go, after `ahead` that others wait for, by each thing that speaks
        against its going now."""
        found: list[Fit] = []
        if self.hold is not None:
            if self.hold.until > now:
                found.append(Fit(self.hold.until, self.hold, self.hold.firm(now), self.hold.cause))
            else:
                self.hold = None
        for limit, column, window in self.counted:
            if window is None:
                at = pacing.at_once(self.running, limit.amount, ahead.requests, self.usual, now)
            else:
                at = window.fits(limit.amount, ask[column], ahead[column], now)
            if at > now:
                found.append(Fit(at, limit))
        if not self.left:
            return found
        for key, left in list(self.left.items()):
            if left.until <= now:
                del self.left[key]
                continue
            at = left.fits(ask[COLUMNS[left.metric]], now)
            if at > now:
                found.append(Fit(at, left))
        return found

    def weighs(self) -> bool:
        """Whether it matters how many tokens a call takes."""
        return self.measured or any(left.metric != "requests" for left in self.left.values())

    def window(self, limit: Limit, now: float) -> Window:
        return self.track.window(limit.metric, limit.kind, limit.seconds, limit.amount, now)

    def take(self, amounts: Amounts, now: float) -> int:
        """Count a call that goes out; its tick."""
        self.running += 1
        if self.left:
            for left in self.left.values():
                left.amount = left.now(now) - amounts[COLUMNS[left.metric]]
                left.at = max(left.at, now)
        return self.track.add(amounts, now)

    # --- after it

    def end(self, seconds: float) -> None:
        self.running -= 1
        self.usual += (seconds - self.usual) / 8

    def change(self, tick: int, more: Amounts, out: int, now: float) -> None:
        """Count `more` of a call that went out at `tick`, whose answer had `out` tokens."""
        self.track.change(tick, more, now)
        if self.left:
            for left in self.left.values():
                left.amount -= more[COLUMNS[left.metric]]
        if out:
            self.typical += (out - self.typical) / 8

    def recovers(self) -> bool:
        """Whether an answer tells anything of what was refused before."""
        return self.incident is not None or "limits" in self.known

    def answered(self, sent: float, now: float) -> None:
        """A call that was sent then was answered: what was refused before is allowed again."""
        if self.incident is not None and sent > self.incident[0]:
            self._learn_window(sent - self.incident[0], now)
            self.incident = None
        cap = self._learned_cap()
        if cap is not None and now - cap[2] > RELAX:
            self._state("concurrency/", "learned", cap[0] + 1, "", now)

    def hear(self, stated: Stated, source: str, now: float) -> None:
        """Take what a provider said of one limit."""
        key = f"{stated.metric}/{stated.window}"
        if stated.limit:
            self._state(key, source, stated.limit, stated.kind, now)
        if source != "headers" or stated.remaining is None or stated.metric not in COLUMNS:
            return  # what a refusal says of its wait is the hold's
        until = refusals.ends_at(stated, now)
        if until is not None and until > now:
            seconds = limit_rows.length(stated.window)
            rate = (stated.limit or 0.0) / seconds if seconds and stated.kind == "bucket" else 0.0
            self.left[key] = Left(
                stated.metric, stated.window, stated.remaining, stated.limit, until, now, rate
            )

    def refuse(self, limited: Limited, now: float) -> None:
        """Take a refusal: hold back, and learn."""
        until, cause = limited.until, limited.cause
        if cause == "exhausted" and until is None:
            until = now + EXHAUSTED
        if cause == "concurrency" and self.running > 1:  # one call alone is not too many
            cap = max(1, min(self.running, (self._learned_cap() or [self.running])[0]) - 1)
            self._state("concurrency/", "learned", cap, "", now)
        if cause == "window" and until is None:
            until = now + self.clear if self.clear else None
            if self.incident is None:
                minute = Limit("requests", "minute", 1.0, 60.0, "rolling", "learned", now)
                self.incident = (now, self.window(minute, now).used(now) - 1)
        if until is None or until <= now:
            return
        until = min(until, now + LONGEST.get(cause, until))
        if self.hold is None or until > self.hold.until:
            self.hold = Hold(until, cause, now)
            if until - now > WORTH:
                quota.note(self.name, self.model_id, now, until=round(until, 3), cause=cause)

    def rest(self, until: float, now: float) -> None:
        """Hold everything back until then, because a user asks for it."""
        self.hold = Hold(until, ASKED, now)
        quota.note(self.name, self.model_id, now, until=round(until, 3), cause=ASKED)

    def release(self, now: float) -> None:
        """Let calls go out again that a refusal or a user held back: the next one will tell."""
        self.incident = None
        self.left = {key: left for key, left in self.left.items() if left.now(now) >= 1}
        if self.hold is not None:
            self.hold = None
            quota.note(self.name, self.model_id, now, until=round(now, 3), cause="woken")

    def _learn_window(self, clear: float, now: float) -> None:
        self.clear = clear if self.clear is None else self.clear + (clear - self.clear) / 4
        calls = self.incident[1] if self.incident else 0
        if MINUTE_LIKE[0] <= clear <= MINUTE_LIKE[1] and calls >= 1:
            self._state("requests/minute", "learned", calls, "", now)

    def _learned_cap(self) -> list[float] | None:
        found: list[float] | None = self.known.get("limits", {}).get("concurrency/", {}).get("learned")
        return found

    def _state(self, key: str, source: str, limit: float, kind: str, now: float) -> None:
        if quota.state(self.known, key, source, limit, kind, now):
            self.stale_at = 0.0
            quota.note(self.name, self.model_id, now, key=key, source=source, limit=limit, kind=kind)
