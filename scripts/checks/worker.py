"""Test modules, one after the other in a process of their own. scripts/checks/runner.py starts it:

    python worker.py ROOT FOLDER SECONDS MODULE...

FOLDER gets a folder for each module, named after it: home/ and temp/, which are the module's own, what it
printed (said), and its report. The report has one JSON line per event, written at once: {"start": id},
{"passed"|"failed"|"skipped": id, "text"}, and {"end": seconds} last. A report without its end says that the
process died or hung, and in which test; when a module takes more than SECONDS the stacks of all threads are
said and the process ends."""

import faulthandler
import json
import os
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

HOMES = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA")
TEMPS = ("TMPDIR", "TEMP", "TMP")


class Report(unittest.TestResult):
    """Writes each test's end as a line; subtests belong to their test."""

    def __init__(self, lines: TextIO) -> None:
        super().__init__()
        self.lines = lines
        self.texts: list[str] = []
        self.skip: str | None = None

    def say(self, **event: object) -> None:
        self.lines.write(json.dumps(event) + "\n")
        self.lines.flush()

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.texts, self.skip = [], None
        self.say(start=test.id())

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        if self.texts:
            self.say(failed=test.id(), text="\n".join(self.texts))
        elif self.skip is not None:
            self.say(skipped=test.id(), text=self.skip)
        else:
            self.say(passed=test.id())

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        text = self.errors[-1][1]
        # setUpClass and its like fail outside any test, between a stopTest and the next startTest.
        if isinstance(test, unittest.TestCase):
            self.texts.append(text)
        else:
            self.say(failed=test.id(), text=text)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self.texts.append(self.failures[-1][1])

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            broken = self.failures if issubclass(err[0], test.failureException) else self.errors
            self.texts.append(f"{subtest}\n{broken[-1][1]}")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        if isinstance(test, unittest.TestCase):
            self.skip = reason
        else:
            self.say(skipped=test.id(), text=reason)

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self.texts.append("was expected to fail and passed")


def tests(suite: unittest.TestSuite, *, quick: bool) -> unittest.TestSuite:
    """The tests of `suite`, with `quick` without those of classes whose names begin with Slow."""
    return unittest.TestSuite(
        test for test in _flat(suite) if not (quick and type(test).__name__.startswith("Slow"))
    )


def _flat(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from _flat(item)
        else:
            yield item


def main(root: str, folder: str, seconds: str, *modules: str) -> None:
    faulthandler.enable()
    sys.path[:1] = [root]
    for module in modules:
        faulthandler.dump_traceback_later(float(seconds), exit=True)
        run(module, move_into(Path(folder, module)))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # a thread that a test left behind must not keep the process


def move_into(place: Path) -> Path:
    """Make `place` where this process lives and prints from now on."""
    sys.stdout.flush()
    sys.stderr.flush()
    home, temp = place / "home", place / "temp"
    for made in (place, home, temp):
        made.mkdir()
    os.environ.update(dict.fromkeys(HOMES, str(home)) | dict.fromkeys(TEMPS, str(temp)))
    tempfile.tempdir = None
    with open(place / "said", "wb") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    return place


def run(module: str, place: Path) -> None:
    begun = time.monotonic()
    with open(place / "report", "w", encoding="utf-8") as lines:
        result = Report(lines)
        suite = unittest.defaultTestLoader.loadTestsFromName(module)
        tests(suite, quick=bool(os.environ.get("BENCH_QUICK"))).run(result)
        unittest.doModuleCleanups()
        result.say(end=time.monotonic() - begun)


if __name__ == "__main__":
    main(*sys.argv[1:])
