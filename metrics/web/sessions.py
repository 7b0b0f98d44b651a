"""Who has signed in: sessions.json, a digest for each session, good for a week or until the token changes.

A session opens what the admin token opens. Its secret is in the browser's cookie, or where `bench login` put
it, and nowhere here.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import Any

from metrics.store.files import JsonFile
from metrics.store.stamps import epoch, stamp

FILE = JsonFile("sessions.json")

PREFIX = "bws_"
COOKIE = "bw_session"
LASTS = 7 * 86_400  # seconds
MOST = 100  # sessions; the oldest ends when one more begins


def begin(token: str, address: str, now: float, entropy: Callable[[int], str] = secrets.token_urlsafe) -> str:
    """A new session of whoever has shown the admin token; its secret."""
    secret = PREFIX + entropy(32)
    entry = {
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
    return secret


def good(secret: str, token: str, now: float) -> bool:
    """Whether this is the secret of a session that lasts."""
    if not secret.startswith(PREFIX):
        return False
    return _good(FILE.read().get(_digest(secret)), token, now)


def end(secret: str) -> bool:
    """Sign a session out; whether there was one."""
    with FILE.edit() as saved:
        return saved.pop(_digest(secret), None) is not None


def _good(entry: Any, token: str, now: float) -> bool:
    """Whether an entry is of this token and lasts; a hand may have written anything."""
    try:
        return hmac.compare_digest(str(entry["token"]), _mark(token)) and now < epoch(entry["expires"])
    except (TypeError, KeyError, ValueError):
        return False


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _mark(token: str) -> str:
    """Tells one token from another, and does not tell the token."""
    return hashlib.sha256(b"session of " + token.encode("utf-8", "replace")).hexdigest()[:16]
