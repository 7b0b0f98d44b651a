"""Who is on the bench: the models of models.json and the seated practice squad.

A model's id, `<endpoint>:<served>`, never changes and is what all evidence hangs on; its alias is a name
that may change and is never given to anybody else. What the user did not say of it is filled in from the
catalog and never saved as his word. Everything is cached by file version: `target` runs once for each seat.
Edits: see moves.
"""

import difflib
import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from metrics.bench import credentials, endpoints, fields, settings
from metrics.bench.catalog import book
from metrics.bench.endpoints import Endpoint
from metrics.bench.shelf import Shelf
from metrics.client.dialects import DIALECTS
from metrics.records import Price, Problem, Target
from metrics.store.files import JsonFile, once_a_moment

ROLES = ("general", "code", "light", "vision", "image", "decision")
CHAT_ROLES = ("general", "code", "light", "vision")
PROGRAM = "a program, not a model"


@dataclass(frozen=True, slots=True)
class Model:
    """None in a capability, a size or a price is unknown. `ad_hoc` models sit only when invited. `retired`,
    of one that is: {"at", "by", "why", "collections": where it sat}."""

    alias: str
    endpoint: str
    served: str
    role: str = "general"
    tools: bool | None = None
    vision: bool | None = None
    reasoning: bool | None = None
    context: int | None = None
    max_output: int | None = None
    price: Price | None = None
    ad_hoc: bool = False
    builtin: bool = False
    retired: Mapping[str, Any] | None = None
    description: str = ""

    @property
    def model_id(self) -> str:
        return f"{self.endpoint}:{self.served}"

    @property
    def chats(self) -> bool:
        """Whether its role lets it sit in a panel."""
        return self.role in CHAT_ROLES


def answer(field: str, value: Any) -> bool | None:
    """Yes, no or unknown, as JSON or as a word."""
    words: dict[Any, bool | None] = {"yes": True, "no": False, "unknown": None, "": None}
    if isinstance(value, str) and value in words:
        return words[value]
    if value is None or isinstance(value, bool):
        return value
    raise fields.wrong(field, "true, false or null for unknown", value)


FACTS: dict[str, fields.Check] = {
    "role": fields.one_of(*ROLES),
    "tools": answer,
    "vision": answer,
    "reasoning": answer,
    "context": fields.maybe(fields.whole(1, 1_000_000_000)),
    "max_output": fields.maybe(fields.whole(1, 1_000_000)),
    "price": fields.maybe(fields.price),
    "ad_hoc": fields.flag,
}
FORM: dict[str, fields.Check] = {"endpoint": fields.name, "served": fields.line(200), **FACTS}


def _parse(alias: str, raw: Any) -> Model:
    if not isinstance(raw, Mapping):
        raise Problem(400, "must be an object")
    known = {field: raw[field] for field in FORM if raw.get(field) is not None}
    retired = raw.get("retired") if isinstance(raw.get("retired"), Mapping) else None
    checked = fields.take(known, FORM, required=("endpoint", "served"))
    return Model(alias=fields.alias("alias", alias), retired=retired, **checked)


FILE = JsonFile("models.json")
SHELF = Shelf(FILE, _parse, "models")
RETIRED = Shelf(FILE, _parse, "retired")

_squad: dict[str, Model] = {}  # replaced, never changed, so that readers need no lock
_squad_explores = False


# What the catalog fills in, where the user said nothing.
FILLED = ("tools", "vision", "reasoning", "context", "max_output")

# What runs on the user's own machines costs nothing by the call.
OWN_MACHINE = Price(plan="free", source="local")

_NOWHERE: dict[str, Endpoint] = {}
_filled: tuple[tuple[Any, ...], dict[str, Model]] = ((), {})  # as the files were, and the models then


def version() -> tuple[Any, ...]:
    """What `all` rests on: while these are the same objects, so is the bench."""
    return FILE.read(), _squad, _places(), book.book()


@once_a_moment
def all() -> dict[str, Model]:
    """The active models by alias, the built-in players first."""
    return {**_squad, **_users()}


@once_a_moment
def _users() -> dict[str, Model]:
    """The user's models, with what the catalog knows of them. Treat as read-only."""
    global _filled
    now = (good, places, catalog) = SHELF.good(), _places(), book.book()
    rests, models = _filled
    if len(rests) != len(now) or any(a is not b for a, b in zip(rests, now, strict=True)):
        models = {alias: _told(model, places.get(model.endpoint), catalog) for alias, model in good.items()}
        _filled = (now, models)
    return models


def _places() -> dict[str, Endpoint]:
    """The user's endpoints; none while their file is broken, which says nothing against the models."""
    try:
        return endpoints.SHELF.good()
    except Problem:
        return _NOWHERE


def _told(model: Model, endpoint: Endpoint | None, catalog: book.Book) -> Model:
    if endpoint is None:
        return model
    known = catalog.of(endpoint, model.served)
    more: dict[str, Any] = {name: known.facts.get(name) for name in FILLED if getattr(model, name) is None}
    local = OWN_MACHINE if endpoint.kind == "local" else None
    return replace(model, price=model.price or known.price or local, **more)


def retired() -> dict[str, Model]:
    return RETIRED.good()


