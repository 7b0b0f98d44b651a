"""The page in a real browser: `python3 -m tests.browser`.

Needs Node 20 or later, npm and a Chromium that is installed already (CHROMIUM names another). What
package.json pins is installed into a folder that is removed again (--dir keeps one). Each run_*.mjs drives a
bench with everything on it and an empty one, and prints a line for each check; the last line is
`N passed, N failed`. Where there is no browser it says so, and that nothing was checked.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.browser.stage import stage
from tests.running import Running

HERE = Path(__file__).resolve().parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NPM = ("install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
PATIENCE = 600.0  # seconds a script may take
LINE = re.compile(r"^(PASS|FAIL) ", re.MULTILINE)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m tests.browser",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these: " + " ".join(scripts()))
    parser.add_argument("--dir", type=Path, help="install here and keep it, to be used again")
    parser.add_argument("--shots", type=Path, help="write a picture of every page into this folder")
    options = parser.parse_args()
    if unknown := set(options.names) - set(scripts()):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(scripts())}")
    if why := missing():
        print(f"SKIPPED: {why}. Nothing was checked in a browser.")
        return 0
    with tempfile.TemporaryDirectory(prefix="bench-browser-") as scratch:
        where = options.dir or Path(scratch)
        return checked(where, options.names or scripts(), options.shots)


def scripts() -> list[str]:
    return sorted(path.stem.removeprefix("run_") for path in HERE.glob("run_*.mjs"))


def browser() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


def missing() -> str | None:
    """What is needed and not there; None when all is."""
    needed = {"no Chromium is installed": browser(), "there is no Node": shutil.which("node")}
    needed["there is no npm"] = shutil.which("npm")
    return next((why for why, there in needed.items() if not there), None)


def checked(where: Path, names: Sequence[str], shots: Path | None) -> int:
    """Install, run each script against the same two benches, and sum up."""
    where.mkdir(parents=True, exist_ok=True)
    for path in (HERE / "package.json", *HERE.glob("*.mjs")):
        shutil.copy(path, where)
    subprocess.run(["npm", *NPM], cwd=where, check=True, stdout=subprocess.DEVNULL)
    said = ""
    with stage() as bench, Running() as empty:
        environment = {**os.environ, "CHROMIUM": browser() or "", "BENCH": bench.url, "EMPTY": empty.url}
        if shots:
            environment["SHOTS"] = str(shots.resolve())
        for name in names:
            said += run(where, f"run_{name}.mjs", environment)
    counts = LINE.findall(said)
    failed = counts.count("FAIL")
    print(f"{counts.count('PASS')} passed, {failed} failed")
    return 1 if failed or not counts else 0


def run(where: Path, script: str, environment: dict[str, str]) -> str:
    """What a script said. One that broke off is a failure of its own."""
    done = subprocess.run(
        ["node", script], cwd=where, env=environment, stdout=subprocess.PIPE, text=True, timeout=PATIENCE
    )
    broke = f"FAIL {script}: it ended with {done.returncode}\n" if done.returncode else ""
    print(done.stdout + broke, end="", flush=True)
    return done.stdout + broke


if __name__ == "__main__":
    sys.exit(main())
