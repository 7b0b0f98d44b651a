"""`bench selfcheck`: this program tried as it lies here, on this computer.

A server of its own is started on a free port with a data folder that is removed again. The practice squad is
asked through every API, an answer judged, the record read, the server stopped, and what it left looked at.
Nothing of the user's is read, nothing leaves this computer.
"""

import argparse
import json
import os
import queue
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from metrics.commands import starting
from metrics.commands.command import Command, argument, positive
from metrics.commands.failure import DONE, REFUSED
from metrics.commands.output import Console
from metrics.commands.server import Server
from metrics.records import Problem
from metrics.version import VERSION

QUESTION = "def add(item, basket=[]):\n    basket.append(item)\n    return basket\n"
FINDING = re.compile(r"\bline 1\b|:1\b")  # where the mistake is
PATIENCE = 60.0  # seconds for each step
HIDDEN = ("BENCH", "PYTHON")  # variables that would make it another server than a newcomer's
URL = re.compile(r"http://127\.0\.0\.1:\d+")
SAID = [{"role": "user", "content": QUESTION}]
ASKED = {"model": "bench/core", "messages": SAID}

# API -> path, body, where the text is in the reply: the names and numbers on the way to it.
FORMATS: Mapping[str, tuple[str, dict[str, Any], tuple[str | int, ...]]] = {
    "chat completions": ("/v1/chat/completions", ASKED, ("choices", 0, "message", "content")),
    "Responses": (
        "/v1/responses",
        {"model": "bench/core", "input": QUESTION},
        ("output", 0, "content", 0, "text"),
    ),
    "completions": ("/v1/completions", {"model": "bench/core", "prompt": QUESTION}, ("choices", 0, "text")),
    "Messages": ("/v1/messages", {**ASKED, "max_tokens": 2000}, ("content", 0, "text")),
    "Gemini": (
        "/v1beta/models/bench/core:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": QUESTION}]}]},
        ("candidates", 0, "content", "parts", 0, "text"),
    ),
    "Ollama": ("/api/chat", {**ASKED, "stream": False}, ("message", "content")),
    "one merged answer": (
        "/v1/chat/completions",
        {**ASKED, "model": "bench/core:merged"},
        ("choices", 0, "message", "content"),
    ),
    "one member by route": (
        "/v1/chat/completions",
        {**ASKED, "model": "bench/core:route"},
        ("choices", 0, "message", "content"),
    ),
}


@dataclass
class Steps:
    """The steps, in order, and what they came to; `tell` is told of each."""

    tell: Callable[[str, str, str], None]
    rows: list[dict[str, Any]] = field(default_factory=list)

    def step(self, name: str, work: Callable[[], object]) -> Any:
        """Does `work`; what it returns, or None when it failed, which is then the step's."""
        begun = time.monotonic()
        try:
            given, why = work(), ""
        except (Problem, OSError, ValueError, LookupError, TypeError) as trouble:
            given, why = None, f"{type(trouble).__name__}: {trouble}"
        except AssertionError as broken:
            given, why = None, str(broken)
        self.rows.append(
            {"name": name, "ok": not why, "why": why or None, "seconds": round(time.monotonic() - begun, 2)}
        )
        self.tell("FAIL" if why else "ok", name, why)
        return given

    @property
    def failed(self) -> int:
        return sum(not row["ok"] for row in self.rows)


def selfcheck(args: argparse.Namespace, console: Console, server: Server) -> int:
    def tell(mark: str, name: str, why: str) -> None:
        if not console.as_json and (why or not console.quiet):
            console.say(f"{mark:<5} {name}" + (f": {why}" if why else "") + "\n")

    steps, begun = Steps(tell), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bench-selfcheck-", ignore_cleanup_errors=True) as folder:
        tried(steps, Path(folder), environment(console.env), args.patience)
    passed = len(steps.rows) - steps.failed
    report = {
        "version": VERSION,
        "ok": not steps.failed,
        "passed": passed,
        "failed": steps.failed,
        "seconds": round(time.monotonic() - begun, 2),
        "steps": steps.rows,
    }
    console.show(report, f"{passed} passed, {steps.failed} failed\n")
    return REFUSED if steps.failed else DONE


def tried(steps: Steps, folder: Path, env: Mapping[str, str], patience: float) -> None:
    """All steps, on a server in `folder`."""
    with Trial(folder, env, patience) as running:
        base = steps.step("a server starts on a free port", running.started)
        if base:
            used(steps, Server(base, patience=patience))
            steps.step("it stops when it is told to", running.stopped)
            steps.step("its files are whole and readable by you alone", lambda: left(folder / "home"))


def used(steps: Steps, server: Server) -> None:
    """Asks, judges and looks it up."""
    steps.step("it has this version", lambda: same("version", server.get("/health").get("version"), VERSION))
    steps.step("the page is served", lambda: page(server))
    for name in FORMATS:
        steps.step(f"the squad answers by {name}", partial(answered, server, name))
    steps.step("an answer comes as it is made", lambda: streamed(server))
    steps.step("a nonsense request is refused in words", lambda: refused(server))
    call = steps.step("every seat is named, with its cost", lambda: seated(server))
    if call:
        steps.step("a verdict is taken", lambda: judged(server, call))
        steps.step("the record counts it", lambda: recorded(server, call))
        steps.step("the ledger has every call", lambda: counted(server))


def same(what: str, found: object, expected: object) -> object:
    if found != expected:
        raise AssertionError(f"{what} is {found!r}, not {expected!r}")
    return found


