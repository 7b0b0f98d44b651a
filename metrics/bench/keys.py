"""Gateway keys: who may ask, for what and for how much. Of a key only its SHA-256 is kept.

A key is `bwk_` and 32 random bytes, shown once. It is found by its digest, so that how long a wrong one takes
tells nothing of the right ones.
"""

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from metrics.bench import allowances, changes, collections, fields, roster
from metrics.bench.scope import Scope
from metrics.bench.shelf import Shelf
from metrics.records import Problem
from metrics.store.files import JsonFile, once_a_moment
from metrics.store.stamps import epoch, stamp

FILE = JsonFile("keys.json")

PREFIX = "bwk_"
SHOWN = len(PREFIX) + 4  # characters of a key by which its owner tells it from others
RESERVED = ("local",)  # who asks without a key

# A day is the unit in which people think of how long a key lives.
UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}
_SPAN = re.compile(r"(\d{1,6})\s*([mhdwy])", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Key:
    """`expires` is epoch seconds; `budget` as allowances has it; `unknown_cost` says whether calls of unknown
    cost are made although there is a budget: refuse | allow."""

    name: str
    sha256: str = field(repr=False)
    prefix: str = ""
    created: str = ""
    enabled: bool = True
    expires: float | None = None
    scope: Scope = Scope()
    rpm: int | None = None
    tpm: int | None = None
    budget: Mapping[str, float] | None = None
    unknown_cost: str = "refuse"


def moment(field: str, value: Any) -> str:
    """A fields.Check: a point in time, kept as UTC; from a span ("90d") or a date and time in ISO 8601."""
    span = _SPAN.fullmatch(value.strip()) if isinstance(value, str) else None
    return stamp(time.time() + int(span[1]) * UNITS[span[2].lower()]) if span else _instant(field, value)


def _instant(field: str, value: Any) -> str:
    try:
        return stamp(epoch(value))
    except (TypeError, ValueError, OverflowError):
        should = "a span such as 90d, 12h or 1y, or a date such as 2027-01-31"
        raise fields.wrong(field, should, value) from None


def _collection(field: str, value: Any) -> str:
    kept = fields.name(field, value)
    if kept not in collections.all():
        raise Problem(400, f'"{field}" names "{kept}". {collections.menu()}', param=field)
    return str(kept)


def _model(field: str, value: Any) -> str:
    kept = fields.alias(field, value)
    roster.get(kept)
    return str(kept)


_modes = fields.words(3, fields.one_of(*collections.REPLIES))
LIMITS: dict[str, fields.Check] = {
    "collections": fields.maybe(fields.words(200, _collection)),
    "models": fields.maybe(fields.words(500, _model)),
    "modes": fields.maybe(_modes),
    "rpm": fields.maybe(fields.whole(1, 1_000_000)),
    "tpm": fields.maybe(fields.whole(1, 1_000_000_000)),
    "budget": allowances.budget,
    "unknown_cost": fields.one_of(*allowances.UNKNOWN),
    "expires": fields.maybe(moment),
}
# What stands in the file was checked when it was given: what it names may be gone since.
STORED: dict[str, fields.Check] = {
    **LIMITS,
    "collections": fields.maybe(fields.words(200, fields.name)),
    "models": fields.maybe(fields.words(500, fields.alias)),
    "expires": fields.maybe(_instant),
    "sha256": fields.text(64),
    "prefix": fields.text(16),
    "created": fields.text(40),
    "enabled": fields.flag,
}


def _parse(name: str, raw: Any) -> Key:
    if not isinstance(raw, Mapping):
        raise Problem(400, "must be an object")
    kept = fields.take(raw, STORED, required=("sha256",))
    if not _HEX.fullmatch(kept["sha256"]):
        raise fields.wrong("sha256", "64 hexadecimal digits", kept["sha256"])
    limits = {part: _tuple(kept.pop(part, None)) for part in ("collections", "models", "modes")}
    expires = kept.pop("expires", None)
    at = None if expires is None else epoch(expires)
    return Key(name=name, expires=at, scope=Scope(name, **limits), **kept)


def _tuple(listed: Any) -> tuple[str, ...] | None:
    return None if listed is None else tuple(listed)


SHELF = Shelf(FILE, _parse)
_by_digest: tuple[Any, dict[str, Key]] = ({}, {})
_used: dict[str, float] = {}  # by digest: when each key was last shown, epoch seconds, since the server began


@once_a_moment
def all() -> dict[str, Key]:
    """Every key by name, disabled ones too; treat as read-only."""
    return SHELF.good()


def get(name: str) -> Key:
    """The key of that name. Problem 404, or 503 where a hand broke its entry."""
    found = all().get(name)
    if found:
        return found
    listed = ", ".join(all()) or "none yet: `bench key create NAME` makes one"
    raise SHELF.broken(name) or Problem(404, f'there is no key "{name}". There are: {listed}', param="name")


def find(secret: str) -> Key | None:
    """The key that somebody shows; None when there is no such key."""
    digest = _digest(secret)
    key = _digests().get(digest)
    return key if key is not None and hmac.compare_digest(key.sha256, digest) else None


def usable(key: Key, now: float) -> Key:
    """The key, which is now used. Problem 401 when it is disabled or has expired."""
    if not key.enabled:
        raise refusal(
            f'the key "{key.name}" is disabled: `bench key enable {key.name}` lets it in', "disabled"
        )
    if key.expires is not None and now >= key.expires:
        raise refusal(
            f'the key "{key.name}" expired on {stamp(key.expires)[:10]}: ask for a new one', "expired"
        )
    _used[key.sha256] = now
    return key


def refusal(message: str, kind: str) -> Problem:
    """A 401; `kind` is one word: missing | scheme | form | unknown | disabled | expired."""
    return Problem(
        401,
        message,
        code="invalid_api_key",
        param=None,
        retryable=False,
        headers=(("WWW-Authenticate", f'Bearer realm="benchwarmers", error="{kind}_key"'),),
    )


def last_used(key: Key) -> float | None:
    """When the key was last shown, as far as this server has been there to see."""
    return _used.get(key.sha256)


@once_a_moment
def _digests() -> dict[str, Key]:
    """The keys by digest, put together once for each version of the file."""
    global _by_digest
    good = all()
    version, found = _by_digest  # one tuple: another thread sees the old state or the new one
    if version is not good:
        found = {key.sha256: key for key in good.values()}
        _by_digest = (good, found)
    return found


_FRESH = hashlib.sha256()  # copied: to ask OpenSSL for another takes three times as long


def _digest(secret: str) -> str:
    digest = _FRESH.copy()
    digest.update(secret.encode("utf-8", "replace"))
    return digest.hexdigest()


# --- changing


def create(
    name: str, limits: Mapping[str, Any], by: str, entropy: Callable[[int], str] = secrets.token_urlsafe
) -> str:
    """Make a key with these LIMITS; the key itself, which is kept nowhere. Problem 409 for a taken name."""
    fields.alias("name", name)
    if name in RESERVED:
        raise Problem(400, f'"{name}" names whoever asks without a key; choose another name', param="name")
    wanted = fields.take(limits, LIMITS)
    if wanted.get("expires") and epoch(wanted["expires"]) <= time.time():
        raise fields.wrong("expires", "a moment to come: this key would open nothing", wanted["expires"])
    secret = PREFIX + entropy(32)
    entry = {**_identity(secret), "enabled": True, **_without_none(wanted)}
    with FILE.edit() as saved:
        if name in saved:
            raise Problem(
                409, f'there is a key "{name}": `bench key rotate {name}` replaces it', param="name"
            )
        saved[name] = entry
    changes.note(by, f"key {name}", "key", None, "created")
    changes.differences(by, f"key {name}", {}, _without_none(wanted))
    return secret


def rotate(name: str, by: str, entropy: Callable[[int], str] = secrets.token_urlsafe) -> str:
    """Another key under the same name and limits; the old one opens nothing from now on."""
    secret = PREFIX + entropy(32)
    with FILE.edit() as saved:
        _there(saved, name).update(_identity(secret))
    changes.note(by, f"key {name}", "key", "set", "replaced")
    return secret


def enable(name: str, enabled: bool, by: str) -> Key:
    with FILE.edit() as saved:
        before = _there(saved, name).get("enabled", True)
        saved[name]["enabled"] = enabled
    changes.differences(by, f"key {name}", {"enabled": before}, {"enabled": enabled})
    return get(name)


def limit(name: str, edits: Mapping[str, Any], by: str) -> Key:
    """Change the given LIMITS of a key; null takes one away."""
    wanted = fields.take(edits, LIMITS)
    with FILE.edit() as saved:
        old = dict(_there(saved, name))
        saved[name] = _without_none({**old, **wanted})
        new = saved[name]
    changes.differences(by, f"key {name}", _open(old), _open(new))
    return get(name)


def revoke(name: str, by: str) -> None:
    """Remove a key. What it spent stays counted under its name."""
    with FILE.edit() as saved:
        _there(saved, name)
        del saved[name]
    changes.note(by, f"key {name}", "key", "set", "revoked")


def _there(saved: dict[str, Any], name: str) -> dict[str, Any]:
    if not isinstance(saved.get(name), dict):
        get(name)  # says who there is
        raise Problem(503, f"{FILE.name}: the entry {fields.shown(name)} is not an object", kind="config")
    entry: dict[str, Any] = saved[name]
    return entry


def _identity(secret: str) -> dict[str, Any]:
    return {"sha256": _digest(secret), "prefix": secret[:SHOWN], "created": stamp(time.time())}


def _open(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry without its digest, which is no one's to read."""
    return {name: value for name, value in entry.items() if name != "sha256"}


def _without_none(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if value is not None}


def shown(key: Key) -> dict[str, Any]:
    """A key as /api lists it: how it begins, never what it is."""
    scope = key.scope
    return {
        "name": key.name,
        "prefix": f"{key.prefix}…",
        "created": key.created or None,
        "enabled": key.enabled,
        "expires": None if key.expires is None else stamp(key.expires),
        "collections": scope.collections,
        "models": scope.models,
        "modes": scope.modes,
        "rpm": key.rpm,
        "tpm": key.tpm,
        "budget": key.budget,
        "unknown_cost": key.unknown_cost,
    }
