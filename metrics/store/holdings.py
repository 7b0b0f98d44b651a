"""What a data folder holds, by kind: how many files, how many bytes, since when.

KINDS is the whole list of what this program writes into its folder; what fits no row there is somebody
else's, is shown as such and never touched. Looking costs a look at each file's name and size; none is read.
"""

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from metrics.store import disk, stamps

OTHER = "other"
PART = re.compile(r"\d{4}-\d\d(?:-\d\d)?\Z")  # the month or day that a log's file is named after
DEEP = 6  # folders within each other; more are a link's circle


@dataclass(frozen=True, slots=True)
class Kind:
    """`files` are patterns of names in the folder. `bound`: the setting that limits it, or in words why none
    has to. `secret`: it opens something."""

    name: str
    files: tuple[str, ...]
    what: str
    bound: str
    secret: bool = False


KINDS = (
    Kind("bodies", ("bodies/*",), "prompts and answers", "body_days"),
    Kind("panels", ("panels/*",), "who sat for which request", "log_months"),
    Kind("routes", ("routes/*",), "turns of conversations", "log_months"),
    Kind("offloads", ("offloads/*",), "pieces of work to be judged", "log_months"),
    Kind("shadows", ("shadows/*",), "shadow seats", "log_months"),
    Kind("ledger", ("ledger/*",), "upstream calls and their cost", "log_months"),
    Kind("quotas", ("quotas/*",), "what providers said of limits", "log_months"),
    Kind("verdicts", ("verdicts.*", "claims.*"), "what you said of answers", "kept for good"),
    Kind("rests", ("rests.*",), "who rested, by your word", "kept for good"),
    Kind("changes", ("changes.*",), "every edit of the bench", "kept for good"),
    Kind(
        "bench",
        tuple(
            f"{name}.json" for name in ("collections", "endpoints", "models", "settings", "limits", "budgets")
        ),
        "endpoints, models, collections, settings",
        "as much as you add",
    ),
    Kind(
        "secrets",
        tuple(f"{name}.json" for name in ("credentials", "keys", "sessions", "logins", "invitations")),
        "providers' keys, gateway keys and sessions as SHA-256",
        "as much as you add",
        secret=True,
    ),
    Kind("catalog", ("catalog/*",), "what is publicly known of models", "one copy of each feed"),
    Kind("set aside", ("before-restore-*/*",), "what a restore replaced", "until you remove it"),
    Kind(
        "running",
        ("server.lock", "underway.json", "*.lock", ".*.draft", "*/.*.draft"),
        "locks, drafts and calls under way",
        "a few small files",
    ),
)


@dataclass(slots=True)
class Held:
    """What there is of a kind. `oldest` and `newest` are days or months ("2026-11-29", "2026-11"), those that
    its files are named after or else last changed on; "" without files."""

    kind: str
    files: int = 0
    bytes: int = 0
    oldest: str = ""
    newest: str = ""


def look(folder: Path) -> list[Held]:
    """What `folder` holds of each of KINDS, in their order, and at the end of what is none of them."""
    found = {name: Held(name) for name in (*(kind.name for kind in KINDS), OTHER)}
    for name, size, changed in sizes(folder):
        held = found[kind_of(name)]
        held.files += 1
        held.bytes += size
        stem = name.rpartition("/")[2].partition(".")[0]
        day = stem if PART.match(stem) else stamps.stamp(changed)[:10]
        held.oldest = min(held.oldest or day, day)
        held.newest = max(held.newest, day)
    return list(found.values())


def kind_of(name: str) -> str:
    """The kind of the file that is called so in the folder: "bodies/2026-11-29.jsonl" is of the bodies."""
    lock = name.endswith((".lock", ".draft"))  # beside a file of another kind, and none of it
    for kind in KINDS[-1:] if lock else KINDS:
        if any(fnmatchcase(name, pattern) for pattern in kind.files):
            return kind.name
    return OTHER


def sizes(folder: Path) -> Iterator[tuple[str, int, float]]:
    """(name in the folder, bytes, epoch seconds of its last change) of every file; links are followed, for
    what they lead to is kept for this folder. What goes meanwhile is passed over."""
    for path, name in _files(folder, "", 1):
        try:
            about = os.stat(path)
        except OSError:
            continue
        yield name, about.st_size, about.st_mtime


def free(folder: Path) -> int | None:
    """Bytes that this user may still write on the disk of `folder`; None when the system does not say."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def leftovers(folder: Path, before: float) -> list[tuple[str, int]]:
    """(name, bytes) of what killed writers left, last changed before that time (epoch seconds): drafts, and
    indexes whose log is gone."""
    found = {name: (size, changed) for name, size, changed in sizes(folder)}
    return [
        (name, size)
        for name, (size, changed) in sorted(found.items())
        if changed < before and kind_of(name) != OTHER and _left(name, found)
    ]


def _left(name: str, found: dict[str, tuple[int, float]]) -> bool:
    if name.endswith(".index"):
        return name.removesuffix(".index") + ".jsonl" not in found
    return name.endswith(".draft")


def remove(folder: Path, names: list[str]) -> None:
    """Delete these files of `folder`. Problem when the disk refuses."""
    for name in names:
        try:
            disk.remove(folder / name)
        except OSError as error:
            raise disk.refusal(error, name) from None


def _files(folder: Path, above: str, depth: int) -> Iterator[tuple[Path, str]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir():
            if depth < DEEP:
                yield from _files(folder / entry.name, f"{above}{entry.name}/", depth + 1)
        elif entry.is_file():
            yield folder / entry.name, above + entry.name
