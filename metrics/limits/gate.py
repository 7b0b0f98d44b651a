"""Where a call asks whether it may go out now, by the limits of its connection and its model.

    entry = gate.Entry(target, size, clock)
    while entry.ask(patience).word == "wait": ...
    entry.heard(headers)            # the answer began
    entry.settle(usage, cost)       # it is over, and took that
    entry.refused(problem)          # or there was no room

One lock for each connection, held for microseconds: who is let through has been counted before the next one
is looked at, so however many ask at once, no limit is exceeded. What is known survives a restart: the past
comes from the ledger's counters, statements from quotas/ and limits.json. No request reads a log.
"""

import itertools
import threading
from collections.abc import Callable, Mapping
from types import TracebackType

from metrics.client import limit_rows, limits_said
from metrics.client.limit_rows import Row
from metrics.limits import caps, cost, ledger, pacing, quota, recently, refused
from metrics.limits.pacing import Verdict
from metrics.limits.scope import ASKED, Scope
from metrics.limits.windows import ONE, Amounts, Track
from metrics.records import Problem, Target, Usage
from metrics.store import home

Size = Callable[[], tuple[int, int | None]]  # input tokens, and the most that the answer may have
Clock = Callable[[], float]

NOBODY = Amounts()
LEAST = 16  # output tokens that are reserved at least


class Connection:
    """What shares a rate limit: its lock, itself and its models as scopes, and who waits."""

    def __init__(self, name: str, now: float) -> None:
        self.name = name
        self.lock = threading.Lock()
        self.line: list[Entry] = []
        self._known = quota.remembered(name)
        self.unsure = not ledger.LOG.ready  # its counters are being made again
        self._past = ledger.recently_sent(name)
        self.scopes: dict[str, Scope] = {}
        self.pairs: dict[str, tuple[Scope, Scope]] = {}  # by model: the connection's scope, and its own
        for model_id in {"", *self._known, *self._past}:
            self.scope(model_id, now)

    def scope(self, model_id: str, now: float) -> Scope:
        """The scope of a model, or with "" of the whole connection."""
        found = self.scopes.get(model_id)
        if found is None:
            found = Scope(self.name, model_id, self._known.get(model_id, {}))
            found.track.seed(*recently.lines(self._past.get(model_id), now), now)
            self.scopes[model_id] = found
        return found

    def catch_up(self, now: float) -> None:
        """Take the past anew once the ledger has counted all of it; what is under way counts as sent now."""
        if not ledger.LOG.ready:
            return
        past = ledger.recently_sent(self.name)
        with self.lock:
            if self.unsure:
                self.unsure, self._past = False, past
                for model_id, scope in self.scopes.items():
                    scope.track = Track()
                    scope.track.seed(*recently.lines(past.get(model_id), now), now)
                    scope.stale_at = 0.0  # its windows are those of the old track
                    if scope.running:
                        scope.track.add(Amounts(scope.running), now)

    def pair(self, model_id: str, now: float) -> tuple[Scope, Scope]:
        found = self.pairs.get(model_id)
        if found is None:
            with self.lock:
                found = self.pairs[model_id] = (self.scope("", now), self.scope(model_id, now))
        return found

    def rest(self, model_id: str, until: float, now: float) -> None:
        """Send nothing until then to a model, or with "" to the whole connection: a user asks for it."""
        with self.lock:
            self.scope(model_id, now).rest(until, now)

    def release(self, model_id: str, now: float) -> None:
        """Let calls go out again to a model, or with "" to every model. What a provider holds back of the
        whole connection goes with either; a rest that a user asked for stays until it is ended itself."""
        with self.lock:
            whole = self.scope("", now)
            asked = whole.hold is not None and whole.hold.cause == ASKED
            released = [self.scope(model_id, now)] if model_id else list(self.scopes.values())
            for scope in released if asked or not model_id else [*released, whole]:
                scope.release(now)

    def refresh(self, scope: Scope, version: object, row: Row, now: float) -> None:
        if scope.capped is not version or now >= scope.stale_at:
            scope.refresh(version, quota.capped(self.name, scope.model_id), row, now)


_connections: dict[str, Connection] = {}
_making = threading.Lock()


def connection(name: str, now: float) -> Connection:
    found = _connections.get(name)
    if found is None:
        with _making:
            found = _connections.get(name)
            if found is None:
                if not _connections:
                    home.on_close(_connections.clear)  # another data folder is another past
                found = _connections[name] = Connection(name, now)
    return found


