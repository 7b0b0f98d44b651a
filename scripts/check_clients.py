#!/usr/bin/env python3
"""Real client libraries against a real server: `python3 scripts/check_clients.py`.

Needs Node 20 or later, PyPI and npm. What tests/clients/requirements/ and tests/clients/js/package.json
pin is installed into a folder that is removed again (--dir keeps one). Every tests/clients/run_*.py runs
there and prints a line for each check; the last line is `N passed, N failed`.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

CLIENTS = Path(__file__).resolve().parent.parent / "tests" / "clients"
PATIENCE = 300.0  # seconds a script may take
# Where a script runs, if not in `main`. Two major versions of google-genai are checked: their paths differ.
HOMES: Mapping[str, Sequence[str]] = {
    "gemini": ("main", "frameworks"),
    "hosting": ("hosting",),
    "js": ("js",),
    "litellm": ("frameworks",),
    "open_webui": ("frameworks",),
    "pydantic_ai": ("frameworks",),
    "telemetry": ("telemetry",),
}
NPM = ("install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
Counts = Counter[tuple[str, str]]  # ("PASS" or "FAIL", library) -> how many
LINE = re.compile(r"(PASS|FAIL) ([^:]+): ")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these: " + " ".join(scripts()))
    parser.add_argument("--dir", type=Path, help="install here and keep it, to be used again")
    options = parser.parse_args()
    if unknown := set(options.names) - set(scripts()):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(scripts())}")
    with folder(options.dir) as where:
        counts = check(where, options.names or scripts())
    passed = failed = 0
    print()
    for library in dict.fromkeys(library for _, library in counts):
        well, badly = counts["PASS", library], counts["FAIL", library]
        print(f"{library:50} {well:4} passed {badly:4} failed")
        passed, failed = passed + well, failed + badly
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def scripts() -> list[str]:
    return sorted(path.stem.removeprefix("run_") for path in CLIENTS.glob("run_*.py"))


@contextmanager
def folder(kept: Path | None) -> Iterator[Path]:
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
    else:
        with tempfile.TemporaryDirectory(prefix="bench-clients-", ignore_cleanup_errors=True) as name:
            yield Path(name).resolve()


def check(where: Path, names: Iterable[str]) -> Counts:
    """The environments go side by side: the scripts of the first run while the next is installed."""
    runs = [(home, name) for name in names for home in HOMES.get(name, ("main",))]
    homes = {home: [name for its, name in runs if its == home] for home, _ in runs}
    with ThreadPoolExecutor(len(homes)) as together:
        checked = together.map(lambda home: check_in(where / home, homes[home]), homes)
        return sum(checked, Counter())


def check_in(home: Path, names: Iterable[str]) -> Counts:
    if problem := install(home):
        return fault(f"the libraries of {home.name}", f"did not install: {problem}")
    return sum((run(home, name) for name in names), Counter())


# --- installing


def install(home: Path) -> str:
    """What went wrong, or nothing."""
    started = time.monotonic()
    problem = node(home) if home.name == "js" else python(home)
    print(
        f"     {home.name}: {'NOT ' if problem else ''}installed in {time.monotonic() - started:.0f} s",
        flush=True,
    )
    return problem


def python(home: Path) -> str:
    pip = [
        interpreter(home),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--quiet",
        "--no-compile",
    ]
    wanted = CLIENTS / "requirements" / f"{home.name}.txt"
    problem = "" if interpreter(home).exists() else done(sys.executable, "-m", "venv", home)
    return problem or done(*pip, "--requirement", wanted)


def node(home: Path) -> str:
    home.mkdir(exist_ok=True)
    shutil.copy(CLIENTS / "js" / "package.json", home)
    npm = shutil.which("npm")
    return done(npm, *NPM, "--prefix", home) if npm else "there is no npm; install Node 20 or later"


def interpreter(home: Path) -> Path:
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def done(*words: object) -> str:
    """Runs it; the end of what it said if it failed."""
    ran = subprocess.run(
        [str(word) for word in words], capture_output=True, encoding="utf-8", errors="replace"
    )
    return (ran.stdout + ran.stderr)[-2000:] or f"exit {ran.returncode}" if ran.returncode else ""


# --- running


def run(home: Path, name: str) -> Counts:
    """One script's checks, shown as they come. One that ends badly and does not say why is a failure."""
    python_here = Path(sys.executable) if home.name == "js" else interpreter(home)
    command = [python_here, CLIENTS / f"run_{name}.py", *([home] if home.name == "js" else [])]
    counts: Counts = Counter()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        running = subprocess.Popen(
            command,
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
            errors="replace",
        )
        patience = threading.Timer(PATIENCE, running.kill)
        patience.start()
        for line in running.stdout or ():
            if found := LINE.match(line):
                print(line, end="", flush=True)
                counts[found[1], found[2]] += 1
        status = running.wait()
        patience.cancel()
        if status and not any(word == "FAIL" for word, _ in counts):
            errors.seek(0)
            return counts + fault(f"{name} in {home.name}", f"ended with {status}: {errors.read()[-2000:]}")
    return counts


def fault(name: str, why: str) -> Counts:
    print(f"FAIL {name}: {why}", flush=True)
    return Counter({("FAIL", name): 1})


def environment(home: Path) -> dict[str, str]:
    """This process's, without proxies, keys and addresses that a library would take up."""
    told = re.compile(r".*(_proxy|_api_key|_base_url|_api_base|_host)|python(path|home)", re.IGNORECASE)
    kept = {name: value for name, value in os.environ.items() if not told.fullmatch(name)}
    return {**kept, "PYTHONIOENCODING": "utf-8", "PYTHONPYCACHEPREFIX": str(home / "compiled")}


if __name__ == "__main__":
    sys.exit(main())
