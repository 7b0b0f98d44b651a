"""A backup (see backup.py) read back: looked through as a whole first, then put into a data folder.

Nothing of an archive is believed: its names, sizes and sums are checked before the folder is touched, and
what is extracted lies beside the folder's files until all of it is there.
"""

import hashlib
import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics.records import Problem
from metrics.store import disk, home, migrate
from metrics.store.backup import FORMAT, INSIDE, MANIFEST, PIECE, SEALED, SECRETS, SET_ASIDE, kept
from metrics.store.stamps import stamp

STAGE = ".restoring"
LARGEST = 64 << 20  # bytes of a manifest
HEAD = 4096  # bytes of a file in which its version stands


@dataclass(frozen=True, slots=True)
class Found:
    """What a whole backup says of itself: when and by which version it was made, and its files' sizes."""

    path: Path
    at: str
    program: str
    left_out: tuple[str, ...]
    files: Mapping[str, int]

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(name for name in SECRETS if name in self.files)

    @property
    def size(self) -> int:
        return sum(self.files.values())


def check(path: Path) -> Found:
    """Read all of the archive at `path`. Problem, kind backup, that says what is wrong with it; 404 when it
    is not there."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _manifest(archive, MANIFEST)
            entries = _entries(manifest)
            if SEALED in archive.namelist():
                entries |= _entries(_manifest(archive, SEALED))
            _same(archive, entries)
            for name, entry in entries.items():
                _sound(archive, name, entry)
            return Found(
                path,
                str(manifest.get("at")),
                str(manifest.get("program")),
                tuple(map(str, manifest.get("left_out") or ())),
                {name: entry["bytes"] for name, entry in entries.items()},
            )
    except FileNotFoundError:
        raise Problem(404, f"there is no file {path}") from None
    except OSError as error:
        raise Problem(400, f"{path} cannot be read: {error.strerror or error}", kind="backup") from None
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, zlib.error) as error:
        raise _bad(f"it is not a whole zip file ({error})") from None


def _manifest(archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise _bad(f"it has no {name}: `bench backup` did not write it, or not to its end") from None
    if info.file_size > LARGEST:
        raise _bad(f"its {name} is too long")
    try:
        found = json.loads(archive.read(info))
        version = migrate.version_of(found, FORMAT)
    except migrate.TooNew as error:
        raise _bad(f"{name}: {error}") from None
    except (ValueError, RecursionError):
        raise _bad(f"its {name} cannot be read") from None
    if not isinstance(found, dict) or version < 1:
        raise _bad(f"its {name} cannot be read")
    return found


def _entries(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest's lines: name -> {bytes, sha256}, every name one that stays within the folder."""
    files = manifest.get("files")
    if not isinstance(files, dict):
        raise _bad("its manifest lists no files")
    for name, entry in files.items():
        if not kept(name):
            raise _bad(f"it holds a file {name[:80]!r}, which no data folder has")
        sized = isinstance(entry, dict) and type(entry.get("bytes")) is int
        if not sized or not isinstance(entry.get("sha256"), str):
            raise _bad(f"its manifest says nothing of {name}")
    return files


def _same(archive: zipfile.ZipFile, entries: Mapping[str, Any]) -> None:
    """The archive holds what the manifest lists, each once, and nothing else."""
    names = [info.filename for info in archive.infolist() if info.filename not in (MANIFEST, SEALED)]
    wanted = {INSIDE + name for name in entries}
    strange = next((name for name in names if name not in wanted), None)
    if strange is not None:
        raise _bad(f"it holds {strange[:80]!r}, which its manifest does not list")
    if len(names) != len(wanted):
        missing = next(iter(wanted - set(names)), None)
        raise _bad(f"{missing.removeprefix(INSIDE)} is missing in it" if missing else "a file is in it twice")
    lower = {name.lower() for name in entries}
    if len(lower) != len(entries):
        raise _bad("two of its files have names that some systems take for one")


