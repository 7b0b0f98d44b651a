"""The named groups that a caller asks: members, explorer chairs, the form of the reply.

What a collection leaves open (explorers, deadline) follows the settings, so it is worked out when read and
never stored.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from metrics.bench import changes, fields, membership, roster, scope, settings
from metrics.bench.membership import FILE
from metrics.bench.shelf import Shelf
from metrics.records import Problem
from metrics.store.files import once_a_moment

REPLIES = ("all", "merged", "route")
SHAPES = ("general", "design", "prose", "review", "code", "enumeration", "quick", "vision")


@dataclass(frozen=True, slots=True)
class Collection:
    """`members` are aliases as they are today, on the bench or not; `deadline` None follows the settings.

    With `drop_hosted_tools` it answers without the tools that run at a vendor, instead of refusing them.
    `shadow` is the share of route turns (0 to 1) that another member answers too, unseen, at most
    `shadow_daily` a day.
    """

    name: str
    members: tuple[str, ...]
    explorers: int = 1
    reply: str = "all"
    merger: str | None = None
    shape: str | None = None
    deadline: float | None = None
    description: str = ""
    tags: tuple[str, ...] = ()
    drop_hosted_tools: bool = False
    shadow: float = 0.0
    shadow_daily: int = 50


ALIASES = fields.words(64, fields.alias)
FACTS: dict[str, fields.Check] = {
    "explorers": fields.whole(0, 64),
    "reply": fields.one_of(*REPLIES),
    "merger": fields.maybe(fields.alias),
    "shape": fields.maybe(fields.one_of(*SHAPES)),
    "deadline": fields.maybe(fields.number(1, 3600, "seconds")),
    "description": fields.text(300),
    "tags": fields.words(8, fields.tag),
    "drop_hosted_tools": fields.flag,
    "shadow": fields.number(0, 1),
    "shadow_daily": fields.whole(0, 100_000),
}
STORED: dict[str, fields.Check] = {"members": ALIASES, **FACTS}
FORM: dict[str, fields.Check] = {**STORED, "add": ALIASES, "remove": ALIASES}


def _parse(name: str, raw: Any) -> Collection:
    if not isinstance(raw, Mapping):
        raise Problem(400, "must be an object")
    known = {field: raw[field] for field in STORED if raw.get(field) is not None}
    kept = fields.take(known, STORED, required=("members",))
    lists: dict[str, Any] = {field: tuple(kept[field]) for field in ("members", "tags") if field in kept}
    return Collection(name=fields.name("name", name), **{**kept, **lists})


SHELF = Shelf(FILE, _parse)


_seen: tuple[tuple[Any, ...], dict[str, Collection]] = ((), {})


@once_a_moment
def all() -> dict[str, Collection]:
    """Every collection by name; treat as read-only. Worked out anew only when one of the files it rests on
    has changed."""
    global _seen
    now = (FILE.read(), settings.FILE.read(), *roster.version())
    then, collections = _seen  # one tuple: another thread sees the old state or the new one, never a mixture
    if len(then) != len(now) or any(old is not new for old, new in zip(then, now, strict=True)):
        room, chairs = settings.get("max_calls"), settings.get("max_explorers")
        collections = {name: _today(collection, room, chairs) for name, collection in SHELF.good().items()}
        _seen = (now, collections)
    return collections


def get(name: str) -> Collection:
    """The collection of that name; Problem 404 lists every one with its description and tags."""
    found = all().get(name)
    if found:
        return found
    raise SHELF.broken(name) or Problem(
        404, f'there is no collection "{name}". {menu()}', param="model", code="model_not_found"
    )


def menu() -> str:
    """Every collection that is for whoever asks, in a sentence."""
    asker = scope.current()
    described = [_described(one) for one in SHELF.good().values() if asker.has(one.name)]
    broken = "".join(f". Not usable: {why}" for name, why in SHELF.bad().items() if asker.has(name))
    if described:
        return "There are: " + "; ".join(described) + broken
    return f"There are none{broken or ' yet: `bench collection save NAME --members a,b,c` makes one'}"


def save(name: str, edits: Mapping[str, Any], by: str) -> Collection:
    """Make or change a collection: any field of it, and `add` and `remove` instead of a whole member list."""
    fields.name("name", name)
    wanted = fields.take(
        {field: value for field, value in edits.items() if value is not None or field in _CLEARABLE}, FORM
    )
    with FILE.edit() as shelves:
        before = shelves.get(name)
        old = before if isinstance(before, dict) else {}
        facts = {field: wanted[field] for field in FACTS if field in wanted}
        after = {**old, **_members(name, old, wanted), **facts}
        after = {field: value for field, value in after.items() if value is not None}
        _parse(name, after)  # what a hand got wrong and this edit does not mend
        _check(name, after, wanted)
        shelves[name] = after
    changes.differences(by, f"collection {name}", old, after)
    return get(name)


def remove(name: str, by: str) -> None:
    with FILE.edit() as shelves:
        if name not in shelves:
            get(name)
        before = shelves.pop(name)
    changes.note(by, f"collection {name}", "removed", before, None)


_CLEARABLE = ("merger", "shape", "deadline")  # null means "none" for these, and "not given" for all others


def _members(name: str, old: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, list[str]]:
    """The member list after the edit, each newcomer checked against the bench."""
    had = [roster.current(str(alias)) for alias in membership.members(old)]
    listed = wanted.get("members", had)
    if isinstance(old.get("members"), list) and not {"members", "add", "remove"} & wanted.keys():
        return {}
    for alias in wanted.get("remove", ()):
        if alias not in listed:
            raise Problem(
                400, f'"{alias}" is not in "{name}"; its members are: {", ".join(listed)}', param="remove"
            )
    for field in ("members", "add"):
        for alias in wanted.get(field, ()):
            _sits(field, alias)
    joined = [*listed, *(alias for alias in wanted.get("add", ()) if alias not in listed)]
    kept = [alias for alias in joined if alias not in wanted.get("remove", ())]
    if not kept:
        raise Problem(
            400,
            f'"{name}" needs at least one member: give "members", aliases of models on the bench',
            param="members",
        )
    return {"members": kept}


def _sits(field: str, alias: str) -> None:
    """Refuse a name that cannot sit in a panel."""
    try:
        model = roster.get(alias)
    except Problem as problem:
        raise Problem(
            problem.status if problem.status >= 500 else 400, problem.message, param=field
        ) from problem
    if not model.chats:
        raise Problem(
            400,
            f'"{alias}" has the role {model.role}, which never sits in a panel; '
            f"`bench model role {alias} general` changes that",
            param=field,
        )


def _merges(alias: str) -> None:
    """Refuse a name that cannot write one answer from many."""
    _sits("merger", alias)
    if roster.get(alias).builtin:
        raise Problem(
            400,
            f'"{alias}" is a program and cannot merge answers; name a model as the merger, or none',
            param="merger",
        )


def _check(name: str, after: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """What a collection must be as a whole. Explorers that were not given now are not counted: as many sit
    as fit."""
    if wanted.get("merger"):
        _merges(wanted["merger"])
    members = len(after["members"])
    most, chairs = settings.get("max_calls"), settings.get("max_explorers")
    explorers = wanted.get("explorers", 0)
    if explorers > chairs:
        raise Problem(
            400,
            f'"explorers" is {explorers}; the most is {chairs} (max_explorers in {settings.FILE.name})',
            param="explorers",
        )
    if members + explorers > most:
        chairs_too = f" and {explorers} explorer{'s' * (explorers > 1)} make {members + explorers} calls"
        raise Problem(
            400,
            f'"{name}" would have {members} members{chairs_too if explorers else ""}, and a panel places '
            f"at most {most}: take some out, or raise max_calls in {settings.FILE.name}",
            param="explorers" if explorers else "members",
        )


def _today(collection: Collection, most: int, chairs: int) -> Collection:
    """With today's names, and the explorer chairs that today's settings leave."""
    members = tuple(dict.fromkeys(map(roster.current, collection.members)))
    explorers = max(0, min(collection.explorers, chairs, most - len(members)))
    merger = roster.current(collection.merger) if collection.merger else None
    return replace(collection, members=members, merger=merger, explorers=explorers)


def _described(collection: Collection) -> str:
    tags = f" (tags: {', '.join(collection.tags)})" if collection.tags else ""
    return f"{collection.name}{tags}{collection.description and ': ' + collection.description}"


def shown(collection: Collection) -> dict[str, Any]:
    """A collection as /api lists it: each member says whether it is on the bench and whether it is a
    program."""
    bench = roster.all()
    members = [
        {"alias": alias, "present": alias in bench, "builtin": alias in bench and bench[alias].builtin}
        for alias in collection.members
    ]
    return {**asdict(collection), "members": members}
