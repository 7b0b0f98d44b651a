"""Unified diffs: the new side of each hunk as a source of its own, which counts only the lines that were
added.

A hunk begins and ends anywhere; it is made to parse by standing it under as many `if True:` as its first
line is indented.
"""

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from metrics.play.practice.parsing import Source, Unreadable, parse

HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
NEAR = 8  # lines that may be cut off the ends of a hunk to make it parse
TRIES = 40
MOST = 200  # hunks of one diff


def is_diff(text: str) -> bool:
    return re.search(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", text, re.MULTILINE) is not None


@dataclass(slots=True)
class Hunk:
    """The new side of one hunk: `lines` from line `first` on, of which `added` (numbers in the file) are
    new. `size` is how many lines the header says there are; `before` and `after` how many unchanged ones
    stand at its ends."""

    name: str
    first: int
    created: bool
    size: int = 1
    before: int = -1
    after: int = 0
    ended: bool = False
    lines: list[str] = field(default_factory=list)
    added: set[int] = field(default_factory=set)

    def take(self, line: str, number: int) -> bool:
        """Whether a line of the diff is one of the new side, then the file's `number`."""
        sign = line[:1]
        if sign in ("+", "-"):
            self.before = len(self.lines) if self.before < 0 else self.before
            self.after = 0
        self.ended = self.ended or sign == "\\"  # "\ No newline at end of file"
        if sign not in ("+", " ", ""):
            return False
        self.lines.append(line[1:])
        if sign == "+":
            self.added.add(number)
        else:
            self.after += 1
        return True

    def trim(self) -> None:
        """Leave the empty lines between two hunks, or after the last one, out."""
        while self.after and len(self.lines) > self.size and not self.lines[-1]:
            self.lines.pop()
            self.after -= 1

    @property
    def last(self) -> bool:
        """Whether it ends where the file ends: then fewer unchanged lines stand after it than before it."""
        return self.ended or self.after < self.before


def sources(text: str) -> tuple[list[Source], list[str]]:
    """Python hunks as sources, and the names of files left out. A hunk that cannot be made to parse is
    left out by name."""
    found: list[Source] = []
    left_out: list[str] = []
    for hunk in itertools.islice(hunks(text), MOST):
        if not hunk.name.endswith((".py", ".pyw", ".pyi")) and hunk.name != "the diff":
            left_out += [hunk.name] if hunk.name not in left_out else []
        elif hunk.added:
            hunk.trim()
            source = _source(hunk)
            if source:
                found.append(source)
            else:
                left_out.append(f"{hunk.name} from line {hunk.first} (this hunk does not parse alone)")
    return found, left_out


def hunks(text: str) -> Iterator[Hunk]:
    name, created, hunk, number = "the diff", False, None, 0
    for line in text.split("\n"):
        opened = HUNK.match(line)
        if opened:
            if hunk:
                yield hunk
            number = int(opened[1])
            hunk = Hunk(name, number, created, int(opened[2] or 1))
        elif line.startswith(("diff --git ", "--- ")) and not _inside(line, hunk):
            if hunk:
                yield hunk
            hunk, created = None, line.startswith("--- /dev/null")
        elif hunk is None:
            name = _path(line) if line.startswith("+++ ") else name
        else:
            number += hunk.take(line, number)
    if hunk:
        yield hunk


def _inside(line: str, hunk: Hunk | None) -> bool:
    """A removed line that begins with "-- " looks like a file's header; inside a hunk only "--- a/" and
    the like is one."""
    return (
        hunk is not None
        and line.startswith("--- ")
        and not re.match(r"--- (?:[a-z]/|/dev/null|[\w./-]+\.\w+)", line[:500])
    )


def _path(line: str) -> str:
    path = line[4:].split("\t")[0].strip().strip('"')
    return re.sub(r"^[a-z]/", "", path)


def _source(hunk: Hunk) -> Source | None:
    whole = hunk.created and hunk.first == 1
    if whole:
        return Source(hunk.name, "\n".join(hunk.lines), 1, None, True, True)
    for start, end in _cuts(hunk.lines):
        headers, text, tails = _standing(hunk.lines[start:end])
        try:
            tree = parse(text)
        except Unreadable:
            continue
        if any(not isinstance(node, ast.Expr) for node in tree.body) or tree.body:
            added = hunk.added.intersection(range(hunk.first + start, hunk.first + end))
            last = hunk.last and end == len(hunk.lines)
            first, props = hunk.first + start - headers, (headers, tails)
            return Source(hunk.name, text, first, frozenset(added), False, True, last, props)
    return None


def _cuts(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Stretches to try, longest first: a hunk may begin inside a statement or end in one."""
    size = len(lines)
    ends = range(min(size, NEAR))
    tries = [(start, size - end) for start in ends for end in ends if start + end < min(size, NEAR)]
    yield from sorted(tries, key=lambda cut: cut[0] - cut[1])[: TRIES if size < 500 else 3]


def _standing(lines: list[str]) -> tuple[int, str, int]:
    """The lines under as many headers as their first line is deep; a header without a body gets one. Before
    them how many headers there are, after them how many such bodies."""
    depths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    if not depths:
        return 0, "", 0
    low, steps = depths[0], []
    for depth in depths:
        if depth < low:
            steps.append(depth)
            low = depth
    headers = [" " * depth + "if True:" for depth in sorted(set(steps))]
    last = next(line for line in reversed(lines) if line.strip())
    tail = [" " * (depths[-1] + 1) + "pass"] if last.rstrip().endswith(":") else []
    return len(headers), "\n".join([*headers, *lines, *tail]), len(tail)
