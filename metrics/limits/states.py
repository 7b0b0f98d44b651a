"""Connections as they stand, for people: whether a call may go out now, when the next one may, who waits, and
what was refused lately. By the same arithmetic that calls are paced by; it asks nobody and reserves nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from metrics.bench import endpoints, roster
from metrics.bench.endpoints import Endpoint
from metrics.bench.roster import Model
from metrics.client import limit_rows
from metrics.client.quirks import host_of
from metrics.evidence import reliability
from metrics.limits import caps, gate, quota, refused
from metrics.limits.gate import NOBODY, Connection
from metrics.limits.scope import Scope
from metrics.limits.windows import Amounts
from metrics.store.stamps import stamp

Told = dict[str, Any]

SOON = 90.0  # seconds, a minute and its guards: a longer wait is no pacing, it is resting
ORDER = ("resting", "pacing", "free")


@dataclass(frozen=True, slots=True)
class Opening:
    """When a call of usual size may go out, and what it waits for until then ("" for nothing)."""

    at: float
    why: str = ""
    held: bool = False  # by a refusal or a user, not by a limit that is counted


def connections(now: float, quotas: Iterable[Told]) -> list[Told]:
    """One object for each connection of the user's, worst first: {connection, kind, models, price, state,
    next_at, why, held, in_use, waiting, refused}. `state` is free | pacing | resting, `next_at` a stamp while
    it is not free, `held` whether waking helps: a refusal or a user stands in the way, no limit that is used
    up, `models` are aliases, `price` free | paid | mixed | null, `refused` as refused.told. `quotas` are
    told.quotas(now)."""
    lowest: dict[str, float] = {}
    for one in quotas:
        if one["limit"]:
            left = one["remaining"] / one["limit"]
            lowest[one["connection"]] = min(left, lowest.get(one["connection"], left))
    models: dict[str, list[Model]] = {}
    for model in roster.all().values():
        models.setdefault(model.endpoint, []).append(model)
    known = [each for each in endpoints.all().values() if not each.builtin]
    listed = [_connection(each, models.get(each.name, []), now) for each in known]
    return sorted(
        listed,
        key=lambda one: (ORDER.index(one["state"]), lowest.get(one["connection"], 2.0), one["connection"]),
    )


def _connection(endpoint: Endpoint, models: Sequence[Model], now: float) -> Told:
    connection = gate.connection(endpoint.name, now)
    row, version = limit_rows.of_host(endpoint.host or host_of(endpoint.base)), caps.version(now)
    with connection.lock:
        whole = connection.scope("", now)
        scopes = [connection.scope(model.model_id, now) for model in models] or [whole]
        for scope in {id(scope): scope for scope in (whole, *scopes)}.values():
            connection.refresh(scope, version, row, now)
        openings = [_opening(connection, scope, now) for scope in scopes]
        in_use, waiting = whole.running, len(connection.line)
    if models:
        openings = [_rested(one, model, now) for one, model in zip(openings, models, strict=True)]
    first = min(openings, key=lambda opening: opening.at)
    return {
        "connection": endpoint.name,
        "kind": endpoint.kind,
        "models": sorted(model.alias for model in models),
        "price": _price(models),
        **_state(first, waiting, now),
        "in_use": in_use,
        "waiting": waiting,
        "refused": refused.told(quota.refusals(endpoint.name), now),
    }


def _state(first: Opening, waiting: int, now: float) -> Told:
    wait = first.at - now
    if wait <= 0:
        return {"state": "pacing" if waiting else "free", "next_at": None, "why": None, "held": False}
    word = "pacing" if wait <= SOON and not first.held else "resting"
    return {"state": word, "next_at": stamp(first.at), "why": first.why, "held": first.held}


def _opening(connection: Connection, scope: Scope, now: float) -> Opening:
    """When a call to the scope's model may go out by its limits and its connection's."""
    usual = round(scope.typical)
    ask = Amounts(1, usual, 0, usual)
    both = {id(one): one for one in (connection.scopes[""], scope)}.values()
    fits = [fit for one in both for fit in one.fits(ask, NOBODY, now)]
    last = max(fits, key=lambda fit: fit.at, default=None)
    if last is None or last.at <= now:
        return Opening(now)
    return Opening(last.at, last.why.words(), last.firm or bool(last.cause))


def _rested(opening: Opening, model: Model, now: float) -> Opening:
    """The same, of a model that rests for what its calls came to."""
    until = reliability.cooling(model.model_id, now)
    if until is None or until <= opening.at:
        return opening
    why = str(reliability.resting_why(model.model_id, now) or "").replace("_", " ")
    return Opening(until, f"it rests: {why}" if why else "it rests", True)


def _price(models: Sequence[Model]) -> str | None:
    """free | paid | mixed; None where nobody knows of any."""
    kinds = set()
    for model in models:
        if model.price is not None:
            free = bool(model.price.plan) or (model.price.input == 0 and model.price.output == 0)
            kinds.add("free" if free else "paid")
    return None if not kinds else kinds.pop() if len(kinds) == 1 else "mixed"
