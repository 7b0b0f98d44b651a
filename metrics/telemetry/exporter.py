"""Two threads: one that hears what happens, one that sends it in batches. Whoever asks a model waits for
neither.

Between them lies a queue that is bounded; where a collector is slow or away, the newest spans are dropped and
counted, never a request delayed.
"""

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from metrics import bus
from metrics.limits import ledger
from metrics.records import Problem
from metrics.telemetry import meter, otlp, sending, spans
from metrics.telemetry.options import Options

LOOK = 0.5  # seconds between looks at what has happened
GATHER = (
    0.25  # seconds that news are gathered for: a thread woken for each costs the calls more than all else
)
TRIES = 5  # of one batch
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds between them
LAST_WORDS = 2.0  # seconds that sending what is left may take at the end

Post = Callable[..., sending.Outcome]


class Exporter:
    """Telemetry of this process, from `start` to `stop`. `pause` waits that many seconds and returns True
    when it is time to end."""

    def __init__(
        self,
        options: Options,
        log: Callable[[str], None] = lambda line: None,
        now: Callable[[], float] = time.time,
        post: Post = sending.post,
        pause: Callable[[float], bool] | None = None,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.options = options
        self.meter = meter.Meter(now())
        self._log, self._now, self._post, self._draw = log, now, post, draw
        self._stopping = threading.Event()
        self._pause = pause or self._stopping.wait
        self._spans = spans.Spans()
        self._queue: deque[spans.Span] = deque()
        self._lock = threading.Lock()
        self._full = threading.Event()
        self._threads: list[threading.Thread] = []
        self._counts = dict.fromkeys(("sent", "dropped", "rejected", "reports", "lapses"), 0)
        self._trouble: dict[str, str] = {}  # by signal: a collector may take one and not the other

    # --- life

    def start(self) -> "Exporter":
        """Begin, if anything is asked for."""
        work: list[Callable[[], None]] = []
        if self.options.prometheus or self.options.otlp:
            work.append(self._listen)
        if self.options.otlp:
            work.append(self._send_all)
        for each in work:
            thread = threading.Thread(target=each, name=f"telemetry{each.__name__}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return self

    def stop(self) -> None:
        """Send what is left, for at most LAST_WORDS seconds."""
        self._stopping.set()
        self._full.set()
        until = time.monotonic() + LAST_WORDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def told(self) -> dict[str, Any]:
        """What is going on, for `bench status`: no address's path, and no header, is in it."""
        places = {_place(url) for url in (self.options.traces, self.options.metrics) if url}
        with self._lock:
            return {
                "prometheus": self.options.prometheus,
                "otlp": sorted(places),
                "waiting": len(self._queue),
                **self._counts,
                "trouble": "; ".join(f"{signal}: {why}" for signal, why in self._trouble.items()),
            }

    # --- hearing

    @property
    def _topics(self) -> tuple[str, ...]:
        return spans.TOPICS if self.options.traces else ("call",)

    def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                reader = bus.subscribe(self._topics, lasting=True)
            except Problem:  # too many watch: there is a next time
                if self._pause(LOOK):
                    return
                continue
            with reader:
                while not (reader.over or self._stopping.is_set()):
                    self.hear(reader.take(LOOK, GATHER, self._doze))
                self.hear(reader.take(0.0))
            if reader.lost:
                self._count("lapses", 1)

    def _doze(self, seconds: float) -> None:
        self._stopping.wait(seconds)

    def hear(self, news: list[bus.News]) -> None:
        """Take in what happened. What cannot be told costs only itself."""
        for each in news:
            with suppress(KeyError, TypeError, ValueError, AttributeError):
                if each.topic == "call":
                    self.meter.hear(each.facts)
                if self.options.traces:
                    self._enqueue(self._spans.of(each))

    def _enqueue(self, found: list[spans.Span]) -> None:
        with self._lock:
            room = max(0, self.options.queue - len(self._queue))
            self._queue.extend(found[:room])
            self._counts["dropped"] += len(found[room:])
            if len(self._queue) >= self.options.batch:
                self._full.set()

    # --- sending

    def _send_all(self) -> None:
        reported = self._now()
        while not self._stopping.is_set():
            self._full.wait(min(self.options.delay, self.options.interval))
            self._full.clear()
            self.send_spans()
            if self._now() - reported >= self.options.interval:
                reported = self._now()
                self.report()
        self._threads[0].join(LAST_WORDS)  # what was heard last is sent as well
        self.send_spans()
        self.report()

    def send_spans(self) -> None:
        """Send all that waits, a batch at a time."""
        url = self.options.traces
        while url:
            with self._lock:
                batch = [self._queue.popleft() for _ in range(min(len(self._queue), self.options.batch))]
            if not batch:
                return
            outcome = self._deliver("traces", url, otlp.traces(batch, self.options.resource))
            lost = outcome.rejected if not outcome.why or outcome.rejected else len(batch)
            self._count("sent", len(batch) - lost)
            self._count("rejected" if outcome.rejected else "dropped", lost)

    def report(self) -> None:
        """Send the sums as they are now."""
        if not self.options.metrics:
            return
        document = otlp.metrics(
            meter.families(ledger.used),
            (
                ("gen_ai.client.operation.duration", "s", self.meter.durations()),
                ("gen_ai.client.token.usage", "{token}", self.meter.tokens()),
            ),
            self.options.resource,
            self.meter.began,
            self._now(),
        )
        if not self._deliver("metrics", self.options.metrics, document).why:
            self._count("reports", 1)

    def _deliver(self, signal: str, url: str, document: Mapping[str, Any]) -> sending.Outcome:
        """Send one body, again while the collector asks for that and there is time."""
        headers = self.options.headers.get(signal, ())
        pause = FIRST_PAUSE
        for left in reversed(range(TRIES)):
            last = self._stopping.is_set()
            timeout = min(self.options.timeout, LAST_WORDS / 2) if last else self.options.timeout
            outcome = self._post(signal, url, document, headers, self.options.gzip, timeout)
            self._tell(outcome, signal, url)
            if not (outcome.again and left) or last:
                return outcome
            wait = pause * (0.5 + self._draw()) if outcome.wait is None else outcome.wait
            pause = min(pause * 2, LONGEST_PAUSE)
            self._pause(wait)
        return outcome

    def _tell(self, outcome: sending.Outcome, signal: str, url: str) -> None:
        """Say once that a collector does not take what it is sent, and once that it does again."""
        with self._lock:
            before = self._trouble.pop(signal, "")
            if outcome.why:
                self._trouble[signal] = outcome.why
        if outcome.why and not before:
            self._log(f"telemetry: {_place(url)} does not take {signal}: {outcome.why}")
        elif before and not outcome.why:
            self._log(f"telemetry: {_place(url)} takes {signal} again")

    def _count(self, name: str, number: int) -> None:
        with self._lock:
            self._counts[name] += number


def _place(url: str) -> str:
    """The address without its path, its query and who signs in: those may be secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


_running: Exporter | None = None


def begin(options: Options, log: Callable[[str], None]) -> Exporter:
    """The telemetry of this process."""
    global _running
    _running = Exporter(options, log).start()
    return _running


def running() -> Exporter | None:
    return _running
