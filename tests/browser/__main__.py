"""The page in a real browser: `python3 -m tests.browser`.

Needs Node 20 or later, npm and a Chromium that is installed already (CHROMIUM names another). What
package.json pins is installed into a folder that is removed again (--dir keeps one). Each run_*.mjs drives
two benches of its own, one with everything on it and an empty one, and prints a line for each check; two run
side by side, and those with many checks that change nothing are dealt out in parts. The last line is
`N passed, N failed`. Where there is no browser it says so, and that nothing was checked: a failure under
CI=true, where a browser is promised.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from scripts.driven import browser
from tests.browser.stage import TOKEN, stage
from tests.running import Running

HERE = Path(__file__).resolve().parent
PATIENCE = 600.0  # seconds a script may take
TOGETHER = 2  # scripts at a time: a browser and a server want a core
GUARDED = ("access", "security")  # scripts whose bench asks who is there
PARTS = {
    "pages": 4,
    "states": 3,
}  # scripts whose checks change nothing, and into how many parts they are dealt
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
    if why := browser.missing():
        print(f"{'FAILED' if browser.promised() else 'SKIPPED'}: {why}. Nothing was checked in a browser.")
        print("0 passed, 0 failed")
        return 1 if browser.promised() else 0
    with tempfile.TemporaryDirectory(prefix="bench-browser-") as scratch:
        where = options.dir or Path(scratch)
        browser.install(where, HERE.glob("*.mjs"))
        return checked(where, options.names or scripts(), options.shots)


def scripts() -> list[str]:
    return sorted(path.stem.removeprefix("run_") for path in HERE.glob("run_*.mjs"))


def checked(where: Path, names: Iterable[str], shots: Path | None) -> int:
    """Run the scripts, each part of one against benches of its own, and sum up."""
    with ThreadPoolExecutor(TOGETHER) as together:
        said = "".join(together.map(partial(run, where, shots), dealt(names)))
    counts = LINE.findall(said)
    failed = counts.count("FAIL")
    print(f"{counts.count('PASS')} passed, {failed} failed")
    return 1 if failed or not counts else 0


def dealt(names: Iterable[str]) -> list[tuple[str, str]]:
    """(script, "n/of": which of its checks) of everything to run, the longest first."""
    parts = [(name, f"{part}/{PARTS.get(name, 1)}") for name in names for part in range(PARTS.get(name, 1))]
    return sorted(parts, key=lambda part: part[0] not in PARTS)


def run(where: Path, shots: Path | None, part: tuple[str, str]) -> str:
    """What a script said. One that broke off or hung is a failure of its own."""
    script = f"run_{part[0]}.mjs"
    environment = {**os.environ, "CHROMIUM": browser.chromium() or "", "PART": part[1]}
    if shots:
        environment["SHOTS"] = str(shots.resolve())
    with stage(TOKEN if part[0] in GUARDED else "") as bench, Running() as empty:
        environment |= {"BENCH": bench.url, "EMPTY": empty.url, "TOKEN": TOKEN}
        try:
            done = subprocess.run(
                ["node", script],
                cwd=where,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                timeout=PATIENCE,
            )
            said = done.stdout
            broke = f"FAIL {script}: it ended with {done.returncode}\n" if done.returncode else ""
        except subprocess.TimeoutExpired as late:
            said = (late.stdout or b"").decode("utf-8", "replace")
            broke = f"FAIL {script}: it has not ended after {PATIENCE:g} s\n"
    print(said + broke, end="", flush=True)
    return said + broke


if __name__ == "__main__":
    sys.exit(main())
