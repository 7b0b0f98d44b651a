"""A real server of ours in a process of its own, with an empty data folder, for tests that ask it as its
users would."""

import io
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

import cli
from metrics.commands.output import Console

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 30.0  # seconds before a server that says nothing counts as broken


def clean_environment(**more: str) -> dict[str, str]:
    """This process's environment without anything that would configure a bench or name a provider's key."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("BENCH", "LLM_")) and not name.endswith(("_API_KEY", "_proxy", "_PROXY"))
    }
    return {**kept, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8", **more}


class Running:
    """`with Running() as bench:` starts `serve.py --port 0`; `bench.url`, `bench.cli(...)`,
    `bench.get/post(...)` use it."""

    def __init__(
        self, home: Path | None = None, program: str = "serve.py", *options: str, **environment: str
    ) -> None:
        self._folder = None if home else tempfile.TemporaryDirectory(prefix="bench-test-")
        self.home = home or Path(self._folder.name) / "home"
        self._command = [sys.executable, str(ROOT / program), "--port", "0", "--home", str(self.home)]
        self._command += ["--no-browser", *options]
        self._environment = clean_environment(**environment)
        self.typed_in: dict[str, str] = {}  # the environment of `cli`
        self.said: list[str] = []

    def __enter__(self) -> "Running":
        self.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
        self.process.stdout.close()
        if self._folder:
            self._folder.cleanup()

    def start(self) -> None:
        self.process = subprocess.Popen(
            self._command,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            cwd=tempfile.gettempdir(),
        )
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, args=(lines,), daemon=True).start()
        while (line := lines.get(timeout=PATIENCE)) is not None:
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if found:
                self.url, self.port = found[0], int(found[1])
                return
        raise RuntimeError("the server did not start: " + " ".join(self.said))

    def _listen(self, lines: "queue.SimpleQueue[str | None]") -> None:
        for line in self.process.stdout:
            self.said.append(line.rstrip())
            lines.put(line)
        lines.put(None)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End the server, this one and no other; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    def cli(self, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        """`bench WORDS` in this process: to start Python anew costs more than most commands."""
        typed = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        out, err = io.StringIO(), io.StringIO()
        status = cli.main(
            ["--url", self.url, *words], console=Console("bench", self.typed_in, typed, out, err)
        )
        return subprocess.CompletedProcess(words, status, out.getvalue(), err.getvalue())

    def run(self, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        """The same as a user runs it: `python3 cli.py WORDS`."""
        return subprocess.run(
            [sys.executable, str(ROOT / "cli.py"), "--url", self.url, *words],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=self._environment,
            timeout=60,
        )

    def do(self, *words: str, stdin: str = "") -> str:
        """A command that must work; its stdout."""
        done = self.cli(*words, stdin=stdin)
        if done.returncode:
            raise AssertionError(
                f"bench {' '.join(words)} exited {done.returncode}: {done.stderr or done.stdout}"
            )
        return done.stdout

    def get(self, path: str, **headers: str) -> tuple[int, Any]:
        return self._exchange(urllib.request.Request(self.url + path, headers=headers))

    def post(self, path: str, body: Any, **headers: str) -> tuple[int, Any]:
        encoded = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **headers}
        return self._exchange(urllib.request.Request(self.url + path, encoded, headers))

    def _exchange(self, request: urllib.request.Request) -> tuple[int, Any]:
        """(status, the JSON that came back, or the text when it is not JSON)."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                status, body = answer.status, answer.read()
        except urllib.error.HTTPError as refused:
            status, body = refused.code, refused.read()
        try:
            return status, json.loads(body)
        except ValueError:
            return status, body.decode("utf-8", "replace")

    def save(self, path: str, **body: Any) -> Any:
        """A POST that must work; its reply."""
        status, reply = self.post(path, body)
        if status != 200:
            raise AssertionError(f"{path} answered {status}: {reply}")
        return reply

    def seat(self, collection: str, base: str, *aliases: str, explorers: int = 0, **saved: Any) -> None:
        """Put models of a fake provider, served under their aliases, on the bench and make a collection of
        them."""
        endpoint = f"e-{collection}"
        self.save("/api/endpoint", name=endpoint, base=base, key="sk-test-key", test=False)
        for alias in aliases:
            self.save("/api/model/add", alias=alias, endpoint=endpoint, served=alias)
        self.save("/api/collection", name=collection, members=list(aliases), explorers=explorers, **saved)
