"""What may be spent: budgets in USD a day, a month or in total, of the whole bench and of each collection.

Those of a key stand with the key (bench/keys). What is spent is the ledger's to know (limits/budgets).
"""

import re
from collections.abc import Mapping
from typing import Any

from metrics.bench import changes, fields
from metrics.records import Problem
from metrics.store.files import JsonFile

FILE = JsonFile("budgets.json")

PERIODS = ("day", "month", "total")
UNKNOWN = ("refuse", "allow")
MOST = 1e9  # USD
FORM = "such as 5usd/month, 0.50usd/day or 20usd/total"

_AMOUNT = re.compile(r"\s*\$?\s*(\d+(?:\.\d*)?|\.\d+)\s*(?:usd)?\s*/\s*([a-z]+)\s*", re.IGNORECASE)
_NONE = ("", "none", "off", "unlimited")

Budget = dict[str, float]


def budget(field: str, value: Any) -> Budget | None:
    """A fields.Check: {"day"?, "month"?, "total"?: USD}, from such an object or from words (FORM), several
    with commas between them. None: no budget. Zero is one: nothing may be spent."""
    if value is None or (isinstance(value, str) and value.strip().lower() in _NONE):
        return None
    if isinstance(value, str):
        return dict(_said(field, part) for part in value.split(","))
    if not isinstance(value, Mapping):
        raise fields.wrong(field, f"an amount of USD for a period, {FORM}", value)
    amount = fields.number(0, MOST, "USD")
    return {
        period: float(each)
        for period, each in fields.take(value, dict.fromkeys(PERIODS, fields.maybe(amount))).items()
        if each is not None
    } or None


def _said(field: str, words: str) -> tuple[str, float]:
    match = _AMOUNT.fullmatch(words)
    period = match[2].lower() if match else ""
    if match is None or period not in PERIODS or float(match[1]) > MOST:
        raise fields.wrong(field, f"an amount of USD a day, a month or in total, {FORM}", words)
    return period, float(match[1])


CHECKS: dict[str, fields.Check] = {"budget": budget, "unknown_cost": fields.one_of(*UNKNOWN)}


def bench() -> dict[str, Any]:
    """{"budget": Budget | None, "unknown_cost"} of everything together. Problem 503 where a hand broke it."""
    return _read(FILE.read().get("bench"), "bench")


def collection(name: str) -> dict[str, Any]:
    """The same of one collection."""
    return _read(_section().get(name), f"collections.{name}")


def all() -> dict[str, Any]:
    """{"bench": …, "collections": {name: …}}: those that are set."""
    return {"bench": bench(), "collections": {name: collection(name) for name in _section()}}


def any() -> bool:
    """Whether a budget is set beside those of keys."""
    saved = FILE.read()
    return "bench" in saved or bool(saved.get("collections"))


def save(name: str | None, edits: Mapping[str, Any], by: str) -> dict[str, Any]:
    """Set the budget of the collection `name`, or of the bench (None): `budget`, `unknown_cost`."""
    wanted = fields.take(edits, CHECKS)
    with FILE.edit() as saved:
        place = saved if name is None else saved.setdefault("collections", {})
        if not isinstance(place, dict):
            raise Problem(503, f'{FILE.name}: "collections" must be an object', kind="config")
        old = dict(place.get(name or "bench") or {})
        new = {field: value for field, value in {**old, **wanted}.items() if value is not None}
        place[name or "bench"] = new
        if "budget" not in new:
            del place[name or "bench"]
    changes.differences(by, f"budget of {name or 'the bench'}", old, new)
    return bench() if name is None else collection(name)


def _section() -> Mapping[str, Any]:
    found = FILE.read().get("collections") or {}
    return found if isinstance(found, Mapping) else {}


def _read(raw: Any, where: str) -> dict[str, Any]:
    """An entry of the file, checked: a limit that cannot be read is none that may be passed over."""
    if raw is None:
        return {"budget": None, "unknown_cost": "refuse"}
    try:
        if not isinstance(raw, Mapping):
            raise fields.wrong(where, "an object", raw)
        return {"budget": None, "unknown_cost": "refuse", **fields.take(raw, CHECKS)}
    except Problem as problem:
        message = f"{FILE.name}, {where}: {problem.message}; repair the line or delete it"
        raise Problem(503, message, kind="config", retryable=False) from problem
