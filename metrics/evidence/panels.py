"""Panels: who sat for which request and how it went, a row each, without the words (those are in
store/bodies).

A row is complete in itself. A panel whose stragglers come in later is recorded again, and its latest row
counts. The counters of the log hold what `waits` tells, taken from the decision that each row carries.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from metrics.records import Problem
from metrics.store import lines
from metrics.store.log import JsonLog

Row = dict[str, Any]

ANSWERED = ("ok", "cut")
REMEMBERED = 512  # the latest panels, whose next row is a correction and no new panel

_ID = re.compile(r"[pr](\d{4})(\d\d)\d\d-\d{6}-[0-9a-f]{4,32}")
_CURSOR = re.compile(r"[0-9]{4}-[0-9]{2}\.jsonl:[0-9]{1,15}")  # a month's file and a place in it


def record(row: Row) -> None:
    """Record a panel, or correct what was recorded of it. `panel` is its id, `at` when it was seated."""
    LOG.submit(row)


def find(panel_id: str) -> Row | None:
    """The panel's row; None when there is none."""
    since = month(panel_id)
    return LOG.find(panel_id, since) if since else None


def recent(
    limit: int, before: str | None = None, collection: str | None = None
) -> tuple[list[Row], str | None]:
    """The latest panels (of a collection), newest first, and the cursor of the next page.

    Problem 400 when `before` is no such cursor.
    """
    if collection is None:
        return LOG.recent(limit, cursor(before))
    return LOG.recent(
        limit,
        cursor(before),
        lambda row: row.get("collection") == collection,
        lines.with_text(collection),
    )


def back(
    before: str | None = None, collection: str | None = None, holding: Sequence[str] = ()
) -> Iterator[tuple[str, Row | None]]:
    """(cursor, panel) of every panel before the cursor `before`, newest first, as far as the caller goes.
    None stands for one of another collection, and for one whose row cannot hold all the texts of `holding`,
    in whatever case: that is soon seen, and leaves to the caller to look whether those that may, do.

    Problem 400 when `before` is no such cursor.
    """
    named = lines.with_text(collection) if collection else None
    texts = [
        text.casefold().encode() for text in holding if text.isascii() and json.dumps(text) == f'"{text}"'
    ]

    def maybe(line: bytes) -> bool:
        if named and not named(line):
            return False
        plain = line.lower() if texts else b""  # where others than ASCII stand, case is more than lower()
        return all(text in plain for text in texts) or b"\\u" in line

    for place, row in LOG.backwards(cursor(before), maybe if named or texts else None):
        other = row is None or (collection is not None and row.get("collection") != collection)
        yield place, None if other else row


def cursor(before: str | None) -> str | None:
    """The cursor of a page of a log, as it was given. Problem 400 when it is none."""
    if before is None or _CURSOR.fullmatch(before):
        return before
    raise Problem(
        400,
        f'"before" is not a cursor: {before[:60]!r}. Take it from "next" of the page before.',
        param="before",
    )


def known(collection: str) -> bool:
    """Whether a panel of that collection was ever recorded."""
    return LOG.counted(lambda state: collection in state["waits"])


def retain(oldest: str) -> int:
    """Remove the files of months before `oldest` ("2026-05"); how many there were."""
    return LOG.retain(oldest)


def month(panel_id: str) -> str | None:
    """The month in a panel's id, before which nothing can be recorded of it; None when it is not an id."""
    match = _ID.fullmatch(panel_id)
    return f"{match[1]}-{match[2]}" if match else None


def _empty() -> dict[str, Any]:
    return {"waits": {}, "seen": {}}


def _fold(state: dict[str, Any], row: Mapping[str, Any]) -> None:
    """Count who waited: a candidate's wait grows with each panel, and ends when it answers."""
    seen = state["seen"]
    known = row["panel"] in seen
    if not known:
        seen[row["panel"]] = 1
        if len(seen) > REMEMBERED:
            del seen[next(iter(seen))]
    decision = row.get("decision") or {}
    candidates = [] if known else [_model(candidate) for candidate in decision.get("candidates", ())]
    answered = [_model(seat) for seat in row.get("seats", ()) if seat.get("status") in ANSWERED]
    count(state, row["collection"], candidates, answered)


def count(state: dict[str, Any], collection: str, candidates: Iterable[str], answered: Iterable[str]) -> None:
    """Add one panel to the waits of its collection."""
    waits = state["waits"].setdefault(collection, {})
    for model in candidates:
        waits[model] = waits.get(model, 0) + 1
    for model in answered:
        waits.pop(model, None)


def _model(named: Mapping[str, Any] | str) -> str:
    """The model_id of a candidate or seat; its alias in a record that has no more."""
    return named if isinstance(named, str) else str(named.get("model_id") or named.get("alias"))


LOG = JsonLog("panels", key="panel", partition="month", fold=_fold, empty=_empty, meaning=2)
