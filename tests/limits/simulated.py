"""A provider in virtual time that counts as its rule says, written as plainly as possible: what pacing is
held against. And the schedules that are played on it."""

import heapq
import itertools
from datetime import UTC, datetime
from random import Random

from metrics.client import midnights
from metrics.limits import caps, gate
from metrics.limits.quota import Limit
from metrics.records import Target

NOW = 1_796_000_000.0
LONG = 1e9  # the patience of callers who are to be served, whatever it takes


class Rolling:
    def __init__(self, limit, window):
        self.limit, self.window, self.taken = limit, window, []

    def room(self, at, amount):
        return sum(each for when, each in self.taken if when > at - self.window) + amount <= self.limit + 1e-6

    def take(self, at, amount):
        fits = self.room(at, amount)
        self.taken.append((at, amount))
        return fits

    def earliest(self, at, amount):
        return next(
            moment
            for moment in sorted(
                {at, *(when + self.window for when, _ in self.taken if when + self.window > at)}
            )
            if self.room(moment, amount)
        )


class Fixed(Rolling):
    def number(self, at):
        return at // self.window

    def room(self, at, amount):
        mine = self.number(at)
        return (
            sum(each for when, each in self.taken if self.number(when) == mine) + amount <= self.limit + 1e-6
        )

    def earliest(self, at, amount):
        while not self.room(at, amount):
            at = (self.number(at) + 1) * self.window
        return at


class Pacific(Fixed):
    def number(self, at):
        return midnights.pacific_day(at)[0]

    def earliest(self, at, amount):
        while not self.room(at, amount):
            at = midnights.pacific_day(at)[1]
        return at


class Calendar(Fixed):
    def number(self, at):
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m")

    def earliest(self, at, amount):
        while not self.room(at, amount):
            day = datetime.fromtimestamp(at, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
            at = day.timestamp() + 86_400
        return at


class Bucket(Rolling):
    def level(self, at):
        level, before = self.limit, None
        for when, amount in sorted(self.taken):
            if before is not None:
                level = min(self.limit, level + (when - before) * self.limit / self.window)
            level, before = level - amount, when
        return level if before is None else min(self.limit, level + (at - before) * self.limit / self.window)

    def room(self, at, amount):
        return self.level(at) >= amount - 1e-6

    def earliest(self, at, amount):
        return at + max(0.0, (amount - self.level(at)) * self.window / self.limit)


# name of the window, its length, its kind for us, and who counts so
RULES = [
    ("second", 1.0, "rolling", Rolling),
    ("minute", 60.0, "rolling", Rolling),
    ("minute", 60.0, "fixed", Fixed),
    ("minute", 60.0, "bucket", Bucket),
    ("hour", 3600.0, "bucket", Bucket),
    ("hour", 3600.0, "fixed", Fixed),
    ("day", 86_400.0, "rolling", Rolling),
    ("day", 86_400.0, "pacific", Pacific),
    ("month", 0.0, "calendar", Calendar),
]


class Play:
    """Calls that come at random to a model with random limits, over the gate itself, and what its provider
    makes of them. `late` is how long a call may be on its way."""

    names = itertools.count()

    def __init__(self, random: Random, late: float = 0.0):
        self.random, self.late, self.now = random, late, NOW + random.uniform(0, 86_400 * 40)
        name = f"c{next(self.names)}"
        self.target = Target("a", f"{name}:m", name, name, "m", "http://127.0.0.1:9/v1")
        self.rules, limits = [], []
        for window, seconds, kind, rule in random.sample(RULES, random.choice((1, 1, 2, 3))):
            metric = random.choice(("requests", "tokens"))
            most = random.randint(1, 12) * (1100 if metric == "tokens" else 1)
            if any((metric, window) == (one.metric, one.window) for one in limits):
                continue
            limits.append(Limit(metric, window, most, seconds, kind, "set", None))
            self.rules.append((metric, rule(most, seconds)))
        self.longest = max(limit.seconds or 86_400 * 5 for limit in limits)
        scope = gate.connection(name, self.now).scope(random.choice(("", self.target.model_id)), self.now)
        self.limited = scope
        scope.hold_to(tuple(limits), self.now)
        for each in self.scopes():
            each.capped, each.stale_at = caps.version(self.now), float("inf")
        self.sent, self.over, self.waits = [], [], []

    def scopes(self):
        connection = gate.connection(self.target.connection, self.now)
        return [connection.scope(name, self.now) for name in ("", self.target.model_id)]

    def run(self, calls: int):
        random, comes = self.random, self.now
        heap: list[tuple[float, int, object, int, float]] = []
        for number in range(calls):
            comes += random.choice((0.0, 0.0, random.uniform(0, self.longest / 8), random.uniform(0, 3)))
            size = random.randint(10, 990)
            entry = gate.Entry(self.target, lambda size=size: (size, 16), lambda: self.now)
            heapq.heappush(heap, (comes, number, entry, size + 16, comes))
        before = self.now
        while heap:
            self.now, number, entry, size, came = heapq.heappop(heap)
            verdict = entry.ask(LONG)
            if verdict.word == "wait":
                heapq.heappush(heap, (self.now + verdict.seconds + 0.001, number, entry, size, came))
                continue
            assert verdict.word == "go", verdict
            with entry:
                pass
            arrives = self.now + random.uniform(0, self.late)
            amounts = {"requests": 1, "tokens": size}
            due = max(came, before)
            for _ in self.rules:  # the moment that every rule has room at
                due = max(rule.earliest(due, amounts[metric]) for metric, rule in self.rules)
            self.waits.append(self.now - due)
            self.over += [metric for metric, rule in self.rules if not rule.take(arrives, amounts[metric])]
            before = self.now
            self.sent.append(self.now)
