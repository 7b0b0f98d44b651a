"""Who comes to the bench, changes there, leaves and returns.

No alias ever passes to another model: it is refused while in use, after a retirement and after a rename.
Edits that also touch the collections hold both files, the collections first: see membership.
"""

import time
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from metrics.bench import changes, credentials, endpoints, fields, membership, roster, settings
from metrics.bench.endpoints import Endpoint
from metrics.bench.roster import FACTS, FILE, FORM, Model
from metrics.client.quirks import PROVIDERS
from metrics.records import Problem
from metrics.store.stamps import stamp


def add(model: Model, by: str) -> Model:
    """Register a model of an endpoint. Calls nothing."""
    alias = fields.alias("alias", model.alias)
    endpoint = endpoints.get(fields.name("endpoint", model.endpoint))
    if endpoint.builtin:
        raise Problem(
            400,
            f'the players of "{endpoint.name}" are built in; add models to your own endpoints',
            param="endpoint",
        )
    kept = Model(alias=alias, **fields.take(roster.stored(model), FORM))
    with FILE.edit() as raw:
        _free(raw, alias, kept)
        _part(raw, "models")[alias] = roster.stored(kept)
    changes.note(by, f"model {alias}", "added", None, roster.stored(kept))
    return kept


def change(alias: str, by: str, **facts: Any) -> Model:
    """Set what we know of a model, as FACTS checks it. Its endpoint and served name are its id and stay."""
    wanted = fields.take(facts, FACTS)
    if wanted.get("role", "general") not in roster.CHAT_ROLES and (sits := membership.places(alias)):
        raise Problem(
            409,
            f'"{alias}" sits in {", ".join(sits)}, and the role {wanted["role"]} never sits; '
            f"take it out first: `bench collection save {sits[0]} --remove {alias}`",
            kind="conflict",
            param="role",
        )
    with FILE.edit() as raw:
        after = roster.stored(replace(_mine(alias), **wanted))
        before = raw["models"][alias]
        raw["models"][alias] = {**{key: value for key, value in before.items() if key not in FORM}, **after}
    changes.differences(by, f"model {alias}", before, after)
    return roster.get(alias)


def rename(old: str, new: str, by: str) -> Model:
    """Give a model another name, in every collection too. The old one keeps leading to it and is nobody
    else's."""
    fields.alias("rename", new)
    if new == old:
        return roster.get(old)
    with membership.FILE.edit() as shelves, FILE.edit() as raw:
        _free(raw, new, _mine(old))
        names = _part(raw, "names")
        names.pop(new, None)
        names[old] = new
        raw["models"] = {new if alias == old else alias: entry for alias, entry in raw["models"].items()}
        membership.rename(shelves, old, new)
    changes.note(by, f"model {old}", "alias", old, new)
    return roster.get(new)


def retire(alias: str, reason: str, by: str, now: float | None = None) -> Model:
    """Take a model off the bench and out of every collection; its evidence stays, and `restore` undoes it."""
    why = fields.text(300)("reason", reason)
    with membership.FILE.edit() as shelves, FILE.edit() as raw:
        _mine(alias)
        _retire(shelves, raw, alias, why, by, now)
    changes.note(by, f"model {alias}", "retired", None, why)
    return roster.retired()[alias]


def restore(alias: str, by: str) -> tuple[Model, list[str]]:
    """Bring a retired model back, into those of its collections that survive and have room; their names."""
    most = settings.get("max_calls")
    with membership.FILE.edit() as shelves, FILE.edit() as raw:
        model = roster.retired().get(alias)
        if model is None:
            have = ", ".join(roster.retired()) or "none"
            raise Problem(404, f'no retired model is called "{alias}"; retired are: {have}', param="alias")
        endpoints.get(model.endpoint)
        entry = dict(raw["retired"].pop(alias))
        found = entry.pop("retired", None)
        record = found if isinstance(found, dict) else {}
        _part(raw, "models")[alias] = entry
        back = membership.come_back(
            shelves, alias, record.get("collections") or [], lambda size: size <= most
        )
    changes.note(by, f"model {alias}", "restored", record.get("why"), None)
    return roster.get(alias), back


def same_provider(before: Endpoint, after: Endpoint) -> None:
    """Refuse to lead the models of an endpoint to another provider: their record is of this one."""
    hosts = {urlsplit(before.base).hostname, urlsplit(after.base).hostname}
    known = {provider.host for provider in PROVIDERS.values()}
    mine = [model.alias for model in roster.all().values() if model.endpoint == before.name]
    if len(hosts) > 1 and hosts & known and mine:
        raise Problem(
            409,
            f'"{before.name}" leads to {before.base}, and the record of its models ({", ".join(mine[:5])}) '
            f"is of that provider: give {after.base} another name, or remove this one first",
            kind="conflict",
            param="base",
        )


