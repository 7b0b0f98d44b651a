"""Limits as they stand, for people: of each connection and model what is allowed, used, left, until when, who
said so and how long ago. The same figures that calls are paced by."""

import math
from collections.abc import Iterator
from typing import Any

from metrics.bench import endpoints, roster
from metrics.client import limit_rows
from metrics.client.limit_rows import Row
from metrics.client.quirks import host_of
from metrics.limits import caps, cost, forecast, gate, quota
from metrics.limits.gate import Connection
from metrics.limits.quota import Limit
from metrics.limits.scope import Left, Scope
from metrics.store.stamps import stamp

Told = dict[str, Any]


def quotas(now: float) -> list[Told]:
    """One object for each limit that is known: {connection, model, model_id, metric, window, kind, limit,
    used, remaining, reset_at, source, observed_at, age_s, why, forecast}. `model` and `model_id` are null
    where the limit is the connection's; a window that is only known by a refusal is "retry-after", its
    `limit` and `used` null. `forecast` is forecast.ahead's, mostly null. Times are stamps."""
    aliases: dict[str, str] = {}
    for model in roster.all().values():
        aliases.setdefault(model.model_id, model.alias)
    found: list[Told] = []
    known = {name: endpoint for name, endpoint in endpoints.all().items() if not endpoint.builtin}
    for name in sorted({*known, *quota.connections(), *caps.CONNECTIONS.good()}):
        endpoint = known.get(name)
        row = limit_rows.of_host(endpoint.host or host_of(endpoint.base)) if endpoint else limit_rows.UNKNOWN
        connection = gate.connection(name, now)
        if connection.unsure:
            connection.catch_up(now)
        version = caps.version(now)
        with connection.lock:
            for model_id in caps.MODELS.good():
                if model_id.startswith(f"{name}:"):
                    connection.scope(model_id, now)
            told = [
                one | {"model": aliases.get(scope.model_id), "model_id": scope.model_id or None}
                for scope in connection.scopes.values()
                for one in _scope(connection, scope, version, row, now)
            ]
        found += [{"connection": name, **one} for one in told]
    return found


def _scope(connection: Connection, scope: Scope, version: object, row: Row, now: float) -> Iterator[Told]:
    connection.refresh(scope, version, row, now)
    lefts = {key: left for key, left in scope.left.items() if left.until > now}
    for limit in scope.limits:
        yield _limit(scope, limit, lefts.pop(f"{limit.metric}/{limit.window}", None), now)
    for left in lefts.values():
        yield _left(left, now)
    hold = scope.hold
    if hold is not None and hold.until > now:
        yield {
            **_record("requests", "retry-after", None, None, 0, hold.until),
            **_said("error", hold.at, now),
            "why": hold.words(),
        }


def _limit(scope: Scope, limit: Limit, left: Left | None, now: float) -> Told:
    if limit.metric == "concurrency":
        used, resets = float(scope.running), None
    else:
        window = scope.window(limit, now)
        used, resets = window.used(now), window.resets(now)
    used = used / cost.UNITS if limit.metric == "usd" else math.ceil(used - 1e-9)  # buckets hold fractions
    remaining = max(0.0, limit.shown - used)
    if left is not None:  # somebody else may use the same key
        remaining, resets = min(remaining, _whole(left.now(now))), left.until
    told = _record(limit.metric, limit.window or "at-once", limit.shown, used, remaining, resets)
    begin = forecast.begun(limit.kind, limit.window, limit.seconds, now)
    ahead = forecast.ahead(limit.metric, limit.shown, limit.shown - remaining, begin, resets, now)
    return {**told, **_said(limit.source, limit.at, now), "kind": limit.kind, "forecast": ahead}


def _left(left: Left, now: float) -> Told:
    told = _record(left.metric, left.window, left.limit, None, _whole(left.now(now)), left.until)
    return {**told, **_said("headers", left.at, now)}


def _whole(amount: float) -> float:
    return float(max(0, math.floor(amount + 1e-9)))


def _record(
    metric: str, window: str, limit: float | None, used: float | None, remaining: float, resets: float | None
) -> Told:
    return {
        "metric": metric,
        "window": window,
        "kind": None,
        "limit": _plain(limit),
        "used": _plain(used),
        "remaining": _plain(remaining),
        "reset_at": None if resets is None else stamp(resets),
        "why": None,
        "forecast": None,
    }


def _said(source: str, at: float | None, now: float) -> Told:
    return {
        "source": source,
        "observed_at": None if at is None else stamp(at),
        "age_s": None if at is None else round(max(0.0, now - at), 1),
    }


def _plain(value: float | None) -> float | int | None:
    """A figure as a person wrote it: whole where it is whole."""
    if value is None:
        return None
    value = round(value, 9)
    return int(value) if value == int(value) else value
