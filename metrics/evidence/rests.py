"""Who rests because somebody said so, and who was woken: models one by one, or all of a connection.

A row is {"of": a model_id, or a connection's name and a colon, "until": epoch seconds, or null for awake,
"by", "at"}; the latest of each counts. What a provider's refusals come to is reliability's; waking somebody
makes what was known up to then of resting and failing count no more.
"""

from typing import Any

from metrics.store.log import JsonLog
from metrics.store.stamps import epoch, stamp

LONGEST = 30 * 86_400.0  # seconds; for good is what retiring is for


def rest(of: str, until: float, by: str, now: float) -> None:
    """Let a model (its id) or a connection (its name and a colon) rest until then."""
    _append(of, round(until, 3), by, now)


def wake(of: str, by: str, now: float) -> None:
    """End what rests there, whatever the reason. Waking a connection wakes each of its models too."""
    _append(of, None, by, now)


def until(model_id: str, now: float) -> float | None:
    """Until when the model rests because somebody said so, of it or of its whole connection."""
    if not LOG.state:
        return None
    both = (resting(model_id, now), resting(_connection(model_id), now))
    return max((each for each in both if each), default=None)


def resting(of: str, now: float) -> float | None:
    """Until when that rests itself: a model's id, or a connection's name and a colon."""
    said = LOG.state.get(of)
    until: float | None = said and said["until"]
    return until if until and until > now else None


def woken(model_id: str) -> float:
    """When the model was last woken; long ago if never."""
    said = LOG.state
    if not said:
        return -1.0
    both = (said.get(model_id), said.get(_connection(model_id)))
    return max((each["woken"] for each in both if each), default=-1.0)


def _connection(model_id: str) -> str:
    return model_id.partition(":")[0] + ":"


def _append(of: str, until: float | None, by: str, now: float) -> None:
    LOG.append({"of": of, "until": until, "by": by, "at": stamp(now)})


def _fold(state: dict[str, Any], row: dict[str, Any]) -> None:
    of, at = row["of"], epoch(row["at"])
    before = state.get(of, {"woken": -1.0})
    state[of] = {"until": row["until"], "at": at, "woken": at if row["until"] is None else before["woken"]}
    if row["until"] is None and of.endswith(":"):
        for other in [each for each in state if each.startswith(of) and each != of]:
            del state[other]


LOG = JsonLog("rests.jsonl", fold=_fold)
