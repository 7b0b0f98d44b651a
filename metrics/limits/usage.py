"""What the calls come to, by the hour and by model, collection, key, purpose, endpoint and day.

Each ledger row is added to its hour as it comes. An hour that is over is packed into a few hundred bytes of
text, and after HOURS hours goes into its day, so that what is kept stays small and saving it stays cheap; a
question adds up hours and days, never rows. Money is in exact integers of 1e-12 USD.
"""

import base64
import json
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from metrics.limits import cost
from metrics.records import Problem
from metrics.store import stamps
from metrics.store.stamps import stamp

Row = Mapping[str, Any]
Cells = dict[str, list[int]]  # by name, what COUNTS say
# {"open": {hour: {by: Cells}}, "hours": {hour: {by: packed}}, "days": {day: …} of what was before the hours,
# up to the hour "merged", "whole": {day: …} of a day's closed hours once more: a question adds up less}
State = dict[str, Any]

FIELDS = ("model", "collection", "key", "purpose", "endpoint")
BY = (*FIELDS, "day")
KINDS = ("uncached_in", "cache_read", "cache_write", "out", "reasoning")
COUNTS = (
    *("calls", "errors", "interrupted", "priced", "unknown", "units", "billed", "estimated", "unmetered"),
    *KINDS,
)  # billed: units of what the provider itself said a call cost

OPEN = 2  # hours that are being counted: calls that end together come in any order
HOURS = 14 * 24  # that are told apart; what is older is kept by the day
DAYS = 400
MOST = 500  # names in one hour; further ones count together, as OTHERS
OTHERS = "(others)"
LONGEST = 200  # characters of a name

INTERRUPTED = "interrupted"  # the `error` of a call that was under way when its server was killed
NOT_ITS_FAULT = ("caller_left", INTERRUPTED)

SPANS = {"h": 3600, "d": 86_400, "w": 7 * 86_400}
_SPAN = re.compile(r"(\d{1,5})([hdw])")


def empty() -> State:
    return {"open": {}, "hours": {}, "whole": {}, "days": {}, "merged": ""}


def fold(state: State, row: Row) -> None:
    """Count a ledger row in its hour."""
    hour, amounts = row["at"][:13], _amounts(row)
    opened = state["open"].get(hour)
    if opened is None:
        opened = _open(state, hour)
    for by, cells in opened.items():
        name = hour[:10] if by == "day" else row.get(by)
        cell = cells.get(name) if type(name) is str else None
        if cell is None:
            cell = _cell(cells, "" if name is None else str(name)[:LONGEST])
        for place, count in amounts:
            cell[place] += count


def _amounts(row: Row) -> list[tuple[int, int]]:
    """What a row adds to a cell: (place in COUNTS, how much), only what is not nothing."""
    get = row.get
    status, error, units = get("cost_status"), get("error"), cost.of_row(row)
    counts = (
        1,
        get("status") != "ok" and error not in NOT_ITS_FAULT,
        error == INTERRUPTED,
        get("cost_usd") is not None,
        status == "unknown",
        units,
        units if status == "provider" else 0,
        bool(get("estimated")),
        status != "none" and get("out") is None,
        get("uncached_in"),
        get("cache_read"),
        get("cache_write"),
        get("out"),
        get("reasoning"),
    )
    return [(place, int(count)) for place, count in enumerate(counts) if count]


def _cell(cells: Cells, name: str) -> list[int]:
    """The counts of that name, or of all that come after the first MOST."""
    if name not in cells and len(cells) >= MOST:
        name = OTHERS
    return cells.setdefault(name, [0] * len(COUNTS))


# --- from hours to days


def _open(state: State, hour: str) -> dict[str, Cells]:
    """The hour, to be counted in; another is closed for it."""
    packed = state["hours"].pop(hour, {})
    if packed:
        state["whole"].pop(hour[:10], None)
    cells: dict[str, Cells] = {by: unpacked(packed.get(by)) for by in BY}
    state["open"][hour] = cells
    while len(state["open"]) > OPEN:
        _close(state, min(other for other in state["open"] if other != hour))
    return cells


def _close(state: State, hour: str) -> None:
    hours, whole, days = state["hours"], state["whole"], state["days"]
    hours[hour] = {by: _packed(cells) for by, cells in state["open"].pop(hour).items()}
    fresh = [hour] if hour[:10] in whole else [one for one in hours if one[:10] == hour[:10]]
    for one in fresh:
        _into_day(whole, one, hours[one])
    while len(hours) > HOURS:
        oldest = min(hours)
        whole.pop(oldest[:10], None)
        _into_day(days, oldest, hours.pop(oldest))
        state["merged"] = max(state["merged"], oldest)
    while len(days) > DAYS:
        del days[min(days)]


def _into_day(days: dict[str, dict[str, str]], hour: str, packed: Mapping[str, str]) -> None:
    day = days.setdefault(hour[:10], {})
    for by in BY:
        cells = unpacked(day.get(by))
        add_up(cells, unpacked(packed.get(by)))
        day[by] = _packed(cells)