def remove_endpoint(name: str, with_models: bool, by: str, now: float | None = None) -> list[str]:
    """Remove an endpoint and its key. Its models are retired with it, if `with_models` allows; their
    aliases."""
    endpoints.removable(name)
    with membership.FILE.edit() as shelves, FILE.edit() as raw:
        mine = [alias for alias, entry in _part(raw, "models").items() if _of(entry) == name]
        if mine and not with_models:
            raise Problem(
                409,
                f'"{name}" has models on the bench ({", ".join(mine[:5])}{", …" if len(mine) > 5 else ""}); '
                f"`bench endpoint rm {name} --with-models` retires them with it",
                kind="conflict",
                param="with_models",
            )
        for alias in mine:
            _retire(shelves, raw, alias, f"its endpoint {name} was removed", by, now)
    endpoints.remove(name, by)
    credentials.remove(name, by)
    return mine


def proposal(alias: str, endpoint: str) -> str:
    """A free alias for a model of `endpoint` whose first choice is taken."""
    raw = FILE.read()
    wanted = f"{alias}-{endpoint}"[:60]
    tries = [wanted, *(f"{wanted}-{count}" for count in range(2, 100))]
    return next((free for free in tries if not _taken(raw, free)), f"{wanted[:40]}-{time.time_ns()}")


def _mine(alias: str) -> Model:
    model = roster.said(alias)
    if model.builtin:
        raise Problem(
            400,
            f'"{alias}" is a built-in player of the practice squad; collections may leave it out, '
            "but nothing else about it can be changed",
            param="alias",
        )
    return model


def _of(entry: Any) -> Any:
    return entry.get("endpoint") if isinstance(entry, dict) else None


def _part(raw: dict[str, Any], name: str) -> dict[str, Any]:
    """A section of models.json, to be changed."""
    part = raw.setdefault(name, {})
    if not isinstance(part, dict):
        raise Problem(
            503, f'{FILE.name}: "{name}" must be an object; repair it', kind="config", retryable=False
        )
    return part


def _retire(
    shelves: dict[str, Any], raw: dict[str, Any], alias: str, why: str, by: str, now: float | None
) -> None:
    at = stamp(time.time() if now is None else now)
    entry = raw["models"].pop(alias)
    left = membership.leave(shelves, alias)
    _part(raw, "retired")[alias] = {
        **entry,
        "retired": {"at": at, "by": by, "why": why, "collections": left},
    }


def _names(raw: dict[str, Any]) -> set[str]:
    """Every name that a model has or had."""
    parts = (raw.get(part) for part in ("models", "retired", "names"))
    return set(roster.all()).union(*(part for part in parts if isinstance(part, dict)))


def _taken(raw: dict[str, Any], alias: str) -> bool:
    """Whether `alias`, in capitals or not, is or was a name."""
    return alias.lower() in {name.lower() for name in _names(raw)}


def _twin(raw: dict[str, Any], alias: str, model: Model) -> str | None:
    """A name of another model that differs from `alias` only in capitals; in speech they are one."""
    alike = (name for name in sorted(_names(raw)) if name != alias and name.lower() == alias.lower())
    return next((name for name in alike if roster.renamed(raw, name) != model.alias), None)


def _free(raw: dict[str, Any], alias: str, model: Model) -> None:
    """Refuse an alias that names another model, or ever did."""
    heir, known = roster.renamed(raw, alias), alias in _names(raw)
    twin = None if known else _twin(raw, alias, model)
    if not known and not twin:
        return
    if twin:
        why = (
            f'"{alias}" differs from "{twin}" only in capitals, and that is or was the name of another model'
        )
    elif alias in _part(raw, "retired"):
        gone = roster.retired().get(alias)
        why = (
            f'"{alias}" was the name of {gone.model_id if gone else "a model"}, which is retired, and a name '
            f"is never given away; `bench model restore {alias}` brings that model back"
        )
    elif heir != alias and alias not in roster.all():
        if model.alias == heir:
            return
        why = f'"{alias}" was the name of "{heir}" before a rename; a name is never given to another model'
    else:
        taken = roster.all().get(alias)
        why = f'"{alias}" is taken: it names {taken.model_id if taken else "another model"}'
    raise Problem(
        409,
        f'{why}. Free is, for example, "{proposal(alias, model.endpoint)}"',
        kind="conflict",
        param="alias",
    )
