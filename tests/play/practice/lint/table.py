"""Cases for checks: a snippet whose marks (`#! kind`) say what a review must find, where, and no more."""

import textwrap
import unittest
from collections.abc import Sequence

from metrics.play.practice.lint.checks import review
from metrics.play.practice.parsing import Source

Case = tuple[str, str]


def found(text: str, named: bool = False) -> set[tuple[int, str]]:
    source = Source("case.py", text, named=named)
    return {(finding.line, finding.kind) for finding in review(source).findings}


def marked(text: str) -> set[tuple[int, str]]:
    """What the marks of a snippet ask for; several kinds on a line are apart by `;`."""
    rows = enumerate(text.split("\n"), start=1)
    marks = ((number, row.partition("#!")[2]) for number, row in rows if "#!" in row)
    return {(number, kind.strip()) for number, mark in marks for kind in mark.split(";")}


class Checks(unittest.TestCase):
    """A test of tables: each case is a name and a snippet."""

    maxDiff = None

    def hold(self, cases: Sequence[Case], named: bool = False) -> None:
        for name, snippet in cases:
            text = textwrap.dedent(snippet).strip("\n")
            with self.subTest(name):
                self.assertEqual(found(text, named), marked(text))
