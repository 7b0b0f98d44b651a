"""Several targets under load in turns, over connections that stay open: short bursts, so that whatever else
the machine does meanwhile falls on all of them.

Unlike a Job's own load, a burst ends with its last answer: none is left on the way when the next target has
its turn."""

import selectors
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing

from scripts.bench.load import QUIET, Caller, Job, summary
from scripts.bench.results import Results, turned

WARM = 10  # requests of a connection that do not count: connections, caches and lists are made by them


class Party:
    """All connections of one job."""

    def __init__(self, job: Job) -> None:
        self.callers = [Caller(job) for _ in range(job.connections)]

    def close(self) -> None:
        for caller in self.callers:
            caller.sock.close()

    def burst(self, most: int) -> dict[str, float]:
        """`most` requests, as many at once as there are connections; what load.summary says of them."""
        begun = time.perf_counter()
        took, errors = _alone(self.callers[0], most) if len(self.callers) == 1 else _all(self.callers, most)
        return summary(took, errors, time.perf_counter() - begun)


def measure(results: Results, scenario: str, jobs: Mapping[str, Job], rounds: int, most: int) -> None:
    """Add `rounds` bursts of each job to `results`, the order turned by one each round."""
    names = list(jobs)
    with ExitStack() as end:
        parties = {name: end.enter_context(closing(Party(job))) for name, job in jobs.items()}
        for party in parties.values():
            party.burst(WARM * len(party.callers))
        for number in range(rounds):
            for name in turned(names, number):
                results.add(scenario, name, parties[name].burst(most))


def _alone(caller: Caller, most: int) -> tuple[list[float], int]:
    took: list[float] = []
    for _ in range(most):
        caller.ask()
        while (right := caller.take()) is None:
            pass
        if right:
            took.append(time.perf_counter() - caller.begun)
    return took, most - len(took)


def _all(callers: Sequence[Caller], most: int) -> tuple[list[float], int]:
    took: list[float] = []
    asked = answered = 0
    with selectors.DefaultSelector() as ready:
        for caller in callers[:most]:
            ready.register(caller.sock, selectors.EVENT_READ, caller)
            caller.ask()
            asked += 1
        while answered < most:
            for key, _ in ready.select(QUIET) or _silent():
                caller = key.data
                right = caller.take()
                if right is None:
                    continue
                answered += 1
                if right:
                    took.append(time.perf_counter() - caller.begun)
                if asked < most:
                    caller.ask()
                    asked += 1
    return took, most - len(took)


def _silent() -> list[tuple[selectors.SelectorKey, int]]:
    raise TimeoutError(f"no answer for {QUIET:g} s")
