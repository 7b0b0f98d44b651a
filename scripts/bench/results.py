"""What was counted, kept by scenario and target, one entry for each round: medians and ratios of it.

A busy machine slows the targets of one round alike, so ratios are taken within a round."""

import statistics
from collections.abc import Iterator, Mapping, Sequence

Counted = Mapping[str, float]


def turned(names: Sequence[str], number: int) -> Sequence[str]:
    """The order in which round `number` visits `names`: each of them comes first in its turn."""
    turn = number % len(names)
    return (*names[turn:], *names[:turn])


class Results:
    """What every visit counted: scenario -> target -> one Counted per round."""

    def __init__(self) -> None:
        self.rounds: dict[str, dict[str, list[Counted]]] = {}

    def add(self, scenario: str, target: str, counted: Counted) -> None:
        self.rounds.setdefault(scenario, {}).setdefault(target, []).append(counted)

    def median(self, scenario: str, target: str, field: str) -> float:
        return statistics.median(counted[field] for counted in self.rounds[scenario][target])

    def ratio(self, scenario: str, target: str, base: str, field: str) -> float:
        """The median over the rounds of `target` to `base` in the same round."""
        pairs = zip(self.rounds[scenario][target], self.rounds[scenario][base], strict=True)
        return statistics.median(one[field] / (other[field] or 1e-9) for one, other in pairs)

    def added(self, scenario: str, target: str, base: str, field: str) -> float:
        """The median over the rounds of what `target` has more than `base` in the same round."""
        pairs = zip(self.rounds[scenario][target], self.rounds[scenario][base], strict=True)
        return statistics.median(one[field] - other[field] for one, other in pairs)

    @property
    def errors(self) -> int:
        return int(sum(counted["errors"] for _, _, counted in self._all()))

    def _all(self) -> Iterator[tuple[str, str, Counted]]:
        for scenario, targets in self.rounds.items():
            for target, rounds in targets.items():
                yield from ((scenario, target, counted) for counted in rounds)
