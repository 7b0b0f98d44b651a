"""Who waits for which answer, so that a wait can be given up; what was asked in which session; and of what a
session was reminded.

All of it is in memory and bounded. A session id only says which messages belong together: it opens nothing,
it is bound to the key that it is shown with, and one from before a restart goes on being good.
"""

import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from metrics.mcp.wire import Id

KEPT = 1000  # sessions
PANELS = 100  # the latest of a session
_FORM = re.compile(r"[A-Za-z0-9_-]{16,128}")

Name = tuple[str, str]  # (the key's name, the session's id)


@dataclass(slots=True)
class _Session:
    panels: list[str] = field(default_factory=list)
    reminded: set[str] = field(default_factory=set)
    ended: bool = False


_sessions: "OrderedDict[Name, _Session]" = OrderedDict()
_waiting: dict[tuple[Name, Id], threading.Event] = {}
_lock = threading.Lock()


def minted() -> str:
    """A new session's id, which nobody guesses."""
    return secrets.token_urlsafe(24)


def well_formed(session: str) -> bool:
    return bool(_FORM.fullmatch(session))


@contextmanager
def waiting(key: str, session: str | None, request: Id) -> Iterator[threading.Event]:
    """Within the block, somebody waits for the answer to that request; the event is set when they need it no
    more. Without a session nobody can say so."""
    stopped = threading.Event()
    if session is None:
        yield stopped
        return
    name = ((key, session), request)
    with _lock:
        _waiting[name] = stopped
    try:
        yield stopped
    finally:
        with _lock:
            if _waiting.get(name) is stopped:
                del _waiting[name]


def cancel(key: str, session: str | None, request: object) -> bool:
    """Give up the wait for a request of that session; whether there was one."""
    if session is None or not isinstance(request, str | int):
        return False
    with _lock:
        stopped = _waiting.get(((key, session), request))
    if stopped:
        stopped.set()
    return stopped is not None


def end(key: str, session: str) -> None:
    """The session is over, and all its waits: messages of it are refused from now on."""
    with _lock:
        _of(key, session).ended = True
        stopped = [event for (name, _), event in _waiting.items() if name == (key, session)]
    for event in stopped:
        event.set()


def ended(key: str, session: str) -> bool:
    with _lock:
        found = _sessions.get((key, session))
    return found is not None and found.ended


def asked(key: str, session: str | None, panel: str) -> None:
    """The session asked this panel."""
    if session is None:
        return
    with _lock:
        panels = _of(key, session).panels
        panels.append(panel)
        del panels[:-PANELS]


def panels(key: str, session: str | None) -> list[str]:
    """What the session asked, oldest first."""
    with _lock:
        found = _sessions.get((key, session or ""))
        return list(found.panels) if found else []


def unmentioned(key: str, session: str, calls: Iterable[str]) -> list[str]:
    """Those of the calls that this session was not told of before; it is now."""
    with _lock:
        reminded = _of(key, session).reminded
        fresh = [call for call in calls if call not in reminded]
        reminded.update(fresh)
    return fresh


def _of(key: str, session: str) -> _Session:
    found = _sessions.setdefault((key, session), _Session())
    _sessions.move_to_end((key, session))
    while len(_sessions) > KEPT:
        _sessions.popitem(last=False)
    return found
