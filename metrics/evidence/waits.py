"""How many panels each model has waited: those of a collection in which it could have sat and did not answer.

The counts are folded from the panels' own rows (evidence/panels), so a restart keeps them.
"""

from collections.abc import Sequence

from metrics.evidence import panels


def of(collection: str) -> dict[str, int]:
    """The waits of this collection by model_id. A model that is not in it has not waited."""
    return panels.LOG.counted(lambda state: dict(state["waits"].get(collection, {})))


def seen(collection: str, candidates: Sequence[str], answered: Sequence[str]) -> None:
    """Count a panel that leaves no row of its own: `candidates` could have sat, `answered` did and answered
    (model_ids)."""
    panels.LOG.counted(lambda state: panels.count(state, collection, candidates, answered))
