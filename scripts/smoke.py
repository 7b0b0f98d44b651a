#!/usr/bin/env python3
"""An installed Benchwarmers, used as its user would: `python3 scripts/smoke.py FOLDER`, where FOLDER holds
`bench`.

Starts the server on any free port with an empty home, asks the practice squad about a file with a known
mistake, judges an answer, finds it in the log and stops the server. Everything happens through the installed
commands."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WAIT = 60.0
HIDDEN = ("BENCH", "PYTHON", "XDG_")
MISTAKE = "def add(item, basket=[]):\n    basket.append(item)\n    return basket\n"


class Smoke:
    """The steps, in order, and what they came to."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home = folder, home
        self.env = environment(home)
        self.passed = self.failed = 0

    def step(self, name: str, kept: bool, said: object = "") -> None:
        self.passed, self.failed = self.passed + kept, self.failed + (not kept)
        print(f"{'ok' if kept else 'FAIL':<5} {name}" + ("" if kept else f"\n{said}"))

    def bench(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._program("bench"), *words],
            env=self.env,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=WAIT,
        )

    def json(self, *words: str) -> dict[str, Any]:
        """What `bench WORDS --json` says; {} when it says no JSON."""
        done = self.bench(*words, "--json")
        try:
            said: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            print(done.stdout, done.stderr, file=sys.stderr)
            return {}
        return said

    @contextmanager
    def serving(self) -> Iterator[str]:
        """`benchwarmers` alone serves; gives its first line. Ended as a user would, and that is a step
        too."""
        line = [self._program("benchwarmers"), "--port", "0", "--no-browser"]
        with subprocess.Popen(
            line, env=self.env, cwd=self.home, stdout=subprocess.PIPE, encoding="utf-8"
        ) as server:
            try:
                yield server.stdout.readline() if server.stdout else ""
                server.send_signal(signal.SIGTERM)
                code = server.wait(WAIT)
                self.step("SIGTERM ends it in order", code == 0 or os.name == "nt", f"exit {code}")
            finally:
                server.kill()

    def _program(self, name: str) -> str:
        return str(self.folder / (f"{name}.exe" if os.name == "nt" else name))


def environment(home: Path) -> dict[str, str]:
    """The user's environment without what Benchwarmers and Python read; homes are `home`."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(HIDDEN) and not name.upper().endswith("_API_KEY")
    }
    return env | dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), str(home))


def run(smoke: Smoke) -> None:
    version = smoke.bench("--version")
    smoke.step("bench --version", bool(re.match(r"bench \d+\.\d+", version.stdout)), version)
    smoke.step("bench --help", "usage: bench" in smoke.bench("--help").stdout)
    smoke.step(
        "without a server: exit 3", smoke.bench("status", "--url", "http://127.0.0.1:9").returncode == 3
    )
    with smoke.serving() as said:
        url = re.search(r"http://127\.0\.0\.1:\d+", said)
        smoke.step("benchwarmers serves and says where", bool(url), said)
        if url:
            use(smoke, ("--url", url.group()))


def use(smoke: Smoke, at: tuple[str, ...]) -> None:
    """Ask, judge, look it up: on the server that `at` names."""
    (smoke.home / "mistake.py").write_text(MISTAKE, encoding="utf-8")
    asked = smoke.json("ask", "core", "What is wrong?", "-f", "mistake.py", *at)
    seats: list[Mapping[str, Any]] = asked.get("bench", {}).get("seats", [])
    smoke.step("three seats or more answer", sum(seat["status"] == "ok" for seat in seats) >= 3, asked)
    right = [seat["call"] for seat in seats if re.search(r"\bline 1\b", seat.get("answer") or "")]
    smoke.step("one names the line of the mistake", bool(right), seats)
    if right:
        judged = smoke.bench("verdict", right[0], "--useful", *at)
        smoke.step("a verdict is taken", judged.returncode == 0, judged)
        log = json.dumps(smoke.json("log", *at))
        smoke.step("the log shows it", right[0] in log and '"useful": true' in log, log)


def main(argv: list[str]) -> int:
    if len(argv) != 1 or argv[0].startswith("-"):
        print(__doc__)
        return 0 if argv[:1] in (["--help"], ["-h"]) else 2
    with tempfile.TemporaryDirectory(prefix="bench-smoke-", ignore_cleanup_errors=True) as home:
        smoke = Smoke(Path(argv[0]).resolve(), Path(home))
        run(smoke)
    print(f"{smoke.passed} passed, {smoke.failed} failed")
    return 1 if smoke.failed or not smoke.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
