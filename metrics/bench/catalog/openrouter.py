"""OpenRouter's list of models, read into our vocabulary: prices are strings in USD per token, "-1" where they
depend on the model that a router picks. (Source: openrouter.ai/docs, "Models API".)

What every listing has is read by client/listing; here are the facts that only this one tells.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from metrics.bench.catalog import facts
from metrics.bench.catalog.facts import Facts
from metrics.client import listing

URL = "https://openrouter.ai/api/v1/models"


def read(body: bytes) -> dict[str, Facts]:
    """What it says of each model, by id. Problem 502 when it is something else."""
    listed = listing.entries(body, URL)
    beside = {one["id"]: one for one in listed if isinstance(one, Mapping) and isinstance(one.get("id"), str)}
    found = {one.pop("served"): one for one in listing.models(listed)}
    return {served: {**common, **_beside(beside.get(served, {}))} for served, common in found.items()}


def _beside(entry: Mapping[str, Any]) -> Facts:
    given, able = entry.get("architecture"), facts.words(entry.get("supported_parameters"))
    architecture: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    return facts.said(
        structured_output="structured_outputs" in able if able else None,
        input=facts.words(architecture.get("input_modalities")),
        output=facts.words(architecture.get("output_modalities")),
        knowledge=facts.date(entry.get("knowledge_cutoff")),
        released=_day(entry.get("created")),
        open_weights=True if facts.text(entry.get("hugging_face_id")) else None,
    )


def _day(created: Any) -> str | None:
    good = isinstance(created, int) and not isinstance(created, bool) and 0 < created < 4_000_000_000
    return datetime.fromtimestamp(created, UTC).date().isoformat() if good else None
