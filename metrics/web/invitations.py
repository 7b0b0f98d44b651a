"""Who is asked in: invitations.json, a digest for each one-time link that makes a session for its bearer.

The link names its secret behind a #, which browsers send to nobody: no log and no preview of a chat sees it,
let alone uses it up. An invitation is good once, for three days unless it says otherwise, and while the
admin token is what it was.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from metrics.bench import changes, fields
from metrics.records import Problem
from metrics.store.files import JsonFile
from metrics.store.stamps import epoch, stamp
from metrics.web import roles
from metrics.web.roles import Person

FILE = JsonFile("invitations.json")

PREFIX = "bwi_"
LASTS = 3 * 86_400  # seconds
LONGEST = 30 * 86_400  # seconds
MOST = 100  # open invitations


@dataclass(frozen=True, slots=True)
class Invitation:
    """One that nobody has used yet. `made` and `expires` are ISO times, `by` is who made it."""

    person: Person
    made: str
    expires: str
    by: str


def invite(
    name: str,
    role: str,
    expires: float,
    token: str,
    by: str,
    now: float,
    entropy: Callable[[int], str] = secrets.token_urlsafe,
) -> str:
    """Ask `name` in until `expires` (epoch seconds); the secret of the link, which is kept nowhere. Problem
    400 for what cannot be, 409 while an invitation for that name is open."""
    fields.alias("name", name)
    fields.one_of(*roles.ROLES)("role", role)
    if name in roles.RESERVED:
        raise Problem(400, f'"{name}" names whoever has the admin token; choose another name', param="name")
    if not now < expires <= now + LONGEST:
        raise Problem(400, '"expires" must lie ahead, within 30 days', param="expires")
    secret = PREFIX + entropy(32)
    entry = {"name": name, "role": role, "made": stamp(now), "expires": stamp(expires), "by": by}
    with FILE.edit() as saved:
        for digest in [digest for digest, each in saved.items() if not _good(each, token, now)]:
            del saved[digest]
        if any(each["name"] == name for each in saved.values()):
            raise Problem(
                409,
                f'an invitation for "{name}" is open: `bench invitation withdraw {name}` takes it back',
                param="name",
            )
        if len(saved) >= MOST:
            raise Problem(409, f"{MOST} invitations are open: withdraw one first")
        saved[_digest(secret)] = entry | {"token": _mark(token)}
    changes.note(by, f"invitation {name}", "role", None, role)
    return secret


def accept(secret: str, token: str, now: float) -> Person | None:
    """Use an invitation up; who was invited. None when it is not known, was used or is over."""
    with FILE.edit() as saved:
        entry = saved.pop(_digest(secret), None)
    if not _good(entry, token, now):
        return None
    person = Person(entry["name"], entry["role"])
    changes.note(person.name, f"invitation {person.name}", "role", person.role, "used")
    return person


def withdraw(name: str, by: str) -> None:
    """Let an open invitation be none. Problem 404 where there is none for that name."""
    with FILE.edit() as saved:
        found = [digest for digest, each in saved.items() if _named(each) == name]
        if not found:
            open_ones = ", ".join(filter(None, map(_named, saved.values()))) or "none"
            raise Problem(
                404, f'there is no open invitation for "{name}". There are: {open_ones}', param="name"
            )
        for digest in found:
            del saved[digest]
    changes.note(by, f"invitation {name}", "role", "open", "withdrawn")


def all(token: str, now: float) -> list[Invitation]:
    """Those that are open, the latest first."""
    listed = [
        Invitation(Person(each["name"], each["role"]), each["made"], each["expires"], str(each.get("by", "")))
        for each in FILE.read().values()
        if _good(each, token, now)
    ]
    return sorted(listed, key=lambda one: one.made, reverse=True)


def _named(entry: Any) -> str:
    return str(entry.get("name", "")) if isinstance(entry, dict) else ""


def _good(entry: Any, token: str, now: float) -> bool:
    """Whether an entry is of this token and lasts; a hand may have written anything."""
    try:
        made, expires = epoch(entry["made"]), epoch(entry["expires"])
        known = entry["role"] in roles.ROLES and bool(fields.ALIAS.fullmatch(entry["name"]))
        same = hmac.compare_digest(str(entry["token"]), _mark(token))
        return known and same and made <= expires and now < expires
    except (TypeError, KeyError, ValueError):
        return False


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _mark(token: str) -> str:
    """Tells one token from another, and does not tell the token."""
    return hashlib.sha256(b"invitation of " + token.encode("utf-8", "replace")).hexdigest()[:16]
