"""What just happened, for whoever watches: the dashboard's stream of events, telemetry.

    publish(topic, facts)                       whoever does something says so, once it is recorded
    with subscribe(topics, after=id) as reader: whoever watches
        for news in reader.take(10.0): ...      [] after 10 quiet seconds

Publishing waits for nobody: it is one comparison while nobody watches, and else one entry for each reader. A
reader that does not keep up is let go (`reader.lost`), for what it missed is recorded anyway and can be read
again. The last news are kept for a while, so that who comes back with the id of the last one it had gets what
was said meanwhile, or is told that it `missed` some.

Topics and their facts. The facts are shared: nobody changes them. None holds words of a prompt or an answer,
but where `task` is named; whoever passes facts on to others leaves that out.

    attempt       {the row of a call under way, attempt, at (epoch seconds), seconds, error, pause}: one that
                  failed and is followed by another; not in TOPICS, for telemetry alone
    call          the ledger's row of one call that is over, tried again or not (limits/ledger.FIELDS)
    panel.begun   {panel, at, collection, shape, reply, key, seats: [{call, seat, alias, model_id}]}
    panel         the row of a panel whose reply is complete, `task` in it; again with late: true when
                  stragglers came in (play/minutes.keep)
    turn          the row of one turn of route mode that is over, `task` in it (play/turns.record)
    verdict       the row of a verdict, given, changed or withdrawn; of a pair {id, pair, choice, by, at}
    claim         {call, decision, by}: a passage of an answer decided, or taken back (None)
    quota         {connection, model_id, ...}: a provider stated a limit, or asked for a rest
    change        {by, what, field, at}: an edit of the bench; `what` is "endpoint groq" or "settings"
"""

import queue
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from metrics.records import Problem

TOPICS = ("call", "panel.begun", "panel", "turn", "verdict", "claim", "quota", "change")
KEPT = 2000  # the latest news, for those who come back
LINGER = 120.0  # seconds that news are kept after the last reader has gone
BEHIND = 5000  # news that one reader may leave lying
READERS = 32


@dataclass(frozen=True, slots=True)
class News:
    """One thing that happened. `at` is epoch seconds; ids are `<bus>-<number>` and go up within one bus."""

    id: str
    number: int
    topic: str
    at: float
    facts: Mapping[str, Any]


class Reader:
    """Who watches. `missed`: it came back too late for all that was said meanwhile. `lost`: it was let go,
    for it did not keep up; `over`: the bus has closed, or the reader has."""

    def __init__(self, bus: "Bus", topics: Iterable[str] | None, lasting: bool = False) -> None:
        self.lasting = lasting
        self.topics = None if topics is None else frozenset(topics)
        self.missed = False
        self.lost = False
        self.over = False
        self.last = ""  # the id up to which it has been told
        self._bus = bus
        self._waiting: queue.SimpleQueue[News | None] = queue.SimpleQueue()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._bus.leave(self)

    def take(
        self, seconds: float, gather: float = 0.0, sleep: Callable[[float], None] = time.sleep
    ) -> list[News]:
        """What has happened since the last time, in its order; [] when nothing does within `seconds`. With
        `gather`, once something has, it waits that long for more, so that many are taken at once."""
        try:
            first = self._waiting.get(timeout=seconds)
        except queue.Empty:
            return []
        if gather and first is not None:
            sleep(gather)
        taken = [first]
        for _ in range(self._waiting.qsize()):
            taken.append(self._waiting.get_nowait())
        self.over = self.over or None in taken
        news = [each for each in taken if each is not None]
        self.last = news[-1].id if news else self.last
        return news

    # --- the bus's side, under its lock

    def wants(self, topic: str) -> bool:
        return self.topics is None or topic in self.topics

    def tell(self, news: News) -> bool:
        """Whether it could be told: a reader that is too far behind is let go."""
        if self._waiting.qsize() >= BEHIND:
            self.end(lost=True)
            return False
        self._waiting.put(news)
        return True

    def end(self, lost: bool = False) -> None:
        self.lost = self.lost or lost
        self._waiting.put(None)


class Bus:
    """Who publishes and who reads. One for the whole process stands below."""

    def __init__(self, clock: Callable[[], float] = time.time, name: str | None = None) -> None:
        self.name = name or secrets.token_hex(4)
        self._clock = clock
        self._lock = threading.Lock()
        self._last = 0  # the number of the latest news
        self._readers: list[Reader] = []
        self._kept: deque[News] = deque(maxlen=KEPT)
        self._warm = False  # somebody reads, or did so a moment ago
        self._closed = False
        self._until = 0.0  # when what is kept is let go, while nobody reads

    def publish(self, topic: str, facts: Mapping[str, Any]) -> None:
        """Say that something happened. Waits for nobody, and raises nothing."""
        if not self._warm:
            return
        now = self._clock()
        with self._lock:
            if not self._readers and now > self._until:
                self._cool()
                return
            self._last += 1
            news = News(f"{self.name}-{self._last}", self._last, topic, now, facts)
            self._kept.append(news)
            slow = [reader for reader in self._readers if reader.wants(topic) and not reader.tell(news)]
            if slow:
                self._readers = [reader for reader in self._readers if reader not in slow]

    def subscribe(
        self, topics: Iterable[str] | None = None, after: str | None = None, lasting: bool = False
    ) -> Reader:
        """A reader of these topics (None: all), from now on, or from what came `after` that id on. A
        `lasting` one is told of what ends after the bus was closed, too. Problem 429 when there are too many
        readers already, 503 once the bus is closed."""
        reader = Reader(self, topics, lasting)
        with self._lock:
            if self._closed:
                raise Problem(503, "this server is stopping", retry_after=5.0)
            if len(self._readers) >= READERS:
                raise Problem(
                    429,
                    f"{READERS} windows and programs watch this server already: close some",
                    retry_after=30.0,
                )
            if after is not None:
                since = self._since(after)
                reader.missed = since is None
                for news in since or ():
                    if reader.wants(news.topic):
                        reader.tell(news)
            reader.last = f"{self.name}-{self._last}"
            self._readers.append(reader)
            self._warm = True
        return reader

    def leave(self, reader: Reader) -> None:
        with self._lock:
            reader.over = True
            if reader in self._readers:
                self._readers.remove(reader)
                self._until = self._clock() + LINGER

    def close(self) -> None:
        """End every reader, and take no more: the process is about to end."""
        with self._lock:
            self._closed = True
            for reader in self._readers:
                if not reader.lasting:
                    reader.end()
            self._readers = [reader for reader in self._readers if reader.lasting]

    @property
    def watched(self) -> bool:
        """Whether somebody reads: for who would have to prepare what it publishes."""
        return bool(self._readers)

    def _since(self, after: str) -> list[News] | None:
        """What came after that id; None when not all of it is kept any more, or the id is none of ours."""
        name, _, number = after.rpartition("-")
        known = name == self.name and number.isascii() and number.isdigit() and len(number) < 16
        if not known or not self._warm or int(number) > self._last:
            return None
        since = [news for news in self._kept if news.number > int(number)]
        return since if len(since) == self._last - int(number) else None

    def _cool(self) -> None:
        """Nobody came back: forget, and number on, so that ids from before are known to be too old."""
        self._warm = False
        self._kept.clear()
        self._last += 1


BUS = Bus()
publish = BUS.publish
subscribe = BUS.subscribe
close = BUS.close


def watched() -> bool:
    """Whether somebody reads what is published."""
    return BUS.watched
