"""Many cases played at a time, on one server and one provider."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from tests.cases import case as cases
from tests.cases.case import Case, Run
from tests.cases.stage import Stage
from tests.provider import Provider
from tests.running import Running


@dataclass(frozen=True)
class Result:
    """How many runs were played; `wrong`: what did not hold, behind the label of its run; `later`: why other
    runs were left out."""

    case: Case
    played: int
    wrong: tuple[str, ...]
    later: tuple[str, ...]


def play(chosen: list[Case], jobs: int, later: bool = False) -> Iterator[Result]:
    """The results of the cases, in order; those of which every run was left out as well."""
    planned = [(case, cases.runs(case)) for case in chosen]
    with Provider() as provider, Running() as bench, ThreadPoolExecutor(jobs) as pool:
        stage = Stage(bench, provider)
        futures: list[list[tuple[Run, Future[list[str]]]]] = [
            [(run, pool.submit(stage.play, run)) for run in runs if later or not run.later]
            for _, runs in planned
        ]
        for (case, runs), played in zip(planned, futures, strict=True):
            wrong = tuple(sentence for run, future in played for sentence in _sentences(run, future))
            left = dict.fromkeys(run.later for run in runs if run.later and not later)
            yield Result(case, len(played), wrong, tuple(filter(None, left)))


def _sentences(run: Run, played: Future[list[str]]) -> list[str]:
    """What was wrong with a run; an accident is wrong too."""
    accident = played.exception()
    found = [f"could not be played: {accident!r}"] if accident else played.result()
    return [f"[{run.label}] {sentence}" if run.label else sentence for sentence in found]
