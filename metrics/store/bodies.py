"""What was asked and answered, in full: one file for each panel, apart from the records, so that records stay
small.

A body is kept in bodies/YYYY-MM-DD/<panel id>.json, by the day in the id, and goes after some days unless
somebody still needs it. Whether bodies are kept at all is the caller's setting.
"""

import json
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from metrics.records import Problem
from metrics.store import disk, home, migrate, stamps, writer

HELD = 64_000_000  # bytes that wait in memory while the disk refuses them
DAY = 86_400.0

_ID = re.compile(r"[pr](\d{4})(\d\d)(\d\d)-\d{6}-[0-9a-f]{4,32}")

Body = dict[str, Any]


def keep(panel_id: str, body: Body) -> None:
    """Have `body` written as the body of this panel, in place of an earlier one. Do not change it
    afterwards."""
    _QUEUE.put(_place(panel_id), _content(body))


def read(panel_id: str) -> Body | None:
    """The body of a panel; None when there is none, it has expired, or the id is not one."""
    if not _ID.fullmatch(panel_id):
        return None
    path = _place(panel_id)
    try:
        content = _QUEUE.waiting(path) or _content_of(path)
        body = json.loads(content)
        return migrate.lift("bodies", body, 1) if isinstance(body, dict) else None
    except migrate.TooNew as error:
        raise Problem(503, f"the body of {panel_id} cannot be used: {error}", kind="config") from None
    except (FileNotFoundError, ValueError):
        return None
    except OSError as error:
        raise Problem(500, f"the body of {panel_id} cannot be read: {error.strerror}", kind="disk") from None


def _content_of(path: Path) -> bytes:
    with disk.reading(path) as fd:
        return disk.read_all(fd)


def sweep(now: float, days: float, keep: Callable[[str], bool]) -> int:
    """Remove the bodies of panels older than so many `days`, but those whose id `keep` wants. Returns how
    many went."""
    last = stamps.stamp(now - days * DAY)[:10]
    gone = 0
    for folder in sorted(home.path("bodies").glob("[0-9]*-[0-9]*-[0-9]*")):
        if folder.name < last:
            gone += sum(_expire(file, keep) for file in sorted(folder.iterdir()))
            with suppress(OSError):
                folder.rmdir()  # when it is empty now
    return gone


def _expire(file: Path, keep: Callable[[str], bool]) -> bool:
    """Whether `file` was a body to remove. A killed writer's draft goes uncounted."""
    with suppress(OSError):
        if file.suffix == ".draft":
            file.unlink()
        elif _ID.fullmatch(file.stem) and not keep(file.stem):
            file.unlink()
            return True
    return False


def flush() -> None:
    """Write all bodies that wait. Problem when the disk refuses."""
    _QUEUE.drain()


def _place(panel_id: str) -> Path:
    match = _ID.fullmatch(panel_id)
    if not match:
        raise ValueError(f"{panel_id!r} is not a panel's id")
    return home.path("bodies") / "-".join(match.groups()) / f"{panel_id}.json"


class _Queue:
    """Bodies on their way to the disk, by the path they go to. The newest is what is read meanwhile."""

    name = "bodies"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._draining = threading.Lock()
        self._bodies: dict[Path, bytes] = {}
        self._size = 0
        self._home: Path | None = None

    def put(self, path: Path, content: bytes) -> None:
        with self._lock:
            self._forget(path)
            self._bodies[path] = content
            self._size += len(content)
            while self._size > HELD and len(self._bodies) > 1:
                self._forget(next(iter(self._bodies)))
            first, self._home = self._home != home.current(), home.current()
        if first:
            home.on_close(self._close)
        writer.wake(self)

    def _forget(self, path: Path) -> None:
        self._size -= len(self._bodies.pop(path, b""))

    def waiting(self, path: Path) -> bytes | None:
        with self._lock:
            return self._bodies.get(path)

    def drain(self) -> None:
        """Write them all; what the disk refuses stays, and a Problem says so."""
        with self._draining:
            with self._lock:
                bodies = list(self._bodies.items())
            for path, content in bodies:
                disk.make_folder(path.parent)
                disk.put(path, content, durable=False)
                with self._lock:
                    if self._bodies.get(path) is content:
                        self._forget(path)

    def _close(self) -> None:
        writer.attempt(self)
        writer.forget(self)
        with self._lock:
            self._bodies.clear()
            self._size = 0
            self._home = None


def _content(body: Body) -> bytes:
    whole = {migrate.VERSION: 1, **body}
    try:
        return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(whole, separators=(",", ":")).encode()


_QUEUE = _Queue()