def sent(server: Server, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
    """Status and body of one request, whatever they are."""
    with closing(server.open(method, path, body)) as arrival:
        return arrival.status, arrival.read(64 << 20)


def page(server: Server) -> None:
    for path, mark in (("/owed", b"<html"), ("/ui/app.js", b"import"), ("/ui/style.css", b"{")):
        status, body = sent(server, "GET", path)
        same(f"the status of {path}", status, 200)
        if mark not in body:
            raise AssertionError(f"{path} is not what it should be: {body[:80]!r}")


def answered(server: Server, name: str) -> str:
    path, body, way = FORMATS[name]
    status, raw = sent(server, "POST", path, body)
    same("the status", status, 200)
    found: Any = json.loads(raw)
    for step in way:
        found = found[step]
    return named(found)


def named(text: object) -> str:
    if not isinstance(text, str) or not FINDING.search(text):
        raise AssertionError(f"nobody named line 1, where the mistake is: {str(text)[:200]!r}")
    return text


def streamed(server: Server) -> str:
    events = list(filter(None, server.stream("/api/chat", ASKED)))
    same("the last piece's done", events[-1].get("done"), True)
    if len(events) < 2:
        raise AssertionError("it came in one piece")
    return named("".join(event["message"]["content"] for event in events))


def refused(server: Server) -> str:
    status, raw = sent(server, "POST", "/v1/chat/completions", {"model": "bench/nobody", "messages": SAID})
    same("the status", status, 404)
    return str(json.loads(raw)["error"]["message"])


def seated(server: Server) -> str:
    """The call of a seat that found the mistake."""
    seats = server.post("/v1/chat/completions", ASKED)["bench"]["seats"]
    if sum(seat["status"] == "ok" for seat in seats) < 3:
        raise AssertionError(f"fewer than three seats answered: {seats}")
    for seat in seats:
        same(f"the cost of {seat['alias']}, a program", seat.get("cost"), 0)
    return next(str(seat["call"]) for seat in seats if FINDING.search(seat.get("answer") or ""))


def judged(server: Server, call: str) -> None:
    same("recorded", server.post("/bench/verdict", {"call": call, "useful": True}).get("recorded"), True)


def recorded(server: Server, call: str) -> None:
    panels = server.get("/api/log")["panels"]
    seats = [seat for panel in panels for seat in panel["seats"] if seat.get("call") == call]
    same("the verdict in the log", [(seat.get("verdict") or {}).get("useful") for seat in seats], [True])


def counted(server: Server) -> None:
    total = server.get("/api/usage", since="1d")["total"]
    if total["calls"] < len(FORMATS) * 3 - 2:
        raise AssertionError(f"it has only {total['calls']} calls")
    same("calls of unknown cost", total["unknown_calls"], 0)


def left(home: Path) -> None:
    """What a stopped server leaves: logs that end in a whole line, and no file for others to read."""
    files = [path for path in home.rglob("*") if path.is_file()]
    logs = [path for path in files if path.suffix == ".jsonl"]
    kinds = {path.relative_to(home).parts[0] for path in logs}
    missing = {"panels", "offloads", "ledger", "bodies", "verdicts.jsonl"} - kinds
    if missing:
        raise AssertionError(f"nothing was written of {', '.join(sorted(missing))}")
    for path in logs:
        for line in path.read_text(encoding="ascii").split("\n")[:-1]:
            json.loads(line)
    open_to_all = [path.name for path in files if os.name != "nt" and path.stat().st_mode & 0o077]
    same("files that others may read", open_to_all, [])


class Trial:
    """A server of this program in `folder`, from its start to its end."""

    def __init__(self, folder: Path, env: Mapping[str, str], patience: float) -> None:
        self.folder, self.env, self.patience = folder, env, patience
        self.lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.said: list[str] = []

    def __enter__(self) -> "Trial":
        words = [*starting.program(), "--port", "0", "--no-browser", "--home", str(self.folder / "home")]
        self.process = subprocess.Popen(
            words,
            env=dict(self.env),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        return self

    def __exit__(self, *trouble: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        if self.process.stdout:
            self.process.stdout.close()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.said.append(line.rstrip())
            self.lines.put(line)
        self.lines.put(None)

    def started(self) -> str:
        """The address that it says it has."""
        until = time.monotonic() + self.patience
        while (wait := until - time.monotonic()) > 0:
            try:
                line = self.lines.get(timeout=wait)
            except queue.Empty:
                break
            if line is None:
                raise AssertionError("it ended: " + " / ".join(self.said[-5:]))
            if found := URL.search(line):
                return found[0]
        raise AssertionError(f"it did not listen within {self.patience:g} s: " + " / ".join(self.said[-5:]))

    def stopped(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(self.patience)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it goes on after {self.patience:g} s") from None
        if os.name != "nt":  # where there are no signals it was simply ended
            same("its exit code", code, 0)


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """The user's, without what would make it another server, or name a provider's key."""
    kept = {
        name: value
        for name, value in env.items()
        if not name.upper().startswith(HIDDEN) and not name.upper().endswith("_API_KEY")
    }
    return {**kept, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}


COMMANDS = (
    Command(
        "selfcheck",
        "Tries this program as it is installed: a server of its own, the practice squad, every API.",
        selfcheck,
        (
            argument(
                "--patience",
                type=positive,
                default=PATIENCE,
                metavar="S",
                help=f"seconds that a step may take ({PATIENCE:g})",
            ),
        ),
        ("bench selfcheck", "bench selfcheck --json"),
    ),
)
