"""/api/keys and /api/budgets: gateway keys and what may be spent, shown and changed.

A key itself is in one reply, that of its making; everything else knows it by its name and how it begins.
"""

import time
from typing import Any

from metrics.bench import allowances, collections, fields, keys, names, roster, scope
from metrics.bench.keys import Key
from metrics.dashboard import frame
from metrics.limits import budgets, cost, key_rates, ledger
from metrics.limits.spend import BENCH
from metrics.records import Problem
from metrics.web.table import Call, Response

NAMED = {"name": fields.line(64)}
BUDGET: dict[str, fields.Check] = {
    "key": fields.maybe(fields.line(64)),
    "collection": fields.maybe(fields.line(64)),
    **allowances.CHECKS,
}


def show(call: Call) -> Response:
    """Every key, or the one that `?name=` names."""
    name, now = call.param("name"), time.time()
    listed = [keys.get(name)] if name else list(keys.all().values())
    return frame.ok(keys=[_shown(key, now) for key in listed], problems=list(keys.SHELF.bad().values()))


def _shown(key: Key, now: float) -> dict[str, Any]:
    """A key with what it used: its windows of this minute, its budgets, and when it was last seen."""
    spent = ledger.spent([f"key:{key.name}"], now)[0]
    seen = [at for at in (frame.moment(keys.last_used(key)), spent["at"]) if at]
    return {
        **keys.shown(key),
        "expired": key.expires is not None and now >= key.expires,
        "last_used": max(seen, default=None),
        "spent": _spent(spent),
        "budgets": budgets.standing(key.name, None, now) if key.budget else [],
        "rates": key_rates.state(key, now),
    }


def _spent(told: dict[str, Any]) -> dict[str, Any]:
    """What was spent in USD, and how many calls of unknown cost are not, or by estimate, in it."""
    periods = {f"{period}_usd": cost.usd(told[period]) for period in allowances.PERIODS}
    return {**periods, "unknown_calls": told["unknown"]}


def create(call: Call) -> Response:
    form = fields.take(call.json(), {**NAMED, **keys.LIMITS}, required=("name",))
    name = form.pop("name")
    secret = keys.create(name, form, frame.by(call))
    return frame.ok(key=secret, **_named(name))


def rotate(call: Call) -> Response:
    name = _name(call)
    return frame.ok(key=keys.rotate(name, frame.by(call)), **_named(name))


def disable(call: Call) -> Response:
    return frame.ok(about=_shown(keys.enable(_name(call), False, frame.by(call)), time.time()))


def enable(call: Call) -> Response:
    return frame.ok(about=_shown(keys.enable(_name(call), True, frame.by(call)), time.time()))


def revoke(call: Call) -> Response:
    name = _name(call)
    keys.revoke(name, frame.by(call))
    return frame.ok(revoked=name)


def limit(call: Call) -> Response:
    """Change what a key may: the given fields of keys.LIMITS; null takes one away."""
    form = fields.take(call.json(), {**NAMED, **keys.LIMITS}, required=("name",))
    return frame.ok(about=_shown(keys.limit(form.pop("name"), form, frame.by(call)), time.time()))


def effective(call: Call) -> Response:
    """`?name=&model=`: what would happen if the key asked that now, and why; asks nobody."""
    key, now = keys.get(call.param("name")), time.time()
    model = call.param("model")
    if not model:
        raise Problem(400, "name what it would ask: ?model=bench/core", param="model")
    collection, mode, refusal = _resolved(key, model)
    if refusal is None:
        refusal = _stands_in_the_way(key, now)
    sitting = [] if collection is None else _members(key, collection, now)
    if refusal is None and sitting and not any(one["why"] is None for one in sitting):
        dear = any(one["status"] == 402 for one in sitting)
        refusal = Problem(402 if dear else 403, "; ".join(f"{one['alias']} {one['why']}" for one in sitting))
    return frame.ok(
        name=key.name,
        model=model,
        collection=collection,
        mode=mode,
        allowed=refusal is None,
        status=200 if refusal is None else refusal.status,
        why="it would be asked" if refusal is None else refusal.message,
        members=sitting,
        budgets=budgets.standing(key.name, collection, now),
        rates=key_rates.state(key, now),
    )


def _resolved(key: Key, model: str) -> tuple[str | None, str | None, Problem | None]:
    """(collection, mode, why not) of a model name for this key."""
    try:
        with scope.of(key.scope):
            collection, mode = names.resolve(model)
    except Problem as problem:
        return None, None, problem
    return collection, mode, None


