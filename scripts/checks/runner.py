"""The tests, a few modules at a time: each with a home folder of its own, each room in processes of its own.

Nothing of the caller's environment that the product reads gets in (keys, proxies, BENCH…), so that no test
can touch the user's data or call anybody. A module that dies or hangs is a failure with its stacks, never a
stall.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
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
NEW_GROUP = 0x200  # CREATE_NEW_PROCESS_GROUP, a name that only Windows has
# Modules of a room that share a process: to start Python and import the product takes longer than most do.
BATCH = 24


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
    """Test modules being run, `workers` processes at a time. `outcome(module)` waits for its end; leaving
    ends them all."""

    def __init__(
        self, root: Path, modules: Iterable[str], *, workers: int, seconds: float, quick: bool
    ) -> None:
        self.root, self.seconds, self.quick = root, seconds, quick
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False
        self._compiled = tempfile.TemporaryDirectory(prefix="bench-test-", ignore_cleanup_errors=True)
        self._pool = ThreadPoolExecutor(workers)
        self._futures: dict[str, Future[Mapping[str, Outcome]]] = {}
        modules = list(modules)
        for batch in batches(modules, serving(root, modules), asking(root, modules)):
            self._futures |= dict.fromkeys(batch, self._pool.submit(self._run, batch))

    def outcome(self, module: str) -> Outcome:
        return self._futures[module].result()[module]

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._stopped = True
            for process in self._running:
                end(process)
        self._pool.shutdown(wait=True)
        self._compiled.cleanup()

    def _run(self, batch: Sequence[str]) -> Mapping[str, Outcome]:
        """The outcomes of a batch. Modules that never began because one before them took the process down
        get another one."""
        found: dict[str, Outcome] = {}
        while left := [module for module in batch if module not in found]:
            with tempfile.TemporaryDirectory(prefix="bench-test-", ignore_cleanup_errors=True) as folder:
                code = self._work(Path(folder), left)
                begun = [module for module in left if Path(folder, module, "report").exists()]
                for module in begun or left[:1]:
                    found[module] = read(module, Path(folder, module), code)
        return found

    def _work(self, folder: Path, modules: Sequence[str]) -> int | None:
        line = [sys.executable, str(WORKER), str(self.root), str(folder), str(self.seconds), *modules]
        with (
            open(folder / "said", "wb") as out,
            self._started(line, out, environment(self.quick, self._compiled.name)) as process,
        ):
            try:
                process.wait(self.seconds * len(modules) + GRACE)
            except subprocess.TimeoutExpired:
                end(process)
        return process.returncode

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


def batches(
    modules: Iterable[str], serving: Container[str] = (), slow: Container[str] = ()
) -> list[list[str]]:
    """What shares a process: up to BATCH modules of a room, or of the top of tests/. Those `serving` start
    whole servers and take longest: they come first, each by itself; then the batches with most of the
    `slow`."""
    alone: list[list[str]] = []
    rooms: dict[str, list[str]] = {}
    for module in modules:
        if module in serving:
            alone.append([module])
        else:
            rooms.setdefault(module.split(".")[1] if module.count(".") > 1 else "", []).append(module)
    shared = [inside[at : at + BATCH] for inside in rooms.values() for at in range(0, len(inside), BATCH)]
    return alone + sorted(shared, key=lambda batch: -sum(module in slow for module in batch))


def asking(root: Path, modules: Iterable[str]) -> set[str]:
    """The modules that ask a provider over HTTP (tests/provider.py, by itself or within a house)."""
    return {
        module for module in modules if re.search(rb"tests\.(provider|play\.house)", _source(root, module))
    }


def serving(root: Path, modules: Iterable[str]) -> set[str]:
    """The modules at the top of tests/ that start servers of ours (tests/running.py)."""
    top = (module for module in modules if module.count(".") == 1)
    return {module for module in top if b"tests.running" in _source(root, module)}


def _source(root: Path, module: str) -> bytes:
    return root.joinpath(*module.split(".")).with_suffix(".py").read_bytes()


def environment(quick: bool, compiled: str) -> dict[str, str]:
    """The environment of a worker: the user's without what the product reads. Homes are the worker's
    affair. Where Python is told not to keep what it compiles, the folder `compiled` keeps it for this run: a
    hundred processes would do it again."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(HIDDEN) and not name.upper().endswith("_API_KEY")
    }
    env["PYTHONUTF8"] = "0"  # what works only in UTF-8 mode would break on Windows
    if env.pop("PYTHONDONTWRITEBYTECODE", ""):
        env["PYTHONPYCACHEPREFIX"] = compiled
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


def read(module: str, place: Path, code: int | None) -> Outcome:
    """The outcome that a worker's report in `place` tells; what was printed is added to the failures."""
    events = list(_events(place / "report"))
    said = place if (place / "said").exists() else place.parent
    printed = _tail(said / "said")
    failures = [(event["failed"], event["text"]) for event in events if "failed" in event]
    seconds = float(events[-1].get("end", 0)) if events else 0.0
    if not (events and "end" in events[-1]):
        starts = [event["start"] for event in events if "start" in event]
        ends = {
            name for event in events for key, name in event.items() if key in ("passed", "failed", "skipped")
        }
        hung = next((name for name in reversed(starts) if name not in ends), f"{module} (between tests)")
        failures.append((hung, f"the process ended here (exit {code})\n{printed}"))
    elif failures and printed:
        failures[-1] = (failures[-1][0], f"{failures[-1][1]}\nprinted by {module}:\n{printed}")
    return Outcome(
        module,
        passed=sum("passed" in event for event in events),
        skipped=sum("skipped" in event for event in events),
        failures=tuple(failures),
        seconds=seconds,
    )


def _events(report: Path) -> Iterator[dict[str, Any]]:
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
