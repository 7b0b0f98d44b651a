"""What the data folder weighs and what bounds it, and taking away what is past its time.

The daily jobs do this by themselves as the settings say; here it is asked for, perhaps with other bounds for
once, and told first. What somebody judged is not lost by accident: the words of judged panels stay, and
months that hold judged panels only go when the one who asks says so.
"""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from metrics.bench import changes, settings
from metrics.evidence import offloads, panels, routes, shadows, verdicts
from metrics.limits import ledger, quota
from metrics.records import Problem
from metrics.store import bodies, holdings, home, lines, stamps

DAY = 86_400.0
LOGS = {
    "panels": panels,
    "routes": routes,
    "offloads": offloads,
    "shadows": shadows,
    "ledger": ledger,
    "quotas": quota,
}


@dataclass(frozen=True, slots=True)
class Wish:
    """What to take away. `body_days` and `log_months` are None for what the settings say; `log_months` 0
    keeps them all. `judged_too`: months go although they hold judged panels."""

    body_days: int | None = None
    log_months: int | None = None
    judged_too: bool = False
    dry_run: bool = False


@dataclass(slots=True)
class Told:
    """What goes, or went: panels with words, those of them that nobody judged yet although somebody
    answered, and those that stay because they are judged; by log the files, and of their panels the judged
    and the owed."""

    bodies: dict[str, Any] = field(default_factory=dict)
    months: dict[str, Any] = field(default_factory=dict)
    leftovers: dict[str, int] = field(default_factory=dict)


def weighed() -> dict[str, Any]:
    """{"home", "bytes", "free", "kinds": [{"kind", "what", "files", "bytes", "oldest", "newest", "bound",
    "setting", "value"}], "other": [names of what is not this program's, 20 at most]}. `free` is null where
    the system does not say."""
    folder = home.current()
    about = {kind.name: kind for kind in holdings.KINDS}
    rows: list[dict[str, Any]] = []
    for held in holdings.look(folder):
        kind = about.get(held.kind)
        setting = kind.bound if kind and kind.bound in settings.SETTINGS else None
        rows.append(
            {
                "kind": held.kind,
                "what": kind.what if kind else "not this program's",
                "files": held.files,
                "bytes": held.bytes,
                "oldest": held.oldest or None,
                "newest": held.newest or None,
                "bound": bound(setting) if setting else kind.bound if kind else "never touched",
                "setting": setting,
            }
        )
    names = [name for name, _, _ in holdings.sizes(folder) if holdings.kind_of(name) == holdings.OTHER]
    total = sum(row["bytes"] for row in rows)
    free = holdings.free(folder)
    return {"home": str(folder), "bytes": total, "free": free, "kinds": rows, "other": sorted(names)[:20]}


def bound(setting: str) -> str:
    """What limits it, in words, as the settings are now."""
    value = settings.get(setting)
    if setting == "body_days":
        return f"{value} days, but for judged ones"
    return f"{value} months" if value else "no bound (setting log_months)"


def prune(wish: Wish, now: float | None = None, by: str = "local") -> dict[str, Any]:
    """Take away what `wish` says, or with its `dry_run` tell what that would be: {"dry_run", "bodies",
    "months", "leftovers", "bytes"}: what it came to in bytes. That judged or owed panels went is noted among
    the changes, as done by `by`.

    Problem 409 when months hold judged panels and the wish does not say that they may go too; nothing is gone
    then. Problem when the disk refuses.
    """
    now = time.time() if now is None else now
    days = settings.get("body_days") if wish.body_days is None else wish.body_days
    months = settings.get("log_months") if wish.log_months is None else wish.log_months
    before = sum(held.bytes for held in holdings.look(home.current()))
    told = Told(months=_months(months, now))
    if told.months["judged"] and not wish.judged_too and not wish.dry_run:
        raise Problem(409, _held_back(told.months), kind="judged", retryable=False)
    told.bodies = _bodies(days, now, wish.dry_run)
    if months and not wish.dry_run:
        _drop(told.months, by)
        bodies.sweep(now, days, verdicts.judged)  # the words of panels that are not recorded any more
    told.leftovers = _leftovers(now, wish.dry_run)
    freed = told.bodies["bytes"] + told.months["bytes"] + told.leftovers["bytes"]
    if not wish.dry_run:
        freed = max(0, before - sum(held.bytes for held in holdings.look(home.current())))
    return {
        "dry_run": wish.dry_run,
        "bodies": told.bodies,
        "months": told.months,
        "leftovers": told.leftovers,
        "bytes": freed,
    }


