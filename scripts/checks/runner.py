"""The tests, a few modules at a time, each in a process of its own with a home folder of its own.

Nothing of the caller's environment that the product reads gets in (keys, proxies, BENCH…), so that no test
can touch the user's data or call anybody. A module that dies or hangs is a failure with its stacks, never a
stall.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

WORKER = Path(__file__).with_name("worker.py")
GRACE = 10.0  # seconds past its own limit until a worker that cannot even end itself is killed
HIDDEN = (
    "BENCH",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "XDG_",
    "PYTHONPATH",
    "PYTHONSAFEPATH",
)
HOMES = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA")
NEW_GROUP = 0x200  # CREATE_NEW_PROCESS_GROUP, a name that only Windows has
TEMPS = ("TMPDIR", "TEMP", "TMP")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a test module came to. `failures` pairs a test's id with its traceback."""

    module: str
    passed: int
    skipped: int
    failures: tuple[tuple[str, str], ...]
    seconds: float


def discover(root: Path) -> list[str]:
    """The names of all test modules below root/tests, in order."""
    found = sorted((root / "tests").rglob("test_*.py"))
    return [".".join(path.relative_to(root).with_suffix("").parts) for path in found]


class Run:
    """Test modules being run, `workers` at a time. `outcome(module)` waits for its end; leaving ends them
    all."""

    def __init__(
        self, root: Path, modules: Iterable[str], *, workers: int, seconds: float, quick: bool
    ) -> None:
        self.root, self.seconds, self.quick = root, seconds, quick
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False
        self._pool = ThreadPoolExecutor(workers)
        # Modules at the top of tests/ start whole servers and take longest; after them, the largest.
        longest_first = sorted(modules, key=lambda module: (module.count("."), -self._size(module)))
        self._futures: Mapping[str, Future[Outcome]] = {
            module: self._pool.submit(self._run, module) for module in longest_first
        }

    def outcome(self, module: str) -> Outcome:
        return self._futures[module].result()

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._stopped = True
            for process in self._running:
                end(process)
        self._pool.shutdown(wait=True)

    def _size(self, module: str) -> int:
        try:
            return (self.root / (module.replace(".", "/") + ".py")).stat().st_size
        except OSError:
            return 0

    def _run(self, module: str) -> Outcome:
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="bench-test-", ignore_cleanup_errors=True) as folder:
            said = Path(folder, "said")
            report = Path(folder, "report")
            line = [sys.executable, str(WORKER), str(self.root), module, str(report), str(self.seconds)]
            with (
                open(said, "wb") as out,
                self._started(line, out, environment(Path(folder), self.quick)) as process,
            ):
                try:
                    process.wait(self.seconds + GRACE)
                except subprocess.TimeoutExpired:
                    end(process)
            return read(module, report, said, process.returncode, time.monotonic() - begun)

    @contextmanager
    def _started(
        self, line: list[str], out: BinaryIO, env: Mapping[str, str]
    ) -> Iterator[subprocess.Popen[bytes]]:
        with self._lock:
            if self._stopped:
                raise InterruptedError("stopped before it began")
            process = start(line, cwd=self.root, stdout=out, stderr=subprocess.STDOUT, env=env)
            self._running.add(process)
        try:
            yield process
        finally:
            end(process)
            self._running.discard(process)


def environment(folder: Path, quick: bool) -> dict[str, str]:
    """The environment of one test module: the user's without what the product reads, homes inside
    `folder`."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(HIDDEN) and not name.upper().endswith("_API_KEY")
    }
    home, temp = folder / "home", folder / "temp"
    home.mkdir()
    temp.mkdir()
    env |= dict.fromkeys(HOMES, str(home)) | dict.fromkeys(TEMPS, str(temp))
    env["PYTHONUTF8"] = "0"  # what works only in UTF-8 mode would break on Windows
    if quick:
        env["BENCH_QUICK"] = "1"
    return env


def start(line: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """A process that leads a group of its own, so that `end` reaches what it started too."""
    group: dict[str, Any] = {"creationflags": NEW_GROUP} if os.name == "nt" else {"start_new_session": True}
    return subprocess.Popen(line, stdin=subprocess.DEVNULL, **group, **options)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill `process` and, where there are process groups, whatever of its group is left. Then wait for it."""
    try:
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def read(module: str, report: Path, said: Path, code: int | None, seconds: float) -> Outcome:
    """The outcome that a worker's report tells; what it printed is added to the failures."""
    events = list(_events(report))
    printed = _tail(said)
    failures = [(event["failed"], event["text"]) for event in events if "failed" in event]
    if not (events and "end" in events[-1]):
        starts = [event["start"] for event in events if "start" in event]
        ends = {
            name for event in events for key, name in event.items() if key in ("passed", "failed", "skipped")
        }
        hung = next((name for name in reversed(starts) if name not in ends), f"{module} (between tests)")
        failures.append((hung, f"the process ended here (exit {code}, after {seconds:.0f} s)\n{printed}"))
    elif failures and printed:
        failures[-1] = (failures[-1][0], f"{failures[-1][1]}\nprinted by {module}:\n{printed}")
    return Outcome(
        module,
        passed=sum("passed" in event for event in events),
        skipped=sum("skipped" in event for event in events),
        failures=tuple(failures),
        seconds=seconds,
    )


def _events(report: Path) -> Iterator[dict[str, str]]:
    if not report.exists():
        return
    for line in report.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except ValueError:  # torn: the process died while it wrote
            return


def _tail(said: Path, most: int = 12_000) -> str:
    text = said.read_bytes().decode("utf-8", "replace").strip()
    return text if len(text) <= most else f"[{len(text) - most} characters left out]\n{text[-most:]}"
