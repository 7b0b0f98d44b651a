#!/usr/bin/env python3
"""Every package, installed as its users do, used, and removed again: `python3 scripts/check_packages.py`.

Each way in WAYS gets a home of its own and nothing of this checkout. It is installed; the server is started
and the practice squad asked, which is timed from the start of the installation; the shipped self-check and
doctor run; `bench update --check` has to know how it was installed; it is removed, and then nothing may be
left in that home but the data folder. The last line is `N passed, N failed`.

    python3 scripts/check_packages.py --ways pip,pyz    some ways; uvx and uv tool need `uv`, npm and npx Node
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(ROOT)]

from scripts import package, smoke  # noqa: E402
from scripts.packages import manifest  # noqa: E402

GOAL = 5.0  # seconds from the start of the installation to the first answer
LARGEST = 2_000_000  # bytes of the wheel
NAME = manifest.NAME
DATA = {  # where the data folder is in a home
    "win32": NAME,
    "darwin": f"Library/Application Support/{NAME}",
}.get(sys.platform, f".local/share/{NAME}")
# What installers keep for themselves in a home, whatever they installed.
THEIRS = (
    ".cache/uv",
    ".cache/pip",
    ".local/share/uv",
    ".npm",
    ".config",
    ".cache/node",
    ".local/state",
    ".rustup",
)


@dataclass
class Stage:
    """One way's place: `home` is its user's, `there` is where it is installed to."""

    dist: Path
    home: Path
    there: Path
    python: str
    env: dict[str, str] = field(default_factory=dict)

    def run(self, *words: object) -> None:
        """A command that must work. RuntimeError with what it said when it does not."""
        line = [str(word) for word in words]
        done = subprocess.run(
            line, env=self.env, cwd=self.home, capture_output=True, encoding="utf-8", timeout=300
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(line)} ended with {done.returncode}: {done.stdout}{done.stderr}")

    def file(self, pattern: str) -> Path:
        return next(self.dist.glob(pattern))

    def script(self, name: str) -> Path:
        """A program of the environment in `there`."""
        return self.there / ("Scripts" if os.name == "nt" else "bin") / name


@dataclass(frozen=True)
class Way:
    """`prepare` is not timed. `programs` are what a user types for `bench` and for the server. `says` is what
    `bench update` calls it. `needs`: the program without which it is passed over."""

    name: str
    says: str
    install: Callable[[Stage], None]
    programs: Callable[[Stage], tuple[list[object], list[object]]]
    remove: Callable[[Stage], None]
    prepare: Callable[[Stage], None] = lambda stage: None
    needs: str = ""
    terminal: bool = False  # what starts it does not pass signals on: it is ended as a terminal does


def _venv(stage: Stage) -> None:
    stage.run(stage.python, "-m", "venv", stage.there)


def _pip(pattern: str) -> Callable[[Stage], None]:
    return lambda stage: stage.run(
        stage.script("pip"), "install", "--quiet", "--no-index", "--no-cache-dir", stage.file(pattern)
    )


def _scripts(stage: Stage) -> tuple[list[object], list[object]]:
    return [stage.script("bench")], [stage.script(NAME)]


def _pip_remove(stage: Stage) -> None:
    stage.run(stage.script("pip"), "uninstall", "--quiet", "--yes", NAME)


def _uvx(stage: Stage) -> list[object]:
    return ["uvx", "--quiet", "--offline", "--python", stage.python, "--from", stage.file("*.whl")]


def _uv_tool(stage: Stage) -> None:
    stage.env |= {"UV_TOOL_BIN_DIR": str(stage.there / "bin"), "UV_TOOL_DIR": str(stage.there / "tools")}
    stage.run("uv", "tool", "install", "--quiet", "--offline", "--python", stage.python, stage.file("*.whl"))


def _npm(stage: Stage) -> None:
    stage.run(
        "npm", "install", "--silent", "--offline", "--global", "--prefix", stage.there, stage.file("*.tgz")
    )


def _npm_programs(stage: Stage) -> tuple[list[object], list[object]]:
    folder = stage.there if os.name == "nt" else stage.there / "bin"
    ending = ".cmd" if os.name == "nt" else ""
    return [folder / f"bench{ending}"], [folder / f"{NAME}{ending}"]


def _npx(stage: Stage) -> list[object]:
    return ["npx", "--offline", "--yes", "--package", stage.file("*.tgz")]


def _pyz(stage: Stage) -> Path:
    return stage.there / "bench.pyz"


def _pyz_install(stage: Stage) -> None:
    stage.there.mkdir()
    shutil.copy(stage.file("bench.pyz"), _pyz(stage))


def _pyz_remove(stage: Stage) -> None:
    """What its document says: the file, and the folder that it was unpacked into."""
    _pyz(stage).unlink()
    shutil.rmtree(stage.home / CACHE / NAME)


CACHE = {"win32": "", "darwin": "Library/Caches"}.get(sys.platform, ".cache")

WAYS = (
    Way("pip", "pip", _pip("*.whl"), _scripts, _pip_remove, _venv),
    Way("sdist", "pip", _pip("*-[0-9].[0-9].[0-9].tar.gz"), _scripts, _pip_remove, _venv),
    Way(
        "uvx",
        "uvx",
        lambda stage: stage.run(*_uvx(stage), "bench", "version"),
        lambda stage: ([*_uvx(stage), "bench"], [*_uvx(stage), NAME]),
        lambda stage: stage.run("uv", "cache", "clean", "--quiet"),
        needs="uvx",
    ),
    Way(
        "uv tool",
        "uv tool",
        _uv_tool,
        _scripts,
        lambda stage: stage.run("uv", "tool", "uninstall", "--quiet", NAME),
        needs="uv",
    ),
    Way(
        "npm",
        "npm",
        _npm,
        _npm_programs,
        lambda stage: stage.run("npm", "uninstall", "--silent", "--global", "--prefix", stage.there, NAME),
        needs="npm",
    ),
    Way(
        "npx",
        "npx",
        lambda stage: stage.run(*_npx(stage), "bench", "version"),
        lambda stage: ([*_npx(stage), "bench"], [*_npx(stage), NAME]),
        lambda stage: shutil.rmtree(stage.home / ".npm"),
        needs="npx",
        terminal=True,
    ),
    Way(
        "pyz",
        "pyz",
        _pyz_install,
        lambda stage: ([stage.python, _pyz(stage)], [stage.python, _pyz(stage), "serve"]),
        _pyz_remove,
    ),
)


def tried(way: Way, stage: Stage) -> tuple[int, int]:
    """How many steps passed and failed."""
    begun = time.monotonic()
    steps = smoke.Smoke((), (), stage.env, stage.home)
    try:
        way.prepare(stage)
        begun = time.monotonic()
        way.install(stage)
    except (RuntimeError, OSError, StopIteration) as trouble:
        steps.step("it can be installed", False, trouble)
        return steps.passed, steps.failed
    steps.step("it can be installed", True)
    bench, server = way.programs(stage)
    steps.words, steps.server = [str(word) for word in bench], [str(word) for word in server]
    steps.terminal = way.terminal
    smoke.run(steps)
    if steps.first_answer is not None:
        took = steps.first_answer - begun
        word = "under" if took < GOAL else "NOT under"
        print(f"      from installing to the first answer: {took:.1f} s, {word} {GOAL:g} s", flush=True)
    says = steps.json("update", "--check").get("installed")
    steps.step("bench update knows how it was installed", says == way.says, f"it says {says!r}")
    removed(way, stage, steps)
    return steps.passed, steps.failed


def removed(way: Way, stage: Stage, steps: smoke.Smoke) -> None:
    try:
        way.remove(stage)
    except (RuntimeError, OSError) as trouble:
        steps.step("it can be removed", False, trouble)
        return
    ours = sorted(
        str(path.relative_to(stage.there))
        for path in (stage.there.rglob("*") if stage.there.exists() else ())
        if path.name.startswith((NAME, "bench")) and not path.is_dir()
    )
    steps.step("nothing is left where it was installed", not ours, ours)
    left = remaining(stage.home)
    steps.step("only the data folder is left in its user's home", left == {DATA}, left)


def remaining(home: Path) -> set[str]:
    """Folders and files in a home, shortened to what they are part of; installers' own left out."""
    found = set()
    for path in home.rglob("*"):
        name = path.relative_to(home).as_posix()
        if path.is_dir() or name.startswith(tuple(f"{theirs}/" for theirs in THEIRS)):
            continue
        found.add(DATA if name.startswith(f"{DATA}/") else name)
    return found


