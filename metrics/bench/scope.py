"""What a gateway key may ask for: collections, models and modes; None is no limit.

The scope of whoever is being answered is this thread's, like a moment of the files: names are resolved and
lists are made deep inside the formats, and none of them may forget to look.
"""

import threading

from metrics.bench import roster
from metrics.records import Problem
from metrics.store.files import once_a_moment
from metrics.values import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """`key` is whose it is. `models` are aliases as they were given; what they are called today counts."""

    key: str = ""
    collections: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    modes: tuple[str, ...] | None = None

    def has(self, collection: str) -> bool:
        return self.collections is None or collection in self.collections

    def plays(self, mode: str) -> bool:
        return self.modes is None or mode in self.modes

    def aliases(self) -> frozenset[str] | None:
        """The aliases of today that the key may be answered by."""
        return None if self.models is None else _today(self.models)


@once_a_moment
def _today(models: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(roster.current, models))


OPEN = Scope()


class _Asking(threading.local):
    scope: Scope = OPEN


_asking = _Asking()


def current() -> Scope:
    """The scope of whoever this thread answers."""
    return _asking.scope


class of:
    """Within the block this thread answers somebody of that scope."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def __enter__(self) -> None:
        _asking.scope = self._scope

    def __exit__(self, *_: object) -> None:
        _asking.scope = OPEN


def check(collection: str, mode: str | None = None) -> None:
    """Problem 403 where the collection, or asking it in this mode, is not for whoever asks."""
    scope = _asking.scope
    if scope is OPEN:
        return
    if not scope.has(collection):
        raise outside(scope, f'the collection "{collection}"', "collections", scope.collections)
    if mode is not None and not scope.plays(mode):
        raise outside(scope, f"asking for :{mode}", "modes", scope.modes)


def check_models(aliases: tuple[str, ...]) -> None:
    """Problem 403 where one of these models is not for whoever asks."""
    scope = current()
    allowed = scope.aliases() if aliases else None
    if allowed is None:
        return
    for alias in aliases:
        if roster.current(alias) not in allowed:
            raise outside(scope, f'the model "{alias}"', "models", scope.models)


def outside(scope: Scope, what: str, kind: str, allowed: tuple[str, ...] | None) -> Problem:
    listed = ", ".join(allowed or ()) or "none"
    return Problem(403, f'the key "{scope.key}" does not open {what}; its {kind}: {listed}', code="key_scope")
