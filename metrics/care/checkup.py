"""A data folder looked through: may it be used, by whom, and is what is in it whole and of a version that is
known here. Nothing in it is changed, and of a secret nothing is told.

Each check is a function from the folder to what it found, a row of CHECKS; what fails says what to do.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from metrics.bench import credentials, endpoints
from metrics.care.finding import Finding, failed, passed, skipped
from metrics.records import Problem
from metrics.store import disk, files, holdings, home, lines, migrate
from metrics.web.door import LOOPBACK

ROOM = 100 << 20  # bytes free below which the next days may not find theirs
SHOWN = 5  # names that one finding lists
MINE = "make it yours, or choose another with --home"


def folder(place: Path) -> list[Finding]:
    """All CHECKS of the data folder `place`, which must be there. It is the current one from then on."""
    home.visit(place)
    return [finding for check in CHECKS for finding in _looked(check, place)]


def _looked(check: "Check", place: Path) -> Iterator[Finding]:
    """What the check finds, as far as it may look."""
    try:
        yield from check(place)
    except OSError as error:
        yield failed("files", f"{error.filename} cannot be read: {error.strerror or error}", MINE)
    except Problem as problem:
        yield failed("files", problem.message, MINE)


def may_be_used(place: Path) -> Iterator[Finding]:
    if os.access(place, os.R_OK | os.W_OK | os.X_OK):
        yield passed("folder", str(place))
    else:
        yield failed("folder", f"{place} cannot be written by you", MINE)


def has_room(place: Path) -> Iterator[Finding]:
    free = holdings.free(place)
    if free is None:
        yield skipped("space", "the system does not say how much is free")
    elif free < ROOM:
        yield failed("space", f"{free >> 20} MiB are free", "free some space, or: bench prune --dry-run")
    else:
        yield passed("space", f"{free >> 20:,} MiB are free")


def is_private(place: Path) -> Iterator[Finding]:
    """Prompts, keys and records are nobody else's."""
    if os.name == "nt":
        yield skipped("modes", "Windows keeps them by the folder's own list of users")
        return
    seen = [name for name in _names(place) if _ours(name) and _open_to_others(place / name)]
    if _open_to_others(place):
        seen.insert(0, ".")
    if seen:
        yield failed("modes", f"others on this computer may read {_some(seen)}", f"chmod -R go= {place}")
    else:
        yield passed("modes", "readable by you alone")


def _open_to_others(path: Path) -> bool:
    try:
        return bool(os.stat(path).st_mode & 0o077)
    except FileNotFoundError:  # a draft that took its file's place since it was listed
        return False


def settings_parse(place: Path) -> Iterator[Finding]:
    """Every file of settings is JSON of a version that is known."""
    bad = []
    names = [
        name
        for name in _names(place)
        if name.endswith(".json") and holdings.kind_of(name) not in (holdings.OTHER, "running", "set aside")
    ]
    for name in names:
        if problem := files.JsonFile(name, version=migrate.newest(name)).problem:
            bad.append(problem)
    if bad:
        yield failed(
            "settings", " ".join(bad), "repair what it names, or take it from a backup: bench restore"
        )
    else:
        yield passed("settings", f"{len(names)} files can be read")


def logs_are_whole(place: Path) -> Iterator[Finding]:
    """Every log has a version that is known, and ends in a whole line. A torn end is a killed writer's: the
    next start sees to it, and nothing that was said to be written is in it."""
    newer, torn, count = [], [], 0
    for name in _names(place):
        if not name.endswith(".jsonl") or not _ours(name):
            continue
        with suppress(FileNotFoundError), disk.reading(place / name) as fd:  # removed for its age since
            count += 1
            if lines.version_of(fd) > migrate.newest(name):
                newer.append(name)
            size = os.fstat(fd).st_size
            if size and not _whole(disk.read(fd, min(size, 1 << 16), max(0, size - (1 << 16)))):
                torn.append(name)
    if newer:
        yield failed(
            "versions", f"a newer program wrote {_some(newer)}", "update this one: bench update --check"
        )
    else:
        yield passed("versions", f"{count} logs are of versions known here")
    if torn and home.owner() is None:
        yield failed(
            "logs", f"the last line is torn in {_some(torn)}", "start the server, which mends it: bench serve"
        )
    else:
        yield passed("logs", "each ends in a whole line" if not torn else "being written just now")


def nothing_strange(place: Path) -> Iterator[Finding]:
    strange = [name for name in _names(place) if not _ours(name)]
    if strange:
        yield skipped("others' files", f"not this program's, and left alone: {_some(strange)}")


def owner(place: Path) -> Iterator[Finding]:
    note = home.owner()
    if note is None:
        yield passed("owner", "no server has it")
    elif not note:
        yield failed(
            "owner", "another process has it and does not say which", "wait a moment, or look for it"
        )
    else:
        yield passed("owner", f"the server of process {note['pid']}, on port {note['port']}")


def keys(place: Path) -> Iterator[Finding]:
    """Each endpoint has its key, and each variable that holds one its endpoint. No key is ever told."""
    try:
        known = {name: one for name, one in endpoints.all().items() if not one.builtin}
        for name, one in known.items():
            source = credentials.source(name)
            if source:
                yield passed(f"key of {name}", f"from {SOURCES[source]}")
            elif one.kind == "local" or _loopback(one.base):
                yield passed(f"key of {name}", "none, and it is on this computer")
            else:
                yield failed(f"key of {name}", "it has none", f"bench endpoint key {name} --key-stdin")
    except Problem as problem:
        yield failed("keys", problem.message, "repair that file")
        return
    meant = {credentials.variable(name) for name in known}
    stray = sorted(name for name in os.environ if name.startswith("BENCHWARMERS_KEY_") and name not in meant)
    if stray:
        yield failed("keys", f"no endpoint reads {_some(stray)}", "see their names: bench endpoints")
    elif not known:
        yield skipped("keys", "there is no endpoint yet", "bench status shows what could be added")


SOURCES = {"env": "the environment", "file": "credentials.json"}

Check = Callable[[Path], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    may_be_used,
    has_room,
    is_private,
    settings_parse,
    logs_are_whole,
    owner,
    keys,
    nothing_strange,
)


def _names(place: Path) -> list[str]:
    return sorted(name for name, _, _ in holdings.sizes(place))


def _ours(name: str) -> bool:
    return holdings.kind_of(name) != holdings.OTHER


def _whole(end: bytes) -> bool:
    if not end.endswith(b"\n"):
        return False
    last = end[:-1].rpartition(b"\n")[2]
    if len(last) + 1 == len(end):
        return True  # one line that is longer than what was read
    try:
        json.loads(last)
    except ValueError:
        return False
    return True


def _loopback(base: str) -> bool:
    return any(f"//{host}" in base or f"//[{host}]" in base for host in (*LOOPBACK, "localhost"))


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
