"""The collections as a model list: what every API format shows of them, in one neutral shape."""

from typing import Any

from metrics.bench import collections, names, roster, scope
from metrics.bench.collections import Collection
from metrics.bench.roster import Model

# Shown behind a collection's name for each way of asking it; the plain name answers in the collection's own
# way.
SUFFIXES = ("", ":merged", ":route")


def entries() -> list[dict[str, Any]]:
    """Every collection in every mode, in the order of their names; those that are for whoever asks.

    Each: {id, collection, mode, description, tags, members[], shape, explorers, reply, merger, created,
    together:{context_window, context_unknown[], capabilities[], connections[], limits}}. `context_window` is
    the smallest known one, in tokens.
    """
    bench, asker = roster.all(), scope.current()
    listed = []
    for collection in collections.all().values():
        if not asker.has(collection.name):
            continue
        shared = _shared(collection, bench)
        for suffix in SUFFIXES:
            mode = suffix.removeprefix(":") or collection.reply
            if not asker.plays(mode):
                continue
            listed.append({"id": f"{names.PREFIX}{collection.name}{suffix}", "mode": mode, **shared})
    return listed


def entry(model: str) -> dict[str, Any]:
    """The entry that the model name `model` means; Problem 404 when there is none."""
    name, mode = names.resolve(model)
    collection = collections.get(name)
    shared = _shared(collection, roster.all())
    suffix = "" if mode == collection.reply else f":{mode}"
    return {"id": f"{names.PREFIX}{name}{suffix}", "mode": mode, **shared}


def _shared(collection: Collection, bench: dict[str, Model]) -> dict[str, Any]:
    allowed = scope.current().aliases()
    return {
        "collection": collection.name,
        "description": collection.description,
        "tags": list(collection.tags),
        "members": [alias for alias in collection.members if allowed is None or alias in allowed],
        "shape": collection.shape,
        "explorers": collection.explorers,
        "reply": collection.reply,
        "merger": collection.merger,
        "created": 0,
        "together": _together(
            [
                bench[alias]
                for alias in collection.members
                if alias in bench and (allowed is None or alias in allowed)
            ]
        ),
    }


def _together(members: list[Model]) -> dict[str, Any]:
    """What the members can take as one: a request must fit the smallest of them."""
    windows = [model.context for model in members if model.context is not None]
    able = {"vision": all(model.vision for model in members), "tools": all(model.tools for model in members)}
    return {
        "context_window": min(windows, default=None),
        "context_unknown": [model.alias for model in members if model.context is None],
        "capabilities": ["completion", *(name for name, has in able.items() if has and members)],
        "connections": sorted({model.endpoint for model in members}),
        "limits": {"rpm": None, "rpd": None, "tpm": None, "tpd": None},
    }
