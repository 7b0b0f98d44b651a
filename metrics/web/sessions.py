"""Who has signed in: sessions.json, a digest for each session, good for a week or until the token changes.

A session opens what its role may; one that was begun with the admin token is an admin's. Its secret is in the
browser's cookie, or where `bench login` put it, and nowhere here.
"""

import contextlib
import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from metrics.records import Problem
from metrics.store.files import JsonFile
from metrics.store.stamps import epoch, stamp
from metrics.web import roles
from metrics.web.roles import Person

FILE = JsonFile("sessions.json")

PREFIX = "bws_"
COOKIE = "bw_session"
LASTS = 7 * 86_400  # seconds
MOST = 100  # sessions; the oldest ends when one more begins
NOTED = 600.0  # seconds after which it is written down that a session is still in use
SHOWN = 16  # digits of a digest that name its session


@dataclass(frozen=True, slots=True)
class Session:
    """One who is signed in. `begun`, `seen` and `expires` are ISO times; `seen` is the last request."""

    person: Person
    begun: str
    seen: str
    expires: str
    address: str


_seen: dict[str, float] = {}  # by digest: the last request of each session, epoch seconds


def begin(
    person: Person,
    token: str,
    address: str,
    now: float,
    entropy: Callable[[int], str] = secrets.token_urlsafe,
) -> str:
    """A new session of whoever has shown the admin token or an invitation; its secret."""
    secret = PREFIX + entropy(32)
    entry = {
        "name": person.name,
        "role": person.role,
        "begun": stamp(now),
        "expires": stamp(now + LASTS),
        "address": address,
        "token": _mark(token),
    }
    with FILE.edit() as saved:
        for name in [name for name, each in saved.items() if not _good(each, token, now)]:
            del saved[name]
        oldest = sorted(saved, key=lambda name: str(saved[name]["begun"]))
        for name in oldest[: max(0, len(saved) + 1 - MOST)]:
            del saved[name]
        saved[_digest(secret)] = entry
        for digest in set(_seen) - set(saved):
            _seen.pop(digest, None)
    return secret


def find(secret: str, token: str, now: float) -> Person | None:
    """Whose session this is the secret of; None when there is no such session, or it is over."""
    if not secret.startswith(PREFIX):
        return None
    digest = _digest(secret)
    entry = FILE.read().get(digest)
    if not isinstance(entry, dict) or not _good(entry, token, now):
        return None
    _note(digest, entry, now)
    return _person(digest, entry)


def all(token: str, now: float) -> list[Session]:
    """Everybody who is signed in, who was there last first."""
    listed = [
        Session(
            _person(digest, each),
            each["begun"],
            stamp(max(_seen.get(digest, 0.0), _moment(each.get("seen")), epoch(each["begun"]))),
            each["expires"],
            str(each.get("address", "")),
        )
        for digest, each in FILE.read().items()
        if _good(each, token, now)
    ]
    return sorted(listed, key=lambda session: session.seen, reverse=True)


def end(secret: str) -> bool:
    """Sign a session out; whether there was one."""
    with FILE.edit() as saved:
        return saved.pop(_digest(secret), None) is not None


def revoke(name: str) -> Person:
    """End the session that is called `name`; whose it was. Problem 404 when there is none."""
    with FILE.edit() as saved:
        found = next((digest for digest in saved if digest[:SHOWN] == name), None)
        if found is None:
            raise Problem(404, f'there is no session "{name[:40]}": it may have ended already', param="id")
        return _person(found, saved.pop(found))


def _note(digest: str, entry: dict[str, Any], now: float) -> None:
    """Remember that a session was used; now and then in the file, so that a restart does not forget it."""
    _seen[digest] = now
    if now - max(_moment(entry.get("seen")), _moment(entry["begun"])) < NOTED:
        return
    with contextlib.suppress(Problem), FILE.edit() as saved:  # a full disk signs nobody out
        if isinstance(saved.get(digest), dict):
            saved[digest]["seen"] = stamp(now)


def _person(digest: str, entry: Any) -> Person:
    """Entries of versions without roles have none: they were all begun with the admin token."""
    about = entry if isinstance(entry, dict) else {}
    return Person(str(about.get("name", roles.OWNER.name)), about.get("role", roles.ADMIN), digest[:SHOWN])


def _good(entry: Any, token: str, now: float) -> bool:
    """Whether an entry is of this token and lasts; a hand may have written anything."""
    try:
        begun, expires = epoch(entry["begun"]), epoch(entry["expires"])
        known = entry.get("role", roles.ADMIN) in roles.ROLES and begun <= expires
        return known and hmac.compare_digest(str(entry["token"]), _mark(token)) and now < expires
    except (AttributeError, TypeError, KeyError, ValueError):
        return False


def _moment(written: Any) -> float:
    try:
        return epoch(written)
    except (TypeError, ValueError):
        return 0.0


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _mark(token: str) -> str:
    """Tells one token from another, and does not tell the token."""
    return hashlib.sha256(b"session of " + token.encode("utf-8", "replace")).hexdigest()[:16]
