"""What was sent in the windows that limits are about: quarter seconds for a day back, and sums over them.

A window costs a call the same however much was sent: each keeps its sum, and where in the past it begins.
A window comes to be when the first limit asks for it, from the past that is kept anyway. What goes out counts
in the windows at once; in the past it is only noted, and put where it belongs many at once, or when some of
it leaves a window.
"""

import operator
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from metrics.client import midnights
from metrics.limits import pacing
from metrics.limits.pacing import TICK, Ends

DAY = midnights.DAY
MOST = 64  # windows of one track: a limit that changes with every answer makes a new bucket each time
FORGET = 1024  # quarter seconds that are let go of at once
AT_ONCE = 256  # notes that are counted at once


class Amounts(NamedTuple):
    """What a call takes of each metric. `usd` is in units of 1e-12 USD."""

    requests: float = 0
    tokens: float = 0
    input_tokens: float = 0
    output_tokens: float = 0
    usd: float = 0


ONE = Amounts(1)
COLUMNS = {metric: column for column, metric in enumerate(Amounts._fields)}


class Track:
    """The past of one connection, or of one model on it."""

    __slots__ = ("_columns", "_last", "_month", "_month_ends", "_noted", "_ticks", "_windows")

    def __init__(self) -> None:
        self._ticks = array("q")
        self._columns = [array("d") for _ in COLUMNS]
        self._last = 0  # the latest tick
        self._noted: list[tuple[int, Amounts]] = []
        self._windows: dict[tuple[str, str, float], Window] = {}
        self._month = [0.0] * len(COLUMNS)
        self._month_ends = (0.0, 0.0)

    def add(self, amounts: Amounts, now: float) -> int:
        """Take what goes out at `now`; its tick, by which it can be changed later."""
        tick = int(now / TICK)
        if tick > self._last:
            self._begin(tick, now)
        else:
            tick = self._last  # a clock that was put back counts nothing twice
        self.change(tick, amounts, now)
        return tick

    def change(self, tick: int, amounts: Amounts, now: float) -> None:
        """Add `amounts`, which may be negative, to what went out at `tick`."""
        if tick != self._last and self._line(tick) is None:
            return  # longer ago than any window
        noted = self._noted
        noted.append((tick, amounts))
        if len(noted) == AT_ONCE:
            self._count(now)
        if self._windows:
            for window in self._windows.values():
                window.take(tick, amounts, now)

    def _count(self, now: float) -> None:
        """Put what is noted where it belongs."""
        noted, self._noted = self._noted, []
        sums: dict[int, tuple[float, ...]] = {}
        for tick, amounts in noted:
            before = sums.get(tick)
            sums[tick] = amounts if before is None else tuple(map(operator.add, before, amounts))
        for tick, all_of_it in sums.items():
            self._put(tick, all_of_it, now)

    def _put(self, tick: int, amounts: Sequence[float], now: float) -> None:
        index = self._line(tick)
        if index is None:
            return
        if now >= self._month_ends[1]:
            self._month_ends, self._month = midnights.utc_month(now), [0.0] * len(COLUMNS)
        month = self._month if tick * TICK >= self._month_ends[0] else None
        for column, amount in enumerate(amounts):
            if amount:
                self._columns[column][index] += amount
                if month is not None:
                    month[column] += amount

    def _line(self, tick: int) -> int | None:
        """Where a quarter second is kept, if it is."""
        ticks = self._ticks
        index = bisect_right(ticks, tick) - 1
        return index if index >= 0 and ticks[index] == tick else None

    def _begin(self, tick: int, now: float) -> None:
        """Another quarter second."""
        if len(self._ticks) > FORGET and pacing.leaves(self._ticks[FORGET], DAY) <= now:
            self._count(now)  # a month is longer
            for window in self._windows.values():
                window.used(now)  # nobody may have looked for a day: what is let go of has left it
            self._forget()
        self._last = tick
        self._ticks.append(tick)
        for column in self._columns:
            column.append(0.0)

    def seed(self, past: Iterable[tuple[float, Amounts]], month: Amounts, now: float) -> None:
        """Begin with what is known from before: (moment, amounts) of a day, oldest first, and a month's
        sums, those included."""
        for at, amounts in past:
            self.add(amounts, at)
        self._count(now)
        self._month_ends, self._month = midnights.utc_month(now), list(month)

    def month(self, column: int, now: float) -> float:
        self._count(now)
        return self._month[column] if now < self._month_ends[1] else 0.0

    def window(self, metric: str, kind: str, seconds: float, limit: float, now: float) -> "Window":
        """The window of a limit; made on the first use."""
        key = (metric, kind, limit * 1e6 + seconds if kind == "bucket" else seconds)
        found = self._windows.get(key)
        if found is None:
            self._count(now)
            found = self._windows[key] = _made(self, COLUMNS[metric], kind, seconds, limit, now)
        return found

    def make_room(self) -> None:
        """Let go of the windows of limits that were, once there are many: nothing counts in them from now
        on, and who needs one asks for it again."""
        if len(self._windows) >= MOST:
            self._windows.clear()

    def _forget(self) -> None:
        del self._ticks[:FORGET]
        for column in self._columns:
            del column[:FORGET]

    def past(self, column: int, since: int, now: float) -> tuple["array[int]", "array[float]", int]:
        """The ticks, what went out in each, and where in them `since` begins."""
        self._count(now)
        return self._ticks, self._columns[column], bisect_left(self._ticks, since)

    def lines(self, column: int, since: float) -> Iterator[tuple[int, float]]:
        """(tick, amount) of what went out since, as far as it is counted."""
        for index in range(bisect_left(self._ticks, int(since / TICK)), len(self._ticks)):
            yield self._ticks[index], self._columns[column][index]


