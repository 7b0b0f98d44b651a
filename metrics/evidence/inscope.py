"""What of the evidence is for whoever asks: that of the collections and models that their key opens."""

from collections.abc import Sequence
from typing import Any

from metrics.bench import scope
from metrics.evidence import offloads, verdicts


def check(calls: Sequence[object]) -> None:
    """Problem 403 where one of these calls was of a collection or a model outside the key's scope. What is
    no call is left to whoever looks it up."""
    if scope.current() is scope.OPEN:
        return
    for call in calls[: verdicts.MOST_CALLS]:
        offload = offloads.find(call) if isinstance(call, str) and call else None
        if offload is not None:
            scope.check(str(offload.get("collection")))
            scope.check_models((str(offload.get("model")),))


def record(collection: str, task: str | None = None) -> dict[str, dict[str, Any]]:
    """The collection's record by alias (verdicts.record), of the models that are for whoever asks."""
    allowed = scope.current().aliases()
    told = verdicts.record(collection, task)
    return {alias: counts for alias, counts in told.items() if allowed is None or alias in allowed}
