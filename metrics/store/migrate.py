"""Old data files: how a version is lifted to the next one, and why a newer one is left alone.

Every file says its version under VERSION; a file that says none was written by hand or shipped as an example,
and is of the first. LIFTS holds a function for each step that was ever needed.
"""

from collections.abc import Callable
from typing import Any

VERSION = "$schema_version"

# (file name, version it lifts from) -> the mapping as the next version has it
LIFTS: dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]] = {}

# A JsonFile's or JsonLog's name -> the newest version of it that this program knows.
_KNOWN: dict[str, int] = {}


class TooNew(ValueError):
    """The file was written by a newer program; the message says so, without the file's name."""


def known(name: str, version: int) -> None:
    """This program knows `name` up to this version."""
    _KNOWN[name] = version


def newest(file: str) -> int:
    """The newest version known here of a file of the data folder, given its path in it: "models.json",
    "ledger/2026-11.jsonl". 1 where nobody said so."""
    return _KNOWN.get(file) or _KNOWN.get(file.rpartition("/")[0]) or 1


def version_of(stored: object, known: int) -> int:
    """The version that `stored`, read from a file, says it has. TooNew when this program knows only
    `known`."""
    version = stored.get(VERSION, 1) if isinstance(stored, dict) else 1
    if type(version) is not int or version < 1:
        raise ValueError(f'"{VERSION}" must be a whole number from 1, not {version!r}')
    if version > known:
        raise TooNew(too_new(version, known))
    return version


def too_new(version: int, known: int) -> str:
    """What to say of a file of a version that is not known here."""
    return (
        f"it has version {version}, this program knows versions up to {known}: a newer program wrote it. "
        "Update this one; until then the file is left as it is"
    )


def lift(name: str, stored: dict[str, Any], known: int) -> dict[str, Any]:
    """What `stored`, the mapping in the file `name`, holds in the form of version `known`, without the
    version itself."""
    version = version_of(stored, known)
    lifted = {key: value for key, value in stored.items() if key != VERSION}
    for step in range(version, known):
        if (name, step) in LIFTS:
            lifted = LIFTS[name, step](lifted)
    return lifted
