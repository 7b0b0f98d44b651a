"""Reading the feeds again: models.dev, OpenRouter, and every endpoint's own list of models.

Each is asked by itself and kept by itself, so one that is down takes nothing from the others.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from metrics.bench import credentials, endpoints, fields
from metrics.bench.catalog import kept, modelsdev, openrouter
from metrics.bench.endpoints import Endpoint
from metrics.client import listing, transport
from metrics.client.dialects import DIALECTS
from metrics.client.transport import Timeouts
from metrics.records import Problem, Target

LISTINGS = "listings"
FEEDS = (kept.MODELS_DEV, kept.OPENROUTER, LISTINGS)
URLS = {kept.MODELS_DEV: modelsdev.URL, kept.OPENROUTER: openrouter.URL}
READERS: Mapping[str, Callable[[bytes], dict[str, Any]]] = {
    kept.MODELS_DEV: modelsdev.read,
    kept.OPENROUTER: openrouter.read,
}
TIMEOUTS = Timeouts(connect=10.0, first_byte=30.0, idle=15.0, total=90.0)


def feeds(field: str, value: Any) -> list[str]:
    """A check for forms: which feeds."""
    named: list[str] = fields.words(len(FEEDS), fields.one_of(*FEEDS))(field, value)
    return named


def refresh(
    wanted: Sequence[str] = FEEDS, urls: Mapping[str, str] = URLS, now: Callable[[], float] = time.time
) -> list[dict[str, Any]]:
    """Read these feeds; what became of each: {"feed", "ok", "models", "note"}. The listings are one of each
    endpoint: "listing:NAME". Raises nothing of theirs."""
    told = [_told(name, partial(_feed, name, urls[name], now())) for name in wanted if name in urls]
    if LISTINGS in wanted:
        told += [
            _told(f"listing:{endpoint.name}", partial(_listing, endpoint, now()))
            for endpoint in endpoints.all().values()
            if not endpoint.builtin and endpoint.api in DIALECTS
        ]
    return told


def _told(name: str, work: Callable[[], int]) -> dict[str, Any]:
    try:
        return {"feed": name, "ok": True, "models": work(), "note": ""}
    except Problem as problem:
        return {"feed": name, "ok": False, "models": 0, "note": problem.message}


def _feed(name: str, url: str, now: float) -> int:
    """Fetch and keep a feed; how many models it tells of."""
    asked = Target(alias=name, model_id="", endpoint=name, connection=name, served="", base=url)
    body = listing.fetched(_Patient(), url, [("Accept", "application/json")], asked, now=now)
    content = READERS[name](body)
    if not content:
        raise Problem(502, f"{url} lists no model any more", kind="empty")
    kept.save(name, content, now)
    return sum(len(one["models"]) for one in content.values()) if name == kept.MODELS_DEV else len(content)


def _listing(endpoint: Endpoint, now: float) -> int:
    list_models: Callable[..., list[dict[str, Any]]] = DIALECTS[endpoint.api].list_models
    found = list_models(_Patient(), endpoint.base, credentials.key(endpoint.name), endpoint.profile)
    kept.keep_listing(endpoint, found, now)
    return len(found)


class _Patient:
    """The shared transport, with time for a megabyte or two."""

    def open(self, method: str, url: str, headers: Sequence[tuple[str, str]] = ()) -> Any:
        return transport.shared().open(method, url, headers, timeouts=TIMEOUTS)
