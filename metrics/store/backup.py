"""A copy of the data folder in one zip file, made while the folder is in use.

The one idea: a moment is noted first (`cut`), the copying comes after. Of a log the moment is a length, for a
log only grows; of a settings file it is its content. What is written meanwhile lies behind the lengths and
stays out. A log is cut after those whose rows speak of its rows: so a panel in the copy has its calls in the
copy's ledger, and the ledger's counters count just the rows that are there.

The zip holds `home/` and at the end `manifest.json`, with the size and SHA-256 of every file. Secrets are in
it only when wanted; `seal` adds them later to a copy that came without, from the folder itself.
"""

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics.records import Problem
from metrics.store import disk, home, log, migrate
from metrics.store.stamps import stamp
from metrics.version import VERSION

FORMAT = 1  # of the archive, as its manifest says
MANIFEST = "manifest.json"
SEALED = "secrets.json"  # the manifest of what `seal` added
INSIDE = "home/"

# What opens something: providers' keys, whoever is signed in or invited here, and where `bench` is signed in.
# Gateway keys are kept as SHA-256 of 256 random bits, from which no key can be had: they are no secret.
SECRETS = ("credentials.json", "sessions.json", "invitations.json", "logins.json")

# Logs from which a row may name rows of those after them; any other comes before all of these.
ORDER = ("panels", "routes", "shadows", "offloads", "bodies", "ledger")

NAME = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)*[A-Za-z0-9_-][A-Za-z0-9._-]*")
KEPT = (".json", ".jsonl", ".counters")
MADE_AGAIN = (".lock", ".index", ".draft")
SET_ASIDE = "before-restore-"  # how the folder is called in which a restore keeps what was there
DEEP = 6  # folders within each other; more are a link's circle
PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Piece:
    """One file of the copy: its `content`, or the first `size` bytes of the file at `path`, as long as that
    is still the file `inode`."""

    name: str
    path: Path
    size: int = 0
    inode: int = 0
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """A moment of the data folder. `left_out` names the files that no copy holds, but for what is made again
    by itself."""

    at: float
    pieces: tuple[Piece, ...]
    left_out: tuple[str, ...]


def cut(now: float, secrets: bool = False) -> Cut:
    """The current data folder as it is at this moment (`now`: epoch seconds). For the folder's owner, or when
    there is none. Problem when the disk refuses."""
    folder = home.current()
    try:
        found = dict(_files(folder))
        wanted = {
            name: path for name, path in found.items() if kept(name) and (secrets or name not in SECRETS)
        }
        settled = {name: path for name, path in wanted.items() if not name.endswith(".jsonl")}
        contents = {path: _content(path) for path in settled.values()}
        ends = _ends(contents)
        names = {path: name for name, path in wanted.items()}
        for path in [*ends, *contents]:  # what came to be since the folder was looked through
            names.setdefault(path, path.relative_to(folder).as_posix())
        pieces = [_piece(name, path, ends.get(path), contents.get(path)) for path, name in names.items()]
    except OSError as error:
        raise _unreadable(error) from None
    left_out = sorted(name for name in found if name not in wanted and not _made_again(name))
    return Cut(now, tuple(sorted(filter(None, pieces), key=lambda piece: piece.name)), tuple(left_out))


def _ends(contents: dict[Path, bytes | None]) -> dict[Path, int]:
    """Where the files of all open logs end; their counters as of then replace those in `contents`."""
    ends: dict[Path, int] = {}
    for each in sorted(log.in_use(), key=lambda each: ORDER.index(each.name) if each.name in ORDER else -1):
        found, counters = each.cut()
        ends |= found
        if counters:
            contents[counters[0]] = counters[1]
    return ends


def _piece(name: str, path: Path, end: int | None, content: bytes | None) -> Piece | None:
    if not name.endswith(".jsonl"):
        return None if content is None else Piece(name, path, content=content)
    try:
        about = os.stat(path)
    except FileNotFoundError:  # removed for its age
        return None
    return Piece(name, path, about.st_size if end is None else end, about.st_ino)


