"""Where a name stands in collections.json: what a rename, a retirement or a restoration does to it.

Works on the file's raw mapping inside somebody's edit, because the roster, whose edits these are, lies
below the collections. Whoever edits both files takes this one first: the inner edit is written first, so a
kill between the two writes leaves collections that name an alias the roster still knows how to follow.
"""

from collections.abc import Callable, Iterator
from typing import Any

from metrics.store.files import JsonFile

FILE = JsonFile("collections.json")


def sizes() -> dict[str, int]:
    """Members of each collection."""
    return {name: len(members(entry)) for name, entry in FILE.read().items()}


def places(alias: str) -> list[str]:
    """The collections in which `alias` sits or merges."""
    return [name for name, entry in FILE.read().items() if alias in members(entry) or merges(entry, alias)]


def members(entry: Any) -> list[Any]:
    """The member list of a raw entry; a hand may have written anything."""
    found = entry.get("members") if isinstance(entry, dict) else None
    return found if isinstance(found, list) else []


def merges(entry: Any, alias: str) -> bool:
    return isinstance(entry, dict) and entry.get("merger") == alias


def rename(shelves: dict[str, Any], old: str, new: str) -> None:
    for entry in shelves.values():
        listed = members(entry)
        listed[:] = [new if alias == old else alias for alias in listed]
        if merges(entry, old):
            entry["merger"] = new


def leave(shelves: dict[str, Any], alias: str) -> list[dict[str, Any]]:
    """Take `alias` out everywhere; where it was, for `come_back`."""
    return list(_left(shelves, alias))


def _left(shelves: dict[str, Any], alias: str) -> Iterator[dict[str, Any]]:
    for name, entry in shelves.items():
        listed = members(entry)
        at = listed.index(alias) if alias in listed else None
        merged = merges(entry, alias)
        if at is not None:
            listed.remove(alias)
        if merged:
            del entry["merger"]
        if at is not None or merged:
            yield {"name": name, "at": at, "merger": merged}


def come_back(shelves: dict[str, Any], alias: str, was: list[Any], room: Callable[[int], bool]) -> list[str]:
    """Put `alias` back where it `was`, if that collection survives and has `room` for its members; the
    names of those."""
    back = []
    for place in (place for place in was if isinstance(place, dict)):
        name, at, merged = str(place.get("name")), place.get("at"), place.get("merger")
        entry = shelves.get(name)
        if not isinstance(entry, dict):
            continue
        listed = members(entry)
        if isinstance(at, int) and alias not in listed and room(len(listed) + 1):
            listed.insert(at, alias)
            back.append(name)
        if merged and not entry.get("merger"):
            entry["merger"] = alias
    return back