def get(alias: str) -> Model:
    """The active model of that name; Problem 404 says what became of the name, or which are like it."""
    found = _users().get(alias) or _squad.get(alias)
    if found:
        return found
    raise SHELF.broken(alias) or _absent(alias)


def said(alias: str) -> Model:
    """The same, as the user entered it: what an edit starts from."""
    return SHELF.good().get(alias) or get(alias)


def by_id(model_id: str) -> Model | None:
    """The model with that id, an active one before a retired one."""
    for bench in (all(), retired()):
        for model in bench.values():
            if model.model_id == model_id:
                return model
    return None


def current(alias: str) -> str:
    """The name that `alias` has today: renames are followed, any other name is itself."""
    if alias in SHELF.good() or alias in _squad:
        return alias
    return renamed(FILE.read(), alias)


def renamed(raw: Mapping[str, Any], alias: str) -> str:
    """Where the alias history leads from `alias`."""
    found = raw.get("names")
    names: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    for _ in names:  # as many steps at most: a hand may have written a circle
        if alias not in names:
            break
        alias = str(names[alias])
    return alias


@once_a_moment
def target(alias: str) -> Target:
    """Where a call of that model goes today, its key included."""
    model = get(alias)
    endpoint = endpoints.get(model.endpoint)
    return Target(
        alias=alias,
        model_id=model.model_id,
        endpoint=endpoint.name,
        connection=endpoint.name,
        served=model.served,
        base=endpoint.base,
        api=endpoint.api,
        profile=endpoint.host,
        key=None if endpoint.builtin else credentials.key(endpoint.name),
        role=model.role,
        tools=model.tools,
        vision=model.vision,
        reasoning=model.reasoning,
        context=model.context,
        max_output=model.max_output,
        price=model.price,
        price_version=price_version(model.price),
        builtin=model.builtin,
    )


@once_a_moment
def pool() -> list[Model]:
    """Who may explore. The practice squad only while there is no real endpoint, or if the settings say so."""
    reachable = {name for name, endpoint in endpoints.all().items() if endpoint.api in DIALECTS}
    squad_too = _squad_explores or not endpoints.real() or settings.get("practice_in_pool")
    return [
        model
        for model in all().values()
        if model.chats
        and not model.ad_hoc
        and model.endpoint in reachable
        and (squad_too or not model.builtin)
    ]


def seat_builtin(endpoint: Endpoint, models: Iterable[Model], in_pool: bool = False) -> None:
    """Seat the practice squad for as long as this process runs; `in_pool` lets it explore beside real models.

    Its players say of themselves what they are.
    """
    global _squad, _squad_explores
    players = {
        model.alias: replace(
            model,
            endpoint=endpoint.name,
            builtin=True,
            description=_honest(model.description),
            price=Price(0, 0, 0, 0),
        )
        for model in models
    }
    endpoints.seat_builtin(endpoint)
    _squad, _squad_explores = players, in_pool


def clear_builtin() -> None:
    global _squad, _squad_explores
    _squad, _squad_explores = {}, False
    endpoints.clear_builtin()


@functools.lru_cache(maxsize=4096)
def price_version(price: Price | None) -> str | None:
    """A short name for a price, the same wherever and whenever it is computed: a ledger row says what it
    was priced by."""
    if price is None:
        return None
    said: dict[str, Any] = {part: _float(getattr(price, part)) for part in fields.PRICES}
    if price.tiers:
        said["tiers"] = [
            {part: _float(value) for part, value in asdict(tier).items()} for tier in price.tiers
        ]
    if price.plan:
        said["plan"] = price.plan
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:12]


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)


def stored(model: Model) -> dict[str, Any]:
    """A model as models.json holds it: what is unknown or usual is left out."""
    usual: dict[str, Any] = {"role": "general", "ad_hoc": False}
    kept = {field: getattr(model, field) for field in FORM}
    if model.price:
        kept["price"] = stored_price(model.price)
    return {field: value for field, value in kept.items() if value is not None and value != usual.get(field)}


def shown_price(price: Price) -> dict[str, Any]:
    """A price as the API tells it: the four prices, null where unknown, and tiers and plan if it has any."""
    return {**dict.fromkeys(fields.PRICES), **stored_price(price)}


def stored_price(price: Price) -> dict[str, Any]:
    """A price as models.json holds it, without what is unknown or not there."""
    kept = {part: value for part, value in asdict(price).items() if value not in (None, "", ())}
    del kept["source"]
    if price.tiers:
        kept["tiers"] = [
            {part: value for part, value in asdict(tier).items() if value is not None} for tier in price.tiers
        ]
    return kept


def _honest(description: str) -> str:
    if PROGRAM in description:
        return description
    return f"{PROGRAM}: {description}" if description else PROGRAM


def _absent(alias: str) -> Problem:
    gone = RETIRED.good().get(alias)
    new = current(alias)
    near = difflib.get_close_matches(alias, all(), n=3)
    if gone:
        then = f'"{alias}" is retired; `bench model restore {alias}` brings it back'
    elif new != alias:
        then = f'"{alias}" is called "{new}" now'
    elif near:
        then = f'there is no model "{alias}" on the bench; did you mean {" or ".join(near)}?'
    else:
        then = f'there is no model "{alias}" on the bench; `bench models` lists who is'
    return Problem(404, then, param="alias")
