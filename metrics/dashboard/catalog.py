"""/api/catalog: what is known of a model and who says so, and reading the feeds again."""

from typing import Any

from metrics.bench import endpoints, fields, roster
from metrics.bench.catalog import book, kept, refresh
from metrics.bench.roster import Model
from metrics.dashboard import frame
from metrics.records import Problem
from metrics.web.table import Call, Response

FORM: dict[str, fields.Check] = {"feeds": fields.maybe(refresh.feeds)}


def show(call: Call) -> Response:
    """One model: of the bench by its alias or id, with the user's own word; else as the providers offer
    it."""
    name = call.param("model").strip()
    if not name:
        raise Problem(400, "name a model: /api/catalog?model=gpt-5", param="model")
    catalog = book.book()
    model = roster.all().get(name) or roster.by_id(name)
    known = _of_the_bench(model, catalog) if model else None
    offers = catalog.find(model.served if model else name)
    if known is None and not offers:
        raise Problem(
            404, f'no catalog knows a model "{name[:80]}"; `bench catalog refresh` reads them again'
        )
    return frame.ok(model=known, offers=offers, catalogs=_ages(catalog))


def _of_the_bench(model: Model, catalog: book.Book) -> dict[str, Any]:
    """{"alias", "model_id", "provider", "facts": {fact: {"value", "source"}}, "said": {source: facts}}"""
    endpoint = endpoints.all().get(model.endpoint)
    known = catalog.of(endpoint, model.served) if endpoint else book.Known()
    facts = {name: {"value": value, "source": known.sources[name]} for name, value in known.facts.items()}
    own = roster.stored(roster.said(model.alias)) if model.alias in roster.all() else roster.stored(model)
    facts |= {
        name: {"value": own[name], "source": "user"} for name in (*roster.FILLED, "price") if name in own
    }
    return {
        "alias": model.alias,
        "model_id": model.model_id,
        "provider": catalog.provider(endpoint) if endpoint else None,
        "facts": facts,
        "said": known.said,
    }


def _ages(catalog: book.Book) -> dict[str, Any]:
    listed = {name: one.get("at") for name, one in catalog.listings.items() if isinstance(one, dict)}
    return {
        kept.MODELS_DEV: catalog.providers_at,
        kept.OPENROUTER: catalog.routed_at if catalog.routed else None,
        "listings": listed,
    }


def read_again(call: Call) -> Response:
    form = fields.take(call.json(), FORM)
    told = refresh.refresh(form.get("feeds") or refresh.FEEDS)
    book.book()  # read here, so that no call waits for it
    return frame.ok(feeds=told, read=sum(one["ok"] for one in told))


HANDLERS = (
    frame.get(
        "/api/catalog",
        show,
        says="""`?model=` an alias, an id, or a provider's name for a model → `{model: {alias, model_id,
            provider, facts: {fact: {value, source}}, said}, offers: [{provider, served, facts}],
            catalogs}`; `model` is null for one that is not on the bench""",
    ),
    frame.post(
        "/api/catalog/refresh",
        read_again,
        says="""`{feeds?: [models.dev, openrouter, listings]}` → `{feeds: [{feed, ok, models, note}],
            read}`: each by itself, so one that is down takes nothing from the others""",
    ),
)
