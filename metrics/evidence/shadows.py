"""Shadow seats: what another member did with a route turn that one had answered, a row each, without words.

The log's counters hold how many there were of a day, so that a collection's cap survives a restart, and how
often each pair of models agreed.
"""

from collections.abc import Mapping
from typing import Any

from metrics.evidence import panels
from metrics.store import lines
from metrics.store.log import JsonLog

Row = dict[str, Any]

# How alike two answers to one turn were: both did the same; the same tools with other arguments; other tools;
# one called tools and the other spoke, or refused; the shadow gave no answer.
AGREEMENTS = ("same", "arguments", "tools", "kind", "failed")

DAYS = 7  # whose numbers are kept


def record(row: Row) -> None:
    """Record one shadow seat. {at, shadow_call, call (of the member that played), conversation, turn,
    collection, key, model, model_id, shadow, shadow_id, status, error, agreement, tools, shadow_tools,
    differs, seconds}"""
    LOG.submit(row)


def placed(collection: str, day: str) -> int:
    """How many shadow seats the collection had on `day` ("2026-11-29", UTC)."""
    return LOG.counted(lambda state: int(state["days"].get(day, {}).get(collection, 0)))


def agreement(collection: str | None = None) -> list[Row]:
    """How often each pair of models agreed: [{collection, model, shadow, turns, same, arguments, tools, kind,
    failed}], aliases as they were last."""
    return LOG.counted(
        lambda state: [
            {"collection": name, **tally}
            for name, pairs in state["pairs"].items()
            if collection in (None, name)
            for tally in pairs.values()
        ]
    )


def of(conversation: str, turn: int) -> Row | None:
    """The shadow seat of a turn; None when it had none."""
    since = panels.month(conversation)
    return LOG.find(f"{conversation}.shadow{turn}", since) if since else None


def recent(
    limit: int, before: str | None = None, collection: str | None = None
) -> tuple[list[Row], str | None]:
    """The latest shadow seats (of a collection), newest first, and the cursor of the next page."""
    if collection is None:
        return LOG.recent(limit, before)
    return LOG.recent(
        limit, before, lambda row: row.get("collection") == collection, lines.with_text(collection)
    )


def retain(oldest: str) -> int:
    """Remove the files of months before `oldest` ("2026-05"); how many there were."""
    return LOG.retain(oldest)


def _empty() -> dict[str, Any]:
    return {"days": {}, "pairs": {}}


def _fold(state: dict[str, Any], row: Mapping[str, Any]) -> None:
    days = state["days"]
    day = days.setdefault(row["at"][:10], {})
    day[row["collection"]] = day.get(row["collection"], 0) + 1
    if len(days) > DAYS:
        del days[min(days)]
    pairs = state["pairs"].setdefault(row["collection"], {})
    tally = pairs.setdefault(
        f"{row['model_id']} {row['shadow_id']}", {"turns": 0, **dict.fromkeys(AGREEMENTS, 0)}
    )
    tally |= {"model": row["model"], "shadow": row["shadow"], "turns": tally["turns"] + 1}
    tally[row["agreement"]] += 1


LOG = JsonLog("shadows", key="shadow_call", partition="month", fold=_fold, empty=_empty)
