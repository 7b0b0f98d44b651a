"""The data folder: where it is, who owns it, and what must be closed before it is left.

One process owns a folder (`own`); every other may read it and edit its settings, whose files have locks of
their own. The rest of the program asks `path` for places in the current folder and never learns where that
is.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from metrics.records import Problem
from metrics.store import disk
from metrics.store.locks import FileLock, lock_beside

_CHECKOUT = Path(__file__).resolve().parents[2]
_OWNER = "server.lock"

_current: Path | None = None
_owned: FileLock | None = None
_closers: list[Callable[[], None]] = []
_guard = threading.Lock()


def open_home(
    folder: Path | None,
    env: Mapping[str, str],
    examples: Path | None = None,
    checkout: Path = _CHECKOUT,
) -> Path:
    """Choose the data folder (see `choose`), make it, and copy the starter files of `examples` that it lacks.

    Returns it; it is the current one from now on. Problem when it cannot be used.
    """
    home = use(choose(folder, env, checkout))
    for example in sorted(examples.glob("*.json")) if examples else ():
        _copy_missing(example, home / example.name)
    return home


def choose(
    folder: Path | None,
    env: Mapping[str, str],
    checkout: Path = _CHECKOUT,
    platform: str = sys.platform,
    user: Path | None = None,
) -> Path:
    """The data folder: the one named, else BENCHWARMERS_HOME, else the line in the checkout's
    `.benchwarmers-home` (relative to the checkout), else the user's own folder for data."""
    if folder is not None:
        return folder.expanduser()
    if env.get("BENCHWARMERS_HOME"):
        return Path(env["BENCHWARMERS_HOME"]).expanduser()
    note = checkout / ".benchwarmers-home"
    if note.is_file():
        line = note.read_text(encoding="utf-8-sig").strip()
        if not line:
            raise Problem(
                503, f"{note} is empty: write the path of a data folder into it, or remove it", kind="config"
            )
        return checkout / Path(line).expanduser()
    return _user_folder(env, platform, user or Path.home())


def _user_folder(env: Mapping[str, str], platform: str, user: Path) -> Path:
    if platform == "win32":
        parent = Path(env.get("LOCALAPPDATA") or user / "AppData" / "Local")
    elif platform == "darwin":
        parent = user / "Library" / "Application Support"
    else:
        named = Path(env.get("XDG_DATA_HOME") or "")
        parent = named if named.is_absolute() else user / ".local" / "share"
    return parent / "benchwarmers"


def use(folder: Path) -> Path:
    """Make `folder` the current data folder, after closing what is open in the one before."""
    global _current
    close()
    folder = Path(os.path.abspath(folder))
    if folder.exists() and not folder.is_dir():
        raise Problem(
            503, f"{folder} is a file, not a data folder; choose another with --home", kind="config"
        )
    disk.make_folder(folder)
    try:
        if not any(folder.iterdir()):
            folder.chmod(
                0o700
            )  # an empty folder becomes ours; one with other things in it keeps its owner's modes
        _remove_drafts(folder)
    except OSError as error:
        raise disk.refusal(error, str(folder)) from None
    _current = folder
    return folder


def visit(folder: Path) -> Path:
    """Make `folder` the current data folder to look into it: unlike `use`, this makes and changes nothing, in
    a folder that may be anybody's. What is opened for writing is then the caller's doing."""
    global _current
    close()
    _current = Path(os.path.abspath(folder))
    return _current


def current() -> Path:
    """The current data folder."""
    if _current is None:
        raise RuntimeError("no data folder is open: call home.open_home or home.use first")
    return _current


def opened() -> Path | None:
    """The current data folder; None when no folder was opened yet."""
    return _current


def path(name: str) -> Path:
    """The place of `name` ("collections.json", "ledger") in the current data folder."""
    return current() / name


def on_close(closer: Callable[[], None]) -> None:
    """Have `closer` called once, before this folder is left or the process ends in order."""
    with _guard:
        _closers.append(closer)


