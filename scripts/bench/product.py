"""The processes that a measurement needs, started and always ended: the mock provider, our server, a load.

Every process is ours by its handle, and ends with the `with` that started it, Ctrl-C included.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scripts.bench.load import Job

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
PATIENCE = 60.0
WATCHED = 0.1  # s
SEATS = 5
WINDOW = 2_000_000  # tokens: room for the longest prompt that is measured
COLLECTIONS = {"one": 1, "five": SEATS}
CHAT = "/v1/chat/completions"
HIDDEN = ("BENCH", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "XDG_")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a load goes: a port and the model to name there; `pid` of the server, 0 when it is not ours to
    weigh."""

    name: str
    port: int
    model: str
    pid: int = 0
    key: str = ""

    def job(self, *, stream: bool, connections: int, seconds: float, size: int = 1000) -> Job:
        """A request of about `size` bytes. The answer's last word proves that all of it came."""
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": "x" * (size - 120)}],
            "stream": stream,
        }
        return Job(self.port, CHAT, json.dumps(body), connections, seconds, mark="dog.", key=self.key)


@contextmanager
def mock(program: str = "mock.py") -> Iterator[Target]:
    """The provider (or voices.py), in a process that ends when its stdin closes."""
    process = subprocess.Popen(
        [sys.executable, str(HERE / program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdin and process.stdout
    try:
        yield Target("direct", int(process.stdout.readline()), "mock-1")
    finally:
        process.stdin.close()
        _end(process, 2.0)
        process.stdout.close()


class Server:
    """`serve.py` on the data folder `home`, from its start, with the variables of `more`. `first_line` is how
    long it took to say its address."""

    def __init__(self, home: Path, more: Mapping[str, str] | None = None) -> None:
        self.begun = time.perf_counter()
        line = [sys.executable, str(ROOT / "serve.py"), "--port", "0", "--no-browser", "--home", str(home)]
        self._said = open(home.with_suffix(".log"), "ab")  # noqa: SIM115  closed with the process
        self.process = subprocess.Popen(
            line,
            env={**_environment(), **(more or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )
        self.pid = self.process.pid
        self.port = self._port()
        self.first_line = time.perf_counter() - self.begun

    def _port(self) -> int:
        assert self.process.stdout
        for line in iter(self.process.stdout.readline, b""):
            if found := re.search(rb"http://127\.0\.0\.1:(\d+)", line):
                return int(found[1])
        self.close()
        raise RuntimeError(
            f"serve.py did not start; it said: {Path(self._said.name).read_text('utf-8', 'replace')}"
        )

    def target(self, name: str, collection: str) -> Target:
        return Target(name, self.port, f"bench/{collection}", self.pid)

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON that came back; an HTTPError for a refusal."""
        return self._exchange(path, json.dumps(body).encode())

    def get(self, path: str) -> dict[str, Any]:
        """The JSON that came back; an HTTPError for a refusal."""
        return self._exchange(path)

    def _exchange(self, path: str, content: bytes | None = None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", content, headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=PATIENCE) as reply:
            said: dict[str, Any] = json.load(reply)
        return said

    def ask(self, collection: str = "one") -> dict[str, Any]:
        return self.post(
            CHAT, {"model": f"bench/{collection}", "messages": [{"role": "user", "content": "Hello"}]}
        )

    def seat(self, provider: Target) -> None:
        """Register the mock, its models, and the collections that are measured."""
        self.post("/api/endpoint", {"name": "mock", "base": f"http://127.0.0.1:{provider.port}/v1"})
        for alias in aliases(SEATS):
            self.model(alias)
        for name, members in COLLECTIONS.items():
            self.collect(name, aliases(members))

    def model(self, served: str) -> None:
        """Register one more model of the mock, under its own name."""
        facts = {"context": WINDOW, "vision": True, "tools": True, "price": {"input": 1.0, "output": 2.0}}
        self.post("/api/model/add", {"alias": served, "endpoint": "mock", "served": served, **facts})

    def collect(self, name: str, members: list[str]) -> None:
        self.post("/api/collection", {"name": name, "members": members, "explorers": 0})

    def close(self) -> None:
        """End it as its user would."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        _end(self.process, 20.0)
        if self.process.stdout:
            self.process.stdout.close()
        self._said.close()


def aliases(count: int) -> list[str]:
    return [f"mock-{seat}" for seat in range(1, count + 1)]


@contextmanager
def server(home: Path) -> Iterator[Server]:
    running = Server(home)
    try:
        yield running
    finally:
        running.close()


def load(job: Job, watch: Callable[[], object] | None = None) -> dict[str, float]:
    """Run a load in a process of its own; what it counted (load.drive, or streams.drive for stamped chunks).
    `watch` is called every WATCHED seconds meanwhile."""
    program = "streams.py" if job.chunks else "load.py"
    process = subprocess.Popen(
        [sys.executable, str(HERE / program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        until = time.monotonic() + job.seconds + job.warm + PATIENCE
        said = _said(process, json.dumps(asdict(job)), until, watch)
    finally:
        _end(process, 0.0)
    counted: dict[str, float] = json.loads(said)
    return counted


def _said(process: subprocess.Popen[str], told: str, until: float, watch: Callable[[], object] | None) -> str:
    """What it prints when it was told something: as `communicate` has it, looking up now and then."""
    heard: str | None = told
    while True:
        left = until - time.monotonic()
        try:
            return process.communicate(heard, timeout=min(left, WATCHED) if watch else left)[0]
        except subprocess.TimeoutExpired:
            if time.monotonic() >= until or watch is None:
                raise
            watch()
            heard = None


def visit(job: Job, pid: int, weigh: bool = False) -> dict[str, float]:
    """What a load counted, with the processor time that the server `pid` used for each request ("cpu_us"),
    and if wanted the most memory that it was seen to hold meanwhile ("rss_mb"), where something tells."""
    seen: list[float | None] = []
    before = cpu(pid)
    counted = dict(load(job, (lambda: seen.append(memory(pid))) if weigh else None))
    after = cpu(pid)
    if before is not None and after is not None:
        guessed = (counted["ok"] + counted["errors"]) * (job.seconds + job.warm) / job.seconds
        counted["cpu_us"] = (after - before) * 1e6 / max(1.0, counted.get("asked", guessed))
    if sizes := [size for size in seen if size is not None]:
        counted["rss_mb"] = max(sizes)
    return counted


def memory(pid: int) -> float | None:
    """Megabytes of `pid` in memory; None where nothing tells."""
    try:
        if os.path.exists(f"/proc/{pid}/status"):
            status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
            return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024
        said = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, encoding="utf-8", check=True
        )
        return int(said.stdout) / 1024
    except (OSError, IndexError, ValueError, subprocess.CalledProcessError):
        return None


def cpu(pid: int) -> float | None:
    """Seconds of processor that `pid` has used; None where nothing tells."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.upper().startswith(HIDDEN)}


def _end(process: subprocess.Popen[Any], patience: float) -> None:
    """Wait for the end of `process`, and make it after `patience` seconds."""
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