class Entry:
    """One call on its way, which is about to be made: it waits in line, goes out, and is settled when it is
    over; with `with` it is over at the end of that. `size` is only asked where tokens count; `clock` gives
    epoch seconds."""

    __slots__ = (
        "_amounts",
        "_clock",
        "_connection",
        "_estimated",
        "_running",
        "_scopes",
        "_size",
        "_ticks",
        "sent",
        "target",
    )

    def __init__(self, target: Target, size: Size, clock: Clock) -> None:
        now = clock()
        self.target = target
        self._size = size
        self._clock = clock
        self._connection = connection(target.connection, now)
        self._scopes = self._connection.pair(target.model_id, now)
        self._amounts = ONE
        self._estimated = False
        self._ticks: tuple[int, ...] = ()
        self._running = False
        self.sent = 0.0

    def __enter__(self) -> "Entry":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        now = self._clock()
        with self._connection.lock:
            self._end(now)

    def ask(self, patience: float) -> Verdict:
        """Whether the call may go: it is counted then. After "wait" ask again, in a moment: its place in the
        line is kept. Problem 503 when limits.json does not parse."""
        connection, (whole, model) = self._connection, self._scopes
        if connection.unsure:
            connection.catch_up(self._clock())
        weighed = whole.measured or model.measured
        while True:
            if weighed and not self._estimated:  # not under the lock: a long prompt takes its time
                self._amounts, self._estimated = self._estimate(), True
            now = self._clock()
            version = caps.version(now)
            with connection.lock:
                for scope in self._scopes:
                    if scope.capped is not version or now >= scope.stale_at:
                        connection.refresh(scope, version, limit_rows.of(self.target), now)
                if not connection.line and whole.free() and model.free():
                    return self._go(now)
                weighed = whole.weighs() or model.weighs()
                if self._estimated or not weighed:
                    return self._judged(now, patience)

    def _judged(self, now: float, patience: float) -> Verdict:
        ahead = self._ahead()
        whole, model = self._scopes
        fits = whole.fits(self._amounts, ahead, now) + model.fits(self._amounts, ahead, now)
        verdict = pacing.decide(fits, now, patience)
        if verdict is pacing.GO:
            self._go(now)
        line = self._connection.line
        if verdict.word != "wait":
            if line:
                self._leave_line()
        elif self not in line:
            line.append(self)
        return verdict

    def _go(self, now: float) -> Verdict:
        whole, model = self._scopes
        self._ticks = (whole.take(self._amounts, now), model.take(self._amounts, now))
        self.sent, self._running = now, True
        return pacing.GO

    def _ahead(self) -> Amounts:
        """What the calls to the same model take that wait before this one."""
        line = self._connection.line
        if not line:
            return NOBODY
        before = itertools.takewhile(lambda other: other is not self, line)
        mine = [other._amounts for other in before if other.target.model_id == self.target.model_id]
        return Amounts(*map(sum, zip(*mine, strict=True))) if mine else NOBODY

    def _leave_line(self) -> None:
        if self in self._connection.line:
            self._connection.line.remove(self)

    def _estimate(self) -> Amounts:
        """What to reserve: the prompt by guess, and what an answer of this model usually has."""
        (into, most), (whole, model) = self._size(), self._scopes
        out = round(max(LEAST, model.typical))
        if most is not None:
            out = most if limit_rows.of(self.target).upfront else min(most, out)
        units: int | None = 0
        if whole.charges or model.charges:
            units = cost.expected(self.target.price, into, out)
        return Amounts(1, into + out, into, out, max(1, units or 0))

    # --- the answer

    def heard(self, headers: Mapping[str, str]) -> None:
        """The answer began, with these headers (names in lower case)."""
        now, (whole, model) = self._clock(), self._scopes
        stated = limits_said.in_headers(headers, self.target, now)
        if not (stated or whole.recovers() or model.recovers()):
            return
        with self._connection.lock:
            for scope in self._scopes:
                scope.answered(self.sent, now)
            for one in stated:
                self._scope(one.scope).hear(one, "headers", now)

    def refused(self, problem: Problem) -> None:
        """The call failed, and is over."""
        now, limited = self._clock(), problem.limited
        with self._connection.lock:
            if limited is not None:
                scope = self._scope(limited.scope)
                if said := refused.row_of(problem):
                    quota.note(scope.name, scope.model_id, now, **said)
                for one in limited.stated:
                    self._scope(one.scope).hear(one, "error", now)
                scope.refuse(limited, now)
            self._end(now)

    def settle(self, usage: Usage, units: int | None) -> None:
        """The call is over, and what it came to counts in place of what was reserved. Once."""
        now, was, out, (whole, model) = self._clock(), self._amounts, usage.out or 0, self._scopes
        into = (usage.uncached_in or 0) + (usage.cache_write or 0)
        if usage.cache_read and limit_rows.of(self.target).cached:
            into += usage.cache_read
        more = Amounts(
            0,
            into + out - was.tokens,
            into - was.input_tokens,
            out - was.output_tokens,
            (units or 0) - was.usd,
        )
        with self._connection.lock:
            if self._ticks:  # it went out
                whole.change(self._ticks[0], more, out, now)
                model.change(self._ticks[1], more, out, now)
            self._end(now)

    def _end(self, now: float) -> None:
        """It runs no more, and waits no more."""
        if self._connection.line:
            self._leave_line()
        if self._running:
            self._running = False
            for scope in self._scopes:
                scope.end(now - self.sent)

    def _scope(self, name: str) -> Scope:
        return self._scopes[0 if name == "connection" else 1]


def refusal(target: Target, verdict: Verdict) -> Problem:
    """What a call comes to that is not sent: a rate limit to wait out, or where credit is gone the same
    status as its provider's refusal, which no client tries again."""
    broke = verdict.cause == "exhausted"
    return Problem(
        402 if broke else 429,
        f"{target.alias}: not sent, paced by the bench ({verdict.why}); it fits in {spoken(verdict.seconds)}",
        kind="paced",
        code="insufficient_quota" if broke else "rate_limit_exceeded",  # what agents wait on
        retry_after=verdict.seconds,
        retryable=not broke,
    )


def spoken(seconds: float) -> str:
    """A wait as a person says it, rounded up."""
    for size, unit in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds > 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{-int(-seconds // 1)} s"
