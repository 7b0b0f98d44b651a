"""models.dev's list of providers and what each serves, read into our vocabulary.

Its api.json is an object of providers {id, name, api?, models: {id: model}}; a model has limit, modalities,
cost and flags, costs in USD per million tokens. A cost that is not there is unknown, 0 is free. (Source:
models.dev's own README and schema.)
"""

import json
from collections.abc import Mapping
from typing import Any

from metrics.bench.catalog import facts
from metrics.bench.catalog.facts import Facts
from metrics.records import Problem

URL = "https://models.dev/api.json"
LARGE = 200_000  # tokens above which `context_over_200k` holds

Providers = dict[str, dict[str, Any]]  # id -> {"name", "base"?, "models": {served: Facts}}


def read(body: bytes) -> Providers:
    """What it says of each provider's models. Problem 502 when it is something else."""
    try:
        listed = json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        listed = None
    found = {
        str(name): _provider(str(name), one)
        for name, one in (listed.items() if isinstance(listed, dict) else ())
        if isinstance(one, Mapping) and isinstance(one.get("models"), Mapping)
    }
    if not found:
        raise Problem(502, f"{URL} is no list of providers any more", kind="garbage")
    return found


def _provider(name: str, one: Mapping[str, Any]) -> dict[str, Any]:
    models = {
        str(served): model(entry) for served, entry in one["models"].items() if isinstance(entry, Mapping)
    }
    base = one.get("api")
    kept = {"name": facts.text(one.get("name")) or name, "models": models}
    return kept | ({"base": base} if isinstance(base, str) and base else {})


def model(entry: Mapping[str, Any]) -> Facts:
    """The facts of one model."""
    limit, modalities = _part(entry, "limit"), _part(entry, "modalities")
    reads = facts.words(modalities.get("input"))
    return facts.said(
        name=facts.text(entry.get("name")),
        context=facts.whole(limit.get("context")),
        max_output=facts.whole(limit.get("output")),
        tools=facts.truth(entry.get("tool_call")),
        vision="image" in reads if reads else None,
        reasoning=facts.truth(entry.get("reasoning")),
        structured_output=facts.truth(entry.get("structured_output")),
        input=reads,
        output=facts.words(modalities.get("output")),
        knowledge=facts.date(entry.get("knowledge")),
        released=facts.date(entry.get("release_date")),
        open_weights=facts.truth(entry.get("open_weights")),
        family=facts.text(entry.get("family")),
        status=facts.text(entry.get("status")),
        price=_price(_part(entry, "cost")) or None,
    )


def _price(cost: Mapping[str, Any]) -> dict[str, Any]:
    """`tiers` say above which size of the input they hold; the older `context_over_200k` says it by its
    name."""
    price: dict[str, Any] = _rates(cost)
    tiers = {}
    listed = cost.get("tiers")
    for tier in listed if isinstance(listed, list) else ():
        size = facts.whole(_part(_part(tier, ""), "tier").get("size"))
        if size and tier["tier"].get("type", "context") == "context":
            tiers[size] = _rates(tier)
    if not tiers and (over := _rates(_part(cost, "context_over_200k"))):
        tiers[LARGE] = over
    if price and tiers:
        price["tiers"] = [{"above": size, **rates} for size, rates in sorted(tiers.items()) if rates]
    return price


def _rates(cost: Mapping[str, Any]) -> dict[str, float]:
    """The prices that are said. Where thinking has a price of its own, what an answer costs hangs on how it
    came about, which a call does not tell: then the output's is unknown rather than too low."""
    rates = {name: facts.usd(cost.get(name)) for name in facts.PRICES}
    if facts.usd(cost.get("reasoning")) not in (None, 0, rates["output"]):
        rates["output"] = None
    return {name: rate for name, rate in rates.items() if rate is not None}


def _part(value: Any, name: str) -> Mapping[str, Any]:
    """The object `name` in `value`, or `value` itself for no name; nothing where there is none."""
    found = value.get(name) if name and isinstance(value, Mapping) else value
    return found if isinstance(found, Mapping) else {}
