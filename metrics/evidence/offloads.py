"""Offloads: pieces of real work that a model did, a row for each call, judged or not.

An offload says what a verdict on its call is about: which model, in which collection, on what shape of task.
"""

import re
from typing import Any

from metrics.evidence import panels
from metrics.store import lines
from metrics.store.log import JsonLog

Row = dict[str, Any]

_CALL = re.compile(r"([pr]\d{8}-\d{6}-[0-9a-f]{4,32})\.(?:(?:member|explorer|merger)\d{0,4}|\d{1,6})")


def record(row: Row) -> None:
    """Record the work of one call. {at, call, panel, collection, shape, model, model_id, seat, status, task?,
    seconds, ...}"""
    LOG.submit(row)


def find(call: str) -> Row | None:
    """The offload of a call; None when there is none."""
    panel_id = panel_of(call)
    return LOG.find(call, panels.month(panel_id) or "") if panel_id else None


def recent(
    limit: int, before: str | None = None, collection: str | None = None
) -> tuple[list[Row], str | None]:
    """The latest offloads (of a collection), newest first, and the cursor of the next page."""
    if collection is None:
        return LOG.recent(limit, before)
    return LOG.recent(
        limit, before, lambda row: row.get("collection") == collection, lines.with_text(collection)
    )


def retain(oldest: str) -> int:
    """Remove the files of months before `oldest` ("2026-05"); how many there were."""
    return LOG.retain(oldest)


def panel_of(call: str) -> str | None:
    """The id of the panel or conversation that a call belongs to; None when `call` is not a call's id."""
    match = _CALL.fullmatch(call)
    return match[1] if match and panels.month(match[1]) else None


LOG = JsonLog("offloads", key="call", partition="month")
