"""What a provider's invoice or export says beside what the ledger says, line by line.

An invoice names calls by their request id, or sums them by day and model. Two figures agree when ours, in
exact integers, rounds to theirs in the digits that theirs has: an invoice of $0.0123 agrees with anything
from $0.01225 to $0.01235. A tolerance may be added; it is never more than what is asked for.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from metrics.limits import cost
from metrics.records import Problem

Row = Mapping[str, Any]

# The columns of an export, as providers call them; the first that a line has counts.
IDS = ("call", "request_id", "requestid", "generation_id", "id")
DAYS = ("day", "date", "usage_date", "start_time", "created_at", "timestamp", "at")
MODELS = ("model", "served", "model_id", "model_permaslug", "model_slug", "model_name")
COSTS = ("cost_usd", "cost", "cost_total", "total_cost", "usage", "amount", "amount_usd", "total")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"-?\d*\.?\d+(?:[eE][-+]?\d+)?")

Key = tuple[str, ...]  # (request id,) or (day, model)


@dataclass(slots=True)
class Line:
    """What one side says under a key: exact units, of how many calls, and how many of them have no known
    cost. `slack` is half of the last digit that the figures have, in units."""

    units: int = 0
    calls: int = 0
    unknown: int = 0
    slack: int = 0
    models: set[str] = field(default_factory=set)


def invoice(rows: Iterable[Row]) -> dict[Key, Line]:
    """An export as lines by their keys; lines with the same key add up. Problem 400 that names the line that
    cannot be read, or that there is none."""
    found: dict[Key, Line] = {}
    for number, row in enumerate(rows, 1):
        said = {_plain(name): value for name, value in row.items() if isinstance(name, str)}
        key, (units, slack) = _key(said, number), _cost(said, number)
        line = found.setdefault(key, Line())
        line.units, line.calls, line.slack = line.units + units, line.calls + 1, line.slack + slack
    if not found:
        raise Problem(400, "the file has no line with a cost")
    if len({len(key) for key in found}) > 1:
        raise Problem(400, "some lines have a request id and some only a day and a model: split the file")
    return found


def compare(billed: Mapping[Key, Line], rows: Iterable[Row], tolerance: int = 0) -> dict[str, Any]:
    """{"by", "agree", "differ": [...], "totals": {"billed_usd", "ledger_usd", "difference_usd"}}.

    What differs is {"key", "billed_usd", "ledger_usd", "why"}, the dearest difference first. `why` is
    differs, not in the ledger, unknown here (a call of unknown cost), or not billed: of a day and model in
    between, since an export by request id may be of a part of the calls. `tolerance` is in units.
    """
    by_id = len(next(iter(billed))) == 1
    ours = _of_ids(billed, rows) if by_id else _of_days(billed, rows)
    differ = []
    agree = 0
    for key in sorted({*billed, *ours}):
        why = _why(billed.get(key), ours.get(key), tolerance)
        if why is None:
            agree += 1
        else:
            differ.append(_told(key, billed.get(key), ours.get(key), why))
    differ.sort(key=lambda one: -abs((one["billed_usd"] or 0) - (one["ledger_usd"] or 0)))
    theirs, mine = sum(line.units for line in billed.values()), sum(line.units for line in ours.values())
    totals = {"billed_usd": cost.usd(theirs), "ledger_usd": cost.usd(mine)}
    return {
        "by": "request" if by_id else "day and model",
        "agree": agree,
        "differ": differ,
        "totals": {**totals, "difference_usd": cost.usd(theirs - mine)},
    }


def _why(billed: Line | None, ours: Line | None, tolerance: int) -> str | None:
    """What is wrong between the two; None: they agree."""
    if billed is None:
        return "not billed" if ours and (ours.units or ours.unknown) else None
    if ours is None:
        return "not in the ledger" if billed.units else None
    if abs(billed.units - ours.units) <= max(billed.slack, tolerance):
        return None
    return "unknown here" if ours.unknown else "differs"


def _told(key: Key, billed: Line | None, ours: Line | None, why: str) -> dict[str, Any]:
    dark = ours is None or (ours.unknown == ours.calls)
    return {
        "key": " ".join(key),
        "billed_usd": cost.usd(billed.units) if billed else None,
        "ledger_usd": None if ours is None or dark else cost.usd(ours.units),
        "calls": ours.calls if ours else 0,
        "unknown_calls": ours.unknown if ours else 0,
        "why": why,
    }


# --- the ledger's side


def _of_ids(billed: Mapping[Key, Line], rows: Iterable[Row]) -> dict[Key, Line]:
    """The ledger's rows that the invoice names, by our call id or the provider's request id."""
    found: dict[Key, Line] = {}
    for row in rows:
        for name in ("request_id", "call"):
            key = (str(row.get(name)),)
            if key in billed:
                _add(found.setdefault(key, Line()), row)
                break
    return found


def _of_days(billed: Mapping[Key, Line], rows: Iterable[Row]) -> dict[Key, Line]:
    """The rows of the invoice's models, from its first day to its last."""
    names = {model for _, model in billed}
    first, last = min(day for day, _ in billed), max(day for day, _ in billed)
    found: dict[Key, Line] = {}
    for row in rows:
        day = str(row.get("at"))[:10]
        if first <= day <= last:
            called = [
                str(row.get(name)) for name in ("served", "model", "model_id") if row.get(name) in names
            ]
            if called:
                _add(found.setdefault((day, called[0]), Line()), row)
    return found


def _add(line: Line, row: Row) -> None:
    line.calls += 1
    line.units += cost.units(row.get("cost_usd")) or 0
    line.unknown += row.get("cost_status") == "unknown"


# --- the invoice's side


def _plain(name: str) -> str:
    """A column's title as IDS and the others spell it: `Cost (USD)` is cost_usd."""
    return re.sub(r"[^a-z0-9]+", "_", name.strip().lower()).strip("_")


def _key(said: Mapping[str, Any], number: int) -> Key:
    request = _first(said, IDS)
    if request:
        return (request,)
    day, model = _first(said, DAYS), _first(said, MODELS)
    found = _DAY.match(day)
    if not found or not model:
        raise Problem(
            400,
            f"line {number} has neither a request id ({', '.join(IDS)}) nor a day such as 2026-11-29 "
            f"({', '.join(DAYS)}) and a model ({', '.join(MODELS)})",
        )
    return (found[0], model)


def _cost(said: Mapping[str, Any], number: int) -> tuple[int, int]:
    """(units, half of the last digit's worth in units)."""
    text = _first(said, COSTS).replace(",", "").replace("$", "").strip()
    try:
        amount = Decimal(text) if _NUMBER.fullmatch(text) else Decimal("NaN")
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or abs(amount) > 10**9:
        raise Problem(400, f"line {number} has no cost in USD ({', '.join(COSTS)}): {text[:40]!r}")
    exponent = amount.as_tuple().exponent
    digit = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
    return int(amount * cost.UNITS), int(digit * cost.UNITS / 2)


def _first(said: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((str(said[name]).strip() for name in names if said.get(name) not in (None, "")), "")


def rows_of(text: str, name: str) -> Iterator[Row]:
    """The lines of a file: JSON objects, one a line, or CSV with a head. Problem 400 that names the line."""
    if text.lstrip()[:1] in "{[":
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line, parse_float=str)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise Problem(400, f"{name}, line {number}: not a JSON object on one line")
            yield row
    else:
        try:
            yield from csv.DictReader(text.splitlines())
        except csv.Error as error:
            raise Problem(400, f"{name} is neither JSON lines nor CSV: {error}") from None