def drop_months(months: int, now: float, by: str) -> int:
    """Take away the records of months that are not kept any more (0 keeps all); how many files went."""
    return _drop(_months(months, now), by) if months else 0


def _drop(months: dict[str, Any], by: str) -> int:
    if months["judged"] or months["owed"]:
        lost = f"{months['judged']} judged, {months['owed']} owed a verdict"
        changes.note(by, "records", f"panels before {months['before']}", lost, None)
    return sum(log.retain(months["before"]) for log in LOGS.values())


def _held_back(months: dict[str, Any]) -> str:
    return (
        f"panels from before {months['before']} that are judged: {months['judged']}. With their rows go the "
        "answers that were judged (the verdicts and what they count for stay). Say that these may go too: "
        "`bench prune --judged-too`; or keep more months: `bench prune --log-months N`"
    )


def _bodies(days: int, now: float, dry_run: bool) -> dict[str, Any]:
    tally = {"panels": 0, "owed": 0, "judged_kept": 0}

    def keep(panel_id: str) -> bool:
        if verdicts.judged(panel_id):
            tally["judged_kept"] += 1
            return True
        tally["panels"] += 1
        tally["owed"] += owed(panels.find(panel_id))
        return False

    size = 0
    if dry_run:
        weights: dict[str, int] = {}
        for panel_id, weight in bodies.expiring(now, days):
            weights[panel_id] = weights.get(panel_id, 0) + weight
        size = sum(weight for panel_id, weight in weights.items() if not keep(panel_id))
    else:
        bodies.sweep(now, days, keep)
    return {"days": days, "before": stamps.stamp(now - days * DAY)[:10], "bytes": size, **tally}


def owed(panel: panels.Row | None) -> bool:
    """Whether somebody answered in the panel, so that a verdict can be given."""
    return panel is not None and any(
        seat.get("status") in panels.ANSWERED and "call" in seat for seat in panel.get("seats", ())
    )


def _months(months: int, now: float) -> dict[str, Any]:
    """What lies before the months that are kept: files by log, bytes, and how many panels there are judged
    and owed."""
    found: dict[str, Any] = {"keep": months, "before": "", "files": {}, "bytes": 0, "judged": 0, "owed": 0}
    if not months:
        return found
    found["before"] = oldest = stamps.months_before(now, months)
    for name, size, _ in holdings.sizes(home.current()):
        kind, file = holdings.kind_of(name), name.rpartition("/")[2]
        if kind in LOGS and file[:7] < oldest and holdings.PART.match(file.partition(".")[0]):
            found["bytes"] += size
            if file.endswith(".jsonl"):
                found["files"].setdefault(kind, []).append(file)
    worth = Counter(_worth(found["files"].get("panels", ())).values())
    return found | {"judged": worth["judged"], "owed": worth["owed"]}


def _worth(files: "list[str] | tuple[str, ...]") -> dict[str, str]:
    """What the latest row of each panel in these files is: judged, owed or "". The rows themselves, of which
    there may be gigabytes, are let go piece by piece."""
    found: dict[str, str] = {}
    for file in files:
        path = home.path("panels") / file
        for piece in lines.forwards(path, 0, lines.size_of(path)):
            rows = [row for row in (lines.decode(line) for _, line in piece) if row]
            given = verdicts.of_each([call for row in rows for call in _calls(row)])
            for row in rows:
                judged = any(call in given for call in _calls(row))
                found[str(row.get("panel"))] = "judged" if judged else "owed" if owed(row) else ""
    return found


def _calls(row: panels.Row) -> list[str]:
    return [seat["call"] for seat in row.get("seats", ()) if "call" in seat]


def _leftovers(now: float, dry_run: bool) -> dict[str, int]:
    """What killed writers left more than a day ago, if its own writer is not at work."""
    found = holdings.leftovers(home.current(), now - DAY)
    if not dry_run:
        holdings.remove(home.current(), [name for name, _ in found])
    return {"files": len(found), "bytes": sum(size for _, size in found)}