def _sound(archive: zipfile.ZipFile, name: str, entry: Mapping[str, Any]) -> None:
    digest, size, head = hashlib.sha256(), 0, b""
    for part in _read(archive, name, entry):
        head = head or part[:HEAD]
        digest.update(part)
        size += len(part)
    if size != entry["bytes"] or digest.hexdigest() != entry["sha256"]:
        raise _bad(f"{name} is damaged: its checksum does not agree")
    version, newest = _version(name, head), migrate.newest(name)
    if version > newest:
        raise _bad(f"{name}: {migrate.too_new(version, newest)}")


def _read(archive: zipfile.ZipFile, name: str, entry: Mapping[str, Any]) -> Iterator[bytes]:
    """The file's content, but never more than a piece beyond what the manifest promises."""
    size = 0
    with archive.open(INSIDE + name) as member:
        while (part := member.read(PIECE)) and size <= entry["bytes"]:
            size += len(part)
            yield part


def _version(name: str, head: bytes) -> int:
    """The version that a settings file or a log says it has: it stands first in either."""
    text = head.decode("utf-8", "replace")
    if not name.endswith((".json", ".jsonl")) or f'"{migrate.VERSION}"' not in text:
        return 1
    after = text.partition(f'"{migrate.VERSION}"')[2].lstrip(" :\r\n\t")
    digits = after[: len(after) - len(after.lstrip("0123456789"))]
    return int(digits[:9]) if digits else 1


# --- into a folder


def put(found: Found, folder: Path, replace: bool, now: float) -> Path | None:
    """Make `folder` the data folder of this backup; where what was there is kept, None if there was nothing.

    Secrets that the backup lacks and the folder has stay. Problem: a server has the folder (kind in_use), it
    is not empty and `replace` was not said (conflict), or the disk refuses.
    """
    home.use(folder)
    with home.own():
        there = _there(folder)
        if there and not replace:
            raise Problem(
                409,
                f"{folder} is not empty ({', '.join(there[:3])}{', …' if len(there) > 3 else ''}): restore "
                "into another folder, or say that this one is to be replaced",
                kind="conflict",
            )
        try:
            _room(found, folder)
            _extract(found, folder / STAGE)
            aside = _set_aside(found, folder, there, now)
            for entry in sorted((folder / STAGE).iterdir()):
                os.replace(entry, folder / entry.name)
            (folder / STAGE).rmdir()
            disk.sync_folder(folder)
        except OSError as error:
            raise disk.refusal(error, str(folder)) from None
    return aside


def _there(folder: Path) -> list[str]:
    """What the folder holds, but for locks, what an earlier restore left undone, and what it set aside."""
    names = sorted(entry.name for entry in folder.iterdir())
    return [name for name in names if not name.endswith(".lock") and not name.startswith((STAGE, SET_ASIDE))]


def _room(found: Found, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < found.size:
        raise Problem(
            507, f"the disk has {free:,} bytes left and the backup needs {found.size:,}: free some space"
        )


def _extract(found: Found, stage: Path) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(stage)
    disk.make_folder(stage)
    with zipfile.ZipFile(found.path) as archive:
        for name, size in found.files.items():
            target = stage / name
            disk.make_folder(target.parent)
            disk.put(target, _read(archive, name, {"bytes": size}), durable=True)


def _set_aside(found: Found, folder: Path, there: list[str], now: float) -> Path | None:
    """Move what the folder holds into a folder of its own within it, so that it works on a mounted disk."""
    if not there:
        return None
    aside = folder / f"{SET_ASIDE}{stamp(now)[:19].replace(':', '')}"
    disk.make_folder(aside)
    for name in there:
        if name not in SECRETS or name in found.files:
            os.replace(folder / name, aside / name)
    return aside


def _bad(why: str) -> Problem:
    return Problem(400, f"this backup cannot be used: {why}", kind="backup")
