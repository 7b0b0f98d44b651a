"""Where the catalogs are kept: a file for each feed, one for what the endpoints list themselves, and a
snapshot that comes with the program, so that everything works offline.

A feed's file is only ever replaced by a newer answer of that feed; one that fails leaves all of them as they
are.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from metrics.bench.endpoints import Endpoint
from metrics.records import Problem
from metrics.store import disk
from metrics.store.files import JsonFile
from metrics.store.stamps import stamp

MODELS_DEV, OPENROUTER = "models.dev", "openrouter"
FILES = {
    MODELS_DEV: JsonFile("catalog/models.dev.json"),
    OPENROUTER: JsonFile("catalog/openrouter.json"),
}
LISTINGS = JsonFile("catalog/listings.json")
MOST = 5_000  # models of one endpoint's listing that are kept

_SNAPSHOT = Path(__file__).parent / "snapshot.json"


def save(feed: str, content: Mapping[str, Any], now: float) -> None:
    """Keep what a feed said: providers (models.dev) or models (OpenRouter)."""
    with FILES[feed].edit() as kept:
        kept.clear()
        kept.update({"at": stamp(now), "content": dict(content)})


def keep_listing(endpoint: Endpoint, models: Sequence[Mapping[str, Any]], now: float) -> None:
    """Keep what an endpoint listed: client/listing.list_models' rows."""
    facts = {
        str(one["served"]): {name: fact for name, fact in one.items() if name != "served"}
        for one in models[:MOST]
    }
    with LISTINGS.edit() as kept:
        kept[endpoint.name] = {"at": stamp(now), "base": endpoint.base, "models": facts}


def forget_listing(name: str) -> None:
    with LISTINGS.edit() as kept:
        kept.pop(name, None)


def feed(name: str) -> tuple[str, Mapping[str, Any]]:
    """(when it was fetched, what it said): the snapshot's, until the feed was read, or where its file is
    broken."""
    kept = _usable(FILES[name])
    content = kept.get("content")
    if isinstance(content, Mapping) and content:
        return str(kept.get("at")), content
    shipped = snapshot()
    return str(shipped["at"]), shipped["feeds"].get(name, {})


def listings() -> Mapping[str, Any]:
    """{endpoint: {"at", "base", "models": {served: facts}}}"""
    return _usable(LISTINGS)


def versions() -> tuple[Any, ...]:
    """What all of it rests on: while these are the same objects, so is the catalog."""
    return tuple(_usable(file) for file in (*FILES.values(), LISTINGS))


@functools.cache
def snapshot() -> dict[str, Any]:
    """{"at", "source", "licence", "feeds": {feed: content}}: what the program was shipped with."""
    with disk.reading(_SNAPSHOT) as fd:
        shipped: dict[str, Any] = json.loads(disk.read_all(fd))
    return shipped


_NOTHING: dict[str, Any] = {}


def _usable(file: JsonFile) -> dict[str, Any]:
    """A file that a hand broke is reported by `bench status`; no call waits for its repair."""
    try:
        return file.read()
    except Problem:
        return _NOTHING
