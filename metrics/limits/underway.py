"""Calls that have gone out and are not over, kept on disk so that a server that is killed still counts them.

One small file holds what is under way; the writer thread puts a new one in its place when calls have begun,
many at once, and no call waits for it. A call that is over needs no such trace: its row is in the ledger. So
a start reads the file of the run before, takes out what the ledger has, and records the rest as interrupted:
their tokens and what they cost are unknown, which is never nothing.
"""

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from metrics.limits import ledger
from metrics.limits.usage import INTERRUPTED
from metrics.records import Problem
from metrics.store import disk, home, writer
from metrics.store.stamps import stamp

__all__ = ["INTERRUPTED", "begin", "end", "recover"]

Row = Mapping[str, Any]
Tell = Callable[[], Row]

FILE = "underway.json"
LOOKED_AT = 5_000  # rows at the ledger's end: more than could end between a file and the kill


class _Underway:
    """The calls under way, and the sink that writes them."""

    name = FILE

    def __init__(self) -> None:
        self.calls: dict[object, Tell] = {}
        self._lock = threading.Lock()
        self._awake = False
        self._closes: Any = None  # the folder whose closing is seen to

    def begin(self, tell: Tell) -> object:
        token = object()
        self.calls[token] = tell
        if not self._awake:
            self._wake()
        return token

    def _wake(self) -> None:
        self._awake = True
        if self._closes is not home.current():
            self._closes = home.current()
            home.on_close(self.close)
        writer.wake(self)

    def drain(self) -> None:
        """Write what is under way, unless the folder was left meanwhile."""
        with self._lock:
            self._awake = False
            if self._closes is home.current():
                self._write()

    def _write(self) -> None:
        """Whatever has ended by now is in the ledger's file before it is gone from this one."""
        rows = [tell() for tell in list(self.calls.values())]
        ledger.LOG.flush()
        disk.put(home.path(FILE), (json.dumps(rows) + "\n").encode(), durable=False)

    def close(self) -> None:
        """Leave a file only if something is still under way: this process ends without it."""
        with self._lock, suppress(OSError, Problem):
            self._closes = None
            if self.calls:
                self._write()
            else:
                disk.remove(home.path(FILE))
        writer.forget(self)


_underway = _Underway()


def begin(tell: Tell) -> object:
    """A call goes out; `tell` makes its ledger row as it would be if nothing more came. Returns what `end`
    wants."""
    return _underway.begin(tell)


def end(token: object) -> None:
    """The call is over, and its row was given to the ledger."""
    _underway.calls.pop(token, None)


def recover(now: float) -> int:
    """Record what was under way when the last server of this data folder was killed; how many calls. To be
    called once, by the folder's owner, before it calls anybody."""
    try:
        with disk.reading(home.path(FILE)) as fd:
            found = json.loads(disk.read_all(fd))
    except (OSError, ValueError):
        return 0
    rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    latest, _ = ledger.recent(LOOKED_AT) if rows else ([], None)
    ended = {row.get("call") for row in latest}
    lost = [row for row in rows if row.get("call") not in ended]
    for row in lost:
        ledger.add({**row, "at": _moment(row, now)})
    ledger.LOG.flush()
    with suppress(OSError, Problem):
        disk.remove(home.path(FILE))
    return len(lost)


def _moment(row: Row, now: float) -> str:
    """The last moment at which it is known to have been under way."""
    at = row.get("at")
    return at if isinstance(at, str) and len(at) == len(stamp(now)) else stamp(now)