class Rolling:
    """Any stretch of so many seconds."""

    __slots__ = ("_column", "_seconds", "_since", "_sum", "_track", "_until")

    def __init__(self, track: Track, column: int, seconds: float, now: float) -> None:
        since = now - seconds - 2
        self._track = track
        self._column = column
        self._seconds = seconds
        self._since = int(since / TICK)  # the first tick that counts
        self._until = 0.0  # when the first of what counts leaves; 0 where that is to be looked for
        self._sum = sum(amount for _, amount in track.lines(column, since))

    def take(self, tick: int, amounts: Amounts, now: float) -> None:
        if tick >= self._since:
            self._sum += amounts[self._column]

    def used(self, now: float) -> float:
        if now >= self._until:
            self._let_go(now)
        return self._sum

    def _let_go(self, now: float) -> None:
        """Count no more what has left at `now`."""
        ticks, amounts, index = self._track.past(self._column, self._since, now)
        self._until = 0.0
        while index < len(ticks):
            leaves = pacing.leaves(ticks[index], self._seconds)
            if leaves > now:
                self._until = leaves
                return
            self._sum -= amounts[index]
            self._since = ticks[index] + 1
            index += 1
        self._sum = 0.0  # and no rounding error with it

    def fits(self, limit: float, ask: float, ahead: float, now: float) -> float:
        if now >= self._until:
            self._let_go(now)
        if self._sum + ahead + ask <= limit:
            return now
        ticks, amounts, index = self._track.past(self._column, self._since, now)
        return pacing.rolling(ticks, amounts, index, self._sum, limit, ask, ahead, self._seconds, now)

    def resets(self, now: float) -> float | None:
        """When some of what is used is given back; None while nothing is used."""
        self.used(now)
        return self._until or None


class Period:
    """A window that begins and ends on the clock."""

    __slots__ = ("_begin", "_column", "_end", "_of", "_sum")

    def __init__(self, track: Track, column: int, of: Ends, now: float) -> None:
        self._column = column
        self._of = of
        self._begin, self._end = of(now)
        self._sum = sum(amount for _, amount in track.lines(column, self._begin))

    def take(self, tick: int, amounts: Amounts, now: float) -> None:
        self._turn(now)
        if tick * TICK >= self._begin:
            self._sum += amounts[self._column]

    def _turn(self, now: float) -> None:
        if now >= self._end:
            self._begin, self._end = self._of(now)
            self._sum = 0.0

    def used(self, now: float) -> float:
        self._turn(now)
        return self._sum

    def fits(self, limit: float, ask: float, ahead: float, now: float) -> float:
        self._turn(now)
        return pacing.fixed(self._sum, limit, ask, ahead, self._of, now)

    def resets(self, now: float) -> float | None:
        self._turn(now)
        return self._end


class Month:
    """The UTC month, which the track itself counts: it is longer than what is kept."""

    __slots__ = ("_column", "_track")

    def __init__(self, track: Track, column: int) -> None:
        self._track = track
        self._column = column

    def take(self, tick: int, amounts: Amounts, now: float) -> None:
        pass

    def used(self, now: float) -> float:
        return self._track.month(self._column, now)

    def fits(self, limit: float, ask: float, ahead: float, now: float) -> float:
        return pacing.fixed(self.used(now), limit, ask, ahead, midnights.utc_month, now)

    def resets(self, now: float) -> float | None:
        return midnights.utc_month(now)[1]


class Bucket:
    """A limit that is given back evenly."""

    __slots__ = ("_at", "_column", "_rate", "_seconds", "_spent")

    def __init__(self, track: Track, column: int, seconds: float, limit: float, now: float) -> None:
        self._column = column
        self._seconds = seconds
        self._rate = limit / seconds
        self._spent, self._at = 0.0, now - seconds
        for tick, amount in track.lines(column, now - seconds):
            sent = (tick + 1) * TICK
            self._spent, self._at = self.used(sent) + amount, sent

    def take(self, tick: int, amounts: Amounts, now: float) -> None:
        self._spent, self._at = self.used(now) + amounts[self._column], max(self._at, now)

    def used(self, now: float) -> float:
        return max(0.0, self._lacks(now))

    def _lacks(self, now: float) -> float:
        """What is spent and not given back yet; less than nothing once it has been full for a while."""
        return self._spent - self._rate * max(0.0, now - self._at)

    def fits(self, limit: float, ask: float, ahead: float, now: float) -> float:
        return pacing.bucket(self._lacks(now), limit, ask, ahead, self._seconds, now)

    def resets(self, now: float) -> float | None:
        spent = self.used(now)
        return now + spent / self._rate if spent else None


Window = Rolling | Period | Month | Bucket


def _made(track: Track, column: int, kind: str, seconds: float, limit: float, now: float) -> Window:
    match kind:
        case "calendar":
            return Month(track, column)
        case "pacific":
            return Period(track, column, midnights.pacific_day, now)
        case "fixed":
            return Period(track, column, lambda at: (at - at % seconds, at - at % seconds + seconds), now)
        case "bucket":
            return Bucket(track, column, seconds, limit, now)
        case _:
            return Rolling(track, column, seconds, now)