def add_up(cells: Cells, more: Cells, named: Callable[[str], str] = str) -> None:
    """Add `more` to `cells`, whose lists it then shares with nobody."""
    for name, counts in more.items():
        name = named(name)
        have = cells.get(name)
        cells[name] = list(counts) if have is None else [a + b for a, b in zip(have, counts, strict=True)]


def _packed(cells: Cells) -> str:
    """Cells as text without a character that JSON escapes: saving the counters writes it as it is."""
    return base64.b64encode(zlib.compress(json.dumps(cells, separators=(",", ":")).encode(), 1)).decode()


def unpacked(packed: str | None) -> Cells:
    """The cells of an hour or a day that is over."""
    if not packed:
        return {}
    cells: Cells = json.loads(zlib.decompress(base64.b64decode(packed)))
    return cells


# --- answering


def moment(span: str, now: float, field: str = "since") -> float | None:
    """Epoch seconds of `7d`, `12h`, `2w` ago, or of a date or a moment; None for an empty text: all that is
    kept."""
    if not span:
        return None
    if found := _SPAN.fullmatch(span):
        return max(0.0, now - int(found[1]) * SPANS[found[2]])
    try:
        at = stamps.epoch(span)
    except (ValueError, OverflowError):
        at = -1.0
    if not 0 <= at < 1e11:
        raise Problem(
            400,
            f'"{field}" must be a span such as 12h, 7d or 4w, or a date such as 2026-11-01, '
            f"not {span[:40]!r}",
            param=field,
        )
    return at


def copy(state: State, by: str) -> State:
    """What `told` needs of a state that goes on being counted."""
    opened = {
        hour: {name: list(counts) for name, counts in cells[by].items()}
        for hour, cells in state["open"].items()
    }
    parts = ("hours", "whole", "days")
    packed = {part: {at: each[by] for at, each in state[part].items()} for part in parts}
    return {"open": opened, "merged": state["merged"], **packed}


def told(
    copied: State, by: str, since: float | None = None, named: Callable[[str], str] = str
) -> dict[str, Any]:
    """{"by", "since", "total", "rows"}: what was used by each, in the order of what it cost.

    A row is {"name", "calls", "errors", "interrupted", "priced_calls", "unknown_calls", "known_usd",
    "billed_usd", "estimated_calls", "unmetered_calls", "tokens": {kind: count}}; `name` is null for calls
    without one. `known_usd` is the sum over the priced calls, null where there is none but some of unknown
    cost; `billed_usd` is the part of it that providers stated themselves, the rest is made from prices.
    `since` (epoch seconds; None: all that is kept) is taken back to its full hour, or day where the hours are
    not told apart any more; the answer says to when. `named` may bring names together, as renames do.
    """
    start = _start(copied, since)
    cells: Cells = {}
    whole = {day: packed for day, packed in copied["whole"].items() if f"{day}T00" >= start}
    pieces = [*whole.values(), *(packed for day, packed in copied["days"].items() if day >= start[:10])]
    pieces += [packed for hour, packed in copied["hours"].items() if hour >= start and hour[:10] not in whole]
    for packed in pieces:
        add_up(cells, unpacked(packed))
    for at, opened in copied["open"].items():
        if at >= start:
            add_up(cells, opened)
    together: Cells = {}
    add_up(together, cells, named)
    rows = [{"name": name or None, **document(counts)} for name, counts in _ordered(together, by)]
    whole = document(total(together))
    return {"by": by, "since": f"{start}:00:00Z" if start else None, "total": whole, "rows": rows}


def _start(copied: State, since: float | None) -> str:
    """The hour from which on is counted: what is kept by the day alone is taken by the day."""
    if since is None:
        kept = [*(f"{day}T00" for day in copied["days"]), *copied["hours"], *copied["open"]]
        return min(kept, default="")
    hour = stamp(since)[:13]
    return hour if hour > copied["merged"] else f"{hour[:10]}T00"


def _ordered(cells: Cells, by: str) -> list[tuple[str, list[int]]]:
    """Days in their order, anything else the dearest first, then the busiest."""
    if by == "day":
        return sorted(cells.items())
    units, calls = COUNTS.index("units"), COUNTS.index("calls")
    return sorted(cells.items(), key=lambda cell: (-cell[1][units], -cell[1][calls], cell[0]))


def total(cells: Cells) -> list[int]:
    """What all of them come to."""
    return [sum(column) for column in zip(*cells.values(), strict=True)] or [0] * len(COUNTS)


def document(counts: list[int]) -> dict[str, Any]:
    """What a cell says: a row of `told` without its name."""
    said = dict(zip(COUNTS, counts, strict=True))
    dark = said["unknown"] and not said["priced"]
    return {
        "calls": said["calls"],
        "errors": said["errors"],
        "interrupted": said["interrupted"],
        "priced_calls": said["priced"],
        "unknown_calls": said["unknown"],
        "known_usd": None if dark else cost.usd(said["units"]),
        "billed_usd": cost.usd(said["billed"]),
        "estimated_calls": said["estimated"],
        "unmetered_calls": said["unmetered"],
        "tokens": {kind: said[kind] for kind in KINDS},
    }
