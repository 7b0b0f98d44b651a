"""Tools that run at a vendor and so cannot run here, in one place for all formats: refused with the setting
that drops them, or dropped and named.

A format asks its request's `Hosted` about each such thing that it meets: a declared tool, a choice of one, or
what one left in the conversation. What it lets pass is left out, and told in `bench.dropped_tools`.
"""

from typing import Any

from metrics.bench import collections
from metrics.formats import content
from metrics.records import Problem

LONGEST = 64  # characters of a kind in `bench.dropped_tools`

RUNS = (
    "runs at {vendor} and cannot run here; leave it out{hint}, declare a function that your own program runs"
)
LEFT = (
    "comes from a tool that runs at {vendor} and cannot be continued here; leave it out, tell in words what "
    "it found"
)
SETTING = (
    ", or have the collection answer without such tools: `bench collection save {collection} "
    "--drop-hosted-tools yes` (its setting drop_hosted_tools)"
)


def drops(collection: str) -> bool:
    """Whether the collection answers without hosted tools."""
    found = collections.all().get(collection) if collection else None
    return found is not None and found.drop_hosted_tools


class Hosted:
    """What of one request runs at `vendor`. Without a `collection` it is refused. `dropped` are the kinds of
    what was left out, as the caller wrote them."""

    def __init__(self, vendor: str, collection: str = "") -> None:
        self._collection = collection
        self._vendor = vendor
        self._names: tuple[str, ...] = ()
        self.dropped: tuple[str, ...] = ()

    def named(self, name: Any) -> bool:
        """Whether a tool that was left out has this name."""
        return name in self._names

    def tool(self, kind: Any, where: str, *, name: Any = None, hint: str = "") -> None:
        """Leave out a declared tool, or a choice of one. Problem 400 where the collection refuses it; `hint`
        says how the caller's program leaves it out."""
        self._leave_out(kind, where, RUNS.format(vendor=self._vendor, hint=hint))
        if isinstance(name, str):
            self._names += (name,)

    def trace(self, kind: Any, where: str) -> None:
        """Leave out what such a tool left in the conversation; likewise."""
        self._leave_out(kind, where, LEFT.format(vendor=self._vendor))

    def _leave_out(self, kind: Any, where: str, why: str) -> None:
        if not isinstance(kind, str) or not kind:
            raise content.refuse(f"{where}.type must be the kind of it, a string", f"{where}.type")
        if not drops(self._collection):
            raise self._refusal(f"{where}: {content.shown(kind)} {why}", where)
        if kind[:LONGEST] not in self.dropped:
            self.dropped += (kind[:LONGEST],)

    def _refusal(self, said: str, where: str) -> Problem:
        return content.refuse(said + SETTING.format(collection=self._collection or "NAME"), where)
