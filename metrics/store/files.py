"""JsonFile: one mapping in one file that people and several processes edit, and nobody ever finds half
written.

Reading goes through a cache that a look at the file's inode, time and size keeps honest, so an edit by hand
is picked up. Changing happens inside `edit()`: locked, read again, and put in the file's place in one step. A
file that does not parse is somebody's work gone wrong: it is reported by name and line and never written
over.
"""

import copy
import functools
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

from metrics.records import Problem
from metrics.store import disk, home, migrate
from metrics.store.locks import FileLock, lock_beside
from metrics.values import dataclass

WAIT = 30.0  # seconds an edit waits for the one before it
# A file changed so lately may change again without its time showing it: clocks of file systems tick in
# milliseconds.
UNSETTLED_NS = 100_000_000

About = TypeVarTuple("About")
T = TypeVar("T")

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file as it was read: its mapping, or why there is none."""

    mark: tuple[object, ...]
    value: Object
    problem: str | None = None
    settled: bool = True


# Seconds that what a request saw of the files is good for the requests after it. Only an edit by hand can
# show that much later: one by this process, which alone owns the folder, begins a new moment at once.
FRESH = 0.05


class _Here(threading.local):
    """What this thread has seen of the files in the moment that it is in; None outside of one."""

    looked: dict[Any, Any] | None = None


_here = _Here()
# Of the latest moment: its data folder, until when it lasts (monotonic), and what was seen in it.
_latest: tuple[Path | None, float, dict[Any, Any]] = (None, 0.0, {})


class moment:
    """Within the block this thread looks at no file twice: a request sees one state of the settings, and
    requests at about the same time share one look at each file, however often they ask."""

    __slots__ = ("_within",)

    def __enter__(self) -> None:
        self._within = _here.looked is not None
        if not self._within:
            _here.looked = _current()

    def __exit__(self, *_: object) -> None:
        if not self._within:
            _here.looked = None


def _current() -> dict[Any, Any]:
    global _latest
    folder, until, looked = _latest  # one tuple: another thread sees the old moment or the new one
    now = time.monotonic()
    if now >= until or folder is not home.opened():
        looked = {}
        _latest = (home.opened(), now + FRESH, looked)
    return looked


def look_again() -> None:
    """What was seen so far holds no longer: a file was changed, or what stands beside the files in
    `once_a_moment`. This thread and whoever comes looks again."""
    global _latest
    _latest = (None, 0.0, {})
    if _here.looked is not None:
        _here.looked = _current()


def once_a_moment(work: Callable[[*About], T]) -> Callable[[*About], T]:
    """`work` reads files, and nothing else that changes without `look_again`: within a moment it is done
    once for each thing that it is asked about."""

    @functools.wraps(work)
    def done(*about: *About) -> T:
        looked = _here.looked
        if looked is None:
            return work(*about)
        name = (work, about)
        try:
            found: T = looked[name]
        except KeyError:
            found = looked[name] = work(*about)
        return found

    return done


class JsonFile:
    """The mapping in the file `name` of the data folder; `empty` makes it while there is no file."""

    def __init__(self, name: str, *, version: int = 1, empty: Callable[[], Object] = dict) -> None:
        self.name = name
        self._version = version
        migrate.known(name, version)
        self._empty = empty
        self._lock = threading.Lock()
        self._seen: _Seen | None = None
        self._at: tuple[Path | None, str] = (None, "")

    @property
    def problem(self) -> str | None:
        """Why the file cannot be used, with its name, the line and how to repair it; None when it is fine."""
        return self._look().problem

    def read(self) -> Object:
        """The mapping as it is now. It is shared: do not change it. Problem (503, kind config) when it does
        not parse."""
        looked = _here.looked
        seen: _Seen | None = None if looked is None else looked.get(self)
        if seen is None:
            seen = self._look()
            if looked is not None:
                looked[self] = seen
                if seen.problem:
                    look_again()  # whoever repairs it sees so at the next request
        return seen.value if seen.problem is None else self._usable(seen)

    @contextmanager
    def edit(self) -> Iterator[Object]:
        """A copy of the mapping to change; it is saved when the block ends, durably, unless nothing changed.

        Problem when the file does not parse, is held for too long, or the disk refuses; the file is then as
        it was, as it is when the block raises.
        """
        target = Path(os.path.realpath(self._path()))  # a symlink stays one
        with self._lock, _held(target, self.name):
            before = self._usable(self._load(str(target)))
            changed = copy.deepcopy(before)
            yield changed
            text = _text(changed, self._version)
            if text != _text(before, self._version):
                disk.put(target, text, durable=True)
                self._seen = None
                look_again()

    def _usable(self, seen: _Seen) -> Object:
        if seen.problem:
            raise Problem(503, seen.problem, kind="config", retryable=False)
        return seen.value

    def _path(self) -> str:
        """The file's path, put together once for each data folder: a request reads several files."""
        folder, path = self._at
        if folder is not home.current():
            path = str(home.path(self.name))
            self._at = (home.current(), path)
        return path

    def _look(self) -> _Seen:
        path = self._path()
        seen = self._seen
        if seen is None or not seen.settled or seen.mark != _mark(path):
            seen = self._seen = self._load(path)
        return seen

    def _load(self, path: str) -> _Seen:
        """Read the file. The mark is taken from what was opened, so a replacement after that shows at the
        next look."""
        try:
            with disk.reading(Path(path)) as fd:
                stat = os.fstat(fd)
                raw = disk.read_all(fd)
        except FileNotFoundError:
            return _Seen((path,), self._empty())
        except OSError as error:
            return _Seen((), {}, f"{self.name} cannot be read: {error.strerror}", settled=False)
        settled = abs(time.time_ns() - stat.st_mtime_ns) > UNSETTLED_NS
        mark = (path, stat.st_ino, stat.st_mtime_ns, stat.st_size)
        try:
            return _Seen(mark, migrate.lift(self.name, parse(raw), self._version), settled=settled)
        except _Broken as broken:
            return _Seen(mark, {}, _repair(self.name, broken), settled)
        except ValueError as error:
            return _Seen(mark, {}, f"{self.name} cannot be used: {error}", settled)


