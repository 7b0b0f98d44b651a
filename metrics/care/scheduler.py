"""What the server does by itself, each thing at its interval: the rows of JOBS, one thread.

The first round comes a little after the start, so that a start costs nothing; a job that fails is logged
and tried again at its next turn.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from metrics.bench import settings
from metrics.care import pruning
from metrics.evidence import verdicts
from metrics.store import bodies

_log = logging.getLogger("benchwarmers")

DAY = 86400.0
FIRST_S = 60.0  # after the start


@dataclass(frozen=True, slots=True)
class Job:
    """`run` is given the time (epoch seconds)."""

    name: str
    every_s: float
    run: Callable[[float], object]


class Scheduler:
    """`sleep` waits that many seconds and returns True when it is time to end."""

    def __init__(
        self,
        jobs: Sequence[Job],
        *,
        log: Callable[[str], None] = _log.error,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], bool] | None = None,
    ) -> None:
        self.jobs = jobs
        self.log = log
        self.now = now
        self._stopping = threading.Event()
        self.sleep = sleep or self._stopping.wait
        self._due = {job.name: now() + FIRST_S for job in jobs}

    def start_thread(self) -> threading.Thread:
        thread = threading.Thread(target=self.run, name="scheduler", daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        """End before the next job; one that is running is not waited for."""
        self._stopping.set()

    def run(self) -> None:
        """Run what is due, sleep until the next is, until told to end."""
        while self.jobs:
            for job in due(self.jobs, self._due, self.now()):
                self._run(job)
            if self.sleep(max(1.0, min(self._due.values()) - self.now())):
                return

    def _run(self, job: Job) -> None:
        started = self.now()
        self._due[job.name] = started + job.every_s
        try:
            job.run(started)
        except Exception as error:  # the one place that must outlive whatever a job does
            self.log(f"scheduler: {job.name} failed: {type(error).__name__}: {error}")


def due(jobs: Sequence[Job], at: dict[str, float], now: float) -> list[Job]:
    """Whose time has come, in the order of the table."""
    return [job for job in jobs if at[job.name] <= now]


def start() -> Scheduler:
    """Run JOBS in a thread of their own, until `stop`."""
    scheduler = Scheduler(JOBS)
    scheduler.start_thread()
    return scheduler


def sweep_bodies(now: float) -> int:
    """Delete prompts and answers past their days, except those of panels that somebody began to judge."""
    return bodies.sweep(now, settings.get("body_days"), verdicts.judged)


def drop_old_months(now: float) -> int:
    """Delete records of months that the settings no longer keep. Verdicts and claims are kept for good; that
    panels went which were judged, or owed a verdict, is noted among the changes."""
    return pruning.drop_months(settings.get("log_months"), now, "daily job")


JOBS = (
    Job("bodies", DAY, sweep_bodies),
    Job("old months", DAY, drop_old_months),
)
