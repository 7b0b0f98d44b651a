"""Checks with real client libraries: each prints PASS or FAIL, the last line is `N passed, N failed`.

These are not unittests: the libraries are development tools, and `scripts/check.py` must pass without them.
"""

import sys
import traceback
from collections.abc import Callable


class Checks:
    def __init__(self, library: str) -> None:
        self.library = library
        self.passed = self.failed = 0

    def __call__(self, what: str) -> Callable[[Callable[[], object]], None]:
        """`@check("lists models")` runs the function at once."""

        def run(function: Callable[[], object]) -> None:
            try:
                function()
            except Exception as problem:
                self.failed += 1
                where = traceback.extract_tb(problem.__traceback__)[-1]
                said = f"{type(problem).__name__}: {problem} ({where.name}:{where.lineno})"
                print(f"FAIL {self.library}: {what}: {said}")
            else:
                self.passed += 1
                print(f"PASS {self.library}: {what}")
            sys.stdout.flush()

        return run

    def end(self) -> int:
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0


def equal(got: object, wanted: object) -> None:
    if got != wanted:
        raise AssertionError(f"{got!r} is not {wanted!r}")


def holds(got: str | None, wanted: str) -> None:
    if wanted not in (got or ""):
        raise AssertionError(f"{wanted!r} is not in {(got or '')[:300]!r}")


def raises(kind: type[BaseException], call: Callable[[], object]) -> BaseException:
    try:
        call()
    except kind as problem:
        return problem
    raise AssertionError(f"{kind.__name__} was not raised")
