#!/usr/bin/env python3
"""Every check and every test: `python3 scripts/check.py`. Needs nothing but the interpreter.

The static parts read the source tree, the cases ask a real server; each room of tests/ is a part too. All end
in one line, `N passed, N failed`, where a rule, a case and a test count one.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(ROOT)]

from scripts.checks import cases, compiling, docs, hygiene, manners, rooms, runner, sizes  # noqa: E402
from scripts.checks.spoken import spoken  # noqa: E402
from scripts.checks.tree import Check, Tree  # noqa: E402

# "path" or "path:function" -> why it may be longer than 400 or 60 lines. Keep it short.
LONGER: Mapping[str, str] = {
    "tests/clients/run_openai.py:run": "a table of checks, each a function of its own",
    "tests/clients/run_openai_responses.py:routes": "the same",
    "tests/clients/openai_completions.py:checks": "the same",
}

PARTS: Mapping[str, Callable[[Tree], list[Check]]] = {
    "rules": lambda tree: rooms.checks(tree) + manners.checks(tree),
    "sizes": lambda tree: sizes.checks(tree, LONGER),
    "docs": lambda tree: docs.checks(tree, spoken()),
    "hygiene": hygiene.checks,
    "compile": compiling.checks,
    "cases": cases.checks,
}

TOOLS = "tests.scripts."  # the tools' own tests, which --quick leaves out, unless they are named
SLOW = ("cases",)  # parts that --quick leaves out, unless they are named

EPILOG = """\
parts:
  rules      who may import whom, who may print, open files, touch sockets
  sizes      files of at most 400 lines, functions of at most 60
  docs       every command, option, route, setting and variable is written down; commands and links hold
  hygiene    no machine paths, registry addresses, secrets
  compile    every file compiles under this Python; the page's scripts parse, where there is Node
  cases      black-box cases from bug reports of other gateways (python3 -m tests.cases says more)
  tests      all of tests/; a room of it (store), a module (tests.store.test_files, store.files)

examples:
  python3 scripts/check.py                 everything
  python3 scripts/check.py --quick         without the cases, the tools' tests and classes named Slow...
  python3 scripts/check.py rules store     the rules, and the tests of one room
"""


@dataclass
class Sum:
    """What has been counted so far."""

    passed: int = 0
    failed: int = 0

    def part(
        self, name: str, passed: int, failures: list[tuple[str, str]], seconds: float, note: str = ""
    ) -> None:
        """Count and print one part: its line, and each failure in full."""
        self.passed += passed
        self.failed += len(failures)
        told = f"{passed} passed" + (f", {len(failures)} failed" if failures else "") + note
        print(f"{'FAIL' if failures else 'ok':<5} {name:<18} {told:<34} {seconds:6.1f} s", flush=True)
        for what, text in failures:
            print(f"\n  {what}\n" + "\n".join(f"    {line}" for line in text.splitlines()) + "\n")


def main(argv: list[str] | None = None) -> int:
    options = _options(argv)
    modules = runner.discover(ROOT)
    try:
        parts, tests = chosen(options.parts, modules)
    except LookupError as unknown:
        print(unknown.args[0], file=sys.stderr)
        return 2
    if options.quick and not options.parts:
        tests = [module for module in tests if not module.startswith(TOOLS)]
    static = [part for part in parts if not (options.quick and part in SLOW and part not in options.parts)]
    total = Sum()
    begun = time.monotonic()
    workers = options.jobs or max(2, min(6, (os.cpu_count() or 2) + 2))
    with runner.Run(ROOT, tests, workers=workers, seconds=options.timeout, quick=options.quick) as run:
        tree = Tree(ROOT)
        for name in static:
            _static(name, tree, total)
        for room, inside in by_room(tests).items():
            _tests(room, [run.outcome(module) for module in inside], total)
        slowest = sorted(map(run.outcome, tests), key=lambda outcome: -outcome.seconds)[: options.slowest]
    print(f"\n{'':<5} {'in all':<18} {'':<34} {time.monotonic() - begun:6.1f} s")
    for outcome in slowest:
        print(f"{'':<5} {outcome.module:<53} {outcome.seconds:6.1f} s")
    if not total.passed + total.failed:
        print("nothing ran")
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed or not total.passed else 0


def chosen(names: Iterable[str], modules: list[str]) -> tuple[list[str], list[str]]:
    """The static parts and the test modules that `names` mean, in the usual order; all of them without
    names."""
    if not names:
        return list(PARTS), modules
    static: set[str] = set()
    tests: set[str] = set()
    for name in names:
        found = matching(name, modules)
        if name in PARTS:
            static.add(name)
        elif found:
            tests.update(found)
        else:
            places = (room.removeprefix("tests.") for room in by_room(modules))
            known = ", ".join(dict.fromkeys([*PARTS, "tests", *places]))
            raise LookupError(f"there is no part {name!r}; there are: {known}, and every module of tests/")
    return [part for part in PARTS if part in static], [module for module in modules if module in tests]


def matching(name: str, modules: Iterable[str]) -> list[str]:
    """The modules that `name` means: a room, a package or a module of tests/, with or without "tests." and
    "test_"."""
    name = name.removesuffix(".py").replace("/", ".").strip(".")
    full = name if name == "tests" or name.startswith("tests.") else f"tests.{name}"
    head, _, last = full.rpartition(".")
    wanted = (full, f"{head}.test_{last}")
    found = [
        module
        for module in modules
        if module.startswith(tuple(f"{each}." for each in wanted)) or module in wanted
    ]
    return found or [module for module in modules if module.endswith((f".{name}", f".test_{name}"))]


def by_room(modules: Iterable[str]) -> dict[str, list[str]]:
    """Test modules under the room they test: tests.store -> [tests.store.test_files, ...]."""
    found: dict[str, list[str]] = {}
    for module in modules:
        found.setdefault(".".join(module.split(".")[: 1 if module.count(".") == 1 else 2]), []).append(module)
    return found


def _static(name: str, tree: Tree, total: Sum) -> None:
    begun = time.monotonic()
    checks = PARTS[name](tree)
    failures = [(check.name, "\n".join(check.problems)) for check in checks if check.problems]
    total.part(name, len(checks) - len(failures), failures, time.monotonic() - begun)


def _tests(room: str, outcomes: list[runner.Outcome], total: Sum) -> None:
    skipped = sum(outcome.skipped for outcome in outcomes)
    total.part(
        room,
        sum(outcome.passed for outcome in outcomes),
        [failure for outcome in outcomes for failure in outcome.failures],
        sum(outcome.seconds for outcome in outcomes),
        f", {skipped} skipped" if skipped else "",
    )


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="check.py",
        description="Run every check and test, or the parts named.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="what to run; everything when none is named")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="leave out the cases, the tests of scripts/ and those of classes named Slow...",
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="test processes at a time (2 to 6, by the processors)"
    )
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="name the N slowest test modules")
    parser.add_argument(
        "--timeout", type=float, default=240.0, metavar="S", help="seconds a test module may take (240)"
    )
    return parser.parse_args(argv)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped")
