"""What `python3 bench.pyz` runs; becomes its __main__.py.

The program is a folder, so it is unpacked once, into the user's cache, under the digest of the file: another
version gets another folder, and one that runs is never changed under its hands. Where the cache cannot be
had, or is not the user's alone, it goes to a folder of this process that is removed when it ends."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  any Python may be handed this file
    found = ".".join(map(str, sys.version_info[:2]))
    sys.exit("Benchwarmers needs Python 3.11 or newer; this is " + found + ", " + sys.executable)

import atexit
import hashlib
import os
import shutil
import stat
import tempfile
import time
import zipfile
from pathlib import Path

INSIDE = "benchwarmers"
STALE = 30 * 86400.0  # seconds without a start after which another version's folder is removed


def main() -> int:
    archive = Path(__file__).resolve().parent
    try:
        folder = kept(archive, cache(os.environ, sys.platform))
    except (OSError, RuntimeError):  # no cache, or no home folder
        folder = passing(archive)
    sys.path[0] = str(folder)
    from cli import main

    return main(program=called_as(archive))


def called_as(archive: Path) -> str:
    """How the user starts us: hints name commands the way they have to be typed."""
    from metrics.commands.output import quoted

    return f"{'py' if os.name == 'nt' else 'python3'} {quoted(os.path.relpath(archive))}"


def cache(env: "os._Environ[str] | dict[str, str]", platform: str) -> Path:
    """Where this user's programs keep what they can make again."""
    if platform == "win32":
        parent = Path(env.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif platform == "darwin":
        parent = Path.home() / "Library" / "Caches"
    else:
        named = Path(env.get("XDG_CACHE_HOME") or "")
        parent = named if named.is_absolute() else Path.home() / ".cache"
    return parent / "benchwarmers"


def kept(archive: Path, place: Path) -> Path:
    """The folder in `place` that holds what the archive does; made when it is not there or not whole.
    OSError when `place` cannot be written or is not ours alone."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_ours(place)
    folder = place / hashlib.sha256(archive.read_bytes()).hexdigest()[:32]
    if folder.is_dir():
        check_ours(folder)
    with zipfile.ZipFile(archive) as packed:
        if not whole(packed, folder):
            put(packed, folder)
            sweep(place, folder)
    os.utime(folder)
    return folder / INSIDE


def check_ours(folder: Path) -> None:
    """PermissionError for a folder that somebody else owns or may write to."""
    if os.name == "nt":
        return
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise PermissionError(f"{folder} is not this user's alone")


def inside(packed: zipfile.ZipFile) -> "list[zipfile.ZipInfo]":
    return [entry for entry in packed.infolist() if entry.filename.startswith(f"{INSIDE}/")]


def whole(packed: zipfile.ZipFile, folder: Path) -> bool:
    """Whether every file is there in its size: cleaners of caches may have been about."""
    try:
        return all((folder / entry.filename).stat().st_size == entry.file_size for entry in inside(packed))
    except OSError:
        return False


def put(packed: zipfile.ZipFile, folder: Path) -> None:
    """Unpack beside `folder` and put it in its place in one step; another process may do the same."""
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=folder.parent))  # 0700
    try:
        packed.extractall(draft, [entry.filename for entry in inside(packed)])
        if folder.exists():  # not whole
            os.replace(folder, draft / "broken")
        try:
            os.replace(draft, folder)
        except OSError:
            if not whole(packed, folder):  # else the other process was quicker
                raise
        shutil.rmtree(folder / "broken", ignore_errors=True)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def sweep(place: Path, ours: Path) -> None:
    """Remove what other versions left and nobody has started for a while."""
    for folder in place.iterdir():
        if folder != ours and folder.is_dir() and time.time() - folder.stat().st_mtime > STALE:
            shutil.rmtree(folder, ignore_errors=True)


def passing(archive: Path) -> Path:
    """The same in a folder of this process alone."""
    folder = Path(tempfile.mkdtemp(prefix="benchwarmers-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder, [entry.filename for entry in inside(packed)])
    return folder / INSIDE


if __name__ == "__main__":
    sys.exit(main())
