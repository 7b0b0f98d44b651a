"""The settings that hold for the whole bench: settings.json, with a default and a check for each.

A value that a hand got wrong is refused where it is needed, never replaced by the default: whoever wrote
"bodies" meant something about privacy.
"""

import difflib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from metrics.bench import changes, fields, membership
from metrics.records import Problem
from metrics.store.files import JsonFile


@dataclass(frozen=True, slots=True)
class Setting:
    default: Any
    check: fields.Check
    about: str


SETTINGS = {
    "bodies": Setting("all", fields.one_of("all", "errors", "none"), "which prompts and answers are kept"),
    "body_days": Setting(30, fields.whole(1, 3650), "days until those of unjudged panels are deleted"),
    "log_months": Setting(0, fields.whole(0, 1200), "months of records to keep; 0 keeps them all"),
    "max_calls": Setting(5, fields.whole(1, 64), "the most calls of one panel, merger apart"),
    "max_explorers": Setting(2, fields.whole(0, 64), "the most explorers of one panel"),
    "deadline": Setting(300, fields.number(1, 3600, "seconds"), "seconds a seat may take"),
    "route_policy": Setting(
        "record",
        fields.one_of("record", "counts"),
        "who takes a new conversation: by its record with the benefit of the doubt, or by plain counts",
    ),
    "practice_in_pool": Setting(
        False, fields.flag, "practice players explore although a real endpoint exists"
    ),
}
CHECKS = {name: setting.check for name, setting in SETTINGS.items()}

FILE = JsonFile("settings.json")


def get(name: str) -> Any:
    """The value in force. Problem 503 when settings.json holds something else than the setting allows."""
    return _checked(FILE.read(), name)


def all() -> dict[str, Any]:
    saved = FILE.read()
    return {name: _checked(saved, name) for name in SETTINGS}


def save(edits: Mapping[str, Any], by: str) -> dict[str, Any]:
    """Check and keep `edits`; all settings as they are then."""
    wanted = fields.take(edits, CHECKS)
    if "max_calls" in wanted:
        _fits(wanted["max_calls"])
    with FILE.edit() as saved:
        before = {name: saved.get(name, SETTINGS[name].default) for name in wanted}
        saved.update(wanted)
    changes.differences(by, "settings", before, wanted)
    return all()


def problems() -> list[str]:
    """What a hand got wrong, one sentence each."""
    found = []
    for name in SETTINGS:
        try:
            get(name)
        except Problem as problem:
            found.append(problem.message)
    with suppress(Problem):  # of a file that does not parse, which every setting has told
        found += [_unknown(name) for name in FILE.read() if name not in SETTINGS and not name.startswith("_")]
    return list(dict.fromkeys(found))  # a file that does not parse says the same for every setting


def _unknown(name: str) -> str:
    """What a mistyped name means to the bench: nothing."""
    near = difflib.get_close_matches(name, SETTINGS, n=1)
    then = f"did you mean {near[0]}?" if near else f"there are {', '.join(SETTINGS)}"
    return f"{FILE.name}: {fields.shown(name)} is an unknown setting and has no effect; {then}"


def _checked(saved: Mapping[str, Any], name: str) -> Any:
    setting = SETTINGS[name]
    if name not in saved:
        return setting.default
    try:
        return setting.check(name, saved[name])
    except Problem as problem:
        message = f"{FILE.name}: {problem.message}; repair the line or delete it"
        raise Problem(503, message, kind="config", retryable=False) from problem


def _fits(max_calls: int) -> None:
    for name, size in membership.sizes().items():
        if size > max_calls:
            raise Problem(
                400,
                f'"max_calls" cannot be {max_calls}: the collection "{name}" has {size} members; '
                f"make it smaller first, or allow {size} calls",
                param="max_calls",
            )
