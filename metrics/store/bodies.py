"""What was asked and answered, in full, apart from the records of it, so that those stay small.

Bodies are rows of a log with a file a day, by the day in the panel's id. A file goes after some days, but the
bodies in it that somebody still needs. Whether bodies are kept at all is the caller's setting.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from metrics.store import home, lines, stamps
from metrics.store.log import JsonLog

DAY = 86_400.0

_ID = re.compile(r"[pr](\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-[0-9a-f]{4,32}")

Body = dict[str, Any]


def keep(panel_id: str, body: Body) -> None:
    """Have `body` written as the body of this panel, in place of an earlier one."""
    LOG.submit({"panel": panel_id, "at": _moment(panel_id), "body": body})


def read(panel_id: str) -> Body | None:
    """The body of a panel; None when there is none, it has expired, or the id is not one."""
    match = _ID.fullmatch(panel_id)
    if not match:
        return None
    day = "-".join(match.groups()[:3])
    row = LOG.find(panel_id, since=day, until=day)
    body = row.get("body") if row else None
    return body if isinstance(body, dict) else None


def sweep(now: float, days: float, keep: Callable[[str], bool]) -> int:
    """Remove the bodies of panels older than so many `days`, but those whose id `keep` wants. Returns how
    many went."""
    return LOG.thin(stamps.stamp(now - days * DAY)[:10], keep)


def expiring(now: float, days: float) -> Iterator[tuple[str, int]]:
    """(panel's id, bytes) of every body older than so many `days`: what `sweep` would ask about."""
    oldest = stamps.stamp(now - days * DAY)[:10]
    for path in sorted(home.path(LOG.name).glob("*.jsonl")):
        if path.name < oldest:
            for found in lines.forwards(path, 0, lines.size_of(path)):
                for _, line in found:
                    panel_id = (lines.decode(line) or {}).get("panel")
                    if isinstance(panel_id, str):
                        yield panel_id, len(line)


def flush() -> None:
    """Write all bodies that wait. Problem when the disk refuses."""
    LOG.flush()


def _moment(panel_id: str) -> str:
    """When the panel was seated, as its id says. ValueError when it is no id."""
    match = _ID.fullmatch(panel_id)
    if not match:
        raise ValueError(f"{panel_id!r} is not a panel's id")
    year, month, day, hour, minute, second = match.groups()
    return f"{year}-{month}-{day}T{hour}:{minute}:{second}.000Z"


LOG = JsonLog("bodies", key="panel", partition="day", large=True)