def _stands_in_the_way(key: Key, now: float) -> Problem | None:
    if not key.enabled:
        return Problem(401, f'the key "{key.name}" is disabled')
    if key.expires is not None and now >= key.expires:
        return Problem(401, f'the key "{key.name}" has expired')
    for kind, told in key_rates.state(key, now).items():
        if told["left"] <= 0:
            return Problem(429, f"its {kind} of {told['limit']:,} is used up for this minute")
    return None


def _members(key: Key, collection: str, now: float) -> list[dict[str, Any]]:
    """Each member, and why it would not be asked (None: it would), for a short question."""
    room, allowed, bench = budgets.room(key.name, collection, now), key.scope.aliases(), roster.all()
    told = []
    for alias in collections.get(collection).members:
        status, why = 403, None
        if alias not in bench:
            status, why = 404, "is not on the bench"
        elif allowed is not None and alias not in allowed:
            why = "is not among the models of this key"
        else:
            status, why = 402, room.take(budgets.estimate(roster.target(alias), 0, None))
        told.append({"alias": alias, "why": why, "status": status if why else 200})
    return told


def show_budgets(call: Call) -> Response:
    """Every budget as it stands: the bench's, the collections' and the keys'."""
    now, rules = time.time(), allowances.all()
    listed = {"bench": _stands(BENCH, rules["bench"], now)}
    for name, each in rules["collections"].items():
        listed[f"collection:{name}"] = _stands(f"collection:{name}", each, now)
    for key in keys.all().values():
        if key.budget:
            each = {"budget": key.budget, "unknown_cost": key.unknown_cost}
            listed[f"key:{key.name}"] = _stands(f"key:{key.name}", each, now)
    return frame.ok(budgets=listed)


def _stands(subject: str, rules: dict[str, Any], now: float) -> dict[str, Any]:
    return {
        "unknown_cost": rules["unknown_cost"],
        "spent": _spent(ledger.spent([subject], now)[0]),
        "periods": budgets.stands(subject, rules, now),
    }


def set_budget(call: Call) -> Response:
    """{key? or collection?, budget, unknown_cost?}: neither means the whole bench; a null budget is none."""
    form = fields.take(call.json(), BUDGET)
    key, collection = form.pop("key", None), form.pop("collection", None)
    if key and collection:
        raise Problem(400, 'name a "key" or a "collection", not both', param="collection")
    if not form:
        raise Problem(400, 'say what the budget is: "budget", "unknown_cost"', param="budget")
    if key:
        keys.limit(key, form, frame.by(call))
    else:
        if collection:
            collections.get(collection)
        allowances.save(collection, form, frame.by(call))
    return show_budgets(call)


def _name(call: Call) -> str:
    return str(fields.take(call.json(), NAMED, required=("name",))["name"])


def _named(name: str) -> dict[str, Any]:
    return {"about": _shown(keys.get(name), time.time())}


HANDLERS = (
    frame.get(
        "/api/keys",
        show,
        says="""`?name=` → `{keys: [{name, prefix, created, enabled, expired, expires, last_used,
            collections, models, modes, rpm, tpm, budget, unknown_cost, spent, budgets, rates}]}`;
            `null` in a scope is no limit""",
    ),
    frame.post(
        "/api/key/create",
        create,
        says="""`{name, collections?, models?, modes?, rpm?, tpm?, budget?, unknown_cost?, expires?}` →
            `{key, about}`: the only reply with the key itself. `budget` is `"5usd/month"` or
            `{day?, month?, total?}`, `expires` a span (`90d`) or a date""",
    ),
    frame.post(
        "/api/key",
        limit,
        says="`{name, …any of these}`: changes them; `null` takes one away",
    ),
    frame.post(
        "/api/key/rotate",
        rotate,
        says="`{name}` → `{key, about}`",
    ),
    frame.post(
        "/api/key/disable",
        disable,
        says="`{name}`",
    ),
    frame.post(
        "/api/key/enable",
        enable,
        says="`{name}`",
    ),
    frame.post(
        "/api/key/revoke",
        revoke,
        says="`{name}`",
    ),
    frame.get(
        "/api/key/effective",
        effective,
        says="""`?name=&model=` → `{allowed, status, why, collection, mode, members: [{alias, why,
            status}], budgets, rates}`; asks nobody""",
    ),
    frame.get(
        "/api/budgets",
        show_budgets,
        says="""`{budgets: {bench, "collection:NAME", "key:NAME"}}`, each `{spent, unknown_cost,
            periods: [{period, limit_usd, spent_usd, held_usd, left_usd, renews}]}`""",
    ),
    frame.post(
        "/api/budget",
        set_budget,
        says="""`{budget, key? or collection?, unknown_cost?}`: neither means the whole bench; `null` is
            none""",
    ),
)
