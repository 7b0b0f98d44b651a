"""A JSON file of named things, edited by us and by hand.

An entry that a hand broke is set aside with its reason, so that the others keep working; a file that does
not parse at all is JsonFile's to refuse. Entries are parsed once for each version of the file.
"""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from metrics.records import Problem
from metrics.store.files import JsonFile

T = TypeVar("T")
Parse = Callable[[str, Any], T]


class Shelf(Generic[T]):
    """`parse(name, raw)` makes an entry, or raises a Problem that says what is wrong with it.

    The entries are the file's own mapping, or what it holds under `section`.
    """

    def __init__(self, file: JsonFile, parse: Parse[T], section: str | None = None) -> None:
        self.file = file
        self.parse = parse
        self.section = section
        self._seen: tuple[Any, dict[str, T], dict[str, str]] = (None, {}, {})

    def good(self) -> dict[str, T]:
        """The entries that parse; treat as read-only."""
        return self._parsed()[0]

    def bad(self) -> dict[str, str]:
        """Why each of the other entries does not."""
        return self._parsed()[1]

    def broken(self, name: str) -> Problem | None:
        """The refusal of an entry that is there but does not parse."""
        why = self.bad().get(name)
        return Problem(503, f"{why}; repair it there", kind="config", retryable=False) if why else None

    def _parsed(self) -> tuple[dict[str, T], dict[str, str]]:
        raw = self.file.read()
        version, good, bad = (
            self._seen
        )  # one tuple: another thread sees the old version or the new one, never a mixture
        if version is not raw:
            good, bad = self._sorted(raw)
            self._seen = (raw, good, bad)
        return good, bad

    def _sorted(self, raw: Mapping[str, Any]) -> tuple[dict[str, T], dict[str, str]]:
        good: dict[str, T] = {}
        bad: dict[str, str] = {}
        entries = raw if self.section is None else raw.get(self.section, {})
        if not isinstance(entries, Mapping):
            return {}, {str(self.section): f'{self.file.name}: "{self.section}" must be an object'}
        for name, entry in entries.items():
            try:
                good[name] = self.parse(name, entry)
            except Problem as problem:
                bad[name] = f'{self.file.name}: "{name}": {problem.message}'
        return good, bad