def close() -> None:
    """Write out and close everything that is open in the current folder. It opens again when it is used
    again."""
    with _guard:
        closers, _closers[:] = list(_closers), []
    for closer in reversed(closers):
        closer()


class Owner:
    """This process as the owner of the data folder."""

    def __init__(self, lock: FileLock) -> None:
        self._lock = lock

    def listening(self, port: int) -> None:
        """Say on which port this process can be reached."""
        note = json.dumps({"pid": os.getpid(), "port": port}).encode()
        fd = self._lock.fd
        if fd is None:
            raise RuntimeError("the data folder is not owned any more")
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        disk.write_all(fd, note)


@contextmanager
def own(port: int = 0) -> Iterator[Owner]:
    """Own the current data folder: at the end everything in it is closed and the folder is free again.

    Problem (kind in_use) naming the owner's pid and port when another process has it.
    """
    global _owned
    lock = FileLock(path(_OWNER))
    try:
        if not lock.take(wait=0.3):  # whoever asks `owner` holds it for a moment
            raise Problem(503, _in_use(current(), _patient_note(lock.path)), kind="in_use", retryable=False)
        held = Owner(lock)
        held.listening(port)
    except OSError as error:
        raise disk.refusal(error, str(lock.path)) from None
    _owned = lock
    try:
        yield held
    finally:
        close()
        _owned = None
        lock.release()


def owned() -> bool:
    """Whether this process owns the current data folder."""
    return _owned is not None and _owned.path.parent == _current


def owner(folder: Path | None = None) -> dict[str, int] | None:
    """Who owns the current data folder, or another `folder`: {pid, port}; None when nobody does. Problem when
    one may not look into it."""
    lock = FileLock((folder or current()) / _OWNER)
    try:
        if not lock.path.exists():
            return None
        if lock.take():
            lock.release()
            return None
    except OSError as error:
        reason = error.strerror or str(error)
        raise Problem(
            500, f"{lock.path} cannot be read: {reason}. Check the data folder's permissions.", kind="disk"
        ) from None
    return _patient_note(lock.path)


def writable() -> bool:
    """Whether this process may write the records: it owns the folder, or nobody does."""
    return owned() or owner() is None


def _in_use(folder: Path, note: dict[str, int]) -> str:
    port = f" on port {note['port']}" if note.get("port") else ""
    who = f"process {note['pid']}{port}" if note else "another process"
    return f"{folder} is in use by {who}: stop that one, or choose another data folder with --home"


def _patient_note(path: Path, tries: int = 20, sleep: Callable[[float], None] = time.sleep) -> dict[str, int]:
    """What the owner wrote of itself; it may be about to. Empty when it does not come."""
    for _ in range(tries):
        try:
            note: Any = json.loads(path.read_bytes())
            return {"pid": int(note["pid"]), "port": int(note["port"])}
        except (OSError, ValueError, KeyError, TypeError):
            sleep(0.01)
    return {}


def _copy_missing(example: Path, target: Path) -> None:
    lock = lock_beside(target)
    try:
        if not os.path.lexists(target) and lock.take(wait=5.0) and not os.path.lexists(target):
            disk.put(target, example.read_bytes(), durable=True)
    except OSError as error:
        raise disk.refusal(error, target.name) from None
    finally:
        lock.release()


def _remove_drafts(folder: Path) -> None:
    """Remove what killed writers left: drafts beside the files they were to replace, symlinked ones
    included."""
    linked = [Path(os.path.realpath(file)) for file in folder.glob("*.json") if file.is_symlink()]
    drafts = [*folder.glob(".*.draft"), *(draft for draft in map(disk.draft_of, linked) if draft.exists())]
    for draft in drafts:
        lock = lock_beside(draft.with_name(draft.name[1 : -len(".draft")]))
        if lock.take():  # else its writer is at work
            with suppress(OSError):
                draft.unlink()
            lock.release()
