#!/usr/bin/env python3
"""A closed loop of stamped streams: when each one's first chunk came, and how long every chunk was under way.

    python scripts/bench/streams.py    reads a Job as JSON from stdin, prints what `drive` counted as JSON

Streams that began within the job's seconds count, and are heard to their end. One thread and one selector, as
in load.py."""

import json
import selectors
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

if __name__ == "__main__":
    sys.path[:1] = [str(Path(__file__).resolve().parent.parent.parent)]

from scripts.bench import stamped
from scripts.bench.load import QUIET, Caller, Job, bounded, summary

RANKS = {"p50": 0.5, "p99": 0.99}


class Listener(Caller):
    """One connection with one stream under way. `first` is when its first chunk came; `heard`, in seconds,
    how long each chunk took."""

    def __init__(self, job: Job, number: int) -> None:
        super().__init__(job, number)
        self.chunks = job.chunks
        self.first = 0.0
        self.heard: list[float] = []
        self._seen = 0

    def ask(self) -> None:
        self.first, self.heard, self._seen = 0.0, [], 0
        super().ask()

    def take(self) -> bool | None:
        """Receive once. None: there is more to come; else whether the stream was right: whole, all of its
        chunks in it."""
        right = super().take()
        now = time.perf_counter_ns()
        under_way, self._seen = stamped.delays(self.got, self._seen, now)
        self.heard += under_way
        if self.heard and not self.first:
            self.first = now / 1e9
        return right and len(self.heard) == self.chunks


class Tally:
    """What came of the streams that began at `counting` or later."""

    def __init__(self, counting: float) -> None:
        self.counting = counting
        self.took: list[float] = []
        self.first: list[float] = []
        self.delays: list[float] = []
        self.errors = self.asked = 0

    def add(self, caller: Listener, right: bool, now: float) -> None:
        self.asked += 1
        if caller.begun < self.counting:
            self.errors += not right
        elif right:
            self.took.append(now - caller.begun)
            self.first.append(caller.first - caller.begun)
            self.delays += caller.heard
        else:
            self.errors += 1

    def told(self, seconds: float) -> dict[str, float]:
        """load.summary's fields, and those of chunks: {"first_ms", "chunk_rate", "delay_p50_ms", …}."""
        delays = {f"delay_{name}_ms": ranked(self.delays, rank) for name, rank in RANKS.items()}
        return {
            **summary(self.took, self.errors, seconds),
            "asked": self.asked,
            "chunk_rate": len(self.delays) / seconds,
            "first_ms": ranked(self.first, 0.5),
            "first_p99_ms": ranked(self.first, 0.99),
            **delays,
        }


def ranked(times: list[float], rank: float) -> float:
    """Milliseconds: the time that a `rank` part of `times` does not exceed; 0 of none."""
    return sorted(times)[int(len(times) * rank)] * 1e3 if times else 0.0


def drive(job: Job) -> dict[str, float]:
    """Tally.told of a job's streams."""
    bounded(job)
    callers = [Listener(job, number) for number in range(job.connections)]
    try:
        counting = time.perf_counter() + job.warm
        tally = Tally(counting)
        _listen(callers, tally, counting + job.seconds)
        return tally.told(time.perf_counter() - counting)
    finally:
        for caller in callers:
            caller.sock.close()


def _listen(callers: Sequence[Listener], tally: Tally, until: float) -> None:
    with selectors.DefaultSelector() as ready:
        for caller in callers:
            ready.register(caller.sock, selectors.EVENT_READ, caller)
            caller.ask()
        while open_ones := ready.get_map():
            events = ready.select(QUIET)
            if not events:
                tally.errors += len(open_ones)
                return
            for key, _ in events:
                if not _heard(key.data, tally, until):
                    ready.unregister(key.fileobj)


def _heard(caller: Listener, tally: Tally, until: float) -> bool:
    """Receive once and begin the next stream after the end of one. False: this connection is done."""
    try:
        right = caller.take()
        if right is None:
            return True
        now = time.perf_counter()
        tally.add(caller, right, now)
        if now < until:
            caller.ask()
        return now < until
    except OSError:
        tally.errors += 1
        return False


def main() -> None:
    job = Job(**json.load(sys.stdin))
    print(json.dumps({"job": asdict(job) | {"body": len(job.body)}, **drive(job)}))


if __name__ == "__main__":
    main()
