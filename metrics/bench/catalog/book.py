"""What is known of a model that an endpoint serves, and who says so.

Sources in the order in which they are believed: what the endpoint itself lists, models.dev for the provider
behind its address, OpenRouter. The user's own word, which stands on the roster, comes before all of them. A
provider's offer (sizes, prices, tools) is never taken from another provider: OpenRouter tells the offers of
OpenRouter, and of models that others serve only what is so wherever they are served.
"""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from metrics.bench.catalog import facts, kept
from metrics.bench.catalog.facts import Facts
from metrics.bench.endpoints import Endpoint
from metrics.records import Price
from metrics.store.files import once_a_moment

LISTING = "listing"
HERE = ("localhost", "127.0.0.1", "0.0.0.0", "::1")  # addresses that say nothing of who answers there

# Hosts of providers whose address models.dev does not tell: their clients know it.
HOSTS = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "google",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral",
    "api.cerebras.ai": "cerebras",
    "api.together.xyz": "togetherai",
    "api.together.ai": "togetherai",
    "api.x.ai": "xai",
    "api.deepinfra.com": "deepinfra",
    "api.cohere.com": "cohere",
    "api.cohere.ai": "cohere",
    "api.perplexity.ai": "perplexity",
    "api.venice.ai": "venice",
    "api.v0.dev": "v0",
    "ai-gateway.vercel.sh": "vercel",
    "openrouter.ai": "openrouter",
}


@dataclass(slots=True)
class Known:
    """The facts of a model, the source of each, and all that each source says: {source: Facts}."""

    facts: Facts = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    said: dict[str, Facts] = field(default_factory=dict)

    def take(self, source: str, said: Facts) -> None:
        """Add what a source says and nobody before it did. A price is taken whole: the parts of two would be
        nobody's."""
        if said:
            self.said[source] = said
        for name, value in said.items():
            if name in facts.FACTS and name not in self.facts:
                self.facts[name], self.sources[name] = value, source

    @property
    def price(self) -> Price | None:
        """The price, its `source` said."""
        return facts.price(self.facts.get("price"), self.sources.get("price", ""))


class Book:
    """The catalogs as they are at one time, and what was looked up in them."""

    def __init__(self) -> None:
        self.providers_at, self.providers = kept.feed(kept.MODELS_DEV)
        self.routed_at, self.routed = kept.feed(kept.OPENROUTER)
        self.listings = kept.listings()
        self._bases = dict(_bases(self.providers))
        self._plain: dict[str, Facts] | None = None
        self._found: dict[tuple[Endpoint, str], Known] = {}

    def of(self, endpoint: Endpoint, served: str) -> Known:
        """What is known of the model `served` of that endpoint; nothing, for one that nobody knows."""
        found = self._found.get((endpoint, served))
        if found is None:
            found = self._found[endpoint, served] = self._look_up(endpoint, served)
        return found

    def _look_up(self, endpoint: Endpoint, served: str) -> Known:
        known = Known()
        listed = self.listings.get(endpoint.name)
        if isinstance(listed, Mapping) and listed.get("base") == endpoint.base:
            known.take(LISTING, _entry(listed.get("models"), served))
        if provider := self.provider(endpoint):
            known.take(kept.MODELS_DEV, _entry(self.providers[provider].get("models"), served))
        if endpoint.host == "openrouter.ai":
            known.take(kept.OPENROUTER, _entry(self.routed, served))
        else:
            elsewhere = self._elsewhere(served)
            common = {name: elsewhere[name] for name in facts.OF_THE_MODEL if name in elsewhere}
            known.take(kept.OPENROUTER, common)
        return known

    def provider(self, endpoint: Endpoint) -> str | None:
        """The models.dev id of who answers at that address: of the bases on its host, the longest that
        its own begins with."""
        host, named = endpoint.host, HOSTS.get(endpoint.host)
        if host in HERE:
            return None
        path = f"{urlsplit(endpoint.base).path.rstrip('/')}/"
        bases = self._bases.get(host, ())
        if endpoint.profile and bases:  # the path is that of something in between
            path = min((start for start, _ in bases), key=len)
        fitting = [(len(start), -len(name), name) for start, name in bases if path.startswith(start)]
        if fitting:  # a plan's name is longer than that of whose plan it is
            return max(fitting)[2]
        return named if named in self.providers else None

    def _elsewhere(self, served: str) -> Facts:
        """OpenRouter's entry of a model that somebody else serves: by its id, with or without the vendor's
        name before it."""
        if self._plain is None:
            self._plain = {}
            for name, entry in self.routed.items():
                self._plain.setdefault(name.partition("/")[2] or name, entry)
        return _entry(self.routed, served) or _entry(self._plain, served)

    def find(self, text: str, most: int = 20) -> list[dict[str, Any]]:
        """Offers of the model called `text`, [{"provider", "served", "facts"}]; of those called almost so,
        where there is none."""
        offers = [
            (name, served)
            for name, one in self.providers.items()
            for served in one.get("models") or ()
            if served == text or served.rpartition("/")[2] == text
        ]
        if not offers:
            ids = {served: name for name, one in self.providers.items() for served in one.get("models") or ()}
            near = [served for served in ids if text.lower() in served.lower()][:most]
            near = near or difflib.get_close_matches(text, list(ids), most, 0.7)
            offers = [(ids[served], served) for served in near]
        return [
            {"provider": name, "served": served, "facts": self.providers[name]["models"][served]}
            for name, served in offers[:most]
        ]


_latest: tuple[tuple[Any, ...], Book] | None = None  # replaced, never changed, so that readers need no lock


@once_a_moment
def book() -> Book:
    """The catalogs as they are now; the same object while their files are the same."""
    global _latest
    versions, latest = kept.versions(), _latest
    if latest is None or any(a is not b for a, b in zip(versions, latest[0], strict=True)):
        latest = _latest = versions, Book()
    return latest[1]


def _bases(providers: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """(host, [(path with a slash behind it, provider)]) of the addresses that models.dev tells."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, one in providers.items():
        base = str(one.get("base") or "")
        if base and "$" not in base:
            url = urlsplit(base)
            host = url.hostname or ""
            if host not in HERE:
                found.setdefault(host, []).append((f"{url.path.rstrip('/')}/", name))
    yield from found.items()


def _entry(entries: Any, served: str) -> Facts:
    found = entries.get(served) if isinstance(entries, Mapping) else None
    return dict(found) if isinstance(found, Mapping) else {}