def environment(home: Path, python: str) -> dict[str, str]:
    """A newcomer's, whose python3 is `python`; installers do not ask for newer ones of themselves."""
    env = smoke.environment(home)
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "NPM_CONFIG_UPDATE_NOTIFIER": "false"}
    return env | quiet | {"PATH": os.pathsep.join([os.path.dirname(python), env.get("PATH", "")])}


def chosen(names: str) -> list[Way]:
    """The ways called so, in the table's order. LookupError for an unknown one."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    known = {way.name: way for way in WAYS}
    for name in wanted:
        if name not in known:
            raise LookupError(f"there is no way {name!r}; there are: {', '.join(known)}")
    return [way for way in WAYS if not wanted or way.name in wanted]


def main(argv: list[str] | None = None, find: Callable[[str], str | None] = shutil.which) -> int:
    parser = argparse.ArgumentParser(
        prog="check_packages.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ways", default="", metavar="A,B", help="only these")
    options = parser.parse_args(argv)
    try:
        ways = chosen(options.ways)
    except LookupError as unknown:
        parser.error(str(unknown))
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="bench-packages-", ignore_cleanup_errors=True) as name:
        top = Path(name).resolve()
        dist = top / "dist"
        failed += package.main(["--out", str(dist)])
        size = next(dist.glob("*.whl")).stat().st_size
        print(f"{'ok' if size < LARGEST else 'FAIL':<5} the wheel has {size:,} bytes")
        passed, failed = passed + (size < LARGEST), failed + (size >= LARGEST)
        for way in ways:
            print(f"\n-- {way.name}")
            if way.needs and not find(way.needs):
                print(f"SKIPPED: {way.needs} is not here")
                failed += bool(os.environ.get("CI"))  # where it has to be tried, it has to be there
                continue
            good, bad = tried(way, place(top / way.name.replace(" ", "-"), dist))
            passed, failed = passed + good, failed + bad
    print(f"\n{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def place(top: Path, dist: Path) -> Stage:
    home = top / "home"
    home.mkdir(parents=True)
    # The interpreter itself and no shim of it, which would look for it in that home.
    python = os.path.realpath(sys.executable)
    return Stage(dist, home, top / "there", python, environment(home, python))


if __name__ == "__main__":
    sys.exit(main())
