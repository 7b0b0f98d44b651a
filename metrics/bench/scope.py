"""What a gateway key may ask for: collections, models and modes; None is no limit.

The scope of whoever is being answered is this thread's, like a moment of the files: names are resolved and
lists are made deep inside the formats, and none of them may forget to look.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from metrics.bench import roster
from metrics.records import Problem


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
        return None if self.models is None else frozenset(map(roster.current, self.models))


OPEN = Scope()
_asking = threading.local()


def current() -> Scope:
    """The scope of whoever this thread answers."""
    found: Scope = getattr(_asking, "scope", OPEN)
    return found


@contextmanager
def of(scope: Scope) -> Iterator[None]:
    """Within the block this thread answers somebody of that scope."""
    _asking.scope = scope
    try:
        yield
    finally:
        _asking.scope = OPEN


def check(collection: str, mode: str | None = None) -> None:
    """Problem 403 where the collection, or asking it in this mode, is not for whoever asks."""
    scope = current()
    if not scope.has(collection):
        raise outside(scope, f'the collection "{collection}"', "collections", scope.collections)
    if mode is not None and not scope.plays(mode):
        raise outside(scope, f"asking for :{mode}", "modes", scope.modes)


def check_models(aliases: tuple[str, ...]) -> None:
    """Problem 403 where one of these models is not for whoever asks."""
    scope = current()
    allowed = scope.aliases()
    for alias in aliases if allowed is not None else ():
        if roster.current(alias) not in (allowed or ()):
            raise outside(scope, f'the model "{alias}"', "models", scope.models)


def outside(scope: Scope, what: str, kind: str, allowed: tuple[str, ...] | None) -> Problem:
    listed = ", ".join(allowed or ()) or "none"
    return Problem(403, f'the key "{scope.key}" does not open {what}; its {kind}: {listed}', code="key_scope")
