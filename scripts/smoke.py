#!/usr/bin/env python3
"""An installed Benchwarmers, used as its user would: `python3 scripts/smoke.py FOLDER`, where FOLDER holds
`bench`.

Starts the server on any free port with an empty home, asks the practice squad about a file with a known
mistake, judges an answer, finds it in the log, runs the program's own self-check and its doctor, and stops
the server. Everything happens through the installed commands."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WAIT = 90.0
HIDDEN = ("BENCH", "PYTHON", "XDG_", "UV_", "PIP_", "NPM_")
MISTAKE = "def add(item, basket=[]):\n    basket.append(item)\n    return basket\n"


class Smoke:
    """The steps, in order, and what they came to. `bench` and `server` are what a user types for `bench` and
    for `benchwarmers`, which serves."""

    def __init__(
        self, bench: Sequence[str], server: Sequence[str], env: Mapping[str, str], home: Path
    ) -> None:
        self.words, self.server, self.env, self.home = list(bench), list(server), dict(env), home
        self.passed = self.failed = 0
        self.first_answer: float | None = None  # when it came, by time.monotonic
        self.terminal = False  # a terminal's Ctrl-C ends the server, and not SIGTERM

    def step(self, name: str, kept: bool, said: object = "") -> bool:
        self.passed, self.failed = self.passed + kept, self.failed + (not kept)
        print(f"{'ok' if kept else 'FAIL':<5} {name}" + ("" if kept else f"\n{said}"), flush=True)
        return kept

    def bench(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.words, *words],
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
        """Serves; gives its first line. Ended as a user would, and that is a step too."""
        line = [*self.server, "--port", "0", "--no-browser"]
        with subprocess.Popen(
            line,
            env=self.env,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=self.terminal,
        ) as server:
            try:
                yield server.stdout.readline() if server.stdout else ""
                if self.terminal:
                    os.killpg(server.pid, signal.SIGINT)
                    self.step("Ctrl-C ends it", ended(server), "something of it goes on")
                else:
                    server.send_signal(signal.SIGTERM)
                    code = server.wait(WAIT)
                    self.step("SIGTERM ends it in order", code == 0 or os.name == "nt", f"exit {code}")
            finally:
                server.kill()


def ended(leader: "subprocess.Popen[str]") -> bool:
    """Whether all of a group of processes end within WAIT; what goes on after that is killed."""
    until = time.monotonic() + WAIT
    leader.wait(WAIT)
    try:
        while time.monotonic() < until:
            os.killpg(leader.pid, 0)
            time.sleep(0.05)
        os.killpg(leader.pid, signal.SIGKILL)
    except ProcessLookupError:
        return True
    return False


def environment(home: Path) -> dict[str, str]:
    """The user's environment without what Benchwarmers, Python and installers read; homes are `home`."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(HIDDEN) and not name.upper().endswith("_API_KEY")
    }
    return env | dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), str(home))


def run(smoke: Smoke) -> None:
    with smoke.serving() as said:
        url = re.search(r"http://127\.0\.0\.1:\d+", said)
        smoke.step("it serves and says where", bool(url), said)
        if url:
            use(smoke, ("--url", url.group()))
    version = smoke.bench("--version")
    smoke.step("bench --version", bool(re.match(r"bench \d+\.\d+", version.stdout)), version)
    smoke.step("bench --help", "COMMAND [ARGUMENTS]" in smoke.bench("--help").stdout)
    smoke.step(
        "without a server: exit 3", smoke.bench("status", "--url", "http://127.0.0.1:9").returncode == 3
    )
    check(smoke)


def use(smoke: Smoke, at: tuple[str, ...]) -> None:
    """Ask, judge, look it up: on the server that `at` names."""
    (smoke.home / "mistake.py").write_text(MISTAKE, encoding="utf-8")
    asked = smoke.json("ask", "core", "What is wrong?", "-f", "mistake.py", *at)
    smoke.first_answer = time.monotonic()
    (smoke.home / "mistake.py").unlink()
    seats: list[Mapping[str, Any]] = asked.get("bench", {}).get("seats", [])
    smoke.step("three seats or more answer", sum(seat["status"] == "ok" for seat in seats) >= 3, asked)
    right = [seat["call"] for seat in seats if re.search(r"\bline 1\b", seat.get("answer") or "")]
    smoke.step("one names the line of the mistake", bool(right), seats)
    if right:
        judged = smoke.bench("verdict", right[0], "--useful", *at)
        smoke.step("a verdict is taken", judged.returncode == 0, judged)
        log = json.dumps(smoke.json("log", *at))
        smoke.step("the log shows it", right[0] in log and '"useful": true' in log, log)


def check(smoke: Smoke) -> None:
    """What the program says of itself."""
    own = smoke.json("selfcheck")
    failed = [row for row in own.get("steps", [{"name": "it says no JSON"}]) if not row.get("ok")]
    smoke.step(f"its own self-check passes ({own.get('passed', 0)} steps)", not failed, failed)
    doctor = smoke.json("doctor")
    failed = [row for row in doctor.get("checks", [{"state": "failed"}]) if row["state"] == "failed"]
    smoke.step(f"its doctor finds nothing wrong ({doctor.get('passed', 0)} checks)", not failed, failed)


def main(argv: list[str]) -> int:
    if len(argv) != 1 or argv[0].startswith("-"):
        print(__doc__)
        return 0 if argv[:1] in (["--help"], ["-h"]) else 2
    ending = ".exe" if os.name == "nt" else ""
    bench, server = ([str(Path(argv[0]).resolve() / f"{name}{ending}")] for name in ("bench", "benchwarmers"))
    with tempfile.TemporaryDirectory(prefix="bench-smoke-", ignore_cleanup_errors=True) as name:
        home = Path(name)
        smoke = Smoke(bench, server, environment(home), home)
        run(smoke)
    print(f"{smoke.passed} passed, {smoke.failed} failed")
    return 1 if smoke.failed or not smoke.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
