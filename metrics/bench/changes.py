"""Who changed what: one line in changes.jsonl for every accepted edit of the bench.

A secret is never a value here: its owner notes that it was set, replaced or removed.
"""

import time
from collections.abc import Mapping
from typing import Any

from metrics import bus
from metrics.store.log import JsonLog
from metrics.store.stamps import stamp

LOG = JsonLog("changes.jsonl", durable=True)


def note(by: str, what: str, field: str, old: Any, new: Any) -> None:
    """One accepted edit: `by` changed `field` of `what` ("endpoint groq") from `old` to `new`."""
    _record([_row(by, what, field, old, new)])


def differences(by: str, what: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """A note for every field that differs between two versions of `what`; a missing one counts as null."""
    changed = [field for field in dict.fromkeys((*old, *new)) if old.get(field) != new.get(field)]
    _record([_row(by, what, field, old.get(field), new.get(field)) for field in changed])


def recent(limit: int, before: str | None = None) -> tuple[list[dict[str, Any]], str | None]:
    """The latest `limit` changes, newest first, and the cursor of the next page."""
    return LOG.recent(limit, before)


def _record(rows: list[dict[str, Any]]) -> None:
    LOG.append_all(rows)
    for row in rows:
        bus.publish("change", {name: row[name] for name in ("by", "what", "field", "at")})


def _row(by: str, what: str, field: str, old: Any, new: Any) -> dict[str, Any]:
    return {"at": stamp(time.time()), "by": by, "what": what, "field": field, "old": old, "new": new}
