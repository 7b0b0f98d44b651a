"""What the calls came to over time: a stretch of hours, days or weeks, cut into at most MOST pieces, beside
the stretch before it.

Made from the roll-ups of limits/usage, so that it costs the same however many calls there were. All clocks
are UTC. Hours are told apart for two weeks; a stretch that begins before that is cut at midnights.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from metrics.client import midnights
from metrics.limits import cost, usage
from metrics.limits.usage import COUNTS, OTHERS, Cells, State
from metrics.store.stamps import epoch, stamp

HOUR, DAY, WEEK = 3600, 86_400, 7 * 86_400
MOST = 400  # pieces
NAMES = 6  # that are told apart over time; the others count together
SPANS = ("24h", "7d", "30d", "90d", "month", "year")
_CALLS, _UNITS = COUNTS.index("calls"), COUNTS.index("units")
_PRICED, _UNKNOWN = COUNTS.index("priced"), COUNTS.index("unknown")

Named = Callable[[str], str]
Piece = tuple[float, Cells]  # its beginning, and what it holds


@dataclass(frozen=True, slots=True)
class Stretch:
    """Epoch seconds; `until` is where the last of its pieces of `step` seconds ends."""

    since: float
    until: float
    step: int

    @property
    def pieces(self) -> int:
        return max(0, round((self.until - self.since) / self.step))

    def before(self) -> "Stretch":
        """As much time, ending where this begins."""
        return Stretch(self.since - self.pieces * self.step, self.since, self.step)


def named(span: str, now: float) -> Stretch:
    """One of SPANS, up to the end of the hour or the day that has begun."""
    tonight = now - now % DAY + DAY
    match span:
        case "24h":
            end = now - now % HOUR + HOUR
            return Stretch(end - DAY, end, HOUR)
        case "7d":
            return Stretch(tonight - 7 * DAY, tonight, 6 * HOUR)
        case "month":
            return Stretch(midnights.utc_month(now)[0], tonight, DAY)
        case "year":
            return Stretch(tonight - 52 * WEEK, tonight, WEEK)
    return Stretch(tonight - int(span.removesuffix("d")) * DAY, tonight, DAY)


def between(since: float, until: float) -> Stretch:
    """From one moment to another, in pieces that suit: full hours, quarter days, days or weeks."""
    long = until - since
    step = HOUR if long <= 60 * HOUR else 6 * HOUR if long <= 14 * DAY else DAY if long <= 200 * DAY else WEEK
    grid = min(step, DAY)
    begin = since - since % grid
    count = -int((begin - until) // step)
    begin += max(0, count - MOST) * step  # where they would be too many, the latest
    return Stretch(begin, begin + min(count, MOST) * step, step)


def fitted(stretch: Stretch, copied: State) -> Stretch:
    """The same, in days where its hours are not told apart any more."""
    if stretch.step >= DAY or stamp(stretch.since)[:13] > copied["merged"]:
        return stretch
    begin = stretch.since - stretch.since % DAY
    return Stretch(begin, begin - int((begin - stretch.until) // DAY) * DAY, DAY)


def told(copied: State, by: str, wanted: Stretch, who: Named = str) -> dict[str, Any]:
    """{"by", "since", "until", "step_s", "at": the stamp of each piece, "names": [{"name", "usd", "calls",
    "unknown": lists, one figure a piece}], "rows": as usage.told has them, "total", "before": {"since",
    "until", "total"} or null}.

    `names` are the dearest NAMES, then the others together as "(others)"; `rows` are all. A piece's `usd` is
    null where all that could cost is of unknown cost. `before` is the stretch of the same length before, null
    where the ledger does not reach that far back."""
    stretch = fitted(wanted, copied)
    cut: list[Cells] = [{} for _ in range(stretch.pieces)]
    for at, cells in pieces(copied, stretch):
        usage.add_up(cut[int((at - stretch.since) // stretch.step)], cells, who)
    whole = together(cut)
    ordered = sorted(whole, key=lambda name: (-whole[name][_UNITS], -whole[name][_CALLS], name))
    first = [name for name in ordered if name != OTHERS][:NAMES]
    rest = [name for name in ordered if name not in first]
    groups = [(name, [name]) for name in first] + ([(OTHERS, rest)] if rest else [])
    return {
        "by": by,
        "since": stamp(stretch.since),
        "until": stamp(stretch.until),
        "step_s": stretch.step,
        "at": [stamp(stretch.since + number * stretch.step) for number in range(stretch.pieces)],
        "names": [{"name": name or None, **_line(cut, of)} for name, of in groups],
        "rows": [{"name": name or None, **usage.document(whole[name])} for name in ordered],
        "total": usage.document(usage.total(whole)),
        "before": _before(copied, stretch),
    }


def rows(copied: State, by: str, wanted: Stretch, who: Named = str) -> Iterator[tuple[str, str, list[int]]]:
    """(stamp, name, counts) of each piece and each name in it, in their order."""
    stretch = fitted(wanted, copied)
    cut: dict[int, Cells] = {}
    for at, cells in pieces(copied, stretch):
        usage.add_up(cut.setdefault(int((at - stretch.since) // stretch.step), {}), cells, who)
    for number in sorted(cut):
        for name, counts in sorted(cut[number].items()):
            yield stamp(stretch.since + number * stretch.step), name, counts


def pieces(copied: State, stretch: Stretch) -> Iterator[Piece]:
    """The hours and days that lie in it, each call in one of them. What is kept by the day begins with it."""
    whole = copied["whole"] if stretch.step >= DAY else {}
    hours = {hour: packed for hour, packed in copied["hours"].items() if hour[:10] not in whole}
    for part in (copied["days"], whole, hours, copied["open"]):
        for name, cells in part.items():
            at = epoch(name if len(name) == 10 else f"{name}:00:00Z")
            if stretch.since <= at < stretch.until:
                yield at, usage.unpacked(cells) if isinstance(cells, str) else cells


def together(cut: list[Cells], who: Named = str) -> Cells:
    whole: Cells = {}
    for cells in cut:
        usage.add_up(whole, cells, who)
    return whole


def earliest(copied: State) -> float | None:
    """When the oldest hour or day begins that is kept."""
    days = [epoch(day) for day in copied["days"]]
    hours = [epoch(f"{hour}:00:00Z") for part in ("hours", "open") for hour in copied[part]]
    return min([*days, *hours], default=None)


def _before(copied: State, stretch: Stretch) -> dict[str, Any] | None:
    before, first = stretch.before(), earliest(copied)
    if before.since % DAY == 0 and before.until % DAY == 0:
        before = replace(before, step=DAY)  # full days are read as such: there are fewer of them
    if first is None or first > before.since + DAY:
        return None
    whole = together([cells for _, cells in pieces(copied, before)])
    return {
        "since": stamp(before.since),
        "until": stamp(before.until),
        "total": usage.document(usage.total(whole)),
    }


def _line(cut: list[Cells], of: list[str]) -> dict[str, list[Any]]:
    """One name over time, or several together."""
    each = [[cells[name] for name in of if name in cells] for cells in cut]
    return {
        "usd": [_usd(counts) for counts in each],
        "calls": [sum(count[_CALLS] for count in counts) for counts in each],
        "unknown": [sum(count[_UNKNOWN] for count in counts) for counts in each],
    }


def _usd(counts: list[list[int]]) -> float | None:
    dark = any(count[_UNKNOWN] for count in counts) and not any(count[_PRICED] for count in counts)
    return None if dark else cost.usd(sum(count[_UNITS] for count in counts))
