"""What a check is and what it yields: a row of the table, a hit in a file, a finding as people read it.

The Markdown of `Finding.item` is a contract: people judge findings one by one, so each is one list item
that begins with `file:line` and its kind in bold.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from metrics.play.practice.lint.tree import Module

WRONG, RISK, TIDY = (
    0,
    1,
    2,
)  # severities: gives wrong results or crashes; goes wrong one day; misleads a reader


class Hit(NamedTuple):
    """One place where a check found its defect: a line of the file, the reason, and what to do about it. In
    a diff it counts when that line was added, or one of those that `also` bring the defect about."""

    line: int
    said: str
    fix: str
    also: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """A kind of defect. `whole` checks need the whole file: in a piece of one, what is missing proves
    nothing."""

    kind: str
    severity: int
    why: str
    find: Callable[["Module"], Iterable[Hit]]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """A defect in a file, ready to read: `line` is the file's."""

    file: str
    line: int
    kind: str
    severity: int
    said: str
    fix: str

    @property
    def item(self) -> str:
        """The finding as one line of Markdown."""
        where = f"{self.file}:{self.line}".replace("`", "'").replace("\n", " ")
        return f"`{where}` **{self.kind}**: {self.said} {self.fix}".rstrip()