def _files(folder: Path, above: str = "", depth: int = 1) -> Iterator[tuple[str, Path]]:
    """Every file below `folder` and its name there; links are followed."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            if depth < DEEP and not entry.name.startswith((SET_ASIDE, ".")):
                yield from _files(entry, f"{above}{entry.name}/", depth + 1)
        elif entry.is_file():
            yield above + entry.name, entry


def kept(name: str) -> bool:
    """Whether a file of this name in the data folder belongs into a copy of it, secret or not."""
    last = name.rpartition("/")[2]
    return (last.endswith(KEPT) or last == "counters") and bool(NAME.fullmatch(name))


def _made_again(name: str) -> bool:
    return name.endswith(MADE_AGAIN)


def _content(path: Path) -> bytes | None:
    """The whole of a file that is only ever replaced; None when it was removed just now."""
    with suppress(FileNotFoundError), disk.reading(path) as fd:
        return disk.read_all(fd)
    return None


# --- writing the archive


def packed(moment: Cut) -> Iterator[bytes]:
    """The archive of a cut, in pieces, as it is made. Problem when a file cannot be read."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        files: dict[str, Any] = {}
        for piece in moment.pieces:
            yield from _added(archive, sink, piece, files)
        manifest = {
            migrate.VERSION: FORMAT,
            "program": VERSION,
            "at": stamp(moment.at),
            "left_out": list(moment.left_out),
            "files": files,
        }
        _write(archive, MANIFEST, _text(manifest))
    yield sink.take()


def seal(path: Path, folder: Path) -> tuple[str, ...]:
    """Add the secrets of `folder` to the archive at `path`; their names. Problem when the disk refuses."""
    try:
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
            files: dict[str, Any] = {}
            for name in SECRETS:
                if (content := _content(folder / name)) is not None:
                    _write(archive, INSIDE + name, content)
                    files[name] = _entry(content)
            _write(archive, SEALED, _text({migrate.VERSION: FORMAT, "files": files}))
            return tuple(files)
    except OSError as error:
        raise disk.refusal(error, path.name) from None


def _entry(content: bytes) -> dict[str, Any]:
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _text(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, indent=1) + "\n").encode()


def _write(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    with archive.open(name, "w", force_zip64=True) as member:
        member.write(content)


def _added(archive: zipfile.ZipFile, sink: "_Sink", piece: Piece, files: dict[str, Any]) -> Iterator[bytes]:
    """Write one piece, and its line in the manifest's `files`; what the archive gave out so far."""
    digest, size = hashlib.sha256(), 0
    try:
        with archive.open(INSIDE + piece.name, "w", force_zip64=True) as member:
            for part in _parts(piece):
                digest.update(part)
                size += len(part)
                member.write(part)
                if sink.held:
                    yield sink.take()
    except OSError as error:
        raise _unreadable(error) from None
    files[piece.name] = {"bytes": size, "sha256": digest.hexdigest()}


def _parts(piece: Piece) -> Iterator[bytes]:
    if piece.content is not None:
        yield piece.content
        return
    try:
        with disk.reading(piece.path) as fd:
            about = os.fstat(fd)
            # Another file took its place, with the rows that are still wanted: then all of that.
            size = min(piece.size, about.st_size) if about.st_ino == piece.inode else about.st_size
            size, at = _whole(fd, size), 0
            while at < size:
                part = disk.read(fd, min(PIECE, size - at), at)
                if not part:
                    return
                at += len(part)
                yield part
    except FileNotFoundError:  # removed for its age since: an empty file in its place means the same
        return


def _whole(fd: int, size: int) -> int:
    """Up to where, of `size` bytes, whole lines are: a killed writer may have left half of one."""
    while size:
        start = max(0, size - PIECE)
        found = disk.read(fd, size - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        size = start
    return 0


class _Sink(io.RawIOBase):
    """A file that is only written to, and whose content is taken away as it comes."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        self.held = 0

    def write(self, piece: Any) -> int:
        self._pieces.append(bytes(piece))
        self.held += len(piece)
        return len(piece)

    def writable(self) -> bool:
        return True

    def take(self) -> bytes:
        whole, self._pieces, self.held = b"".join(self._pieces), [], 0
        return whole


def _unreadable(error: OSError) -> Problem:
    reason = error.strerror or str(error)
    return Problem(500, f"the data folder cannot be read: {reason}: {error.filename}", kind="disk")
