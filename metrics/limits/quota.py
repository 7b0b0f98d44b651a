"""What is known of limits: of whom, from whom, and how old it is.

Sources in order of trust: "set" by the user, "headers" of an answer, "error", a refusal that named it, and
"learned" from what was refused. The first that knows a window decides it. What was stated is a line in
quotas/ when it changes, never with every answer, and is folded into what is known; what a user set stays in
limits.json, and our own refusals are nobody's statement, so they are in neither. A provider's refusals are
counted by the hour beside (limits/refused).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metrics import bus
from metrics.client import limit_rows
from metrics.client.limit_rows import Row
from metrics.limits import caps, cost, refused
from metrics.limits.caps import WORDS, Caps
from metrics.store import stamps
from metrics.store.log import JsonLog

SOURCES = ("set", "headers", "error", "learned")
# Seconds after which a statement no longer counts. Headers come anew with every answer; an error says nothing
# once its limit was raised.
AGES = {"error": 86_400.0, "learned": 21_600.0}

# {"limits": {"requests/minute": {source: [limit, kind, at]}}, "hold": [until, cause, at]}
Known = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit in force. `amount` is in its metric's units (USD in 1e-12), `seconds` the window's length,
    None for calendar windows and concurrency; `at` is when its source said so, epoch seconds."""

    metric: str
    window: str
    amount: float
    seconds: float
    kind: str
    source: str
    at: float | None

    @property
    def shown(self) -> float:
        return self.amount / cost.UNITS if self.metric == "usd" else self.amount

    def words(self) -> str:
        """As a sentence names it."""
        if self.metric == "concurrency":
            return f"{self.amount:g} calls at once"
        what = "USD" if self.metric == "usd" else self.metric.replace("_", " ")
        what = what.removesuffix("s") if self.amount == 1 else what
        return f"{self.shown:,.10g} {what} a {self.window}"


def in_force(known: Known, capped: Caps, row: Row, now: float) -> tuple[tuple[Limit, ...], float]:
    """The limits of a connection or model, the most trusted source of each window, and until when that stays
    so unless something is said."""
    found: dict[str, Limit] = {}
    until = float("inf")
    for key, sources in known.get("limits", {}).items():
        metric, _, window = key.partition("/")
        for source in SOURCES:
            limit, kind, at = sources.get(source) or (None, "", 0.0)
            if limit and at + AGES.get(source, float("inf")) > now and _countable(metric, window):
                until = min(until, at + AGES.get(source, float("inf")))
                found[key] = _limit(metric, window, limit, kind or limit_rows.kind(row, window), source, at)
                break
    for name, value in capped.values.items():
        word, at = WORDS[name], stamps.epoch(capped.at) if capped.at else None
        amount = value * cost.UNITS if word.metric == "usd" else value
        kind = "fixed" if name == "usd_day" else limit_rows.kind(row, word.window)
        found[f"{word.metric}/{word.window}"] = _limit(word.metric, word.window, amount, kind, "set", at)
    return tuple(found.values()), until


def _countable(metric: str, window: str) -> bool:
    """Whether we can tell how much of it is used: nobody can of a window that is not known."""
    seconds = limit_rows.length(window)
    return metric == "concurrency" or window == "month" or (seconds is not None and seconds <= 86_400)


def _limit(metric: str, window: str, amount: float, kind: str, source: str, at: float | None) -> Limit:
    seconds = limit_rows.length(window) or 0.0
    return Limit(metric, window, amount, seconds, kind or "rolling", source, at)


# --- what was stated


def state(known: Known, key: str, source: str, limit: float, kind: str, now: float) -> bool:
    """Take a statement; whether it is news."""
    sources = known.setdefault("limits", {}).setdefault(key, {})
    before = sources.get(source)
    sources[source] = [limit, kind, now]
    return before is None or before[:2] != [limit, kind] or now - before[2] > KEEP_AGE


KEEP_AGE = 3600.0  # seconds after which a statement that has not changed is written down again, for its age


def note(connection: str, model_id: str, now: float, **said: Any) -> None:
    """Keep a statement (`key source limit kind`), a hold (`until cause`) or a refusal (refused.row_of)."""
    row = {"at": stamps.stamp(now), "connection": connection, "model_id": model_id, **said}
    LOG.submit(row)
    bus.publish("quota", row)


def _fold(known: dict[str, Any], row: Mapping[str, Any]) -> None:
    at = stamps.epoch(row["at"])
    scope = known.setdefault(row["connection"], {}).setdefault(row["model_id"], {})
    if "key" in row:
        state(scope, row["key"], row["source"], row["limit"], row["kind"], at)
    if "until" in row:
        scope["hold"] = [row["until"], row["cause"], at]
    if "refused" in row:
        refused.fold(scope.setdefault("refused", {}), row)


LOG = JsonLog("quotas", partition="month", fold=_fold)


def remembered(connection: str) -> dict[str, Known]:
    """What is known of a connection ("") and of each model on it, for whoever begins to count."""
    return LOG.counted(
        lambda known: {
            name: {
                "limits": {key: dict(sources) for key, sources in scope.get("limits", {}).items()},
                "hold": scope.get("hold"),
            }
            for name, scope in known.get(connection, {}).items()
        }
    )


def connections() -> list[str]:
    """Those of which something was stated."""
    return LOG.counted(lambda known: list(known))


def refusals(connection: str) -> list[tuple[str, dict[str, Any]]]:
    """What was refused of a connection ("") and of each model on it (refused.Kept), for refused.told."""
    return LOG.counted(
        lambda known: [
            (name, {"hours": dict(kept["hours"]), "last": kept["last"]})
            for name, scope in known.get(connection, {}).items()
            if (kept := scope.get("refused"))
        ]
    )


def retain(oldest: str) -> int:
    """Remove the files of months before `oldest` ("2026-05"); how many there were."""
    return LOG.retain(oldest)


def capped(connection: str, model_id: str) -> Caps:
    """What a user set for a model, or with "" for the connection."""
    return caps.of_model(model_id) if model_id else caps.of_connection(connection)