def _mark(path: str) -> tuple[object, ...]:
    try:
        stat = os.stat(path)
    except OSError:
        return (path,)
    return (path, stat.st_ino, stat.st_mtime_ns, stat.st_size)


@contextmanager
def _held(target: Path, name: str) -> Iterator[FileLock]:
    """The lock between processes on `target`."""
    lock = lock_beside(target)
    try:
        disk.make_folder(target.parent)
        taken = lock.take(WAIT)
    except OSError as error:
        raise disk.refusal(error, name) from None
    if not taken:
        raise Problem(
            503, f"{name} is being changed by another process for {WAIT:.0f} s now; try again", kind="busy"
        )
    try:
        yield lock
    finally:
        lock.release()


def _text(value: Object, version: int) -> bytes:
    whole = {migrate.VERSION: version, **value}
    try:
        return (json.dumps(whole, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()
    except UnicodeEncodeError:  # half of a surrogate pair: only an escape can hold it
        return (json.dumps(whole, indent=2, allow_nan=False) + "\n").encode()


class _Broken(Exception):
    """Where and why a file does not parse."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line
        self.why = why


class _Twice(ValueError):
    """A key that one object has twice."""


def _repair(name: str, broken: _Broken) -> str:
    return (
        f"{name}, line {broken.line}: {broken.why}. Repair that line, or move the file away to start afresh; "
        "until then it is left as it is and nothing is saved to it."
    )


def parse(raw: bytes) -> Object:
    """The mapping in a file's bytes: UTF-8 with or without a mark at its start, any line ends, no key
    twice."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _Broken(raw.count(b"\n", 0, error.start) + 1, "it is not UTF-8 text") from None
    if not text.strip():
        raise _Broken(1, "it is empty")
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise _Broken(error.lineno, f"column {error.colno}: {error.msg}") from None
    except _Twice as error:
        raise _Broken(_second_line(text, str(error)), f"the key {error} is there twice") from None
    except RecursionError:
        raise _Broken(1, "it is nested too deeply") from None
    except ValueError as error:
        raise _Broken(_line_of(text, str(error)), f"{error} is not a JSON value") from None
    if not isinstance(value, dict):
        raise _Broken(1, "it must hold an object, { ... }")
    return value


def _once(pairs: list[tuple[str, Any]]) -> Object:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _Twice(json.dumps(next(key for key in keys if keys.count(key) > 1), ensure_ascii=False))
    return mapping


def _no_constant(word: str) -> Any:
    raise ValueError(word)  # NaN and Infinity are Python's, not JSON's


def _second_line(text: str, quoted: str) -> int:
    """The line of the second place where the key stands, or of the first, if it is spelled with escapes
    there."""
    places = [match.start() for match in re.finditer(re.escape(quoted) + r"\s*:", text)]
    return text.count("\n", 0, places[min(1, len(places) - 1)]) + 1 if places else 1


def _line_of(text: str, word: str) -> int:
    return text.count("\n", 0, max(0, text.find(word))) + 1
